"""One run: its page, its rail, its checkpoints, their difference, their state as a file."""

from __future__ import annotations

from flask import Blueprint, Response, current_app, g, render_template, request

from inspector import app as inspector
from inspector import plain
from inspector.build.checkpoint import checkpoint_page, entry_of
from inspector.build.context import parse_ref
from inspector.build.diff import diff_page
from inspector.build.rail import rail
from inspector.build.run import figure_spec, run_page
from inspector.pages.run import RailPage
from inspector.respond import respond
from inspector.security import PERSON, allow
from inspector.stored import Stored
from inspector.views.request import branch_run, number, reading, word
from tracer.errors import UnknownCheckpoint
from tracer.store import read

pages = Blueprint("run", __name__)


@pages.get("/runs/<run:run_id>")
@allow(PERSON)
def run(run_id: str) -> Response:
    """What happened, where it stands, what to press."""
    axis = "clock" if word("axis") == "clock" else "step"
    traces = inspector.config_of(current_app).traces
    with reading() as context:
        row = branch_run(context, run_id)
        page = run_page(context, row, selected=number("c"), axis=axis, window=window(), traces=traces)
    return respond("run.html", page)


@pages.get("/runs/<run:run_id>/figure")
@allow(PERSON)
def figure(run_id: str) -> Response:
    """The drawing of a run's timeline, as Plotly JSON."""
    with reading() as context:
        row = branch_run(context, run_id)
        spec = figure_spec(context, row, "clock" if word("axis") == "clock" else "step", window())
    return Response(spec, content_type="application/json")


def window() -> tuple[int, int] | None:
    """The checkpoints that the address narrows the timeline to."""
    first, last = number("from"), number("to")
    return (first, last) if 0 < first <= last else None


@pages.get("/runs/<run:run_id>/rail")
@allow(PERSON)
def more_rail(run_id: str) -> Response:
    """Another window of checkpoints; as a whole page it is the run's."""
    with reading() as context:
        row = branch_run(context, run_id)
        segments = read.segments(context.connection, row.run_id, row.branch)
        found = rail(context, row, segments, number("c"), number("before"))
        if request.headers.get("Waypost-Part") == "rail":
            body = render_template("rail.html", page=RailPage(found))
            return Response(body, content_type="text/html; charset=utf-8")
        selected = max(1, number("before", row.head_sequence + 1) - 1)
        page = run_page(context, row, selected=selected)
    g.figure = page.shell.figure
    return respond("run.html", page)


@pages.get("/runs/<run:run_id>/c/<checkpoint:ref>")
@allow(PERSON)
def checkpoint(run_id: str, ref: str) -> Response:
    """One checkpoint, beside the rail or alone."""
    branch, sequence = parse_ref(ref)
    with reading() as context:
        row = context.run(run_id, branch)
        ask = word("blame") == "1"
        page = checkpoint_page(context, row, sequence, word("tab"), word("path", 4000), number("after"), ask)
    return respond("checkpoint.html", page)


@pages.get("/runs/<run:run_id>/state/<checkpoint:ref>")
@allow(PERSON)
def state(run_id: str, ref: str) -> Response:
    """The whole state of a checkpoint as a file, masked."""
    branch, sequence = parse_ref(ref)
    with reading() as context:
        row = context.run(run_id, branch)
        stored = Stored(context.source, context.connection)
        body = stored.body(entry_of(context, row, sequence))
        text = plain.pretty(stored.value(body["root"]))
    return attachment(text, f"{run_id}-{sequence}.json.txt")


@pages.get("/runs/<run:run_id>/diff/<checkpoint:first>...<checkpoint:second>")
@allow(PERSON)
def diff(run_id: str, first: str, second: str) -> Response:
    """Two checkpoints side by side."""
    (branch, low), (other, high) = parse_ref(first), parse_ref(second)
    if branch != other:
        raise UnknownCheckpoint(
            f"{first} and {second} are on two branches; compare checkpoints of one branch"
        )
    ignored = tuple(word("ignore").split(","))
    with reading() as context:
        row = context.run(run_id, branch)
        page = diff_page(
            context, row, low, high, layout=word("layout"), ignored=ignored, path=word("path", 4000)
        )
    return respond("diff.html", page)


def attachment(text: str, name: str) -> Response:
    """Text that a browser saves and never shows as a page."""
    answer = Response(text.encode("utf-8", "replace"), content_type="text/plain; charset=utf-8")
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
