"""What does `waypost` understand? One command per file of `tracer.commands`, and those that others add.

Every error of the tree becomes one line that names its remedy, and an exit code; WAYPOST_DEBUG=1 shows the
traceback instead.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points, version
from typing import Any, Final, NoReturn

import click

from .commands.exits import Exit, exit_of
from .commands.output import complain
from .errors import ConfigError, Paused, WaypostError

COMMANDS: Final = (
    "demo",
    "runs",
    "show",
    "cat",
    "diff",
    "why",
    "preflight",
    "resume",
    "approve",
    "export",
    "verify",
    "divergence",
    "doctor",
    "db",
)
"""Commands of this package, in the order of the help; `tracer.commands.NAME` holds `command`."""
GROUP: Final = "waypost.commands"
"""Entry points by which other packages add commands; the inspector adds `inspect`."""
DEBUG: Final = "WAYPOST_DEBUG"


class Waypost(click.Group):
    """A group that imports a command when it is used, and ends with one line instead of a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Ours in their order, then what others add."""
        return [*COMMANDS, *sorted(_added())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name in COMMANDS:
            found = importlib.import_module(f"tracer.commands.{cmd_name}").command
            assert isinstance(found, click.Command)
            return found
        if cmd_name in _added():
            return _loaded(_added()[cmd_name])
        return None

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> NoReturn:
        """Run a command and exit with its code."""
        extra["standalone_mode"] = False
        try:
            code = super().main(args, *rest, **extra)
            sys.stdout.flush()
        except click.exceptions.Abort:
            complain("interrupted.")
            code = Exit.INTERRUPTED
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message())
            code = Exit.USAGE
        except click.ClickException as error:
            ctx = getattr(error, "ctx", None)
            help_line = f" `{ctx.command_path} --help` shows how." if ctx is not None else ""
            complain(f"{error.format_message()}{help_line}")
            code = Exit.USAGE
        except (WaypostError, Paused) as error:
            if os.environ.get(DEBUG):
                raise
            complain(str(error))
            code = exit_of(error)
        except SystemExit:
            # So click ends, and only then, when whoever read us has seen enough.
            code = Exit.OK
        except BrokenPipeError:
            # The same, at our own flush; Python would complain once more while it shuts down.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = Exit.OK
        except Exception as error:
            if os.environ.get(DEBUG):
                raise
            complain(f"This is a bug of Waypost; {DEBUG}=1 shows where. {type(error).__name__}: {error}")
            code = Exit.FAILED
        sys.exit(int(code) if isinstance(code, int) else Exit.OK)


def _loaded(entry: EntryPoint) -> click.Command:
    """The command of an entry point, or one that says what has to be installed for it."""
    try:
        found = entry.load()
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("", entry.module.partition(".")[0], "tracer"):
            raise
        return _absent(entry, missing)
    assert isinstance(found, click.Command)
    return found


def _absent(entry: EntryPoint, missing: str) -> click.Command:
    package = entry.dist.name if entry.dist is not None else entry.module
    extra = f"{package}[{','.join(entry.extras)}]" if entry.extras else missing

    def refuse() -> None:
        raise ConfigError(
            f'`waypost {entry.name}` needs {missing}, which is not installed. Run `pip install "{extra}"`.'
        )

    lenient = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(
        entry.name, context_settings=lenient, callback=refuse, short_help=f'needs `pip install "{extra}"`'
    )


def _added() -> dict[str, EntryPoint]:
    return {found.name: found for found in entry_points(group=GROUP)}


@click.group(
    cls=Waypost,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: docs/commands.md.",
)
@click.version_option(version("waypost"), prog_name="waypost")
@click.option("--store", metavar="PATH|URL", help="The store to use, over WAYPOST_STORE and waypost.toml.")
@click.pass_context
def waypost(ctx: click.Context, store: str | None) -> None:
    """Durable checkpoints for agents, a gate in front of every resume, and what happened in between."""
    if store is not None:
        from .recorder import configure

        configure(store=store)


def main() -> NoReturn:
    """The entry point of the console script."""
    waypost.main()
