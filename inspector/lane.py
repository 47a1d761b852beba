"""How is one process life drawn?"""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from typing import Final, Literal

from inspector import text
from inspector.canvas import Bar, Canvas, Dot, Words
from inspector.pages.figure import Mark, Step, Timeline
from inspector.places import WIDTH, Column, Life, Placed

LANE: Final = 76.0
COMPACT: Final = 48.0
NEAR: Final = 10.0
"""Design pixels within which marks of one kind become one mark; twice as many in a crowd."""
SLIVER: Final = 9.0
"""Design pixels under which a column is too narrow for a bar of its own."""
TONES: Final = {"resume": "gate", "pause": "tool", "final": "tool"}
"""Kind of a checkpoint -> how its bar is filled; others are steps."""
CROWD: Final = 60
"""Calls of a segment from which it is crowded."""


def lane_of(
    canvas: Canvas, data: Timeline, placed: Placed, life: Life, y: float, height: float, compact: bool
) -> None:
    """Bars of steps, waits, calls, ticks and, for a dead one, what it did after its last checkpoint."""
    s = life.segment
    canvas.rect(life.x0 - 2, max(life.x1, life.x0 + 4), y, height, "sunken")
    canvas.words.append(Words(-88, y + 13, f"Segment {s.index}", "ink", 11.5, "left", bold=True))
    took = text.duration(max(0, s.ended_ns - s.started_ns))
    lines = [f"epoch {s.epoch}, {took}"] if compact else [f"epoch {s.epoch}", text.line(s.where, 17), took]
    for n, line in enumerate(lines):
        canvas.words.append(Words(-88, y + 28 + 13 * n, line, "ink-3", 10, "left"))
    bar_y, call_y, tick_y = (y + 12, y + 28, y + 39) if compact else (y + 17, y + 40, y + 62)
    _bars(canvas, data, life, bar_y, 14 if compact else 18)
    for wait, x0, x1 in life.waits:
        long = text.duration(wait.end_ns - wait.start_ns)
        hover = f"{wait.word}: {'waited' if wait.over else 'waiting for'} {long}"
        canvas.hatched.append(
            Bar(x0 + 1, max(x0 + 2, x1 - 1), bar_y, 14 if compact else 18, "wait", "wait", "", hover, "")
        )
        if x1 - x0 > 24 and not compact:
            canvas.words.append(Words((x0 + x1) / 2, call_y, long, "ink-3", 10))
    for mark, x0, x1 in life.ghosts:
        _ghost_box(canvas, x0, x1, bar_y, 14 if compact else 18, mark)
    if life.ghosts_more and not compact:
        canvas.words.append(Words(life.ghosts[-1][2] - 6, bar_y, f"+{life.ghosts_more}", "ink-3", 10))
    _calls(canvas, data, placed, life, call_y)
    if life.columns:
        first, last = life.columns[0].x0, life.columns[-1].x1
        canvas.path(f"M{first:.2f},{tick_y:.1f}L{last:.2f},{tick_y:.1f}", "edge", 1)
    for column in life.columns:
        canvas.dots["checkpoints"].append(_tick(data, column, tick_y))
        box = [
            column.steps[0].sequence,
            column.steps[-1].sequence,
            column.x0,
            column.x1,
            y - 3,
            tick_y + 9,
        ]
        canvas.columns.append(box)


def _bars(canvas: Canvas, data: Timeline, life: Life, y: float, height: float) -> None:
    """Neighbouring columns of one step are one bar; where columns are slivers, all of one kind are."""
    narrow = bool(life.columns) and life.columns[0].x1 - life.columns[0].x0 < SLIVER

    def family(column: Column) -> tuple[str, str]:
        kind = column.steps[-1].kind
        return ("" if narrow else column.name, kind if kind in TONES else "step")

    for (name, kind), group in groupby(life.columns, family):
        columns = list(group)
        steps = [step for column in columns for step in column.steps]
        x0, x1 = columns[0].x0 + 0.8, max(columns[0].x0 + 1.4, columns[-1].x1 - 0.8)
        tone = TONES.get(kind, "model")
        line = "odd" if tone == "gate" else f"plot-{tone}-line"
        said = name or (steps[0].name if len(steps) == 1 else f"{len(steps):,} steps")
        word = said if x1 - x0 > 5.6 * len(said) + 6 else ""
        href = f"{data.base}?c={steps[-1].sequence}"
        canvas.bars.append(Bar(x0, x1, y, height, f"plot-{tone}", line, word, _said(said, steps), href))


