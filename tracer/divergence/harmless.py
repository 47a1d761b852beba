"""Which rewritings of a run mean nothing?

Each takes a list of plain call records and gives the same calls in another notation. Applied to both sides of
a comparison, none changes the score; the property tests hold the engine to that, name by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

Record = dict[str, Any]
Rewrite = Callable[[Sequence[Record]], list[Record]]

_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _each(value: Callable[[Any], Any]) -> Rewrite:
    """A rewriting of every scalar argument."""

    def deep(part: Any) -> Any:
        if isinstance(part, dict):
            return {k: deep(v) for k, v in part.items()}
        if isinstance(part, list):
            return [deep(v) for v in part]
        return value(part)

    return lambda calls: [{**call, "args": deep(call["args"])} for call in calls]


def _args(change: Callable[[Record], Record]) -> Rewrite:
    """A rewriting of every argument record as a whole."""
    return lambda calls: [{**call, "args": change(call["args"])} for call in calls]


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def _renamed(part: Any) -> Any:
    if isinstance(part, dict):
        return {_camel(k): _renamed(v) for k, v in part.items()}
    return [_renamed(v) for v in part] if isinstance(part, list) else part


def _number(value: Any) -> Any:
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _whole(value: Any) -> Any:
    return (
        float(value)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**50
        else value
    )


def _day(value: Any) -> Any:
    match = _ISO.fullmatch(value) if isinstance(value, str) else None
    return (
        f"{int(match[3])} {_MONTHS[int(match[2]) - 1]} {match[1]}"
        if match and 1 <= int(match[2]) <= 12
        else value
    )


def _reversed(part: Any) -> Any:
    if isinstance(part, dict):
        return {k: _reversed(part[k]) for k in reversed(part)}
    return [_reversed(v) for v in reversed(part)] if isinstance(part, list) else part


def _as_text(args: Record) -> Record:
    return {k: json.dumps(v) if isinstance(v, (dict, list)) else v for k, v in args.items()}


def _thoughts(calls: Sequence[Record]) -> list[Record]:
    thought = {
        "name": "think",
        "args": {"thought": "what is next?"},
        "kind": "internal",
        "ok": True,
        "result": "",
    }
    return [c for call in calls for c in (thought, call)]


HARMLESS: Final[Mapping[str, Rewrite]] = MappingProxyType(
    {
        "order of keys and members": _args(_reversed),
        "names in camel case": _args(_renamed),
        "numbers as text": _each(_number),
        "whole numbers with a fraction": _each(_whole),
        "days in words": _each(_day),
        "blanks around text": _each(lambda v: f"  {v} " if isinstance(v, str) else v),
        "capital letters": _each(lambda v: v.upper() if isinstance(v, str) and len(v) > 3 else v),
        "nested arguments as JSON text": _args(_as_text),
        "arguments that say nothing": _args(
            lambda args: {**args, "comment_to_self": None, "extra": {}, "more": []}
        ),
        "thoughts between the calls": _thoughts,
        "tool names in camel case": lambda calls: [{**c, "name": _camel(c["name"])} for c in calls],
    }
)
"""The harmless transformations, by name."""
