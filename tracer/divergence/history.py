"""What has this run done to this record before, and does a call take it back?"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Final

from .calls import Call, token
from .leaf import Leaf, numbers_in
from .nearest import differences
from .reading import Reading, Row
from .reason import Finding, say, shown
from .sameness import wording
from .undo import takes_back, takes_back_born

RECENT: Final = 8
"""Earlier writes on one record that a call may take back."""


@dataclass(frozen=True, slots=True)
class Done:
    """An effect of the run so far: the thing that it has to do with, and what was said of it."""

    row: Row
    thing: int
    findings: list[Finding]


@dataclass(frozen=True, slots=True)
class TakenBack:
    """Effects that an effect undoes, and the finding about it."""

    done: list[Done]
    finding: Finding


@dataclass(slots=True)
class History:
    """The effects of the run so far, by what they name."""

    recent: dict[str, list[Done]] = field(default_factory=lambda: defaultdict(list))
    made: dict[int, list[Done]] = field(default_factory=dict)
    """All rows of the last call that had an effect, to find what handed out an identifier."""
    undone: Counter[int] = field(default_factory=Counter)
    _call: Call | None = None
    _rows: list[Done] = field(default_factory=list)

    def remember(self, call: Call, row: Row, thing: int, findings: list[Finding]) -> None:
        """Note an effect; its findings fall when it is taken back."""
        if self._call is not call:
            self._call, self._rows = call, []
        done = Done(row, thing, findings)
        self._rows.append(done)
        self.made[row.effect] = self._rows
        for _, found in row.fields:
            name = handle(found)
            if name:
                kept = self.recent[name]
                kept.append(done)
                if len(kept) > RECENT:
                    del kept[0]

    def take_back(self, call: Call, row: Row, reading: Reading) -> TakenBack | None:
        """What an effect undoes, and what there is to say of it; None if it undoes nothing."""
        for path, found in row.fields:
            for done in self._undone_by(row, found, reading):
                first = done[0].row
                times = self.undone[first.effect] + 1
                what = f"{call.name} takes back {first.tool} on {shown(found)} ({call.path(path)})"
                code, strength, said = (
                    ("write.oscillates", 0.85, f"{what}, for the {times}th time.")
                    if times > 1
                    else ("write.undone", 0.12, f"{what}.")
                )
                return TakenBack(done, say(code, strength, said, call, "this run before"))
        return None

    def said_before(self, row: Row) -> bool:
        """Was this message sent before in the same words?"""
        said = [f for _, f in row.beside if f.kind == "text"]
        for _, found in row.fields:
            for earlier in self.recent.get(handle(found), []):
                if earlier.row.effect == row.effect:
                    theirs = [f for _, f in earlier.row.beside if f.kind == "text"]
                    if any(_same_message(a, b) for a in said for b in theirs):
                        return True
        return False

    def _undone_by(self, row: Row, found: Leaf, reading: Reading) -> list[list[Done]]:
        """Candidates, latest first: all rows of what handed out this identifier, or one row on the same record."""
        if found.kind == "born":
            maker = self.made.get(int(found.norm.rpartition("/")[2]), [])
            some = [done for done in maker if reading.counts[done.row.effect] > 0]
            undoes = some and (takes_back_born(row.tool) or takes_back(row.tool, some[0].row.tool))
            return [some] if undoes else []
        name = handle(found)
        return [
            [done]
            for done in (self.recent.get(name, [])[::-1] if name else [])
            if done.row.effect != row.effect
            and reading.counts[done.row.effect] > 0
            and (
                (
                    takes_back(row.tool, done.row.tool)
                    and not any(d.before and d.after for d in differences(done.row.fields, row.fields)[0])
                )
                or _negates(done.row, row)
            )
        ]


def handle(found: Leaf) -> str:
    """By what an effect is remembered; "" for a value that many share."""
    if found.kind == "born" or (found.kind == "word" and len(found.norm) >= 3):
        return found.norm
    return token(found) if found.hard else ""


def _negates(earlier: Row, later: Row) -> bool:
    """Is one the other but for the sign of its amounts?"""
    if earlier.group is None or earlier.tool != later.tool or earlier.amounts.keys() != later.amounts.keys():
        return False
    turned = [p for p, v in later.amounts.items() if v and v == -earlier.amounts[p]]
    same = all(v == earlier.amounts[p] for p, v in later.amounts.items() if p not in turned)
    return bool(turned) and same and earlier.group == later.group


def _same_message(a: Leaf, b: Leaf) -> bool:
    return numbers_in(a.words) == numbers_in(b.words) and wording(a, b) >= 0.9
