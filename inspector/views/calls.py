"""The ledger of a run, and one call of it."""

from __future__ import annotations

from flask import Blueprint, Response, abort, redirect
from werkzeug.wrappers import Response as Answer

from inspector.build.calls import call_page, call_value, calls_page
from inspector.build.context import run_href
from inspector.respond import respond
from inspector.security import PERSON, allow
from inspector.views.request import branch_run, number, reading, word
from inspector.views.run import attachment
from tracer.errors import UnknownRun
from tracer.store import read

pages = Blueprint("calls", __name__)


@pages.get("/runs/<run:run_id>/calls")
@allow(PERSON)
def calls(run_id: str) -> Response:
    """Every call, oldest first."""
    with reading() as context:
        row = branch_run(context, run_id)
        return respond("calls.html", calls_page(context, row, word("kind"), word("state"), number("after")))


@pages.get("/runs/<run:run_id>/calls/<int:call>")
@allow(PERSON)
def call(run_id: str, call: int) -> Response:
    """One call with its values."""
    with reading() as context:
        return respond("call.html", call_page(context, branch_run(context, run_id), call))


@pages.get("/runs/<run:run_id>/calls/<int:call>/<part>")
@allow(PERSON)
def value(run_id: str, call: int, part: str) -> Response:
    """Arguments or result of a call as a file, masked."""
    if part not in ("args", "result"):
        abort(404)
    with reading() as context:
        text = call_value(context, branch_run(context, run_id), call, part)
    return attachment(text, f"{run_id}-call-{call}-{part}.json.txt")


@pages.get("/effects/<effect_id>")
@allow(PERSON)
def effect(effect_id: str) -> Answer:
    """From an effect id to its call."""
    with reading() as context:
        found = read.effect(context.connection, effect_id)
    if found is None:
        raise UnknownRun(f"with effect {effect_id[:64]}")
    return redirect(run_href(found.run_id, found.branch, f"/calls/{found.number}"), 303)
