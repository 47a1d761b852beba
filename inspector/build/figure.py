"""What is said about a figure besides the drawing: its caption, its key, its numbers?"""

from __future__ import annotations

from typing import Final

from inspector import text
from inspector.pages.figure import Figure, KeyEntry, Timeline
from inspector.pages.shared import Link
from inspector.places import COLUMNS

KEY: Final = (
    KeyEntry("step", "step"),
    KeyEntry("read", "read"),
    KeyEntry("write", "write"),
    KeyEntry("checkpoint", "checkpoint"),
    KeyEntry("wait", "waiting"),
    KeyEntry("seam", "crash seam"),
    KeyEntry("ghost", "ghost: done, never checkpointed"),
)
COLUMN_HEADS: Final = (
    "Segment",
    "Went on from",
    "Checkpoints",
    "Calls",
    "Writes",
    "From",
    "To",
    "Outcome",
    "After its last checkpoint",
)


def figure(data: Timeline, src: str, axes: tuple[Link, ...], window: tuple[Link, ...]) -> Figure:
    """The record of a figure whose drawing is fetched from *src*."""
    return Figure(
        src=src,
        selected=data.selected,
        caption=caption(data),
        axes=axes,
        window=window,
        note=_note(data),
        key=_key(data),
        columns=COLUMN_HEADS,
        rows=tuple(_row(data, n) for n in range(len(data.segments))),
    )


def caption(data: Timeline) -> str:
    """The figure as a sentence."""
    if not data.segments:
        return f"No process has worked on {data.run_id} yet."
    parts = [f"{text.count(len(data.segments), 'segment')} of {data.run_id}."]
    for segment in data.segments:
        steps = segment.steps
        wrote = f"wrote c{steps[0].sequence} to c{steps[-1].sequence}" if steps else "wrote no checkpoint"
        began = f"went on from c{segment.from_sequence}, " if segment.from_sequence else ""
        parts.append(
            f"Segment {segment.index} {began}{wrote}; {segment.outcome} at {text.clock(segment.ended_ns)}."
        )
    return " ".join(parts)


def _note(data: Timeline) -> str:
    each = -(-sum(len(segment.steps) for segment in data.segments) // COLUMNS)
    return f"one mark stands for {each} checkpoints" if each > 1 else ""


def _key(data: Timeline) -> tuple[KeyEntry, ...]:
    """Only what is drawn."""
    absent = set()
    if not any(segment.dead for segment in data.segments):
        absent |= {"seam", "ghost"}
    if not any(segment.waits for segment in data.segments):
        absent.add("wait")
    kinds = {mark.kind for segment in data.segments for mark in segment.marks}
    absent |= {"read", "write"} - kinds
    return tuple(entry for entry in KEY if entry.swatch not in absent)


def _row(data: Timeline, n: int) -> tuple[str, ...]:
    segment = data.segments[n]
    steps = segment.steps
    lost = text.count(len(segment.ghost), "call") if segment.dead else "–"
    return (
        f"Segment {segment.index}",
        f"c{segment.from_sequence} by {segment.who}: {segment.verdict}" if segment.from_sequence else "–",
        f"{len(steps):,}" + (f" (c{steps[0].sequence}–c{steps[-1].sequence})" if steps else ""),
        f"{len(segment.marks):,}",
        f"{sum(mark.kind == 'write' for mark in segment.marks):,}",
        text.clock(segment.started_ns),
        text.clock(segment.ended_ns),
        segment.outcome,
        lost,
    )
