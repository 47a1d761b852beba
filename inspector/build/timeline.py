"""What is drawn for a run: its segments with their steps, calls, waits and ends?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inspector.build.context import Context, run_href
from inspector.pages.figure import Mark, Segment, Step, Timeline, Wait
from tracer.lease import Owner
from tracer.store import read
from tracer.store.rows import CallRow, EntryRow, RunRow, SegmentRow


@dataclass(frozen=True, slots=True)
class Resumed:
    """What the resume log says of a segment that went on."""

    who: str
    ruling: str


def timeline(
    context: Context,
    row: RunRow,
    segments: Sequence[SegmentRow],
    checkpoints: Sequence[EntryRow],
    calls: Sequence[CallRow],
    resumed: dict[int, Resumed],
    *,
    selected: int,
    window: tuple[int, int] | None = None,
) -> Timeline:
    """The facts of a figure; *window* keeps the checkpoints from its first to its last."""
    steps: dict[int, list[Step]] = defaultdict(list)
    for entry in checkpoints:
        step = Step(entry.sequence or 0, entry.subject, entry.mark, entry.at, bool(entry.changed))
        steps[entry.segment].append(step)
    marks: dict[int, list[Mark]] = defaultdict(list)
    for call in calls:
        marks[call.segment].append(_mark(call))
    lives = [
        _segment(context, row, segment, steps[segment.segment], marks[segment.segment], resumed, after)
        for segment, after in zip(segments, (*segments[1:], None), strict=True)
    ]
    first, last = window or (0, 0)
    if window:
        lives = [life for life in (_cut(life, first, last) for life in lives) if life.steps]
    return Timeline(row.run_id, run_href(row.run_id), context.now_ns, tuple(lives), selected, first, last)


def _mark(call: CallRow) -> Mark:
    start = call.sent_at or call.planned_at
    flags = tuple(call.flags.split())
    return Mark(
        call_id=call.effect_id,
        number=call.number,
        tool=call.tool,
        kind="write" if call.kind == "handoff" else call.kind,
        state=call.state,
        after_sequence=call.after_sequence,
        start_ns=min(start, call.planned_at) if call.attempts > 1 else start,
        end_ns=call.ended_at or start,
        target=call.target,
        flags=flags,
    )


def _segment(
    context: Context,
    row: RunRow,
    segment: SegmentRow,
    steps: list[Step],
    marks: list[Mark],
    resumed: dict[int, Resumed],
    after: SegmentRow | None,
) -> Segment:
    outcome = segment.outcome or context.source.standing(row)
    ended = segment.ended_at or (context.now_ns if outcome == "running" else last_sign(row, segment))
    ended = max(
        [
            ended,
            *(step.at_ns for step in steps[-1:]),
            *(m.start_ns for m in marks[-1:] if outcome in ("interrupted", "lost")),
        ]
    )
    waits: tuple[Wait, ...] = ()
    if outcome == "paused" and steps:
        until = after.started_at if after else context.now_ns
        waits = (
            Wait(steps[-1].sequence, ended, max(ended, until), _wait_word(steps[-1]), after is not None),
        )
    said = resumed.get(segment.segment)
    return Segment(
        index=segment.segment,
        epoch=segment.epoch,
        where=f"{segment.host} pid {segment.pid}",
        started_ns=segment.started_at,
        ended_ns=max(ended, segment.started_at),
        outcome=outcome,
        from_sequence=segment.from_sequence,
        who=said.who if said else "",
        verdict=said.ruling if said else "",
        steps=tuple(steps),
        marks=tuple(marks),
        waits=waits,
    )


def _wait_word(step: Step) -> str:
    return step.name or "a pause"


def last_sign(row: RunRow, segment: SegmentRow, calls: Sequence[CallRow] = ()) -> int:
    """The last sign of life of a segment without an end: a heartbeat under its epoch, a checkpoint, a call."""
    beat = row.beat_at if row.epoch == segment.epoch else 0
    times = [
        ns for call in calls if call.segment == segment.segment for ns in (call.planned_at, call.sent_at or 0)
    ]
    return max(segment.started_at, beat, row.checkpoint_at, *times, 0)


def _cut(life: Segment, first: int, last: int) -> Segment:
    steps = tuple(step for step in life.steps if first <= step.sequence <= last)
    whole = bool(steps) and steps[-1] is life.steps[-1]
    marks = tuple(
        mark
        for mark in life.marks
        if first - 1 <= mark.after_sequence < last or (whole and mark.after_sequence == last)
    )
    waits = tuple(wait for wait in life.waits if first <= wait.after_sequence <= last)
    values = {name: getattr(life, name) for name in life.__dataclass_fields__}
    outcome = life.outcome if whole else "continues"
    return Segment(**{**values, "steps": steps, "marks": marks, "waits": waits, "outcome": outcome})


def resumed_by(context: Context, row: RunRow) -> dict[int, Resumed]:
    """Segment -> who opened it and what the gate said, from the resume log."""
    entries = read.entries(context.connection, row.run_id, row.branch, kinds=("resume",))
    return {entry.segment: Resumed(entry.subject, entry.mark) for entry in entries}


def owner_name(owner: str | None) -> str:
    """An owner for people; the raw text where it is not one of ours."""
    if not owner:
        return "nobody"
    try:
        return Owner.parse(owner).name
    except ValueError:
        return owner


def plain_list(value: Any) -> list[Any]:
    """A list, or nothing."""
    return value if isinstance(value, list) else []
