"""Is every figure a valid one, and does it stay small?"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import plotly.graph_objects as go
import pytest

from inspector import charts
from inspector.build.figure import figure
from inspector.pages.figure import Mark, Segment, Step, Timeline, Wait
from inspector.places import COLUMNS, WIDTH, by_clock, by_step

T0 = 1_796_000_000 * 10**9
SECOND = 10**9


def segment(index: int, first: int, count: int, outcome: str, *, writes: int = 0, after: int = 0) -> Segment:
    """A process life of *count* checkpoints a second apart, and what it did after the last one."""
    start = T0 + first * SECOND + index * 100 * SECOND
    steps = tuple(
        Step(first + n, ("plan", "scan", "triage")[n // 3 % 3], "step", start + n * SECOND, n % 2 == 0)
        for n in range(count)
    )
    marks = tuple(
        Mark(
            f"{index}-{n}",
            n + 1,
            "create_ticket",
            "write",
            "committed",
            first + n,
            start + n * SECOND,
            start + n * SECOND + 9,
            "LIC",
        )
        for n in range(writes)
    )
    last = first + count - 1
    tail = tuple(
        Mark(
            f"{index}-t{n}",
            900 + n,
            "create_ticket",
            "write",
            "committed",
            last,
            start + count * SECOND,
            start + 900 * SECOND,
            "tail",
        )
        for n in range(after)
    )
    end = start + (count + 1) * SECOND
    return Segment(
        index,
        index,
        "host pid 1",
        start,
        end,
        outcome,
        first - 1 if index > 1 else 0,
        "maya",
        "continue",
        steps,
        marks + tail,
        (),
    )


def timeline(segments: Sequence[Segment]) -> Timeline:
    """A timeline with its second checkpoint open."""
    return Timeline("r", "/runs/r", T0 + 10**13, tuple(segments), 2)


EMPTY = timeline([])
ONE = timeline([segment(1, 1, 1, "running")])
CRASHED = timeline([segment(1, 1, 19, "interrupted", writes=6, after=3), segment(2, 20, 7, "done", writes=3)])
MANY = timeline(
    [
        segment(1, 1, 1_800, "interrupted", writes=200, after=9),
        segment(2, 1_801, 3_200, "running", writes=350),
    ]
)
LIVES = timeline([segment(n, n * 10, 10, "lost", writes=2) for n in range(1, 30)])
FIGURES = {"empty": EMPTY, "one": ONE, "crashed": CRASHED, "5,000": MANY, "29 lives": LIVES}


@pytest.mark.parametrize("data", FIGURES.values(), ids=FIGURES)
@pytest.mark.parametrize("axis", ["step", "clock"])
def test_a_figure_is_valid_and_bounded(data: Timeline, axis: charts.Axis) -> None:
    spec = json.loads(charts.spec(data, axis))
    go.Figure(spec)
    drawn = sum(len(trace.get("x", ())) for trace in spec["data"])
    assert drawn < 2_500
    assert len(spec["layout"].get("shapes", ())) < 1_200
    assert len(json.dumps(spec)) < 400_000


@pytest.mark.parametrize("data", FIGURES.values(), ids=FIGURES)
def test_every_checkpoint_stands_in_exactly_one_column(data: Timeline) -> None:
    for placed in (by_step(data), by_clock(data)):
        columns = [column for life in placed.lives for column in life.columns]
        wanted = [step.sequence for life in data.segments for step in life.steps]
        assert [step.sequence for column in columns for step in column.steps] == wanted
        assert all(column.x0 <= column.x1 for column in columns)
        assert all(column.x0 >= -1 and column.x1 <= WIDTH + 2 for column in columns)
        assert len(columns) <= COLUMNS + len(data.segments)


def test_the_step_axis_gives_each_checkpoint_the_same_width_and_lives_never_overlap() -> None:
    placed = by_step(CRASHED)
    widths = {round(column.x1 - column.x0, 6) for life in placed.lives for column in life.columns}
    assert len(widths) == 1
    assert placed.lives[0].x1 < placed.lives[1].x0


def test_colours_are_names_of_tokens_that_the_sheet_has(root: Path) -> None:
    spec = charts.spec(CRASHED, "step")
    sheet = (root / "static" / "app.css").read_text("utf-8")
    names = set(re.findall(r"var\((--[\w-]+)\)", spec))
    assert names
    assert all(f"{name}:" in sheet for name in names), names
    assert not re.search(r"#[0-9a-f]{6}\b", spec)


def test_the_lost_tail_is_drawn_as_a_ghost_and_its_write_as_unknown_until_the_resume() -> None:
    spec = json.loads(charts.spec(CRASHED, "step"))
    dotted = [shape for shape in spec["layout"]["shapes"] if shape.get("line", {}).get("dash") == "dot"]
    assert len(dotted) >= 6, "three ghosts where they were made, three under the segment that went on"
    effects = next(trace for trace in spec["data"] if trace["name"] == "effects")
    assert any("worst is unknown" in said or ": unknown" in said for said in effects["hovertext"])


def test_hostile_names_are_text_in_the_figure() -> None:
    evil = "<img src=x onerror=1>\u202e</script>"
    steps = tuple(replace(step, name=evil) for step in CRASHED.segments[0].steps)
    spec = charts.spec(timeline([replace(CRASHED.segments[0], steps=steps)]), "step")
    assert "<img" not in spec
    assert "\u202e" not in json.loads(spec)["data"][0]["hovertext"][0]
    assert "&lt;img" in json.loads(spec)["data"][0]["hovertext"][-1]


def test_a_wait_is_hatched_and_as_long_as_it_was_on_the_clock() -> None:
    waited = segment(1, 1, 5, "paused")
    wait = Wait(5, waited.ended_ns, waited.ended_ns + 600 * SECOND, "approval", True)
    data = timeline([replace(waited, waits=(wait,))])
    spec = json.loads(charts.spec(data, "clock"))
    hatched = next(trace for trace in spec["data"] if trace["name"] == "waiting")
    assert hatched["marker"]["pattern"]["shape"]
    assert hatched["x"][0] > 0.9 * WIDTH


def test_the_numbers_and_the_caption_say_what_is_drawn() -> None:
    record = figure(CRASHED, "/runs/r/figure", (), ())
    assert len(record.rows) == 2
    assert all(len(row) == len(record.columns) for row in record.rows)
    assert record.rows[0][-1] == "3 calls"
    assert "interrupted" in record.caption
    assert "c1 to c19" in record.caption
    assert record.note == ""
    assert figure(MANY, "/f", (), ()).note == f"one mark stands for {-(-5000 // COLUMNS)} checkpoints"
    assert figure(EMPTY, "/f", (), ()).caption == "No process has worked on r yet."
