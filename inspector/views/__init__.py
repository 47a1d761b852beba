"""Which address shows which page?"""

from __future__ import annotations

from flask import Flask

from inspector.views import alerts, calls, inbox, resumes, run, runs, session


def register(app: Flask) -> None:
    """All pages of the inspector."""
    for module in (session, runs, run, calls, resumes, inbox, alerts):
        app.register_blueprint(module.pages)
