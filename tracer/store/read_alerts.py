"""What does the store know about alerts, about what was muted, and about runs to compare with?

The questions behind `tracer.divergence`; as in `read`, one function each, and lists load no payload.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, exists, func, select

from .read import IN, MAIN
from .rows import MuteRow
from .tables import alert, branch, call, mute, run

SUSPECT: Final = ("open", "acknowledged", "muted")
"""States of an alert that keep its run from being a model for others."""


def earlier_runs(
    connection: Connection, agent: str, plan: str | None, input_digest: bytes, *, besides: str, since: int, limit: int
) -> list[tuple[str, int]]:
    """(run id, number of calls) of successful runs of the same agent, plan version and initial state.

    Those that were started before *since* (ns since 1970) and are not the run *besides*.

    Newest first. One with an alert is no model, unless a person called it expected.
    """
    suspect = exists().where(
        alert.c.run_id == run.c.run_id, alert.c.branch == MAIN, alert.c.state.in_(SUSPECT)
    )
    query = (
        select(run.c.run_id, branch.c.calls)
        .select_from(branch.join(run, branch.c.run_id == run.c.run_id))
        .where(
            run.c.agent == agent,
            run.c.input_digest == input_digest,
            run.c.run_id != besides,
            run.c.created_at < since,
            branch.c.branch == MAIN,
            branch.c.plan == plan if plan is not None else branch.c.plan.is_(None),
            branch.c.state == "done",
            ~suspect,
        )
        .order_by(run.c.created_at.desc(), run.c.run_id.desc())
        .limit(limit)
    )
    return [(str(run_id), int(calls)) for run_id, calls in connection.execute(query)]


def values_of_calls(
    connection: Connection, run_id: str, name: str, effect_ids: Sequence[str]
) -> dict[str, tuple[bytes, bytes | None]]:
    """Effect id -> (stored arguments, stored result or None) of the calls that exist."""
    wanted = list(dict.fromkeys(effect_ids))
    out: dict[str, tuple[bytes, bytes | None]] = {}
    for start in range(0, len(wanted), IN):
        query = select(call.c.effect_id, call.c.args, call.c.result).where(
            call.c.run_id == run_id,
            call.c.branch == name,
            call.c.effect_id.in_(wanted[start : start + IN]),
        )
        for effect_id, args, result in connection.execute(query):
            out[str(effect_id)] = bytes(args), None if result is None else bytes(result)
    return out


def mute_rows(connection: Connection, *, agent: str | None = None, plan: str | None = None) -> list[MuteRow]:
    """What was muted, newest first; of one agent and plan version where they are given (no plan is empty)."""
    query = select(mute.c.agent, mute.c.plan, mute.c.shape, mute.c.muted_by, mute.c.note, mute.c.muted_at)
    if agent is not None:
        query = query.where(mute.c.agent == agent)
    if plan is not None:
        query = query.where(mute.c.plan == plan)
    return [MuteRow(*values) for values in connection.execute(query.order_by(mute.c.muted_at.desc()))]


def alert_counts(connection: Connection) -> dict[str, int]:
    """State -> alerts in it."""
    query = select(alert.c.state, func.count()).group_by(alert.c.state)
    return {str(state): int(n) for state, n in connection.execute(query)}


def newest_run_of(connection: Connection, agent: str) -> str | None:
    """The run of an agent that was started last; in its journal goes what is said about the agent as a whole."""
    query = select(run.c.run_id).where(run.c.agent == agent)
    found = connection.execute(query.order_by(run.c.created_at.desc(), run.c.run_id.desc()).limit(1)).scalar()
    return None if found is None else str(found)
