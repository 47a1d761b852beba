"""What may be seen outside of a text? At most 256 masked characters that every wire format carries.

What had to be replaced or cut is named on the span in `waypost.export.altered`; the store has the exact text.
"""

from __future__ import annotations

from typing import Any, Final

from ..seal import mask
from . import names

TEXT_MOST: Final = 256
"""Characters of one attribute value."""
_CACHED_MOST: Final = 512
_CACHED: Final = 1024

Attributes = dict[str, Any]


class Wording:
    """Shows texts outside. Under one key, equal secrets look equal in all spans of a store, whoever sends them."""

    def __init__(self, key: bytes | None = None) -> None:
        """*key* is the fingerprint key of the store; without it, equal within this process only."""
        self._key = key
        self._seen: dict[str, tuple[str, bool]] = {}

    def shown(self, text: str) -> tuple[str, bool]:
        """*text* as it may be seen outside, and whether the wire changed it (masking does not count)."""
        if len(text) > _CACHED_MOST:
            return self._shown(text)
        found = self._seen.get(text)
        if found is None:
            if len(self._seen) >= _CACHED:
                self._seen.clear()
            found = self._seen[text] = self._shown(text)
        return found

    def put(self, attributes: Attributes, name: str, text: str) -> str:
        """Set an attribute to *text* as it may be shown; the text that was set."""
        value, altered = self.shown(text)
        attributes[name] = value
        if altered:
            attributes[names.ALTERED] = (*attributes.get(names.ALTERED, ()), name)
        return value

    def forget(self) -> None:
        """Mask again what is met again: a secret may have become known meanwhile."""
        self._seen.clear()

    def _shown(self, text: str) -> tuple[str, bool]:
        altered = False
        try:
            text.encode()
        except UnicodeEncodeError:  # half a surrogate pair, which no wire format carries
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            altered = True
        masked = mask(text) if self._key is None else mask(text, self._key)
        if len(masked) > TEXT_MOST:
            return masked[: TEXT_MOST - 1] + "…", True
        return masked, altered


KEYLESS: Final = Wording()


def error_type(error: str, otherwise: str) -> str:
    """`error.type` of a recorded error `Type: message`: few values, never the message."""
    head = error.partition(":")[0]
    return head if head.replace(".", "_").isidentifier() and len(head) <= TEXT_MOST else otherwise
