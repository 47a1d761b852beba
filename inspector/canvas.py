"""What is a figure made of before Plotly sees it? Bars, marks, words and strokes in design pixels."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Literal

from inspector import strokes


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of time or of steps."""

    x0: float
    x1: float
    y: float
    height: float
    fill: str
    line: str
    text: str
    hover: str
    href: str


@dataclass(frozen=True, slots=True)
class Dot:
    """A tick, a call, an effect."""

    x: float
    y: float
    symbol: str
    size: float
    fill: str
    line: str
    width: float
    hover: str
    href: str


@dataclass(frozen=True, slots=True)
class Words:
    """A piece of text."""

    x: float
    y: float
    text: str
    colour: str = "ink-2"
    size: float = 10.5
    anchor: Literal["left", "center", "right"] = "center"
    bold: bool = False


@dataclass(slots=True)
class Canvas:
    """All that is drawn."""

    height: float = 0.0
    bars: list[Bar] = field(default_factory=list)
    hatched: list[Bar] = field(default_factory=list)
    dots: dict[str, list[Dot]] = field(default_factory=lambda: defaultdict(list))
    shapes: list[dict[str, Any]] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)
    columns: list[list[float]] = field(default_factory=list)
    """[first sequence, last sequence, x0, x1, y0, y1] of every column, for the selection."""

    def rect(self, x0: float, x1: float, y: float, height: float, fill: str, **more: Any) -> None:
        """A filled rectangle below everything."""
        self.shapes.append(
            {
                "type": "rect", "x0": x0, "x1": x1, "y0": y, "y1": y + height, "layer": "below",
                "fillcolor": f"var(--{fill})", "line": {"width": 0}, **more,
            }
        )  # fmt: skip

    def path(self, path: str, colour: str, width: float = 1.6, **more: Any) -> None:
        """A stroke in design pixels."""
        line = {"color": f"var(--{colour})", "width": width, **more.pop("line", {})}
        self.shapes.append({"type": "path", "path": path, "line": line, **more})

    def glyph(self, name: str, x: float, y: float, colour: str) -> None:
        """One of our glyphs, in screen pixels around a place."""
        self.shapes.append(
            {
                "type": "path", "path": strokes.PATHS[name], "xsizemode": "pixel", "ysizemode": "pixel",
                "xanchor": x, "yanchor": y, "line": {"color": f"var(--{colour})", "width": 1.6},
            }
        )  # fmt: skip
