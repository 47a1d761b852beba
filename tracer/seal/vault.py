"""How does a secret stay exact for the agent and invisible to everybody else?

Two planes. On the resume plane the part of a text that is a secret becomes `{"$sealed": fingerprint}`, and
its ciphertext is stored beside: exact, and equal for equal secrets. On the view plane it becomes a
placeholder, which cannot be undone and never goes back into an agent.
"""

from __future__ import annotations

import functools
import hmac
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from ..errors import ConfigError, IntegrityError, KeyMissing
from ..types import Plain
from .assignments import sensitive
from .masking import PLACEHOLDER, Kinds, masked_plain, masked_text
from .patterns import SHORTEST, VERSION, Span, classify, find, merged
from .secret import LITERALS, REVEALED

Hook = Callable[[str], Iterable[Span]]
"""A program's own detector: text -> (start, end, kind) of what else is a secret."""

_PROCESS_KEY: Final = secrets.token_bytes(32)
_FORMAT: Final = 1
_NONCE: Final = 12


class KeyRing(Protocol):
    """The keys a vault needs; see `keys.Keys`."""

    @property
    def where(self) -> str: ...
    @property
    def fingerprint(self) -> bytes: ...
    @property
    def current(self) -> int: ...
    @property
    def encryption(self) -> Mapping[int, bytes]: ...


@dataclass(frozen=True, slots=True)
class Sealed:
    """One secret as it is stored."""

    fingerprint: str
    """HMAC-SHA256 of the secret, 64 hex digits; its key never rotates, so that equal stays equal."""
    blob: bytes
    """Format 1: 0x01, key id, 12 bytes nonce, AES-GCM ciphertext bound to the fingerprint."""
    kind: str
    length: int
    """In characters. Kind and length are what a view may show."""


