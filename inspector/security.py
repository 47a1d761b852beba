"""Who may see or do what, and what may a page do in the browser?

Every route declares a policy; a route without one does not start. Requests that change something must come from a
page of ours, in a session opened by the launch link, with a token that only such a page holds.
"""

from __future__ import annotations

import hmac
import re
import secrets
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from flask import Flask, Response, abort, current_app, g, request, session
from flask_wtf.csrf import CSRFProtect

from tracer.errors import ConfigError

View = TypeVar("View", bound=Callable[..., Any])

ANYONE: Final = "anyone"
"""No session needed: the launch page and the static files."""
PERSON: Final = "person"
"""A session that the launch link opened and a name was given for."""

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_POLICY: Final = "__waypost_policy__"
_CSP: Final = (
    "default-src 'none'; script-src 'self'; style-src {style}; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


def allow(policy: str) -> Callable[[View], View]:
    """Declare who may use a view."""

    def mark(view: View) -> View:
        setattr(view, _POLICY, policy)
        return view

    return mark


def policy_of(view: Callable[..., Any]) -> str | None:
    """What a view declared; None when it declared nothing."""
    return getattr(view, _POLICY, None)


class Launch:
    """The one-time link that opens a session."""

    def __init__(self, token: str = "") -> None:
        self.token = token or secrets.token_urlsafe(24)
        self._used = False
        self._lock = threading.Lock()

    def fits(self, token: str) -> bool:
        """True while *token* is the link's and nobody has used it."""
        return not self._used and hmac.compare_digest(token.encode(), self.token.encode())

    def use(self, token: str) -> bool:
        """Use the link up; true for the first one only."""
        with self._lock:
            if not self.fits(token):
                return False
            self._used = True
            return True


def install(app: Flask, *, hosts: frozenset[str], port: int) -> None:
    """Put the checks in front of every route and the headers behind it.

    Args:
        hosts: names under which the inspector may be asked for; loopback names always may.
        port: the port it is served on, part of the name of its cookie.

    Raises:
        ConfigError: a route declared no policy.
    """
    allowed = LOOPBACK | hosts
    app.config.update(
        SESSION_COOKIE_NAME=f"waypost_{port}",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Strict",
        WTF_CSRF_TIME_LIMIT=None,
        WTF_CSRF_SSL_STRICT=False,
        MAX_CONTENT_LENGTH=1 << 20,
        MAX_FORM_MEMORY_SIZE=64 << 10,
        MAX_FORM_PARTS=20,
    )
    csrf = CSRFProtect()

    @app.before_request
    def check() -> None:
        _check_host(allowed)
        _check_origin()
        _check_policy()
        if request.method not in SAFE:
            csrf.protect()

    # After ours: the order of complaints goes from the host to the token.
    app.config["WTF_CSRF_CHECK_DEFAULT"] = False
    csrf.init_app(app)

    @app.after_request
    def guard(response: Response) -> Response:
        style = "'self' 'unsafe-inline'" if g.get("figure") else "'self'"
        response.headers["Content-Security-Policy"] = _CSP.format(style=style)
        for name, value in _HEADERS.items():
            response.headers[name] = value
        return response

    bare = [rule.endpoint for rule in app.url_map.iter_rules() if _policy(app, rule.endpoint) is None]
    if bare:
        raise ConfigError(
            f"These routes declare no policy: {', '.join(sorted(bare))}. Put @allow(…) on them."
        )


def _policy(app: Flask, endpoint: str) -> str | None:
    return ANYONE if endpoint == "static" else policy_of(app.view_functions[endpoint])


def _check_host(allowed: frozenset[str]) -> None:
    host = re.sub(r":\d+$", "", request.host).strip("[]").lower()
    if host not in allowed:
        g.detail = request.host
        abort(421)


def _check_origin() -> None:
    """Other sites may link here; they may neither embed nor send anything."""
    site = request.headers.get("Sec-Fetch-Site")
    mode = request.headers.get("Sec-Fetch-Mode", "navigate")
    if request.method in SAFE:
        if site in (None, "same-origin", "none") or (
            (site == "same-site" or site == "cross-site")
            and (mode == "navigate" and request.headers.get("Sec-Fetch-Dest", "document") == "document")
        ):
            return
        abort(403, "another site asked for a part of this page")
    # `Referrer-Policy: no-referrer` makes a browser say `Origin: null` of its own forms; Sec-Fetch-Site then decides.
    origin = request.headers.get("Origin")
    ours = origin is not None and urlsplit(origin).netloc == request.host
    if origin not in (None, "null") and not ours:
        abort(403, "another site sent this form")
    if site != "same-origin" and not (site is None and ours):
        abort(403, "the form does not say that it was sent by a page of this inspector")


def _check_policy() -> None:
    if request.endpoint is None:
        return
    policy = _policy(current_app, request.endpoint)
    if policy == ANYONE or (policy == PERSON and session.get("who")):
        return
    abort(401)


def who() -> str:
    """The name that the session was opened under; empty without one."""
    return str(session.get("who", ""))
