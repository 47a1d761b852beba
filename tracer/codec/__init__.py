"""How does a value become bytes and come back exactly, or not at all?"""

from ..types import Plain
from .lifting import Open
from .lowering import MAX_DEPTH, MAX_NODES, Seal
from .values import canonical, lift, lower, unknown_types
from .wire import MAX_BYTES, decode, encode

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_NODES",
    "Open",
    "Plain",
    "Seal",
    "canonical",
    "decode",
    "encode",
    "lift",
    "lower",
    "unknown_types",
]
