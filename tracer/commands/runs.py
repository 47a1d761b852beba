"""Which runs are there, where do they stand, and what is next?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import click
from sqlalchemy import Connection

from ..contract import RunState
from ..quantities import ago, counted
from ..quantities import since as moment_of
from ..standing import next_action, state_of
from ..store import read
from ..store.rows import RunRow
from . import shapes
from .opened import program, reading
from .output import cell, clean, emit, json_option, note, run_state, say, table

PAGE: Final = 500
LIVE: Final = frozenset({RunState.RUNNING, RunState.INTERRUPTED, RunState.LOST})
"""States that depend on whether the owner lives, and so cannot be asked of the store alone."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which runs to list."""

    states: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    since_ns: int = 0
    limit: int = 50


def _since(_ctx: click.Context, _param: click.Parameter, value: str | None) -> int:
    if value is None:
        return 0
    try:
        return moment_of(value, time.time_ns())
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is neither a span (30m, 24h, 7d) nor a date (2026-11-30)."
        ) from None


@click.command(name="runs", short_help="list runs")
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice([str(s) for s in RunState]),
    help="Only this state; may be repeated.",
)
@click.option(
    "--agent", "agents", multiple=True, metavar="NAME", help="Only runs of this agent; may be repeated."
)
@click.option(
    "--since",
    metavar="WHEN",
    callback=_since,
    help="Only runs that changed since: 30m, 24h, 7d or a date (UTC).",
)
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1, 100_000), help="At most so many."
)
@json_option
def command(states: tuple[str, ...], agents: tuple[str, ...], since: int, limit: int, as_json: bool) -> None:
    """List runs, newest first.

    The state is the one that holds now: a run whose process is dead is `interrupted`, whatever was written last.
    """
    wanted, now = Wanted(states, agents, since, limit), time.time_ns()
    with reading() as store, store.connect() as connection:
        rows, total = select(connection, wanted, now)
    if as_json:
        emit({"shown": len(rows), "total": total, "runs": [shapes.run(row, now, program()) for row in rows]})
        return
    if not total:
        narrowed = states or agents or since
        note(
            "No run fits."
            if narrowed
            else "This store holds no run yet. `waypost demo` makes one, in a checkout."
        )
        return
    made = table("run", "agent", "state", "steps", "changed", "next", right=("steps",))
    for row in rows:
        made.add_row(
            cell(row.run_id, "bold"),
            cell(row.agent),
            run_state(state_of(row, now), row.reason if row.state == RunState.PAUSED else ""),
            str(row.head_sequence),
            ago(row.updated_at, now),
            cell(next_action(row, now).text),
        )
    say(made)
    note(
        f"{len(rows):,} of {counted(total, 'run')} shown"
        + ("; --limit shows more." if len(rows) < total else ".")
    )


def select(connection: Connection, wanted: Wanted, now_ns: int) -> tuple[list[RunRow], int]:
    """(the rows to show, how many there are in all), with the states that hold at *now_ns*."""
    asked = {RunState(clean(state)) for state in wanted.states}
    if not asked & LIVE:
        states = sorted(map(str, asked))
        rows = read.runs(
            connection, agents=wanted.agents, states=states, since=wanted.since_ns, limit=wanted.limit
        )
        return rows, read.count_runs(connection, agents=wanted.agents, states=states, since=wanted.since_ns)
    found = [row for row in _pages(connection, wanted, asked) if state_of(row, now_ns) in asked]
    return found[: wanted.limit], len(found)


def _pages(connection: Connection, wanted: Wanted, asked: set[RunState]) -> Iterator[RunRow]:
    stored = sorted(map(str, asked | {RunState.RUNNING}))
    before: tuple[int, str] | None = None
    while True:
        rows = read.runs(
            connection, agents=wanted.agents, states=stored, since=wanted.since_ns, before=before, limit=PAGE
        )
        yield from rows
        if len(rows) < PAGE:
            return
        before = rows[-1].created_at, rows[-1].run_id
