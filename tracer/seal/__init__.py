"""What must nobody read, and how is it kept exact all the same?"""

from .assignments import sensitive
from .masking import placeholder
from .patterns import PATTERNS, VERSION, find
from .secret import RESOLVERS, REVEALED, Secret
from .vault import KeyRing, Sealed, Vault, fingerprint, mask, mask_plain, masked_secrets

__all__ = [
    "PATTERNS",
    "RESOLVERS",
    "REVEALED",
    "VERSION",
    "KeyRing",
    "Sealed",
    "Secret",
    "Vault",
    "find",
    "fingerprint",
    "mask",
    "mask_plain",
    "masked_secrets",
    "placeholder",
    "sensitive",
]
