"""Which effect of the baselines did this call mean to have?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from .calls import Call
from .effects import is_amount
from .index import Index, posted
from .leaf import Leaf, looks_like
from .reason import FieldDiff, shown
from .rows import Fields
from .sameness import agree, wording
from .things import DID, Net
from .undo import opposed
from .verbs import akin, nouns_of, verbs_of

CANDIDATES: Final = 32
"""Baseline effects that one call is compared with, rarest shared value first."""

STRENGTH: Final = {
    "id": 0.9,
    "number": 0.85,
    "date": 0.8,
    "word": 0.75,
    "flag": 0.7,
    "text": 0.2,
    "born": 0.6,
}
"""How much a difference in one kind of value says."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Two values of one argument that do not mean the same; one of them may be missing."""

    path: str
    before: Leaf | None
    after: Leaf | None

    @property
    def strength(self) -> float:
        """How much this difference alone says about another effect."""
        if self.before is None and self.path.startswith(DID):
            return 0.75  # A step that no baseline takes with such a thing.
        if self.before is None or self.after is None:
            present = self.after or self.before
            return {"id": 0.35, "number": 0.25, "date": 0.25}.get(present.kind if present else "", 0.12)
        kinds = {self.before.kind, self.after.kind}
        if kinds <= {"text", "word", "id"} and "text" in kinds:
            # Like words around other digits name another thing; other words are another wording.
            alike = wording(self.before, self.after) >= 0.6 and len(self.before.words) <= 8
            return 0.8 if alike else STRENGTH["text"]
        return max(STRENGTH.get(k, 0.5) for k in kinds)

    @property
    def lookalike(self) -> bool:
        """Would a person read both as the same?"""
        return self.before is not None and self.after is not None and looks_like(self.before, self.after)

    @property
    def amount(self) -> bool:
        """Is this a difference between two amounts?"""
        return bool(
            self.before
            and self.after
            and is_amount(self.path, self.before)
            and is_amount(self.path, self.after)
        )


@dataclass(frozen=True, slots=True)
class Match:
    """The nearest baseline effect and how it differs."""

    effect: int
    differences: tuple[Difference, ...]
    shared: int
    cost: float = 0.0


def differences(before: Fields, after: Fields) -> tuple[list[Difference], int]:
    """(differences by path, number of hard values that agree) of two effects of one tool."""
    out: list[Difference] = []
    shared = 0
    mine: dict[str, list[Leaf]] = {}
    for path, found in after:
        mine.setdefault(path, []).append(found)
    for path, found in before:
        there = mine.get(path, [])
        hit = next((n for n, other in enumerate(there[:50]) if agree(found, other)), None)
        if hit is not None:
            there.pop(hit)
            shared += found.hard
        elif there:
            out.append(Difference(path, found, there.pop(0)))
        else:
            out.append(Difference(path, found, None))
    out += [Difference(path, None, found) for path, rest in mine.items() for found in rest]
    return out, shared


def telling(match: Match) -> bool:
    """Does a thing differ from what it is nearest to in anything that matters?"""
    lacking = [d for d in match.differences if d.after is None and d.before is not None and posted(d.before)]
    given = [d for d in match.differences if d.before is None and d.after is not None and posted(d.after)]
    if any(d.path.startswith(DID) for d in (*lacking, *given)):
        return True
    # One may say more than the other; when each says what the other does not, they say different things.
    if any(d.before and d.before.kind != "flag" for d in lacking) and any(
        d.after and d.after.kind != "flag" for d in given
    ):
        return True
    return any(d.strength >= 0.3 for d in match.differences if d.before is not None and d.after is not None)


