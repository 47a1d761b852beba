"""How does a browser get in? By a link that works once, and a name."""

from __future__ import annotations

import getpass

from flask import Blueprint, Response, abort, current_app, redirect, request, session
from werkzeug.wrappers import Response as Answer

from inspector import app as inspector
from inspector.pages.problem import LaunchPage
from inspector.pages.shared import Shell
from inspector.respond import respond
from inspector.security import ANYONE, allow
from inspector.text import has_hidden

pages = Blueprint("session", __name__)


@pages.get("/launch/<token>")
@allow(ANYONE)
def launch(token: str) -> Response | Answer:
    """Ask for a name; nothing is used up by looking."""
    if session.get("who"):
        return redirect("/", 303)
    if not inspector.config_of(current_app).launch.fits(token):
        abort(401)
    return respond("launch.html", _page(token, _login(), ""))


@pages.post("/launch/<token>")
@allow(ANYONE)
def enter(token: str) -> Response | Answer:
    """Use the link up and open the session under the name given."""
    held = inspector.config_of(current_app).launch
    if not held.fits(token):
        abort(401)
    name = " ".join(request.form.get("name", "").split())
    problem = _problem(name)
    if problem:
        return respond("launch.html", _page(token, name, problem), 422)
    if not held.use(token):
        abort(401)
    session.clear()
    session["who"] = name
    return redirect("/", 303)


def _problem(name: str) -> str:
    if not name:
        return "A name is needed; it signs your decisions."
    if len(name) > 80:
        return "At most 80 characters."
    if has_hidden(name):
        return "The name holds characters that cannot be seen."
    return ""


def _page(token: str, suggestion: str, problem: str) -> LaunchPage:
    return LaunchPage(Shell("Who is looking?", "", "", ""), f"/launch/{token}", suggestion, problem)


def _login() -> str:
    """The system's name of whoever started the inspector, as a first suggestion."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
