"""How is a stored value shown? As masked JSON in which nothing hides; whole, or cut to one line."""

from __future__ import annotations

import json
from typing import Any, Final

from ..diff import ABSENT
from ..errors import BadReference
from ..refs import Path, path_text
from ..visible import visible
from .output import clean

MOST: Final = 72
"""Characters of a value on one line."""


def pretty(shown: Any) -> str:
    """A masked value as indented JSON, for a terminal."""
    return visible(json.dumps(shown, indent=2, ensure_ascii=False), "\n")


def short(shown: Any, most: int = MOST) -> str:
    """A masked value on one line of at most *most* characters."""
    text = clean(shown if isinstance(shown, str) else json.dumps(_head(shown), ensure_ascii=False))
    return text if len(text) <= most else f"{text[: most - 1]}…"


def down(value: Any, path: Path, text: str) -> Any:
    """The part of a plain value at *path*.

    Raises:
        BadReference: there is none; the message says how far the path leads and what is there.
    """
    for number, step in enumerate(path):
        inside: Any = ABSENT
        if isinstance(value, dict):
            inside = value.get(step, ABSENT)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            inside = value[step]
        if inside is ABSENT:
            raise BadReference(
                text, f"{path_text(path[:number])} is {_what(value)}, and {step!r} is not in it."
            )
        value = inside
    return value


def _what(value: Any) -> str:
    if isinstance(value, dict):
        names = ", ".join(list(value)[:8])
        return f"an object of {names}{'…' if len(value) > 8 else ''}" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "a single value"


def _head(value: Any) -> Any:
    """Enough of a container for one line."""
    if isinstance(value, dict):
        return {key: _head(item) for key, item in list(value.items())[:20]}
    if isinstance(value, list):
        return [_head(item) for item in value[:20]]
    return value[:200] if isinstance(value, str) else value
