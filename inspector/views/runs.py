"""The list of runs, and the way from a trace to its run."""

from __future__ import annotations

from flask import Blueprint, Response, redirect
from werkzeug.wrappers import Response as Answer

from inspector.build.context import run_href
from inspector.build.runs import parse_cursor, runs_page
from inspector.respond import respond
from inspector.security import PERSON, allow
from inspector.views.request import reading, word
from tracer.errors import UnknownRun
from tracer.store import read

pages = Blueprint("runs", __name__)


@pages.get("/")
@allow(PERSON)
def runs() -> Response:
    """Every run that the filter keeps."""
    with reading() as context:
        return respond("runs.html", runs_page(context, word("q"), parse_cursor(word("before"))))


@pages.get("/t/<trace_id>")
@allow(PERSON)
def by_trace(trace_id: str) -> Answer:
    """From a trace to its run."""
    try:
        wanted = bytes.fromhex(trace_id)
    except ValueError:
        wanted = b""
    with reading() as context:
        found = read.run_by_trace(context.connection, wanted) if len(wanted) == 16 else None
    if found is None:
        raise UnknownRun(f"with trace {trace_id[:64]}")
    return redirect(run_href(found), 303)
