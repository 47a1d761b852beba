"""Does it really work? The licence audit: started, killed in the middle of a call, resumed, compared."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import click

from ..errors import ConfigError
from ..recorder import configure, settings
from .exits import Exit
from .output import complain, json_option, note

HARNESS = "examples.licence_audit.harness"


@click.command(name="demo", short_help="kill and resume a real agent, and check what is left")
@click.option(
    "--seed",
    default=1,
    show_default=True,
    type=click.IntRange(0),
    help="Decides kill point, lost answers and wording.",
)
@click.option(
    "--python", metavar="PATH", help="Audit the environment of this interpreter instead of this one's."
)
@click.option(
    "--diverge", is_flag=True, help="Let the resumed agent open a ticket for the wrong distribution."
)
@click.option("--approve", is_flag=True, help="Answer the agent's question too, so that the run ends.")
@click.option(
    "--serve/--no-serve",
    default=True,
    show_default=True,
    help="Serve the inspector afterwards, and print its link.",
)
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    seed: int,
    python: str | None,
    diverge: bool,
    approve: bool,
    serve: bool,
    as_json: bool,
) -> None:
    """Run a real audit, kill it with SIGKILL while a ticket service acts, resume it, and check every ticket.

    With --diverge the resumed agent goes astray on purpose; exit 1 when no alert names the wrong ticket.

    Needs a checkout of Waypost: the demo is in `examples/`. With --no-serve one JSON line comes last. Exit 1 when a
    ticket is missing or there twice, or the report differs from that of a run never killed. The store is
    `waypost.db` in WAYPOST_HOME.
    """
    harness = _harness()
    try:
        result = harness.run_demo(
            seed=seed,
            approve=approve,
            serve=serve,
            diverge=diverge,
            python=python,
            home=settings().home_path,
            say=note,
        )
    except harness.AuditError as error:
        complain(str(error))
        ctx.exit(Exit.USAGE)
    for line in (*result.complaints, *result.next_lines):
        note(line)
    if as_json or not serve:
        click.echo(result.to_json())
    if not result.ok:
        ctx.exit(Exit.NO)
    if serve:
        configure(store=str(result.store))
        serving = _inspect(ctx)
        note(f"The run is {result.run_id}. Ctrl-C ends the inspector.")
        ctx.invoke(serving)


def _inspect(ctx: click.Context) -> click.Command:
    group = ctx.find_root().command
    found = group.get_command(ctx, "inspect") if isinstance(group, click.Group) else None
    if found is None:
        raise ConfigError('The inspector is not installed here. Run `pip install "waypost[inspector]"`.')
    return found


def _harness() -> Any:
    root = Path(__file__).resolve().parents[2]
    if not (root / "examples" / "licence_audit" / "harness.py").is_file():
        raise ConfigError(
            "The demo needs a checkout of Waypost, because it runs `examples/licence_audit`, which no wheel holds. "
            "Clone the repository and say `make demo` there."
        )
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    return importlib.import_module(HARNESS)
