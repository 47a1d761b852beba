"""Which calls stand beside each other, and how do they differ?

Both runs are aligned by tool and digest of arguments, without opening a value, however long they are. Values are
opened for one window of pairs, which the engine's own tape then lays out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from inspector import plain, text, words
from inspector.build.context import Context, run_href
from inspector.pages.diff import Word
from inspector.pages.shared import Link, Pill, Shown
from inspector.pages.tape import CallCell, FieldRow, Mark, Pair, TapePart
from tracer.course import Made, records
from tracer.diff import words as word_diff
from tracer.diff.aligning import align
from tracer.divergence import ALARM, canonical, tape
from tracer.divergence.align import ARGUMENTS, GLYPHS, MISSING, NEW, REORDERED, SAME, TapeRow
from tracer.divergence.fields import field_diffs
from tracer.divergence.identity import Roles, declare
from tracer.divergence.reason import FieldDiff

WINDOW: Final = 48
"""Slots that are opened and shown at once."""
HINT: Final = 44
_PILLS: Final = {SAME: "same", ARGUMENTS: "arguments", REORDERED: "reordered", NEW: "new", MISSING: "missing"}
_COUNTED: Final = {ARGUMENTS: "with other arguments"}
_KINDS: Final = {
    "equal": ("same", "equal"),
    "notation": ("same", "notation"),
    "ignored": ("same", "ignored"),
    "changed": ("changed", "changed"),
    "order": ("reordered", "order"),
    "added": ("new", "added"),
    "removed": ("missing", "left out"),
}
_EQUAL: Final = ("equal", "notation", "ignored")


@dataclass(frozen=True, slots=True)
class Lane:
    """One side: whose calls, and in words what they are."""

    name: str
    note: str
    made: tuple[Made, ...]


@dataclass(frozen=True, slots=True)
class Slot:
    """A place of the whole alignment: where it lies in the two lists."""

    before: int | None
    after: int | None
    equal: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for."""

    pair: str = ""
    start: int = -1
    """First slot of the window; −1: around the pair, or around the first reason."""
    here: Callable[..., str] = lambda **_more: ""
    """Address of this page with other values."""


@dataclass(frozen=True, slots=True)
class Named:
    """A reason that names a call, and how its arguments differ from those it was judged by."""

    mark: Mark
    fields: tuple[FieldDiff, ...]


def slots(before: Sequence[Made], after: Sequence[Made]) -> list[Slot]:
    """The whole alignment. Where the sides differ their calls take turns, so that a window holds both."""
    out: list[Slot] = []
    for block in align([one.key for one in before], [one.key for one in after]):
        for n in range(max(block.old_count, block.new_count)):
            old = block.old_start + n if n < block.old_count else None
            new = block.new_start + n if n < block.new_count else None
            out.append(Slot(old, new, block.equal))
    return out


def distance(found: Sequence[Slot]) -> int:
    """How many places differ: the nearest of several runs has the fewest."""
    return sum(not slot.equal for slot in found)


def key_of(made: Made, side: str) -> str:
    """How an address names a call of a side."""
    return f"{side}{made.row.number}"


