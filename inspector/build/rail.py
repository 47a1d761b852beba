"""Which checkpoints stand in the rail, and where was a process torn away?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from inspector import text, words
from inspector.build.context import Context, ref_of, run_href
from inspector.build.timeline import last_sign
from inspector.pages.run import Rail, RailItem, RailSeam
from inspector.pages.shared import Link, Shown
from tracer.store import read
from tracer.store.rows import CallRow, EntryRow, RunRow, SegmentRow

WINDOW: Final = 200
WORTH: Final = ("unknown", "failed", "suspended", "sent", "compensated", "committed")
"""Worst first: the state of writes that marks a checkpoint."""


def rail(
    context: Context, row: RunRow, segments: Sequence[SegmentRow], selected: int, before: int = 0
) -> Rail:
    """A window of checkpoints, newest first; around *selected*, or below *before*."""
    top = before or min(row.head_sequence + 1, max(selected + WINDOW // 2, WINDOW + 1))
    entries = read.checkpoints(
        context.connection, row.run_id, row.branch, before=top, limit=WINDOW, newest_first=True
    )
    low = entries[-1].sequence or 0 if entries else 0
    high = entries[0].sequence or 0 if entries else 0
    calls = _writes(context, row, low, high)
    items: list[RailItem | RailSeam] = []
    by_number = {segment.segment: segment for segment in segments}
    last = segments[-1] if segments else None
    if entries and high == row.head_sequence and last is not None and entries[0].segment == last.segment:
        end = _end_of(context, row, last)
        if end in ("interrupted", "lost"):
            tail = [call for found in calls.values() for call in found]
            items.append(_seam(context, row, last, None, end, tail))
    for entry, older in zip(entries, (*entries[1:], None), strict=True):
        items.append(_item(row, entry, calls.get((entry.sequence or 0) - 1, []), selected))
        if older is not None and older.segment != entry.segment:
            dead = by_number.get(older.segment)
            if dead is not None and dead.outcome in ("interrupted", "lost"):
                items.append(_seam(context, row, dead, by_number.get(entry.segment), dead.outcome))
    older_href = run_href(row.run_id, row.branch, "/rail", before=low, c=selected) if low > 1 else ""
    newer_href = ""
    if high < row.head_sequence and not before:
        newer_href = run_href(
            row.run_id, row.branch, "/rail", before=min(high + WINDOW, row.head_sequence) + 1, c=selected
        )
    return Rail(tuple(items), Shown(len(entries), row.head_sequence, "checkpoints", older_href, newer_href))


def _writes(context: Context, row: RunRow, low: int, high: int) -> dict[int, list[CallRow]]:
    out: dict[int, list[CallRow]] = defaultdict(list)
    if row.writes:
        for call in read.calls(context.connection, row.run_id, row.branch, kinds=("write", "handoff")):
            if low - 1 <= call.after_sequence <= high:
                out[call.after_sequence].append(call)
    return out


def _item(row: RunRow, entry: EntryRow, calls: list[CallRow], selected: int) -> RailItem:
    sequence = entry.sequence or 0
    glyph, word, tone = "", "", ""
    states = {call.state for call in calls}
    worst = next((state for state in WORTH if state in states), "")
    if entry.mark == "pause":
        glyph, word, tone = "paused", "paused here", "mute"
        if entry.subject.startswith("approval"):
            glyph, word, tone = "awaiting", "waited for a person", "wait"
    elif entry.mark == "resume":
        glyph, word, tone = "revalidate", "a process went on from here", "info"
    elif worst:
        pill = words.pill(worst)
        glyph, word, tone = pill.glyph, text.count(len(calls), "write") + f", {pill.word}", pill.tone
    elif entry.mark == "final":
        glyph, word, tone = "done", "the end", "ok"
    return RailItem(
        sequence=sequence,
        href=run_href(row.run_id, row.branch, c=sequence),
        detail=run_href(row.run_id, tail=f"/c/{ref_of(row.branch, sequence)}"),
        name=entry.subject,
        full=bool(entry.changed),
        glyph=glyph,
        glyph_word=word,
        tone=tone,
        current=sequence == selected,
    )


def _end_of(context: Context, row: RunRow, segment: SegmentRow) -> str:
    return segment.outcome or context.source.standing(row)


def _seam(
    context: Context,
    row: RunRow,
    dead: SegmentRow,
    after: SegmentRow | None,
    outcome: str,
    calls: Sequence[CallRow] = (),
) -> RailSeam:
    ended = dead.ended_at or last_sign(row, dead, calls)
    word = "process died" if outcome == "interrupted" else "heartbeat stopped"
    if after is None:
        return RailSeam(f"{word} {text.when(ended, context.now_ns)}", "nobody has gone on", None, "")
    number = after.segment - 1
    link = Link(f"segment {after.segment}", run_href(row.run_id, row.branch, "/resumes", segment=number + 1))
    return RailSeam(
        f"{word} {text.when(ended, context.now_ns)}",
        f"resumed {text.clock(after.started_at)} from {after.from_sequence}",
        link,
        text.duration(max(0, after.started_at - ended)),
    )
