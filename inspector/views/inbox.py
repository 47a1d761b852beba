"""What waits for a person, and what a person says to it."""

from __future__ import annotations

from flask import Blueprint, Response, redirect, request
from werkzeug.wrappers import Response as Answer

from inspector import actions, security
from inspector.build.inbox import inbox_page
from inspector.respond import respond, source
from inspector.security import PERSON, allow
from inspector.views.request import reading, word

pages = Blueprint("inbox", __name__)


@pages.get("/inbox")
@allow(PERSON)
def inbox() -> Response:
    """Everything that waits."""
    with reading() as context:
        return respond("inbox.html", inbox_page(context, run_id=word("run")))


@pages.get("/inbox/<approval_id>")
@allow(PERSON)
def request_(approval_id: str) -> Response:
    """The same with one request open."""
    with reading() as context:
        page = inbox_page(context, chosen=approval_id, run_id=word("run"), done=word("done"))
    return respond("inbox.html", page)


@pages.post("/inbox/<approval_id>/decide")
@allow(PERSON)
def decide(approval_id: str) -> Answer:
    """Record a decision under the session's name."""
    form = request.form
    done = actions.decide(
        source(),
        approval_id,
        form.get("decision", ""),
        form.get("why", ""),
        form.get("digest", ""),
        security.who(),
    )
    return redirect(f"/inbox/{approval_id}?done={done}", 303)
