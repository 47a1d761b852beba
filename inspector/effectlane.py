"""What happened outside? The lane of a timeline that shows writes with their states."""

from __future__ import annotations

from typing import Final

from inspector import text
from inspector.canvas import Canvas, Dot, Words
from inspector.pages.figure import Mark, Segment, Timeline
from inspector.places import WIDTH, Placed
from inspector.words import tone_of

NEAR: Final = 23.0
"""Design pixels within which effects become one mark."""
WORST: Final = ("unknown", "failed", "blocked", "suspended", "sent", "planned", "compensated", "committed")


def effects_lane(canvas: Canvas, data: Timeline, placed: Placed, y: float, height: float) -> None:
    """Circles with the glyph of their state; an arrow where a resume found out what had become of one."""
    canvas.rect(-2, WIDTH, y, height, "sunken")
    canvas.words.append(Words(-88, y + 15, "Effects", "ink", 11.5, "left", bold=True))
    canvas.words.append(Words(-88, y + 29, "outside world", "ink-3", 10, "left"))
    found: list[tuple[float, Mark, str]] = []
    for n, segment in enumerate(data.segments):
        after = placed.lives[n + 1].x0 + 8 if n + 1 < len(placed.lives) else None
        for mark in segment.marks:
            if mark.kind != "write":
                continue
            x = placed.marks[mark.call_id]
            state = _state_then(mark, segment)
            found.append((x, mark, state))
            if state == "unknown" and mark.state != "unknown" and after is not None:
                _found_out(canvas, x, after, y + 20)
                found.append((after, mark, mark.state))
    last = -99.0
    for x, group in _together(found):
        last = _effect(canvas, data, group, x, y, last)


def _together(found: list[tuple[float, Mark, str]]) -> list[tuple[float, list[tuple[Mark, str]]]]:
    """Effects that would overlap become one mark in their middle; doubt is never hidden in a crowd."""
    out: list[tuple[float, list[tuple[Mark, str]]]] = []
    for x, mark, state in sorted(found, key=lambda one: one[0]):
        if out and x - out[-1][0] < NEAR:
            middle, group = out[-1]
            group.append((mark, state))
            out[-1] = (middle + (x - middle) / len(group), group)
        else:
            out.append((x, [(mark, state)]))
    return out


def _state_then(mark: Mark, segment: Segment) -> str:
    """How far the call had come when its segment died."""
    if (
        segment.dead
        and mark.state in ("committed", "failed", "compensated")
        and mark.end_ns > segment.ended_ns
    ):
        return "unknown"
    if segment.dead and mark.state == "sent":
        return "unknown"
    return "blocked" if "blocked" in mark.flags else mark.state


def _found_out(canvas: Canvas, x0: float, x1: float, y: float) -> None:
    if x1 - x0 < 26:
        return
    canvas.path(f"M{x0 + 10:.2f},{y:.1f}L{x1 - 11:.2f},{y:.1f}", "odd", 1.6)
    canvas.path(f"M{x1 - 15:.2f},{y - 3.5:.1f}L{x1 - 11:.2f},{y:.1f}L{x1 - 15:.2f},{y + 3.5:.1f}", "odd", 1.6)
    if x1 - x0 > 140:
        canvas.words.append(Words((x0 + x1) / 2, y - 8, "settled at the resume", "ink-3", 10))


def _effect(
    canvas: Canvas, data: Timeline, found: list[tuple[Mark, str]], x: float, y: float, last: float
) -> float:
    """Draw one circle; answers with the place of the last label."""
    state = min((state for _, state in found), key=lambda s: WORST.index(s) if s in WORST else 0)
    mark = found[0][0]
    tone = tone_of(state)
    alone = len(found) == 1
    said = f"{mark.tool} {mark.target}: {state} · {text.clock(mark.start_ns)}"
    hover = said if alone else f"{text.count(len(found), 'effect')}, worst is {state}"
    href = f"{data.base}/calls/{mark.number}" if alone else f"{data.base}/calls?kind=write"
    size = 18 if len(found) < 100 else 22
    canvas.dots["effects"].append(Dot(x, y + 20, "circle", size, "surface", tone, 1.5, hover, href))
    if alone:
        canvas.glyph(state if state in WORST else "planned", x, y + 20, tone)
    else:
        canvas.words.append(Words(x, y + 20, str(len(found)), tone, 9.5, bold=True))
    word = state if state in ("unknown", "blocked", "suspended", "failed") else mark.target if alone else ""
    word = text.line(word, 9)
    if word and x - last > 5.4 * len(word) + 6:
        canvas.words.append(Words(x, y + 43, word, "ink-2" if state == "committed" else tone, 10))
        return x
    return last
