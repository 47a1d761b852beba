"""What is different between two values, path by path?

Pure and structural. Lists are aligned by identity where their members carry one, else by content, so that
an insertion is one entry and not a rewrite of everything behind it. Work grows with the size of the two
values, never with its square: equal subtrees are recognised by digest, ends that match are cut off, and what
lies between is aligned in bit-parallel blocks of bounded size.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .aligning import Block, align
from .digests import Digests
from .wording import alike

Path = tuple[str | int, ...]
"""Keys and places from the root. A place in a list counts in the new value, unless the entry was removed."""


class _Absent(enum.Enum):
    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent.ABSENT
"""There is no value on this side: not null, not empty."""


class Op(enum.StrEnum):
    """What became of one path."""

    ADDED = "+"
    REMOVED = "−"
    CHANGED = "~"
    MOVED = "⇄"
    """The same member of a list, in another order. Changes inside it are entries of their own."""
    SAME = "="
    """A run of members that did not change; only inside lists, so that a view can fold it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What became of one path, or of one run of unchanged list members."""

    path: Path
    op: Op
    old: Any = ABSENT
    """The whole value removed or changed; `ABSENT` for added ones and for runs."""
    new: Any = ABSENT
    old_place: int | None = None
    """For members of lists: the place in the old list, from 0."""
    new_place: int | None = None
    count: int = 1
    """Members in a run of `SAME`; 1 otherwise."""


@dataclass(frozen=True, slots=True)
class ListNote:
    """How one list was aligned."""

    by: str
    """The key that identified its members, or `content`."""
    old_count: int
    new_count: int


@dataclass(frozen=True, slots=True)
class Ignore:
    """What is not looked at. Hidden differences are counted, never silently dropped."""

    keys: frozenset[str] = frozenset()
    """Keys of mappings, wherever they stand."""
    paths: tuple[Path, ...] = ()
    """Whole subtrees, by exact path."""


NOTHING: Final = Ignore()
TIMESTAMPS: Final = frozenset(
    {"created_at", "updated_at", "timestamp", "read_at", "at", "at_ns", "created", "time"}
)
IDS: Final = frozenset(
    {"id", "message_id", "tool_call_id", "call_id", "run_id", "span_id", "trace_id", "uuid"}
)
IDENTITY_KEYS: Final = ("id", "call_id", "tool_call_id", "key", "uuid", "source", "path", "name")
"""Keys that may identify a member of a list, the most telling first."""


@dataclass(frozen=True, slots=True)
class Diff:
    """All that differs, in document order."""

    entries: tuple[Entry, ...]
    lists: Mapping[Path, ListNote] = field(default_factory=dict)
    """Every list that was looked into."""
    ignored: int = 0
    """Differences hidden by the ignore rules."""
    skipped: int = 0
    """Subtrees that were equal and therefore not looked into."""

    @property
    def changes(self) -> tuple[Entry, ...]:
        """The entries that are differences: everything but runs of `SAME`."""
        return tuple(entry for entry in self.entries if entry.op is not Op.SAME)

    def under(self, path: Path) -> tuple[Entry, ...]:
        """The entries at and below *path*, runs included."""
        return tuple(entry for entry in self.entries if entry.path[: len(path)] == path)


@dataclass(slots=True)
class _Pair:
    path: Path
    old: Any
    new: Any
    old_place: int | None = None
    new_place: int | None = None


@dataclass(slots=True)
class _Work:
    ignore: Ignore
    digests: Digests
    raw: Digests
    entries: list[Entry] = field(default_factory=list)
    lists: dict[Path, ListNote] = field(default_factory=dict)
    ignored: int = 0
    skipped: int = 0


def diff(old: Any, new: Any, *, ignore: Ignore = NOTHING) -> Diff:
    """Compare two values made of mappings, lists and leaves.

    Anything that is not a mapping, list or tuple is a leaf; leaves are equal when type and content are (`1`,
    `1.0` and `True` differ, NaN equals NaN). Depth is bounded by memory, not by the interpreter's stack. The
    inputs are not copied: entries hold references to their parts.
    """
    work = _Work(ignore, Digests(ignore.keys), Digests())
    stack: list[_Pair | Entry] = [_Pair((), old, new)]
    while stack:
        item = stack.pop()
        if isinstance(item, Entry):
            work.entries.append(item)
        else:
            stack.extend(reversed(_step(work, item)))
    return Diff(tuple(work.entries), work.lists, work.ignored, work.skipped)


def _step(work: _Work, pair: _Pair) -> list[_Pair | Entry]:
    """What to look at next for this pair, in document order."""
    if pair.path in work.ignore.paths:
        work.ignored += not work.raw.equal(pair.old, pair.new)
        return []
    if work.digests.equal(pair.old, pair.new):
        hidden = bool(work.ignore.keys) and not work.raw.equal(pair.old, pair.new)
        if not hidden:
            work.skipped += isinstance(pair.old, Mapping | list | tuple)
            return []
    if isinstance(pair.old, Mapping) and isinstance(pair.new, Mapping):
        return list(_mappings(work, pair))
    if _is_list(pair.old) and _is_list(pair.new) and type(pair.old) is type(pair.new):
        return list(_lists(work, pair))
    return [Entry(pair.path, Op.CHANGED, pair.old, pair.new, pair.old_place, pair.new_place)]


def _mappings(work: _Work, pair: _Pair) -> Iterator[_Pair | Entry]:
    for key in (*pair.old, *(k for k in pair.new if k not in pair.old)):
        before, after = pair.old.get(key, ABSENT), pair.new.get(key, ABSENT)
        path = (*pair.path, key)
        if key in work.ignore.keys or path in work.ignore.paths:
            work.ignored += before is ABSENT or after is ABSENT or not work.raw.equal(before, after)
        elif before is ABSENT:
            yield Entry(path, Op.ADDED, new=after)
        elif after is ABSENT:
            yield Entry(path, Op.REMOVED, before)
        else:
            yield _Pair(path, before, after)


def _lists(work: _Work, pair: _Pair) -> Iterator[_Pair | Entry]:
    key = _identity(pair.old, pair.new)
    work.lists[pair.path] = ListNote(key or "content", len(pair.old), len(pair.new))
    for block in align(_marks(work, pair.old, key), _marks(work, pair.new, key), by_identity=key is not None):
        yield from _block(work, pair, block, key)


def _block(work: _Work, pair: _Pair, block: Block, key: str | None) -> Iterator[_Pair | Entry]:
    """The members that one block of an alignment speaks of."""
    if block.moved_from is not None:
        before, after = pair.old[block.moved_from], pair.new[block.new_start]
        path = (*pair.path, block.new_start)
        yield Entry(path, Op.MOVED, before, after, block.moved_from, block.new_start)
        if not work.digests.equal(before, after):
            yield _Pair(path, before, after, block.moved_from, block.new_start)
        return
    if block.equal and key is None and not work.ignore.keys:
        yield _run(pair.path, block.old_start, block.new_start, block.new_count)
        return
    if block.equal:
        yield from _members(work, pair, block)
        return
    rewritten = _rewritten(pair, block) if key is None else 0
    for n in range(rewritten):
        places = (block.old_start + n, block.new_start + n)
        yield _Pair((*pair.path, places[1]), pair.old[places[0]], pair.new[places[1]], *places)
    for place in range(block.old_start + rewritten, block.old_start + block.old_count):
        yield Entry((*pair.path, place), Op.REMOVED, pair.old[place], old_place=place)
    for place in range(block.new_start + rewritten, block.new_start + block.new_count):
        yield Entry((*pair.path, place), Op.ADDED, new=pair.new[place], new_place=place)


def _members(work: _Work, pair: _Pair, block: Block) -> Iterator[_Pair | Entry]:
    """Pairs one to one; runs of equal ones become one entry."""
    start = 0
    for n in range(block.old_count):
        before, after = pair.old[block.old_start + n], pair.new[block.new_start + n]
        if work.raw.equal(before, after):
            continue
        if n > start:
            yield _run(pair.path, block.old_start + start, block.new_start + start, n - start)
        places = (block.old_start + n, block.new_start + n)
        yield _Pair((*pair.path, places[1]), before, after, *places)
        start = n + 1
    if block.old_count > start:
        yield _run(pair.path, block.old_start + start, block.new_start + start, block.old_count - start)


def _rewritten(pair: _Pair, block: Block) -> int:
    """How many members at the head of a replaced stretch are the old ones, written anew."""
    sides = zip(pair.old[block.old_start :], pair.new[block.new_start :], strict=False)
    for n, (before, after) in enumerate(sides):
        if n == min(block.old_count, block.new_count) or not alike(before, after):
            return n
    return min(block.old_count, block.new_count)


def _run(path: Path, old_place: int, new_place: int, count: int) -> Entry:
    return Entry((*path, new_place), Op.SAME, old_place=old_place, new_place=new_place, count=count)


def _identity(old: Sequence[Any], new: Sequence[Any]) -> str | None:
    """The key whose text or number tells every member of either list from the others."""
    if not old or not new or not all(isinstance(member, Mapping) for member in (*old, *new)):
        return None
    for key in IDENTITY_KEYS:
        if all(len({_mark(m, key) for m in side} - {None}) == len(side) for side in (old, new)):
            return key
    return None


def _mark(member: Mapping[str, Any], key: str) -> str | int | None:
    value = member.get(key)
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def _marks(work: _Work, side: Sequence[Any], key: str | None) -> list[Any]:
    if key is not None:
        return [_mark(member, key) for member in side]
    return [work.digests.of(member) for member in side]


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)