def _said(name: str, steps: list[Step]) -> str:
    changed = sum(step.changed for step in steps)
    if len(steps) == 1:
        what = "state changed" if changed else "state as before"
        return f"{name} · c{steps[0].sequence} · {text.clock(steps[0].at_ns)} · {what}"
    return (
        f"{name} · c{steps[0].sequence}–c{steps[-1].sequence} · {len(steps)} checkpoints, {changed} changed · "
        f"{text.clock(steps[0].at_ns)} to {text.clock(steps[-1].at_ns)}"
    )


def _tick(data: Timeline, column: Column, y: float) -> Dot:
    steps = list(column.steps)
    changed = any(step.changed for step in steps)
    href = f"{data.base}?c={steps[-1].sequence}"
    colour = "ink-2" if changed else "edge"
    size = 10 if len(steps) == 1 else 13
    width = 1.8 if column.x1 - column.x0 > 5 else 1.1
    return Dot(
        column.x1 - 0.8, y, "line-ns-open", size, colour, colour, width, _said(column.name, steps), href
    )


SYMBOLS: Final = {"read": "circle", "write": "square", "model": "diamond", "handoff": "triangle-right"}


def _calls(canvas: Canvas, data: Timeline, placed: Placed, life: Life, y: float) -> None:
    near: dict[tuple[str, int], list[Mark]] = defaultdict(list)
    crowded = len(life.segment.marks) > CROWD
    for mark in life.segment.marks:
        near[mark.kind, round(placed.marks[mark.call_id] / (NEAR * 2 if crowded else NEAR))].append(mark)
    for (kind, _), marks in near.items():
        # In a crowd, kinds stand beside each other instead of on top.
        beside = NEAR / 2 if crowded and kind == "write" else 0.0
        x = sum(placed.marks[m.call_id] for m in marks) / len(marks) + beside
        doubt = any(m.state in ("unknown", "suspended") for m in marks)
        colour = "odd" if doubt else "ink-2"
        fill = colour if kind == "write" else "surface"
        size = {"model": 7.5, "write": 8.0}.get(kind, 7.0) + (2 if len(marks) > 1 else 0)
        canvas.dots[kind].append(
            Dot(
                x,
                y,
                SYMBOLS.get(kind, "hexagon"),
                size,
                fill,
                colour,
                1.3,
                _calls_said(marks),
                _call_href(data, marks),
            )
        )


def _calls_said(marks: list[Mark]) -> str:
    if len(marks) > 1:
        tools = ", ".join(sorted({mark.tool for mark in marks})[:3])
        return f"{len(marks)} calls of kind {marks[0].kind}: {tools}"
    mark = marks[0]
    took = text.duration(mark.end_ns - mark.start_ns) if mark.end_ns > mark.start_ns else "no outcome"
    return f"{mark.tool} {mark.target} · {mark.kind}, {mark.state} · {text.clock(mark.start_ns)}, {took}"


def _call_href(data: Timeline, marks: list[Mark]) -> str:
    return (
        f"{data.base}/calls/{marks[0].number}"
        if len(marks) == 1
        else f"{data.base}/calls?kind={marks[0].kind}"
    )


def _ghost_box(canvas: Canvas, x0: float, x1: float, y: float, height: float, mark: Mark) -> None:
    canvas.shapes.append(
        {
            "type": "rect", "x0": x0, "x1": x1 - 1, "y0": y - height / 2, "y1": y + height / 2,
            "line": {"color": "var(--ink-2)", "width": 1.2, "dash": "dot"},
        }
    )  # fmt: skip
    hover = f"{_calls_said([mark])} · after the last checkpoint"
    canvas.dots["ghosts"].append(Dot((x0 + x1) / 2, y, "square", 9, "surface", "surface", 0, hover, ""))


def ghost_copy(canvas: Canvas, dead: Life, life: Life, y: float) -> None:
    """What the dead one had done, under the one that went on."""
    x = life.x0 + 3
    for mark, _, _ in dead.ghosts:
        _ghost_box(canvas, x, x + 14, y + 12, 16, mark)
        if mark.kind == "write":
            canvas.glyph("unknown", x + 6.5, y + 12, "odd")
        x += 15
    last = dead.columns[-1].steps[-1] if dead.columns else None
    since = dead.segment.ended_ns - (last.at_ns if last else dead.segment.started_ns)
    after = f"after c{last.sequence}" if last else "before any checkpoint"
    anchor: Literal["left", "right"]
    at, anchor = (x + 5, "left") if x + 150 < WIDTH else (life.x0 - 7, "right")
    canvas.words.append(Words(at, y + 7, f"ghost of segment {dead.segment.index}:", "ink-2", 10.5, anchor))
    canvas.words.append(Words(at, y + 19, f"{text.duration(since)} {after}, lost", "ink-3", 10, anchor))
