"""How is the inspector put together?"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from flask import Flask, url_for
from werkzeug.routing import BaseConverter

from inspector import _paths, problems, security, views
from inspector.source import Source
from inspector.text import ticked, visible
from tracer.config import Settings
from tracer.errors import ConfigError

RUN_ID: Final = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}"


@dataclass(frozen=True, slots=True)
class Config:
    """What one inspector is started with."""

    settings: Settings
    """Which store, and its keys."""
    host: str = "127.0.0.1"
    """Address it listens on; only loopback in this release."""
    port: int = 4700
    """Port it listens on."""
    hosts: frozenset[str] = frozenset()
    """Further names under which a browser may ask for it."""
    launch: security.Launch = field(default_factory=security.Launch)
    """The link that opens the first session."""
    secret: str = field(default_factory=lambda: secrets.token_hex(32))
    """Signs sessions; a fresh one at every start ends the old ones."""
    traces: Mapping[str, str] = field(default_factory=dict)
    """Name of a backend -> address with `{trace_id}`."""
    example: str = ""
    """Command that resumes a run, for the pages; `waypost resume` when empty."""


class _RunId(BaseConverter):
    regex = RUN_ID


class _Checkpoint(BaseConverter):
    """`17`, or `b2:17` on another branch."""

    regex = rf"(?:{RUN_ID}:)?[0-9]{{1,18}}"


def create_app(config: Config) -> Flask:
    """The inspector over one store.

    Raises:
        ConfigError: it would listen beyond loopback, where nothing would ask who is there.
        StoreError: the store cannot be opened; see `Store.open`.
    """
    if config.host not in security.LOOPBACK:
        raise ConfigError(
            f"The inspector would listen on {config.host} without asking who is there. "
            "Use 127.0.0.1, and `ssh -L` to reach it from elsewhere."
        )
    app = Flask(
        "inspector",
        root_path=str(_paths.folder("templates").parent),
        template_folder=str(_paths.folder("templates")),
        static_folder=str(_paths.folder("static")),
    )
    app.secret_key = config.secret
    app.config["WAYPOST"] = config
    app.url_map.converters.update(run=_RunId, checkpoint=_Checkpoint)
    app.extensions["waypost"] = Source.open(config.settings)
    _templates(app)
    views.register(app)
    problems.register(app)
    security.install(app, hosts=config.hosts, port=config.port)
    return app


def _templates(app: Flask) -> None:
    app.jinja_env.finalize = visible
    app.jinja_env.trim_blocks = True
    app.jinja_env.lstrip_blocks = True

    def asset(name: str) -> str:
        return url_for("static", filename=name)

    app.jinja_env.globals["asset"] = asset
    app.jinja_env.filters["ticked"] = ticked


def config_of(app: Flask) -> Config:
    """What *app* was started with."""
    found: Any = app.config["WAYPOST"]
    assert isinstance(found, Config)
    return found
