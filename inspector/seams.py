"""How is the end of one process life joined to the start of the next?"""

from __future__ import annotations

from inspector import strokes, text
from inspector.canvas import Canvas, Words
from inspector.lane import COMPACT, LANE
from inspector.places import WIDTH, Life


def bridge(canvas: Canvas, dead: Life, after: Life, y0: float, y1: float, compact: bool, axis: str) -> None:
    """From the end of one life to the start of the next."""
    bottom = y0 + (COMPACT if compact else LANE) + 4
    middle = (dead.x1 + after.x0) / 2 + 3
    gap = after.segment.started_ns - dead.segment.ended_ns
    room = after.x0 - dead.x1
    if dead.seam is not None:
        _torn(canvas, dead, y0, bottom)
        if room > 62 and not compact:
            canvas.glyph("interrupted", middle, y0 + 10, "bad")
            canvas.words.append(Words(middle, y0 + 27, dead.segment.outcome, "bad", 11, bold=True))
            canvas.words.append(Words(middle, y0 + 40, text.clock(dead.segment.ended_ns)))
    if room > 62 and not compact:
        canvas.words.append(Words(middle, y0 + 58, "no process", "ink-3", 10))
        canvas.words.append(Words(middle, y0 + 70, text.duration(gap), "ink-3", 10))
    if axis == "clock":
        return
    x = next((c.x1 for c in dead.columns if c.steps[-1].sequence >= after.segment.from_sequence), dead.x1)
    y = y1 + (12 if compact else 17)
    canvas.path(
        f"M{x:.2f},{bottom - 4:.1f}L{x:.2f},{y:.1f}L{after.x0 - 4:.2f},{y:.1f}",
        "edge",
        1.2,
        line={"dash": "dot"},
    )
    canvas.path(
        f"M{after.x0 - 9:.2f},{y - 4:.1f}L{after.x0 - 3:.2f},{y:.1f}L{after.x0 - 9:.2f},{y + 4:.1f}",
        "edge",
        1.2,
    )
    if not compact:
        _resumed(canvas, after, x, y)


def _resumed(canvas: Canvas, after: Life, x: float, y: float) -> None:
    """Who went on, from where, and what the gate said: where there is room beside the dotted line."""
    s = after.segment
    said = f"resumed from c{s.from_sequence} by {text.line(s.who, 22)}"
    if x > 6 * len(said) + 20:
        canvas.words.append(Words(x - 7, y, said, "ink-2", 10.5, "right"))
        canvas.words.append(Words(x - 7, y + 13, f"gate: {s.verdict}", "ink-3", 10, "right"))
    elif after.x0 - x > 6 * len(said) + 20:
        canvas.words.append(Words(x + 7, y + 10, said, "ink-2", 10.5, "left"))
        canvas.words.append(Words(x + 7, y + 23, f"gate: {s.verdict}", "ink-3", 10, "left"))


def _torn(canvas: Canvas, life: Life, top: float, bottom: float) -> None:
    if life.seam is None:
        return
    edge = strokes.seam(life.seam, top - 4, bottom)
    right = life.seam + 12
    canvas.shapes.append(
        {
            "type": "path", "path": f"{edge}L{right:.2f},{bottom:.1f}L{right:.2f},{top - 4:.1f}Z", "layer": "below",
            "fillcolor": "var(--surface)", "line": {"width": 0},
        }
    )  # fmt: skip
    canvas.path(edge, "bad")


def last_seam(canvas: Canvas, life: Life, y: float, compact: bool) -> None:
    """The run still lies where it fell."""
    bottom = y + (COMPACT if compact else LANE) + 4
    _torn(canvas, life, y, bottom)
    said = f"{life.segment.outcome} {text.clock(life.segment.ended_ns)}, not resumed"
    x = max(life.x1, 150)
    canvas.words.append(Words(min(WIDTH, x), bottom + 5, said, "bad", 10.5, "right", bold=True))
