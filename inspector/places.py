"""Where on the figure does everything lie? Pure geometry: design pixels from 0 to `WIDTH`, for both axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from inspector import text
from inspector.pages.figure import Mark, Segment, Step, Timeline, Wait

WIDTH: Final = 660.0
"""Design pixels of the drawing, labels at the left not counted."""
COLUMNS: Final = 130
"""At most so many columns; more checkpoints share one."""
GAP: Final = 92.0
"""Design pixels between two segments, while there is room."""
GHOST: Final = 15.0
GHOSTS: Final = 4
"""Calls of a dead segment that are drawn one by one."""
WAIT: Final = 1.7
"""Columns that a wait takes."""


@dataclass(frozen=True, slots=True)
class Column:
    """One checkpoint, or neighbours that share a place."""

    steps: tuple[Step, ...]
    segment: int
    x0: float
    x1: float

    @property
    def name(self) -> str:
        """The step, where all of the column is one."""
        names = {step.name for step in self.steps}
        return names.pop() if len(names) == 1 else f"{len(names)} steps"

    @property
    def label(self) -> str:
        """`c17`, or `c17–c24`."""
        first, last = self.steps[0].sequence, self.steps[-1].sequence
        return f"c{first}" if first == last else f"c{first}–c{last}"


@dataclass(frozen=True, slots=True)
class Life:
    """Where one segment lies."""

    segment: Segment
    x0: float
    x1: float
    columns: tuple[Column, ...]
    waits: tuple[tuple[Wait, float, float], ...]
    ghosts: tuple[tuple[Mark, float, float], ...]
    """Calls after the last checkpoint of a dead segment; the last one may stand for several."""
    ghosts_more: int
    seam: float | None
    """Where it was torn; None when it ended."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The whole figure, placed."""

    lives: tuple[Life, ...]
    labels: tuple[tuple[float, str, str], ...]
    """(place, head, sub) of the axis."""
    each: int
    """Checkpoints that share a column."""
    end: float
    """Where the drawing ends."""
    marks: dict[str, float] = field(default_factory=dict)
    """Call id -> place."""


