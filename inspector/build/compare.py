"""What differs between two stored states, without opening what digests prove equal?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from inspector.stored import Stored
from tracer.diff import ABSENT, Diff, Entry, Ignore, ListNote, Op, diff
from tracer.seal import mask_plain
from tracer.tree import is_ref


@dataclass(frozen=True, slots=True)
class Part:
    """One top field of two states."""

    path: str
    found: Diff
    old_count: int
    new_count: int
    """Members, where the field is a list; else 0."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Two states, field by field."""

    changed: tuple[Part, ...]
    same: tuple[str, ...]
    """Fields that were not opened because their digests agree, or that hold no difference."""
    unread: int
    """Members of lists that were not opened because their digests agree."""
    ignored: int


def compare(
    stored: Stored, old: Mapping[str, Any], new: Mapping[str, Any], ignore: Ignore, prefix: str = ""
) -> Compared:
    """Compare two roots; everything shown is masked, equal secrets stay equal."""
    changed: list[Part] = []
    same: list[str] = []
    unread = ignored = 0
    for name in (*old, *(key for key in new if key not in old)):
        before, after = old.get(name, ABSENT), new.get(name, ABSENT)
        path = f"{prefix}/{name}"
        if before is not ABSENT and after is not ABSENT and before == after:
            same.append(path)
            continue
        found, skipped, counts = _field(stored, name, before, after, ignore)
        unread += skipped
        ignored += found.ignored
        if found.changes:
            changed.append(Part(path, found, *counts))
        else:
            same.append(path)
    return Compared(tuple(changed), tuple(same), unread, ignored)


def _field(
    stored: Stored, name: str, before: Any, after: Any, ignore: Ignore
) -> tuple[Diff, int, tuple[int, int]]:
    if before is ABSENT:
        return Diff((Entry((name,), Op.ADDED, new=_open(stored, after)),)), 0, (0, 0)
    if after is ABSENT:
        return Diff((Entry((name,), Op.REMOVED, _open(stored, before)),)), 0, (0, 0)
    if _is_list(before) and _is_list(after):
        return _lists(stored, name, before, after, ignore)
    found = diff({name: _open(stored, before)}, {name: _open(stored, after)}, ignore=ignore)
    note = found.lists.get((name,))
    return found, 0, (note.old_count, note.new_count) if note else (0, 0)


def _open(stored: Stored, part: Any) -> Any:
    return mask_plain(stored.value(part))


def _is_list(part: Any) -> bool:
    return is_ref(part) and part.get("k") == "l"


def _lists(
    stored: Stored, name: str, before: Any, after: Any, ignore: Ignore
) -> tuple[Diff, int, tuple[int, int]]:
    """Two long lists: members at both ends whose references agree are equal and stay closed."""
    old, _ = stored.reader.refs(before)
    new, _ = stored.reader.refs(after)
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle = diff(
        {name: _open(stored, old[head : len(old) - tail])},
        {name: _open(stored, new[head : len(new) - tail])},
        ignore=ignore,
    )
    note = middle.lists.get((name,))
    entries: list[Entry] = []
    if head:
        entries.append(Entry((name, 0), Op.SAME, old_place=0, new_place=0, count=head))
    entries += [_moved(entry, head) for entry in middle.entries]
    if tail:
        places = (len(old) - tail, len(new) - tail)
        entries.append(
            Entry((name, places[1]), Op.SAME, old_place=places[0], new_place=places[1], count=tail)
        )
    by = note.by if note else "content"
    lists = {**middle.lists, (name,): ListNote(by, len(old), len(new))}
    return Diff(tuple(entries), lists, middle.ignored, middle.skipped), head + tail, (len(old), len(new))


def _moved(entry: Entry, by: int) -> Entry:
    """The same entry in the whole list."""
    if len(entry.path) < 2 or not isinstance(entry.path[1], int):
        return entry
    path = (entry.path[0], entry.path[1] + by, *entry.path[2:])
    return replace(
        entry,
        path=path,
        old_place=entry.old_place + by if entry.old_place is not None and len(path) == 2 else entry.old_place,
        new_place=entry.new_place + by if entry.new_place is not None and len(path) == 2 else entry.new_place,
    )
