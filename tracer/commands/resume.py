"""How is a run taken on from here?"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import click

from .. import _public, recorder
from ..contract import RunState
from ..errors import Paused, WaypostError
from ..lease import Owner
from ..refs import parse_run
from ..seal import mask
from ..store.rows import RunRow
from ..why import Facts, explain, gather
from . import shapes
from .exits import Exit, exit_of
from .opened import program, reading
from .output import complain, emit, json_option, run_state, say, type_line


@click.command(name="resume", short_help="take a run on from here")
@click.argument("run")
@click.option(
    "--agent", default="", metavar="MODULE:NAME", help="The agent; as the run recorded it when left out."
)
@click.option("--why", default="", metavar="TEXT", help="Why, for the resume log.")
@click.option("--takeover", is_flag=True, help="Wait out the lease of a holder whose heartbeat has stopped.")
@json_option
@click.pass_context
def command(ctx: click.Context, run: str, agent: str, why: str, takeover: bool, as_json: bool) -> None:
    """Resume RUN in this process, through the gate.

    What the agent prints goes to standard error, so that --json stays readable. When the run pauses or is refused,
    the lines to type next are printed.
    """
    run_id = parse_run(run)
    _row(run_id)
    error: BaseException | None = None
    try:
        with _agent_speaks_aside():
            _public.resume(run_id, agent=agent, why=why, takeover=takeover)
    except (WaypostError, Paused) as caught:
        error = caught
    except Exception as caught:
        if os.environ.get("WAYPOST_DEBUG"):
            raise
        error = caught
    finally:
        store = recorder.settings().store
        recorder.reset()
        recorder.configure(store=store)
    _tell(_facts(run_id), error, as_json)
    ctx.exit(Exit.OK if error is None else exit_of(error))


@contextlib.contextmanager
def _agent_speaks_aside() -> Iterator[None]:
    with contextlib.redirect_stdout(sys.stderr):
        yield


def _tell(facts: Facts, error: BaseException | None, as_json: bool) -> None:
    now, row = time.time_ns(), facts.row
    press = explain(facts, program()).press
    if as_json:
        emit(
            {
                "run_id": row.run_id,
                "outcome": _outcome(error),
                "message": "" if error is None else mask(_message(error)),
                "press": [{"command": one.command, "what": mask(one.what)} for one in press],
                "run": shapes.run(row, now, program()),
            }
        )
        return
    if error is None:
        done = run_state(facts.state, row.reason)
        say(done.append(f": {row.run_id}, {row.head_sequence} checkpoints, {row.segment} process lives."))
        return
    complain(_message(error).replace(" RUN", f" {row.run_id}"))
    for one in press:
        sys.stderr.write(f"{type_line(one.command, one.what).plain}\n")


def _outcome(error: BaseException | None) -> str:
    if error is None:
        return str(RunState.DONE)
    return {Exit.PAUSED: "paused", Exit.HELD: "held", Exit.REFUSED: "refused"}.get(exit_of(error), "failed")


def _message(error: BaseException) -> str:
    if isinstance(error, WaypostError | Paused):
        return str(error)
    return f"The agent's own code failed; WAYPOST_DEBUG=1 shows where. {type(error).__name__}: {error}"


def _row(run_id: str) -> RunRow:
    with reading() as store, store.connect() as connection:
        return store.run(connection, run_id)


def _facts(run_id: str) -> Facts:
    with reading() as store, store.connect() as connection:
        facts = gather(connection, store.run(connection, run_id), time.time_ns())
    # Whatever this process still seems to hold, it has stopped working on.
    mine = facts.row.owner is not None and Owner.parse(facts.row.owner).pid == os.getpid()
    return replace(facts, state=RunState.INTERRUPTED) if mine and facts.state is RunState.RUNNING else facts
