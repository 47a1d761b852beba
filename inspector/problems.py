"""What is said when a page cannot be shown? Every answer names the remedy."""

from __future__ import annotations

from typing import Final

from flask import Flask, Response, g, request
from werkzeug.exceptions import HTTPException

from inspector import security
from inspector.pages.problem import ProblemPage
from inspector.pages.shared import Link, Shell, Tone
from inspector.respond import respond
from tracer import errors

_RUNS: Final = Link("All runs", "/", main=True)

_HTTP: Final[dict[int, tuple[str, str, str]]] = {
    400: (
        "This request cannot be read",
        "Go back and try again; reload the page first if it was open for long.",
        "",
    ),
    401: (
        "This browser has not been let in yet",
        "Open the launch link that `waypost inspect` printed. It works once; start the command again for a new one.",
        "waypost inspect",
    ),
    403: (
        "This request was not sent by a page of the inspector",
        "Open the page here and press the button there.",
        "",
    ),
    404: (
        "There is nothing at this address",
        "The list of runs leads to everything that is stored.",
        "waypost runs",
    ),
    405: ("This address cannot be used in that way", "Use the buttons on the page.", ""),
    413: (
        "This is more than the inspector takes",
        "Shorten the text; reasons may have 2,000 characters.",
        "",
    ),
    421: (
        "The inspector is not known under this name",
        "Use the address that `waypost inspect` printed, or start it with `--allow-host NAME`.",
        "waypost inspect --allow-host NAME",
    ),
    500: (
        "The inspector met something it does not know",
        "Nothing was changed. Its terminal shows the traceback; please report it with the run id.",
        "",
    ),
}


def register(app: Flask) -> None:
    """Answer errors with pages."""
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(errors.WaypostError, _ours)
    app.register_error_handler(Exception, lambda error: _unforeseen(app, error))


def page(
    status: int,
    head: str,
    text: str,
    remedy: str,
    *,
    command: str = "",
    glyph: str = "alert",
    tone: Tone = "wait",
) -> ProblemPage:
    """The record of a page that cannot be shown."""
    inside = bool(security.who()) and status not in (401, 421)
    shell = Shell(title=head, section="", user=security.who() if inside else "", store="")
    return ProblemPage(shell, status, glyph, tone, head, text, remedy, command, (_RUNS,) if inside else ())


def _http(error: HTTPException) -> Response:
    status = error.code or 500
    head, remedy, command = _HTTP.get(status, _HTTP[500] if status >= 500 else _HTTP[400])
    said = str(g.get("detail") or (error.description if status in (400, 403) else request.path))
    tone: Tone = "bad" if status >= 500 else "wait"
    found = page(
        status, head, said, remedy, command=command, glyph="key" if status == 401 else "alert", tone=tone
    )
    return respond("problem.html", found, status)


def _ours(error: errors.WaypostError) -> Response:
    """Our own errors say what was seen, where, and what to do."""
    first, _, rest = str(error).partition(". ")
    status, tone = 500, "bad"
    if isinstance(error, errors.UnknownRun | errors.UnknownCheckpoint):
        status, tone = 404, "wait"
    elif isinstance(error, errors.StoreLocked | errors.StoreFull | errors.StoreMissing):
        status = 503
    elif isinstance(error, errors.Denied | errors.AlreadyResumed):
        status, tone = 409, "wait"
    found = page(
        status,
        first.rstrip(".") + ".",
        "",
        rest or "Nothing was changed.",
        tone="bad" if tone == "bad" else "wait",
    )
    return respond("problem.html", found, status)


def _unforeseen(app: Flask, error: Exception) -> Response:
    app.logger.error("%s %s", request.method, request.path, exc_info=error)
    head, remedy, _ = _HTTP[500]
    return respond("problem.html", page(500, head, type(error).__name__, remedy, tone="bad"), 500)
