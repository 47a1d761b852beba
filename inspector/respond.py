"""How does a page record become an answer? One template, as a whole page or as a fragment."""

from __future__ import annotations

from typing import Any

from flask import Response, current_app, g, render_template, request

from inspector.source import Source


def source() -> Source:
    """The store of the running app."""
    found = current_app.extensions["waypost"]
    assert isinstance(found, Source)
    return found


def is_fragment() -> bool:
    """True when htmx asks for the part that changes."""
    return request.headers.get("HX-Request") == "true"


def respond(template: str, page: Any, status: int = 200) -> Response:
    """Render *page*; its record is all that the template sees."""
    g.figure = page.shell.figure
    body = render_template(template, page=page, fragment=is_fragment())
    return Response(body, status, content_type="text/html; charset=utf-8")
