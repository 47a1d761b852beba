"""Alerts: the list, the page of one, two runs beside each other, and what a person says to them."""

from __future__ import annotations

from urllib.parse import quote

from flask import Blueprint, Response, redirect, request
from werkzeug.wrappers import Response as Answer

from inspector import alerting, security
from inspector.build.alerts import alert_href, alerts_page
from inspector.build.context import Context
from inspector.build.divergence import divergence_page
from inspector.build.pairing import compare_page
from inspector.build.reasons import View
from inspector.respond import respond, source
from inspector.security import PERSON, allow
from inspector.views.request import branch_run, number, reading, word
from tracer import alerts as decisions
from tracer.store import read
from tracer.store.rows import RunRow

pages = Blueprint("alerts", __name__)


@pages.get("/alerts")
@allow(PERSON)
def alerts() -> Response:
    """Every alert."""
    with reading() as context:
        return respond("alerts.html", alerts_page(context, word("state"), done=word("done")))


@pages.get("/runs/<run:run_id>/divergence")
@allow(PERSON)
def divergence(run_id: str) -> Response:
    """One run around a resume: tapes, reasons, what to say."""
    with reading() as context:
        page = divergence_page(context, branch_run(context, run_id), _view(), done=word("done"))
    return respond("divergence.html", page)


@pages.get("/compare/<run:first>...<run:second>")
@allow(PERSON)
def compare(first: str, second: str) -> Response:
    """Any two runs beside each other."""
    with reading() as context:
        one, other = _two(context, f"{first}...{second}")
        page = compare_page(context, one, other, _view())
    return respond("divergence.html", page)


@pages.post("/alerts/<alert_id>/acknowledge")
@allow(PERSON)
def acknowledge(alert_id: str) -> Answer:
    """Record that somebody has read an alert."""
    form = request.form
    note, judgement = form.get("why", ""), form.get("judgement", "")
    done = alerting.acknowledge(source(), alert_id, note, judgement, security.who())
    return _back(alert_id, done)


@pages.post("/alerts/<alert_id>/mute")
@allow(PERSON)
def mute(alert_id: str) -> Answer:
    """Mute the shape of one reason."""
    form = request.form
    done = alerting.mute(source(), alert_id, form.get("shape", ""), form.get("why", ""), security.who())
    return _back(alert_id, done)


@pages.post("/alerts/unmute")
@allow(PERSON)
def unmute() -> Answer:
    """Undo a mute."""
    form = request.form
    agent, plan, shape = (form.get(name, "") for name in ("agent", "plan", "shape"))
    done = alerting.unmute(source(), agent, plan, shape, security.who())
    alert_id = form.get("alert", "")
    return _back(alert_id, done) if alert_id else redirect(f"/alerts?done={done}", 303)


def _back(alert_id: str, done: str) -> Answer:
    row = decisions.find(source().journal, alert_id)
    return redirect(f"{alert_href(row)}&done={quote(done)}", 303)


def _view() -> View:
    return View(
        segment=number("segment"),
        alert=word("alert"),
        against=word("with"),
        pair=word("pair"),
        start=number("start", -1),
    )


def _two(context: Context, text: str) -> tuple[RunRow, RunRow]:
    """The two runs of an address; ids may hold dots, so every place that could divide them is tried."""
    parts = text.split("...")
    for place in range(1, len(parts)):
        one, other = "...".join(parts[:place]), "...".join(parts[place:])
        if all(read.run_by_id(context.connection, name) for name in (one, other)):
            return context.run(one, read.MAIN), context.run(other, read.MAIN)
    missing = next(name for name in (parts[0], parts[-1]) if not read.run_by_id(context.connection, name))
    return context.run(missing, read.MAIN), context.run(parts[-1], read.MAIN)
