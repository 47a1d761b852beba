"""How does `waypost inspect` start the inspector? Named as an entry point, so that `tracer` need not know it.

Flask and the rest come with an extra; without them one line says how to get them.
"""

from __future__ import annotations

import sys

import click

from tracer.errors import ConfigError
from tracer.recorder import settings

EXTRA = 'pip install "waypost[inspector]"'


@click.command(name="inspect", short_help="serve the inspector on this machine")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; a loopback one.")
@click.option(
    "--port", default=4700, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 takes a free one."
)
@click.option("--json", "as_json", is_flag=True, help="Print the address as one JSON line.")
def command(host: str, port: int, as_json: bool) -> None:
    """Serve the inspector on this machine and print the link that opens it.

    The link is good for one session and asks once for a name. Ends with Ctrl-C.
    """
    try:
        from inspector import serve
        from inspector.app import Config
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in ("inspector", "tracer"):
            raise
        raise ConfigError(
            f"The inspector needs {error.name}, which is not installed. Run `{EXTRA}`."
        ) from None

    def say(link: str) -> None:
        import json

        sys.stdout.write(json.dumps({"url": link}) if as_json else f"inspector: {link}")
        sys.stdout.write("\n")
        sys.stdout.flush()

    try:
        serve.serve(Config(settings=settings(), host=host, port=port or serve.free_port(host)), say)
    except KeyboardInterrupt:
        sys.stderr.write("\n")
