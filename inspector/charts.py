"""What does a timeline look like? The only module that knows Plotly.

Colours are the names of our tokens (`var(--info)`); `figure.js` resolves them in the page, so one figure serves
light and dark. All text passes `label`, because Plotly reads a few tags.
"""

from __future__ import annotations

import html
from typing import Any, Final, Literal

import plotly.graph_objects as go

from inspector import drawing, text
from inspector.canvas import Canvas
from inspector.pages.figure import Timeline
from inspector.places import WIDTH, by_clock, by_step

Axis = Literal["step", "clock"]
LEFT: Final = 88.0
"""Design pixels for the names of the lanes."""


def spec(data: Timeline, axis: Axis) -> str:
    """The figure of a run as Plotly JSON, by step or by clock. An empty timeline gives an empty figure."""
    placed = by_step(data) if axis == "step" else by_clock(data)
    canvas = drawing.draw(data, placed, axis)
    figure = go.Figure(data=_traces(canvas), layout=_layout(canvas, data))
    return str(figure.to_json(validate=False))


def label(value: str) -> str:
    """Hostile text as Plotly shows it literally."""
    return html.escape(str(text.visible(value)), quote=False)


def _traces(canvas: Canvas) -> list[Any]:
    bars = [
        go.Bar(
            orientation="h",
            base=[b.x0 for b in group],
            x=[max(0.5, b.x1 - b.x0) for b in group],
            y=[b.y for b in group],
            width=[b.height for b in group],
            text=[label(b.text) for b in group],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            constraintext="none",
            textfont={"size": 10.5, "color": "var(--ink-2)"},
            cliponaxis=True,
            hovertext=[label(b.hover) for b in group],
            hovertemplate="%{hovertext}<extra></extra>",
            customdata=[b.href for b in group],
            marker={
                "color": [f"var(--{b.fill})" for b in group],
                "line": {"color": [f"var(--{b.line})" for b in group], "width": 1},
                "cornerradius": 3,
                **({"pattern": _hatch(len(group))} if hatched else {}),
            },
            name="waiting" if hatched else "steps",
        )
        for hatched, group in ((False, canvas.bars), (True, canvas.hatched))
        if group
    ]
    dots = [
        go.Scatter(
            mode="markers",
            x=[d.x for d in group],
            y=[d.y for d in group],
            hovertext=[label(d.hover) for d in group],
            hovertemplate="%{hovertext}<extra></extra>",
            customdata=[d.href for d in group],
            marker={
                "symbol": [d.symbol for d in group],
                "size": [d.size for d in group],
                "color": [f"var(--{d.fill})" for d in group],
                "line": {"color": [f"var(--{d.line})" for d in group], "width": [d.width for d in group]},
            },
            cliponaxis=False,
            name=name,
        )
        for name, group in canvas.dots.items()
        if group
    ]
    return [*bars, *dots]


def _hatch(count: int) -> dict[str, Any]:
    # With `replace` the stripes take the colour of the bar.
    return {
        "shape": ["/"] * count,
        "size": 6,
        "solidity": 0.16,
        "bgcolor": "var(--plot-wait)",
        "fillmode": "replace",
    }


def _layout(canvas: Canvas, data: Timeline) -> Any:
    return go.Layout(
        template="none",
        height=round(canvas.height),
        margin={"l": 14, "r": 14, "t": 10, "b": 4, "pad": 0},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"size": 10.5, "color": "var(--ink-2)"},
        showlegend=False,
        barmode="overlay",
        bargap=0,
        hovermode="closest",
        hoverlabel={
            "bgcolor": "var(--surface)",
            "bordercolor": "var(--edge)",
            "font": {"size": 12, "color": "var(--ink)"},
            "align": "left",
        },
        dragmode=False,
        xaxis={"visible": False, "range": [-LEFT, WIDTH + 4], "fixedrange": True},
        yaxis={"visible": False, "range": [canvas.height - 14, 0], "fixedrange": True},
        shapes=canvas.shapes,
        annotations=[
            {
                "x": w.x,
                "y": w.y,
                "text": f"<b>{label(w.text)}</b>" if w.bold else label(w.text),
                "showarrow": False,
                "xanchor": w.anchor,
                "yanchor": "middle",
                "font": {"size": w.size, "color": f"var(--{w.colour})"},
            }
            for w in canvas.words
        ],
        meta={"columns": canvas.columns, "run": data.run_id},
    )
