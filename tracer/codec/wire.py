"""Which bytes stand for a plain tree? Strict JSON that every parser accepts, and back without surprises.

Parsers limit how deep JSON may nest. A deeper tree is written flat, as parts that refer to later parts:
`{"$deep": [{"a": {"$ref": 1}}, …]}`; the tree in memory is nested again.
"""

from __future__ import annotations

import re
from typing import Any, Final, cast

import orjson

from ..errors import LimitExceeded, Malformed
from ..types import Plain

MAX_BYTES: Final = 256 << 20
"""Largest encoded value, 256 MiB."""
PART_DEPTH: Final = 100
"""Levels in one part of a tree that is written flat."""

_OPTIONS: Final = (
    orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
)
_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]:]|-?[0-9][0-9.eE+-]*')
_INT64: Final = range(-(1 << 63), 1 << 63)


def encode(plain: Plain) -> bytes:
    """*plain* as strict JSON, keys in their order.

    Raises:
        LimitExceeded: more than 256 MiB.
    """
    return _dump(plain, 0)


def encode_sorted(plain: Plain) -> bytes:
    """*plain* as strict JSON with sorted keys, so that equal content gives equal bytes.

    Raises:
        LimitExceeded: more than 256 MiB.
    """
    return _dump(plain, orjson.OPT_SORT_KEYS)


def decode(data: bytes, *, own: bool = False) -> Plain:
    """The plain tree that *data* stands for.

    Refuses what parsers silently change: duplicate keys (the last wins) and integers over 64 bits (become
    floats). Bytes of ours are recognised by encoding them again, which costs less than looking; *own* says
    that a digest has vouched for them, and leaves that out.

    Raises:
        Malformed: not strict JSON, or something in it would be changed by reading it.
    """
    try:
        plain = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Malformed(f"{len(data)} bytes", str(error)) from None
    if not own and not _same(plain, data):
        _look(data)
    if type(plain) is dict and len(plain) == 1 and "$deep" in plain:
        return _joined(plain["$deep"])
    return cast(Plain, plain)


def _dump(plain: Plain, order: int) -> bytes:
    try:
        data = orjson.dumps(plain, option=_OPTIONS | order)
    except TypeError as error:
        if "ecursion limit" not in str(error):
            raise
        data = orjson.dumps({"$deep": _parts(plain, bool(order))}, option=_OPTIONS | order)
    if len(data) > MAX_BYTES:
        raise LimitExceeded(
            "$", f"{len(data)} bytes", f"the limit is {MAX_BYTES}; keep it in a file, and a reference here."
        )
    return data


def _same(plain: Any, data: bytes) -> bool:
    try:
        return orjson.dumps(plain) == data
    except TypeError:  # deeper than orjson writes, so these bytes are not ours
        return False


def _look(data: bytes) -> None:
    """Refuse what `orjson.loads` changed without a word; *data* is known to be JSON."""
    frames: list[set[bytes] | None] = []
    last = b""
    for match in _TOKEN.finditer(data):
        token = match.group()
        if token == b":":
            key = orjson.dumps(orjson.loads(last)) if b"\\" in last else last
            frame = frames[-1]
            if frame is not None:
                if key in frame:
                    raise Malformed(
                        f"byte {match.start()}",
                        f"the key {key[:64].decode(errors='replace')} occurs twice in one object.",
                    )
                frame.add(key)
        elif token == b"{":
            frames.append(set())
        elif token == b"[":
            frames.append(None)
        elif token in b"}]":
            frames.pop()
        elif token[:1] == b'"':
            last = token
        elif (
            len(token) > 18
            and not any(mark in token for mark in b".eE")
            and (len(token) > 20 or int(token) not in _INT64)
        ):
            raise Malformed(
                f"byte {match.start()}", f"the integer {token[:24].decode()} does not fit into 64 bits."
            )


def _parts(plain: Plain, ordered: bool) -> list[Any]:
    """*plain* cut every `PART_DEPTH` levels; part 0 is its root."""
    parts: list[Any] = [{} if type(plain) is dict else []]
    todo: list[tuple[Any, Any, int]] = [(plain, parts[0], 1)]
    while todo:
        source, target, depth = todo.pop()
        if type(source) is dict:
            for key in sorted(source) if ordered else source:
                target[key] = _branch(source[key], depth, parts, todo)
        else:
            for item in source:
                target.append(_branch(item, depth, parts, todo))
    return parts


def _branch(item: Any, depth: int, parts: list[Any], todo: list[tuple[Any, Any, int]]) -> Any:
    kind = type(item)
    if kind is not dict and kind is not list:
        return item
    copy: Any = {} if kind is dict else []
    if depth < PART_DEPTH:
        todo.append((item, copy, depth + 1))
        return copy
    todo.append((item, copy, 1))
    parts.append(copy)
    return {"$ref": len(parts) - 1}


def _joined(parts: Any) -> Plain:
    """Undo `_parts`. A part is used once and only by an earlier one, so that no cycle can be written."""
    if type(parts) is not list or not parts or not all(type(part) in (dict, list) for part in parts):
        raise Malformed("$deep", "not a list of parts.")
    free = set(range(1, len(parts)))
    for number, part in enumerate(parts):
        todo = [part]
        while todo:
            source = todo.pop()
            for place, item in source.items() if type(source) is dict else enumerate(source):
                if type(item) is dict and len(item) == 1 and "$ref" in item:
                    wanted = item["$ref"]
                    if type(wanted) is not int or wanted <= number or wanted not in free:
                        raise Malformed("$deep", f"part {number} refers to part {wanted!r}.")
                    free.discard(wanted)
                    source[place] = parts[wanted]
                elif type(item) is dict or type(item) is list:
                    todo.append(item)
    if free:
        raise Malformed("$deep", f"part {min(free)} is never used.")
    return cast(Plain, parts[0])