def nearest(net: Net, index: Index, open_: Callable[[int], bool]) -> Match | None:
    """The baseline effect of the same tool that is nearest and still open; None where none is near."""
    keys = [(net.tool, p, posted(f)) for p, f in net.fields if posted(f)]
    postings = [index.by_field[key] for key in keys if key in index.by_field]
    postings.sort(key=len)
    if (net.tool, "", "") in index.by_field:
        postings.append(index.by_field[net.tool, "", ""])
    best: tuple[float, Match] | None = None
    seen: set[int] = set()
    for posting in postings:
        for effect in posting:
            if effect in seen:
                continue
            if len(seen) >= CANDIDATES:
                return best[1] if best else None
            seen.add(effect)
            if not open_(effect):
                continue
            found, shared = differences(index.effects.effects[effect].fields, net.fields)
            apart = sum(
                1
                for d in found
                if d.before is not None and d.after is not None and (d.before.hard or d.after.hard)
            )
            changed = sum(1 for d in found if d.before is not None and d.after is not None)
            alike = len(net.fields) - sum(1 for d in found if d.after is not None)
            if (
                (apart and shared < 1 and alike < 1)
                or apart > shared + 1
                or changed > max(alike, 1 if len(net.fields) == 1 else 0)
            ):
                continue
            given, lacking = (
                sum(1 for d in found if d.before is None),
                sum(1 for d in found if d.after is None),
            )
            cost = sum(d.strength for d in found) - 0.01 * shared + 0.7 * min(given, lacking)
            match = Match(effect, tuple(found), shared, cost)
            if best is None or cost < best[0] or (cost == best[0] and _first(match, best[1], index)):
                best = (cost, match)
    return best[1] if best else None


def equivalent(net: Net, index: Index, open_: Callable[[int], bool]) -> Match | None:
    """The open baseline effect of another tool, or under other names, that says the same; None where none does.

    Both have the same values, none of either contradicts the other, and their verbs may mean the same.
    """
    mine = [f for _, f in net.fields if posted(f)]
    best: tuple[int, Match] | None = None
    seen: set[int] = set()
    for value in sorted({posted(f) for f in mine}, key=lambda v: len(index.by_value.get(v, ()))):
        for effect in index.by_value.get(value, [])[:CANDIDATES]:
            if effect in seen or len(seen) >= CANDIDATES:
                continue
            seen.add(effect)
            known = index.effects.effects[effect]
            if known.tool == net.tool or not open_(effect):
                continue
            theirs, ours = verbs_of(known.tool, known.fields), verbs_of(net.tool, net.fields)
            if not akin(theirs, ours) or opposed(known.tool, net.tool) or _contrary(known.fields, net.fields):
                continue
            about, ours_about = nouns_of(known.tool), nouns_of(net.tool)
            related = bool(
                about & ours_about
                or (
                    about & {path for path, _ in net.fields}
                    and ours_about & {path for path, _ in known.fields}
                )
            )
            rest = list(mine)
            shared = lacking = 0
            for _, found in known.fields:
                if not posted(found) or found.kind == "flag":
                    continue
                hit = next((n for n, other in enumerate(rest) if agree(found, other)), None)
                if hit is None:
                    lacking += 1
                else:
                    rest.pop(hit)
                    shared += 2 if found.hard else 1
            beyond = sum(1 for f in rest if f.kind != "flag")
            # Names that tell nothing of what is done leave it to the values.
            if not related and (shared < 5 or lacking or beyond):
                continue
            if (
                shared < (2 if theirs and ours else 4)
                or (lacking and beyond)
                or lacking > shared
                or beyond > shared
            ):
                continue
            match, fit = Match(effect, (), shared, 0.2), shared - lacking - beyond
            if best is None or fit > best[0] or (fit == best[0] and _first(match, best[1], index)):
                best = (fit, match)
    return best[1] if best else None


def _contrary(one: Fields, two: Fields) -> bool:
    """Do two things say different values under one name?"""
    mine: dict[str, list[Leaf]] = {}
    for path, found in one:
        mine.setdefault(path, []).append(found)
    return any(
        path in mine and not any(agree(found, other) for other in mine[path])
        for path, found in two
        if found.kind != "text"
    )


def _first(one: Match, two: Match, index: Index) -> bool:
    """Which of two that fit equally well is taken must not hang on the order in which they came."""
    return text_of(index.effects.effects[one.effect].fields) < text_of(
        index.effects.effects[two.effect].fields
    )


def text_of(fields: Fields) -> tuple[tuple[str, str], ...]:
    """Fields by which things can be put in an order of their own."""
    return tuple((path, found.norm) for path, found in fields)


def as_fields(call: Call, found: tuple[Difference, ...]) -> tuple[FieldDiff, ...]:
    """The differences for people."""
    return tuple(
        FieldDiff(
            call.path(d.path),
            "changed" if d.before and d.after else "added" if d.after else "removed",
            shown(d.before) if d.before else "",
            shown(d.after) if d.after else "",
            d.strength >= 0.5,
        )
        for d in found[:40]
    )
