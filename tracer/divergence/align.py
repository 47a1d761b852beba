"""Which call of one run stands beside which call of another, for a person to look at?

The tape decides nothing. Calls with equal arguments, notation aside, are aligned by rapidfuzz's longest
common subsequence on small numbers; what is left is paired as moved, as the same tool with other arguments,
or stands alone.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ..diff.aligning import align
from .calls import Call
from .fields import field_diffs
from .identity import Roles
from .reason import FieldDiff

SAME, ARGUMENTS, REORDERED, NEW, MISSING = "same", "arguments", "reordered", "new", "missing"
GLYPHS: Final = (SAME, ARGUMENTS, REORDERED, NEW, MISSING)
NEAR: Final = 40
"""Calls of one gap that are tried as partners of one call."""


@dataclass(frozen=True, slots=True)
class TapeRow:
    """Two places of the tapes. `before` and `after` are places in the two lists, None where there is no partner.

    `moved` is by how many places a reordered call came later (negative: earlier).
    """

    glyph: str
    before: int | None
    after: int | None
    tool: str
    kind: str
    moved: int = 0
    fields: tuple[FieldDiff, ...] = ()
    reasons: tuple[int, ...] = ()
    """Places in the comparison's reasons that name the call of this row."""


@dataclass(frozen=True, slots=True)
class Tape:
    """Two aligned runs. `before` and `after` say what the two lists are."""

    before: str
    after: str
    rows: tuple[TapeRow, ...]

    def count(self, glyph: str) -> int:
        """How many rows carry this glyph."""
        return sum(1 for row in self.rows if row.glyph == glyph)


def tape(old: Sequence[Call], new: Sequence[Call], roles: Roles, *, before: str, after: str) -> Tape:
    """Align two runs; the rows follow the new one, with what is missing where it would have been."""
    rows: list[TapeRow] = []
    for block in align([c.shape for c in old], [c.shape for c in new]):
        here = range(block.new_start, block.new_start + block.new_count)
        there = range(block.old_start, block.old_start + block.old_count)
        if block.equal:
            rows += [
                TapeRow(
                    SAME,
                    o,
                    n,
                    new[n].name,
                    new[n].kind,
                    fields=field_diffs(old[o], new[n], roles, every=False),
                )
                for o, n in zip(there, here, strict=True)
            ]
        else:
            rows += _gap(old, new, there, here, roles)
    return Tape(before, after, tuple(_paired(_moved(rows, old, new, roles), old, new, roles)))


def _gap(
    old: Sequence[Call], new: Sequence[Call], there: Iterable[int], here: Iterable[int], roles: Roles
) -> list[TapeRow]:
    waiting: dict[str, deque[int]] = defaultdict(deque)
    for o in there:
        waiting[old[o].tool].append(o)
    rows: list[TapeRow] = []
    for n in here:
        partners = waiting[new[n].tool]
        best = min(list(partners)[:NEAR], key=lambda o: _apart(old[o], new[n]), default=None)
        if best is None or _apart(old[best], new[n]) > 0.75:
            rows.append(TapeRow(NEW, None, n, new[n].name, new[n].kind))
            continue
        partners.remove(best)
        rows.append(
            TapeRow(
                ARGUMENTS, best, n, new[n].name, new[n].kind, fields=field_diffs(old[best], new[n], roles)
            )
        )
    left = sorted(o for partners in waiting.values() for o in partners)
    return [TapeRow(MISSING, o, None, old[o].name, old[o].kind) for o in left] + rows


def _apart(a: Call, b: Call) -> float:
    """Share of the values that differ, 0 to 1."""
    one = {(p, f.norm) for row in a.rows[:50] for p, f in row}
    two = {(p, f.norm) for row in b.rows[:50] for p, f in row}
    return 1.0 - len(one & two) / max(1, len(one | two))


def _moved(rows: list[TapeRow], old: Sequence[Call], new: Sequence[Call], roles: Roles) -> list[TapeRow]:
    """A call that is missing here and new there, with equal arguments, has only moved."""
    gone: dict[str, deque[int]] = defaultdict(deque)
    for place, row in enumerate(rows):
        if row.glyph == MISSING and row.before is not None:
            gone[old[row.before].shape].append(place)
    dropped: set[int] = set()
    for place, row in enumerate(rows):
        if row.glyph == NEW and row.after is not None and gone.get(new[row.after].shape):
            other = gone[new[row.after].shape].popleft()
            before = rows[other].before
            if before is None:
                continue
            rows[place] = replace(
                row,
                glyph=REORDERED,
                before=before,
                moved=row.after - before,
                fields=field_diffs(old[before], new[row.after], roles, every=False),
            )
            dropped.add(other)
    return [row for place, row in enumerate(rows) if place not in dropped]


def _paired(rows: list[TapeRow], old: Sequence[Call], new: Sequence[Call], roles: Roles) -> list[TapeRow]:
    """A write that is missing here and one of the same tool that is new there, for one record, differ in arguments."""
    gone: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        if row.glyph == MISSING and row.before is not None and row.kind == "write":
            for mark in _marks(old[row.before]):
                gone[mark].append(place)
    dropped: set[int] = set()
    for place, row in enumerate(rows):
        if row.glyph != NEW or row.after is None or row.kind != "write":
            continue
        call = new[row.after]
        some = [p for mark in _marks(call) if mark in gone for p in gone[mark][:NEAR] if p not in dropped]
        best = min(set(some), key=lambda p: (_apart(old[rows[p].before or 0], call), p), default=None)
        before = rows[best].before if best is not None else None
        if best is None or before is None or _apart(old[before], call) > 0.75:
            continue
        rows[place] = replace(
            row, glyph=ARGUMENTS, before=before, fields=field_diffs(old[before], call, roles)
        )
        dropped.add(best)
    return [row for place, row in enumerate(rows) if place not in dropped]


def _marks(call: Call) -> set[tuple[str, str]]:
    return {(call.tool, f.norm) for row in call.rows[:50] for _, f in row if f.hard}
