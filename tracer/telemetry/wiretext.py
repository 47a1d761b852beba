"""What may be seen outside of a text? At most 256 masked characters that every wire format carries.

What had to be replaced or cut is named on the span in `waypost.export.altered`; the store has the exact text.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from ..seal import mask
from . import names

TEXT_MOST: Final = 256
"""Characters of one attribute value."""
_CACHED_MOST: Final = 512

Attributes = dict[str, Any]


def shown(text: str) -> tuple[str, bool]:
    """*text* as it may be seen outside, and whether the wire changed it (masking does not count)."""
    return _shown_once(text) if len(text) <= _CACHED_MOST else _shown(text)


def _shown(text: str) -> tuple[str, bool]:
    altered = False
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which no wire format carries
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        altered = True
    masked = mask(text)
    if len(masked) > TEXT_MOST:
        return masked[: TEXT_MOST - 1] + "…", True
    return masked, altered


_shown_once = lru_cache(maxsize=1024)(_shown)


def forget_shown() -> None:
    """Mask again what is met again: a secret may have become known meanwhile."""
    _shown_once.cache_clear()


def put(attributes: Attributes, name: str, text: str) -> str:
    """Set an attribute to *text* as it may be shown; the text that was set."""
    value, altered = shown(text)
    attributes[name] = value
    if altered:
        attributes[names.ALTERED] = (*attributes.get(names.ALTERED, ()), name)
    return value


def error_type(error: str, otherwise: str) -> str:
    """`error.type` of a recorded error `Type: message`: few values, never the message."""
    head = error.partition(":")[0]
    return head if head.replace(".", "_").isidentifier() and len(head) <= TEXT_MOST else otherwise
