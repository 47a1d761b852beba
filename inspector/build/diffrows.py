"""How does one difference become a row with two cells?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from inspector import plain, text
from inspector.pages.diff import Cell, Fold, Row, Word
from tracer.diff import ABSENT, Entry, Op, words

CELL: Final = 4096
"""Bytes of one cell."""
NESTED: Final = 160
"""Characters of a container inside a record."""
NONE: Final = Cell("none")
_DIGEST: Final = re.compile(r"(?:sha256:)?[0-9a-f]{32,}")
_WHO: Final = ("role", "type", "kind", "name", "tool", "source")
_SAYS: Final = ("content", "text", "message")


def rows(entries: tuple[Entry, ...], depth: int, limit: int) -> Iterator[Row | Fold]:
    """One row per difference, one fold per run of equal members, and at the end what *limit* left out."""
    shown = 0
    changes = [entry for entry in entries if entry.op is not Op.SAME]
    for entry in entries:
        if shown >= limit:
            break
        if entry.op is Op.SAME:
            yield Fold(_unchanged(entry))
            continue
        shown += 1
        yield _row(entry, depth)
    if shown < len(changes):
        yield Fold(f"{shown:,} of {len(changes):,} changes shown")


def _unchanged(entry: Entry) -> str:
    place = (entry.new_place or 0) + 1
    if entry.count == 1:
        return f"1 unchanged member, {place:,}"
    return f"{entry.count:,} unchanged members, {place:,} to {place + entry.count - 1:,}"


def _row(entry: Entry, depth: int) -> Row:
    rest = entry.path[depth:]
    if entry.op is Op.ADDED:
        return Row(NONE, _whole("add", entry, entry.new, rest))
    if entry.op is Op.REMOVED:
        return Row(_whole("del", entry, entry.old, rest), NONE)
    if entry.op is Op.MOVED:
        moved = f"moved from {(entry.old_place or 0) + 1:,} to {(entry.new_place or 0) + 1:,}"
        number = (str((entry.old_place or 0) + 1), str((entry.new_place or 0) + 1))
        who, said = _said(entry.new)
        cells = [Cell("", n, who, (Word("=", said),)) for n in number]
        return Row(cells[0], cells[1], moved)
    return _changed(entry, rest)


def _changed(entry: Entry, rest: tuple[str | int, ...]) -> Row:
    number, who = _where(rest, entry)
    old, new = entry.old, entry.new
    a, note_a = text.clip(old if isinstance(old, str) else _text(old), CELL)
    b, note_b = text.clip(new if isinstance(new, str) else _text(new), CELL)
    if isinstance(old, str) and isinstance(new, str):
        found = words(a, b)
        left = tuple(Word(w.op, w.text) for w in found if w.op != "+")
        right = tuple(Word(w.op, w.text) for w in found if w.op != "−")
    else:
        left, right = (Word("−", a),), (Word("+", b),)
    return Row(Cell("del", number, who, left, note_a), Cell("add", number, who, right, note_b))


def _whole(kind: str, entry: Entry, value: Any, rest: tuple[str | int, ...]) -> Cell:
    number, where = _where(rest, entry)
    who, said = _said(value)
    shown, note = text.clip(said, CELL)
    head = " · ".join(filter(None, (where, who)))
    return Cell("add" if kind == "add" else "del", number, head, (Word("=", shown),), note)


def _where(rest: tuple[str | int, ...], entry: Entry) -> tuple[str, str]:
    """(number of the member, path below it)."""
    if rest and isinstance(rest[0], int):
        place = entry.old_place if entry.op is Op.REMOVED and entry.old_place is not None else rest[0]
        return str(place + 1), ".".join(map(str, rest[1:]))
    return "", ".".join(map(str, rest))


def _said(value: Any) -> tuple[str, str]:
    """(who speaks, what is said): messages read as messages, everything else as what it is."""
    if isinstance(value, Mapping):
        who = next((str(value[key]) for key in _WHO if isinstance(value.get(key), str)), "")
        says = next((value[key] for key in _SAYS if isinstance(value.get(key), str)), None)
        if who and says is not None:
            rest = {k: v for k, v in value.items() if v not in (who, says)}
            return who, says + (f"\n{plain.one_line(rest, 400)}" if rest else "")
        return "", _record(value)
    return "", value if isinstance(value, str) else _text(value)


def _record(value: Mapping[str, Any]) -> str:
    """A mapping in few lines: its leaves side by side, each container on a line of its own."""
    flat = [
        f"{k} {_brief(v)}" for k, v in value.items() if not isinstance(v, dict | list) and v not in ("", None)
    ]
    nested = [f"{k} {plain.one_line(v, NESTED)}" for k, v in value.items() if isinstance(v, dict | list)]
    return "\n".join(filter(None, (" · ".join(flat), *nested)))


def _brief(value: Any) -> str:
    """A leaf inside a line; long digests show both ends."""
    shown = plain.one_line(value, 400)
    return text.short(shown, 14, 6) if _DIGEST.fullmatch(shown) else shown


def _text(value: Any) -> str:
    return (
        ""
        if value is ABSENT
        else plain.pretty(value)
        if isinstance(value, dict | list)
        else plain.one_line(value, CELL)
    )
