"""How is the inspector served? By waitress, on loopback, never by a debugger."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Final

from flask import Flask
from waitress.server import create_server

from inspector.app import Config, config_of, create_app
from tracer.errors import PortTaken

THREADS: Final = 32


def launch_url(app: Flask) -> str:
    """The link that opens the first session of *app*."""
    config = config_of(app)
    host = f"[{config.host}]" if ":" in config.host else config.host
    return f"http://{host}:{config.port}/launch/{config.launch.token}"


def serve(config: Config, say: Callable[[str], object] = print) -> None:
    """Serve until interrupted; *say* is told the launch link once the port is open.

    Raises:
        PortTaken: somebody else listens there.
        ConfigError: the address is not a loopback one.
        StoreError: the store cannot be opened.
    """
    app = create_app(config)
    try:
        server = create_server(app, host=config.host, port=config.port, threads=THREADS, ident=None)
    except OSError as error:
        app.extensions["waypost"].close()
        raise PortTaken(config.host, config.port, error.strerror or str(error)) from error
    say(launch_url(app))
    try:
        server.run()
    finally:
        server.close()
        app.extensions["waypost"].close()


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody listens on right now."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