def lay(
    context: Context,
    before: Lane,
    after: Lane,
    reasons: Mapping[int, Sequence[Named]],
    identity: Mapping[str, Sequence[str]],
    asked: Asked,
    choices: tuple[Link, ...],
) -> TapePart | None:
    """A window of both lanes; *reasons* are by the number of the call after that they name."""
    whole = slots(before.made, after.made)
    if not whole:
        return None
    chosen = _chosen(whole, before, after, reasons, asked.pair)
    start = asked.start if 0 <= asked.start < len(whole) else max(0, chosen - WINDOW // 4)
    if len(whole) <= WINDOW:
        start = 0
    shown = whole[start : start + WINDOW]
    olds = [slot.before for slot in shown if slot.before is not None]
    news = [slot.after for slot in shown if slot.after is not None]
    old, new = [before.made[n] for n in olds], [after.made[n] for n in news]
    rows = _rows(context, old, new, reasons, identity)
    selected = asked.pair or _key(whole[chosen], before, after)
    pairs = tuple(_pair(row, old, new, before, reasons, identity, selected, asked) for row in rows)
    return TapePart(
        before=before.name,
        before_note=before.note,
        after=after.name,
        after_note=after.note,
        pairs=pairs,
        shown=_shown(whole, start, len(shown), asked),
        counts=_counts(rows),
        choices=choices,
        next=_next(whole, start + len(shown), asked),
        glyphs=_glyphs([*old, *new]),
    )


def _chosen(
    whole: Sequence[Slot], before: Lane, after: Lane, reasons: Mapping[int, Sequence[Named]], pair: str
) -> int:
    """The slot to look at first: the pair that is asked for, that of the strongest reason, the first difference."""
    strongest = next(iter(reasons), 0)
    wanted = pair or (f"a{strongest}" if strongest else "")
    for place, slot in enumerate(whole):
        if wanted and wanted in (_side(slot.after, after, "a"), _side(slot.before, before, "b")):
            return place
    return next((place for place, slot in enumerate(whole) if not slot.equal), 0)


def _side(place: int | None, lane: Lane, side: str) -> str:
    return "" if place is None else key_of(lane.made[place], side)


def _key(slot: Slot, before: Lane, after: Lane) -> str:
    return _side(slot.after, after, "a") or _side(slot.before, before, "b")


def _rows(
    context: Context,
    old: list[Made],
    new: list[Made],
    reasons: Mapping[int, Sequence[Named]],
    identity: Mapping[str, Sequence[str]],
) -> list[TapeRow]:
    tree = context.source.tree(context.connection)
    one, other = (
        [canonical(record, n) for n, record in enumerate(records(context.connection, tree, made))]
        for made in (old, new)
    )
    roles = Roles(declared=declare(identity))
    rows = list(tape(one, other, roles, before="", after="").rows)
    # What a reason judged by a partner stands beside it, however little else the two have in common.
    for place, row in enumerate(rows):
        if row.glyph != NEW or row.after is None:
            continue
        if not any(named.fields for named in reasons.get(new[row.after].row.number, ())):
            continue
        near = [n for n, r in enumerate(rows) if r.glyph == MISSING and r.tool == row.tool]
        partner = min(near, key=lambda n: abs(n - place), default=None)
        before = None if partner is None else rows[partner].before
        if partner is not None and before is not None:
            fields = field_diffs(one[before], other[row.after], roles)
            rows[place] = replace(row, glyph=ARGUMENTS, before=before, fields=fields)
            rows[partner] = replace(rows[partner], glyph="")
    return [row for row in rows if row.glyph]


def _pair(
    row: TapeRow,
    old: Sequence[Made],
    new: Sequence[Made],
    before: Lane,
    reasons: Mapping[int, Sequence[Named]],
    identity: Mapping[str, Sequence[str]],
    selected: str,
    asked: Asked,
) -> Pair:
    was = None if row.before is None else old[row.before]
    now = None if row.after is None else new[row.after]
    key = key_of(now, "a") if now is not None else key_of(was, "b") if was is not None else ""
    differing = [diff for diff in row.fields if diff.kind not in _EQUAL]
    hint = ""
    if row.glyph == ARGUMENTS and differing:
        hint = f"{differing[0].path}: {differing[0].before or '–'} → {differing[0].after or '–'}"
    elif row.moved:
        hint = f"by {abs(row.moved)} {'down' if row.moved > 0 else 'up'}"
    elif now is not None and now.replayed:
        hint = "given back, not sent"
    named = reasons.get(now.row.number, ()) if now is not None else ()
    # Without a partner on this tape, the arguments still differ from those that a reason judged them by.
    fields = row.fields or next((one.fields for one in named if one.fields), ())
    return Pair(
        key=key,
        href=asked.here(pair=key),
        before=None if was is None else _cell(was),
        verdict=_verdict(row.glyph),
        hint=plain.masked(text.line(hint, HINT)),
        after=None if now is None else _cell(now),
        marks=tuple(one.mark for one in named),
        fields=tuple(_field(diff, row.tool, identity) for diff in fields),
        counts=_field_counts(fields),
        differs=row.glyph != SAME or any(float(one.mark.strength) >= ALARM for one in named),
        current=selected in (key, "" if was is None else key_of(was, "b")),
    )


def _cell(made: Made) -> CallCell:
    row = made.row
    shown = words.pill("reconciled" if "reconciled" in row.flags.split() else row.state)
    word = "given back from the ledger" if made.replayed else shown.word
    return CallCell(
        tool=row.tool,
        note=text.line(row.target, 48),
        href=run_href(row.run_id, row.branch, f"/calls/{row.number}"),
        glyph=shown.glyph,
        word=word,
        tone=shown.tone,
        write=row.kind in ("write", "handoff"),
        ghost=made.phase == "lost",
    )


def _verdict(glyph: str) -> Pill:
    return words.pill(_PILLS[glyph], "", "plain" if glyph == SAME else "")


def _field(diff: FieldDiff, tool: str, identity: Mapping[str, Sequence[str]]) -> FieldRow:
    state, word = _KINDS.get(diff.kind, ("changed", diff.kind))
    was, now = plain.masked(diff.before), plain.masked(diff.after)
    same = diff.kind == "equal"
    before: tuple[Word, ...] = (Word("=", was),) if was else ()
    after: tuple[Word, ...] = (Word("=", now),) if now else ()
    if diff.kind == "changed":
        found = [Word(part.op, part.text) for part in word_diff(was, now)]
        before = tuple(part for part in found if part.op != "+")
        after = tuple(part for part in found if part.op != "−")
    declared = identity.get(tool)
    says = "yes" if (diff.path in declared if declared is not None else diff.identity) else "no"
    return FieldRow(plain.masked(diff.path), words.pill(state, word, "plain"), before, after, same, says)


def _field_counts(fields: Sequence[FieldDiff]) -> str:
    differ = sum(diff.kind not in (*_EQUAL, "order") for diff in fields)
    order = sum(diff.kind == "order" for diff in fields)
    equal = len(fields) - differ - order
    said = [f"{differ} differ" if differ != 1 else "1 differs"] if differ else []
    said += [f"{order} only in order"] if order else []
    said += [f"{equal} equal"] if equal else []
    return ", ".join(said)


def _shown(whole: Sequence[Slot], start: int, count: int, asked: Asked) -> Shown:
    before = asked.here(start=max(0, start - WINDOW)) if start else ""
    later = asked.here(start=start + count) if start + count < len(whole) else ""
    return Shown(count, len(whole), "places", older=later, newer=before)


def _counts(rows: Sequence[TapeRow]) -> tuple[Pill, ...]:
    found = {glyph: sum(row.glyph == glyph for row in rows) for glyph in GLYPHS}
    return tuple(
        words.pill(_PILLS[glyph], f"{n:,} {_COUNTED.get(glyph, words.STATES[_PILLS[glyph]][1])}", "plain")
        for glyph, n in found.items()
        if n
    )


def _next(whole: Sequence[Slot], after: int, asked: Asked) -> Link | None:
    place = next((n for n in range(after, len(whole)) if not whole[n].equal), None)
    if place is None:
        return None
    return Link(f"Next difference, at {place + 1:,}", asked.here(start=max(0, place - 4)))


def _glyphs(made: Sequence[Made]) -> tuple[Pill, ...]:
    states = dict.fromkeys(one.row.state for one in made)
    return tuple(words.pill(state, "", "plain") for state in states)


def marks_of(reasons: Sequence[Mapping[str, Any]]) -> dict[int, list[Named]]:
    """Stored reasons by the number of the call that they name."""
    out: dict[int, list[Named]] = {}
    for reason in reasons:
        number = int(reason.get("number") or 0)
        if number:
            strength, said = f"{float(reason['strength']):.2f}", text.line(str(reason["sentence"]), 200)
            fields = tuple(FieldDiff(**field) for field in reason.get("fields", ()))
            out.setdefault(number, []).append(Named(Mark(str(reason["code"]), strength, said), fields))
    return out
