"""Which words of a text were changed, and is this text the old one written anew?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from rapidfuzz import fuzz

from .aligning import LIMIT, align

_WORD: Final = re.compile(r"\w+|\s+|[^\w\s]")
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_MOST: Final = 20_000
"""Tokens above which lines are compared instead of words."""
_ALIKE: Final = 45.0
"""Percent of characters two texts must share to be one text rewritten."""
_TELLING: Final = ("role", "type", "kind", "tool", "tool_name")


@dataclass(frozen=True, slots=True)
class Word:
    """A stretch of text that is on both sides, or on one."""

    op: Literal["=", "+", "−"]
    text: str


def words(old: str, new: str) -> tuple[Word, ...]:
    """The two texts as one sequence of stretches.

    Joining those that are not `+` gives *old*, those that are not `−` gives *new*. Long texts are compared by
    lines.
    """
    a, b = _WORD.findall(old), _WORD.findall(new)
    if len(a) + len(b) > _MOST:
        a, b = _LINE.findall(old), _LINE.findall(new)
    out: list[Word] = []
    for block in align(a, b):
        gone = "".join(a[block.old_start : block.old_start + block.old_count])
        come = "".join(b[block.new_start : block.new_start + block.new_count])
        if block.equal:
            out.append(Word("=", gone))
            continue
        if gone:
            out.append(Word("−", gone))
        if come:
            out.append(Word("+", come))
    return tuple(out)


def alike(old: Any, new: Any) -> bool:
    """True when *new* may be shown as a change of *old* rather than as another thing in its place."""
    if isinstance(old, str) and isinstance(new, str):
        return len(old) * len(new) > LIMIT or fuzz.ratio(old, new) >= _ALIKE
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return old.keys() == new.keys() and all(old.get(key) == new.get(key) for key in _TELLING)
    if isinstance(old, Mapping | list | tuple) or isinstance(new, Mapping | list | tuple):
        return type(old) is type(new)
    return not isinstance(old, str) and not isinstance(new, str)
