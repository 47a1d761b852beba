"""Does an agent still do what it did? One assertion, whose message is the aligned tape."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any

from ..callrecord import CallRecord
from ..commands.opened import reading
from ..comparing import Declared, Report, Side, declared, held_of, judge, model, models_of
from ..course import course, records
from ..errors import BadRunFile
from ..refs import parse_run
from ..runfile import looks_like_file, sides
from ..store.rows import AlertRow
from ..tapetext import text_of

Runs = str | PathLike[str] | Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""A run of the configured store, a file, a run record `{"tools": [call, …]}`, or a list of calls
`{"name", "args", "kind", …}`."""


def assert_same_course(
    run_or_calls: Runs,
    against: Runs | Sequence[Runs] | None = None,
    *,
    identity: Mapping[str, Iterable[str]] | None = None,
    grant: Collection[str] | None = None,
    final: bool = True,
) -> Report:
    """Assert that a run has the effects that others have; what was compared, when it holds.

    Args:
        run_or_calls: the run; a run of the store that was resumed is looked at from its first resume on.
        against: one or more runs that did it right. None: the earlier successful runs of the same agent, plan and
            input, which only a run of the store has.
        identity: tool -> the arguments that say what an effect is, where the tools do not declare it.
        grant: tools that may be called.
        final: False for a run that has not ended: what is missing then is not held against it.

    Raises:
        AssertionError: it alarms, a call of it was held, or there is nothing to compare it with; the message holds
            both tapes.
        BadRunFile, UnknownRun, StoreError: a run or file cannot be read.
    """
    side, before, after, known, named, ended, held = _subject(run_or_calls)
    models = _models(against, named)
    found = judge(
        side,
        before,
        after,
        models,
        identity=identity or known.identity,
        grant=grant if grant is not None else known.grant,
        final=final and ended,
    ).holding(held)
    if found.exit_code:
        raise AssertionError("\n".join(text_of(found)))
    return found


def _subject(
    run: Runs,
) -> tuple[str, Sequence[CallRecord], Sequence[CallRecord], Declared, list[str], bool, list[AlertRow]]:
    """(name, calls before, calls after, what was declared, runs to compare with by default, has it ended, open alerts
    about calls that were held)."""
    if isinstance(run, str) and not looks_like_file(run):
        with reading() as store, store.connect() as connection:
            row = store.run(connection, parse_run(run))
            tree, around = store.tree(connection), course(connection, row)
            return (
                row.run_id,
                records(connection, tree, around.before),
                records(connection, tree, around.after),
                declared(connection, row),
                models_of(connection, row),
                row.state == "done",
                held_of(connection, row),
            )
    found = _sides(run, "this run")
    if len(found) != 1:
        raise BadRunFile(
            fspath(run) if isinstance(run, str | PathLike) else "this", f"{len(found)} runs, not one."
        )
    return found[0].name, (), found[0].records, Declared(), [], True, []


def _models(against: Runs | Sequence[Runs] | None, default: Sequence[str]) -> list[Side]:
    if against is None:
        wanted: list[Runs] = list(default)
    elif isinstance(against, str | PathLike | Mapping) or _is_calls(against):
        wanted = [against]  # type: ignore[list-item]
    else:
        wanted = list(against)
    return [side for n, one in enumerate(wanted, 1) for side in _sides(one, f"run {n}")]


def _sides(run: Runs, name: str) -> list[Side]:
    if isinstance(run, str) and not looks_like_file(run):
        with reading() as store, store.connect() as connection:
            return [model(connection, store.tree(connection), store.run(connection, parse_run(run)))]
    if isinstance(run, str | PathLike):
        return sides(fspath(run))[0]
    calls = run.get("tools", ()) if isinstance(run, Mapping) else run
    return [Side(name, tuple(dict(call) for call in calls))]


def _is_calls(runs: Sequence[Any]) -> bool:
    """Is this one run, a list of calls, rather than a list of runs?"""
    return not runs or (isinstance(runs[0], Mapping) and "tools" not in runs[0])
