"""What does `waypost inspect` understand?"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

import click

from inspector.app import Config
from inspector.serve import free_port, serve
from tracer.errors import ConfigError, PortTaken
from tracer.recorder import settings

PORT: Final = 4700


@click.command("inspect", short_help="serve the inspector on this machine")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; loopback only.")
@click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    help=f"Port to listen on; {PORT}, or a free one where that is taken.",
)
@click.option(
    "--allow-host", multiple=True, metavar="NAME", help="A further name under which a browser may ask for it."
)
@click.option(
    "--trace-url",
    multiple=True,
    metavar="NAME=URL",
    help="Where a trace is shown, with {trace_id}: Jaeger=http://127.0.0.1:16686/trace/{trace_id}",
)
@click.option("--json", "as_json", is_flag=True, help="Print the link as one JSON line.")
def command(
    host: str, port: int | None, allow_host: tuple[str, ...], trace_url: tuple[str, ...], as_json: bool
) -> None:
    """Serve the inspector on loopback, and print the link that lets one browser in."""
    config = Config(
        settings=settings(),
        host=host,
        port=port or PORT,
        hosts=frozenset(name.lower() for name in allow_host),
        traces=dict(map(_trace, trace_url)),
    )
    say = _say_json if as_json else _say
    try:
        serve(config, say)
    except PortTaken:
        if port is not None:
            raise
        # Found out by binding, not by asking before: two inspectors may start in the same moment.
        serve(replace(config, port=free_port(host)), say)


def _say(link: str) -> None:
    click.echo(f"The inspector is at {link}")
    click.echo("The link works once; Ctrl-C ends it.", err=True)


def _say_json(link: str) -> None:
    click.echo(json.dumps({"url": link}))


def _trace(option: str) -> tuple[str, str]:
    name, equals, url = option.partition("=")
    if not equals or not name or not url.startswith(("http://", "https://")) or "{trace_id}" not in url:
        raise ConfigError(
            f"--trace-url {option!r} is not NAME=URL with {{trace_id}} in it. "
            "Write for example Jaeger=http://127.0.0.1:16686/trace/{trace_id}."
        )
    return name, url