def by_step(timeline: Timeline) -> Placed:
    """One column per checkpoint, so that 39 lost seconds are as visible as 32 idle minutes."""
    total = sum(len(segment.steps) for segment in timeline.segments)
    each = max(1, -(-total // COLUMNS))
    chunks = [list(_chunks(segment, each)) for segment in timeline.segments]
    gaps = max(0, len(timeline.segments) - 1)
    gap = min(GAP, 0.45 * WIDTH / gaps) if gaps else 0.0
    tails = sum(_ghost_width(segment, 1.0) for segment in timeline.segments)
    scale = min(1.0, 0.2 * WIDTH / tails) if tails else 1.0
    waits = sum(len(segment.waits) for segment in timeline.segments)
    room = WIDTH - gap * gaps - tails * scale - 6
    unit = room / max(1.0, sum(max(1, len(c)) for c in chunks) + WAIT * waits)
    lives: list[Life] = []
    marks: dict[str, float] = {}
    x = 0.0
    for segment, groups in zip(timeline.segments, chunks, strict=True):
        life = _life(segment, groups, x, unit, scale)
        lives.append(life)
        marks |= _spread(life)
        x = life.x1 + gap
    labels = _step_labels([column for life in lives for column in life.columns], timeline.now_ns)
    return Placed(tuple(lives), labels, each, lives[-1].x1 if lives else 0.0, marks)


def _chunks(segment: Segment, each: int) -> Iterator[tuple[Step, ...]]:
    """Neighbours that share a column; never across a wait, so that it stays in its place."""
    stops = {wait.after_sequence for wait in segment.waits}
    held: list[Step] = []
    for step in segment.steps:
        held.append(step)
        if len(held) == each or step.sequence in stops:
            yield tuple(held)
            held = []
    if held:
        yield tuple(held)


def _ghost_width(segment: Segment, scale: float) -> float:
    return (GHOST * min(GHOSTS, max(1, len(segment.ghost))) + 6) * scale if segment.dead else 0.0


def _life(segment: Segment, groups: list[tuple[Step, ...]], x: float, unit: float, scale: float) -> Life:
    start = x
    columns: list[Column] = []
    waits: list[tuple[Wait, float, float]] = []
    for group in groups or [()]:
        if group:
            columns.append(Column(group, segment.index, x, x + unit))
        x += unit
        for wait in segment.waits:
            if group and wait.after_sequence == group[-1].sequence:
                waits.append((wait, x, x + WAIT * unit))
                x += WAIT * unit
    ghosts: list[tuple[Mark, float, float]] = []
    lost = segment.ghost
    for place, mark in enumerate(lost[:GHOSTS]):
        ghosts.append((mark, x + (2 + GHOST * place) * scale, x + GHOST * (place + 1) * scale))
    if segment.dead:
        x += _ghost_width(segment, scale)
    seam = x if segment.dead else None
    return Life(
        segment, start, x, tuple(columns), tuple(waits), tuple(ghosts), max(0, len(lost) - GHOSTS), seam
    )


def _spread(life: Life) -> dict[str, float]:
    """Calls of a step stand evenly in its column; those of the lost tail in their ghosts."""
    out = {mark.call_id: (x0 + x1) / 2 for mark, x0, x1 in life.ghosts}
    inside: dict[int, list[Mark]] = {}
    owner = {step.sequence: n for n, column in enumerate(life.columns) for step in column.steps}
    for mark in life.segment.marks:
        if mark.call_id not in out:
            inside.setdefault(owner.get(mark.after_sequence + 1, len(life.columns) - 1), []).append(mark)
    for n, group in inside.items():
        x0, x1 = (life.columns[n].x0, life.columns[n].x1) if life.columns else (life.x0, life.x1)
        for place, mark in enumerate(group):
            out[mark.call_id] = x0 + (x1 - x0) * (place + 1) / (len(group) + 1)
    return out


def _step_labels(columns: list[Column], now_ns: int) -> tuple[tuple[float, str, str], ...]:
    out: list[tuple[float, str, str]] = []
    for n, column in enumerate(columns):
        middle = (column.x0 + column.x1) / 2
        starts = n == 0 or columns[n - 1].segment != column.segment
        if out and middle - out[-1][0] < 46:
            if starts and middle - out[-1][0] < 30:
                out.pop()
            elif not starts:
                continue
        out.append((middle, f"c{column.steps[0].sequence}", text.clock(column.steps[0].at_ns)[:5]))
    return tuple(out)


def by_clock(timeline: Timeline) -> Placed:
    """Time as it passed."""
    if not timeline.segments:
        return Placed((), (), 1, 0.0)
    first = min(segment.started_ns for segment in timeline.segments)
    last = max(
        [timeline.now_ns if not s.dead and s.outcome == "running" else s.ended_ns for s in timeline.segments]
    )
    last = max(last, first + 1, *(w.end_ns for s in timeline.segments for w in s.waits), first + 1)

    def at(ns: int) -> float:
        return round((ns - first) / (last - first) * WIDTH, 2)

    total = sum(len(segment.steps) for segment in timeline.segments)
    each = max(1, -(-total // COLUMNS))
    lives = []
    for segment in timeline.segments:
        columns: list[Column] = []
        edge = segment.started_ns
        for group in _chunks(segment, each):
            columns.append(Column(group, segment.index, at(edge), max(at(edge), at(group[-1].at_ns))))
            edge = group[-1].at_ns
        waits = tuple((w, at(w.start_ns), at(w.end_ns)) for w in segment.waits)
        ghosts = tuple(
            (m, at(m.start_ns), max(at(m.start_ns) + 2, min(at(segment.ended_ns), at(m.end_ns))))
            for m in segment.ghost[:GHOSTS]
        )
        end = max([at(segment.ended_ns), *(x1 for _, _, x1 in waits)])
        more = max(0, len(segment.ghost) - GHOSTS)
        seam = at(segment.ended_ns) if segment.dead else None
        lives.append(
            Life(
                segment,
                at(segment.started_ns),
                max(end, at(segment.started_ns) + 2),
                tuple(columns),
                waits,
                ghosts,
                more,
                seam,
            )
        )
    marks = {mark.call_id: at(mark.start_ns) for segment in timeline.segments for mark in segment.marks}
    return Placed(tuple(lives), _clock_labels(first, last), each, WIDTH, marks)


def _clock_labels(first: int, last: int) -> tuple[tuple[float, str, str], ...]:
    steps = [s * 10**9 for s in (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400, 604800)]
    span = last - first
    step = next((s for s in steps if span / s <= 9), span // 8 + 1)
    start = -(-first // step) * step
    out = []
    for ns in range(start, last, step):
        head = text.clock(ns) if step < 60 * 10**9 else text.clock(ns)[:5]
        out.append(((ns - first) / span * WIDTH, head, ""))
    return tuple(out)


def idle(lives: tuple[Life, ...]) -> Iterator[tuple[Life, Life]]:
    """Each life and the one that went on after it."""
    yield from pairwise(lives)
