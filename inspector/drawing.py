"""What is put on the paper, from top to bottom?"""

from __future__ import annotations

from itertools import pairwise
from typing import Final, Literal

from inspector import strokes, text
from inspector.canvas import Bar, Canvas, Words
from inspector.effectlane import effects_lane
from inspector.lane import COMPACT, LANE, ghost_copy, lane_of
from inspector.pages.figure import Timeline
from inspector.places import WIDTH, Placed, idle
from inspector.seams import bridge, last_seam

CROWDED: Final = 8
"""Segments from which lanes are drawn compact."""
EFFECTS: Final = 58.0


def draw(data: Timeline, placed: Placed, axis: Literal["step", "clock"]) -> Canvas:
    """The whole figure."""
    canvas = Canvas()
    top = 4.0
    if axis == "step" and placed.lives:
        _minimap(canvas, data)
        top = 30.0
    _axis(canvas, placed, top, axis)
    y = top + 32
    tops: list[float] = []
    compact = len(placed.lives) > CROWDED
    for n, life in enumerate(placed.lives):
        before = placed.lives[n - 1] if n else None
        shown = before is not None and bool(before.ghosts) and axis == "step" and not compact
        height = (COMPACT if compact else LANE) + (30 if shown else 0)
        tops.append(y)
        lane_of(canvas, data, placed, life, y, height, compact)
        if shown and before is not None:
            ghost_copy(canvas, before, life, y + LANE + 2)
        y += height + 10
    for (dead, after), (y0, y1) in zip(idle(placed.lives), pairwise(tops), strict=True):
        bridge(canvas, dead, after, y0, y1, compact, axis)
    if placed.lives and placed.lives[-1].seam is not None:
        y += 8
        last_seam(canvas, placed.lives[-1], tops[-1], compact)
    if any(mark.kind == "write" for segment in data.segments for mark in segment.marks):
        effects_lane(canvas, data, placed, y, EFFECTS)
        y += EFFECTS + 8
    _selection(canvas, data)
    canvas.height = y + 6
    return canvas


def _axis(canvas: Canvas, placed: Placed, top: float, axis: str) -> None:
    canvas.words.append(
        Words(-88, top + 8, "Checkpoint" if axis == "step" else "Clock, UTC", "ink-3", 10, "left")
    )
    for x, head, sub in placed.labels:
        canvas.words.append(Words(x, top + 8, head))
        if sub:
            canvas.words.append(Words(x, top + 20, sub, "ink-3", 10))


def _minimap(canvas: Canvas, data: Timeline) -> None:
    """The same in true time, so that the step axis stays honest."""
    first = data.segments[0].started_ns
    last = max(
        [first + 1, *(s.ended_ns for s in data.segments), *(w.end_ns for s in data.segments for w in s.waits)]
    )

    def at(ns: int) -> float:
        return (ns - first) / (last - first) * WIDTH

    canvas.words.append(Words(-88, 12, "Clock", "ink-3", 10, "left"))
    canvas.rect(0, WIDTH, 3, 18, "sunken")
    for s in data.segments:
        hover = f"segment {s.index}: {text.clock(s.started_ns)} to {text.clock(s.ended_ns)}"
        ends = [s.started_ns, *(ns for w in s.waits for ns in (w.start_ns, w.end_ns)), s.ended_ns]
        for a, b in zip(ends[::2], ends[1::2], strict=True):
            if b <= a != s.started_ns:
                continue
            canvas.bars.append(
                Bar(at(a), max(at(a) + 1.5, at(b)), 12, 9, "plot-model", "plot-model-line", "", hover, "")
            )
        for w in s.waits:
            hover = f"{w.word}: {text.duration(w.end_ns - w.start_ns)}"
            canvas.hatched.append(Bar(at(w.start_ns), at(w.end_ns), 12, 9, "wait", "wait", "", hover, ""))
        if s.dead:
            canvas.path(strokes.seam(at(s.ended_ns), 1, 23, 3, 5.5), "bad")
    gap, where = max(
        (
            (b.started_ns - a.ended_ns, (a.ended_ns + b.started_ns) / 2)
            for a, b in zip(data.segments, data.segments[1:], strict=False)
        ),
        default=(0, 0.0),
    )
    if at(first + gap) > 90:
        canvas.words.append(Words(at(round(where)), 12, f"{text.duration(gap)} nothing ran", "ink-3", 10))


def _selection(canvas: Canvas, data: Timeline) -> None:
    box = next((c for c in canvas.columns if c[0] <= data.selected <= c[1]), None)
    x0, x1, y0, y1 = box[2:] if box else (0.0, 0.0, 0.0, 0.0)
    place = {
        "type": "rect",
        "name": "selected",
        "x0": x0,
        "x1": x1,
        "y0": y0,
        "y1": y1,
        "visible": box is not None,
    }
    canvas.shapes.append({**place, "line": {"width": 0}, "fillcolor": "var(--info)", "opacity": 0.12})
    canvas.shapes.append({**place, "line": {"color": "var(--info)", "width": 1.3}})