class Vault:
    """Seals what a run keeps and opens what it resumes from. Threads may share one."""

    def __init__(self, keys: KeyRing, *, hook: Hook | None = None, version: int = VERSION) -> None:
        if version != VERSION:
            raise ConfigError(f"This run was sealed with pattern set {version}; this package has {VERSION}.")
        self._keys = keys
        self._hook = hook
        self._ciphers: dict[int, AESGCM] = {}
        self._stored: set[str] = set()
        self._clean_keys: set[str] = set()
        self._named: list[str] = []
        self._pending: dict[str, Sealed] = {}

    def seal_text(self, text: str, where: str) -> Plain:
        """*text* itself when clean, else `{"$sealed": …}` or `{"$text": [clear, {"$sealed": …}, …]}`.

        *where* is the nearest dict key, or a path; below a name like `password` all of the text is sealed. An
        empty one means that *text* is a key itself.
        """
        if not where and text in self._clean_keys:
            return text
        if where and text and sensitive(where):
            return self._sealed(text, named=True)
        spans = self.find(text)
        if not spans:
            if not where and len(self._clean_keys) < 10_000:
                self._clean_keys.add(text)
            return text
        parts: list[Plain] = []
        end = 0
        for start, stop, _ in spans:
            if start > end:
                parts.append(text[end:start])
            parts.append(self._sealed(text[start:stop]))
            end = stop
        if end < len(text):
            parts.append(text[end:])
        return parts[0] if len(parts) == 1 else {"$text": parts}

    def find(self, text: str) -> list[Span]:
        """The secrets in *text* as (start, end, kind), from left to right."""
        spans = find(text, REVEALED)
        if self._hook is not None:
            spans = merged([*spans, *self._hook(text)])
        return spans

    def pending(self) -> list[Sealed]:
        """Secrets that the store does not have yet. To be written, if absent, with what refers to them."""
        return list(self._pending.values())

    def confirm(self, fingerprints: Iterable[str]) -> None:
        """The store has committed these; until then they stay pending, whatever became of the transaction."""
        for fingerprint in fingerprints:
            self._stored.add(fingerprint)
            self._pending.pop(fingerprint, None)

    def forget(self, fingerprints: Iterable[str]) -> None:
        """The store has removed these; seal them anew when they occur again."""
        self._stored.difference_update(fingerprints)

    def open(self, fingerprint: str, blob: bytes) -> str:
        """The secret behind *fingerprint*.

        Raises:
            KeyMissing: it was sealed under a key that this ring does not hold.
            IntegrityError: *blob* is not what was stored under this fingerprint.
        """
        if len(blob) < _NONCE + 18 or blob[0] != _FORMAT:
            raise IntegrityError(f"sealed {fingerprint[:8]}", f"{len(blob)} bytes of no known format.")
        nonce, sealed = blob[2 : 2 + _NONCE], blob[2 + _NONCE :]
        try:
            data = self._cipher(blob[1]).decrypt(nonce, sealed, fingerprint.encode())
        except InvalidTag:
            raise IntegrityError(
                f"sealed {fingerprint[:8]}", "changed, or sealed under another key."
            ) from None
        text = data.decode("utf-8", "surrogatepass")
        if self.fingerprint(text) != fingerprint:
            raise IntegrityError(
                f"sealed {fingerprint[:8]}", "the fingerprint key is not the one it was sealed with."
            )
        self._stored.add(fingerprint)
        self._remember(text)
        return text

    def fingerprint(self, text: str) -> str:
        """64 hex digits, equal for equal secrets under one key file."""
        return fingerprint(self._keys.fingerprint, text)

    def mask(self, text: str) -> str:
        """*text* for views: secrets, also those this vault knows by value, become placeholders."""
        return masked_text(text, self.fingerprint, merged([*self.find(text), *find(text, self._named)]))

    def mask_plain(self, plain: Plain, kinds: Kinds | None = None) -> Plain:
        """*plain* for views; *kinds* gives kind and length of a stored fingerprint, where they are known."""
        return masked_plain(plain, self.mask, self.fingerprint, kinds or self._kind_of)

    def _kind_of(self, fingerprint: str) -> tuple[str, int] | None:
        sealed = self._pending.get(fingerprint)
        return None if sealed is None else (sealed.kind, sealed.length)

    def _sealed(self, text: str, named: bool = False) -> Plain:
        fingerprint = self.fingerprint(text)
        if fingerprint not in self._stored and fingerprint not in self._pending:
            key = self._keys.current
            nonce = secrets.token_bytes(_NONCE)
            data = text.encode("utf-8", "surrogatepass")
            blob = (
                bytes((_FORMAT, key)) + nonce + self._cipher(key).encrypt(nonce, data, fingerprint.encode())
            )
            self._pending[fingerprint] = Sealed(fingerprint, blob, classify(text), len(text))
        if named:
            self._remember(text)
        return {"$sealed": fingerprint}

    def _cipher(self, key: int) -> AESGCM:
        cipher = self._ciphers.get(key)
        if cipher is None:
            if key not in self._keys.encryption:
                raise KeyMissing(
                    self._keys.where,
                    f"it holds no encryption key {key}, only {sorted(self._keys.encryption)}.",
                )
            cipher = self._ciphers[key] = AESGCM(self._keys.encryption[key])
        return cipher

    def _remember(self, text: str) -> None:
        # A short or common word under `token` would blot out every page.
        if (
            len(text) >= SHORTEST
            and not text.isalpha()
            and text not in self._named
            and len(self._named) < LITERALS
        ):
            self._named.append(text)


def mask(text: str, key: bytes = _PROCESS_KEY) -> str:
    """*text* for people: what looks like a secret becomes `‹sealed kind length·fp8›`, equal for equal ones.

    Without the fingerprint *key* of a store, equal within this process only. A vault's own `mask` knows more.
    """
    return masked_text(text, functools.partial(fingerprint, key), find(text, REVEALED))


def masked_secrets(text: str, key: Callable[[], bytes | None]) -> str:
    """*text* with what is surely a secret masked: no guesses at card numbers. *key* is asked for only then.

    What is masked stays as it is, so that a row which is read and written again keeps its digest.
    """
    if not find(text, REVEALED):
        return text
    held = functools.partial(fingerprint, key() or _PROCESS_KEY)
    before = ""
    while text != before:  # each pass leaves less that is not a placeholder
        before, parts = text, PLACEHOLDER.split(text)
        parts[::2] = [masked_text(part, held, find(part, REVEALED), cards=False) for part in parts[::2]]
        text = "".join(parts)
    return text


def mask_plain(plain: Plain, key: bytes = _PROCESS_KEY, kinds: Kinds | None = None) -> Plain:
    """*plain* for people, with every secret masked, also those under a name like `password`."""
    return masked_plain(plain, functools.partial(mask, key=key), functools.partial(fingerprint, key), kinds)


def fingerprint(key: bytes, text: str) -> str:
    """HMAC-SHA256 of *text* under *key*, in hex."""
    return hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256").hex()
