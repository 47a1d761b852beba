"""How is a stored value shown? Masked, as text; what is sealed is said to be sealed."""

from __future__ import annotations

import json
from typing import Any, Final

from tracer.seal import mask, mask_plain

_KINDS: Final = {
    dict: "object",
    list: "list",
    str: "text",
    int: "number",
    float: "number",
    bool: "true/false",
}


def pretty(value: Any) -> str:
    """A plain tree as indented JSON, secrets masked. Text for a person, never to be read back."""
    shown = mask_plain(value)
    return shown if isinstance(shown, str) else json.dumps(shown, indent=2, ensure_ascii=False)


def one_line(value: Any, limit: int = 110) -> str:
    """The head of a value on one line, masked."""
    head = mask_plain(_head(value, limit))
    raw = head if isinstance(head, str) else json.dumps(head, ensure_ascii=False)
    flat = " ".join(raw.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def kind_of(value: Any) -> str:
    """What a plain value is, in a word."""
    if value is None:
        return "null"
    if isinstance(value, dict) and len(value) == 1:
        tag, content = next(iter(value.items()))
        if tag == "$obj" and isinstance(content, list) and content:
            return str(content[0])
        if tag == "$text":
            return "text"
        if tag.startswith("$") and not tag.startswith("$$"):
            return str(tag[1:])
    return _KINDS.get(type(value), type(value).__name__)


def masked(text: str) -> str:
    """A piece of text for a page."""
    return str(mask(text))


def _head(value: Any, limit: int) -> Any:
    """Enough of a value for one line: a secret is cut only behind its end, so that it is still recognised."""
    if isinstance(value, list):
        return [_head(item, limit) for item in value[:8]]
    if isinstance(value, dict):
        return {key: _head(item, limit) for key, item in list(value.items())[:8]}
    return value[: max(4096, limit * 8)] if isinstance(value, str) else value
