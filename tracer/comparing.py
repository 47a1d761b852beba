"""What does a stored or imported run look like beside others: the verdict, and whose calls stand on the tapes?

Around the pure engine: it counts its baselines, people know runs by name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlalchemy import Connection

from .alertrecord import HELD, OPEN
from .callrecord import CallRecord
from .course import LOST, Course, course, records, whole
from .divergence import Comparison, Tape, compare
from .divergence.compare import ALARMED
from .store import objects, read, read_alerts
from .store.rows import AlertRow, RunRow
from .tree import TreeReader

MODELS: Final = 8
"""Earlier runs that a run is compared with when nobody names them."""
_MODEL: Final = re.compile(r"earlier run (\d+)")


@dataclass(frozen=True, slots=True)
class Side:
    """The calls of one run, or of a part of it, under the name people know it by."""

    name: str
    records: tuple[CallRecord, ...]


@dataclass(frozen=True, slots=True)
class Laid:
    """One tape with the calls that its rows count."""

    tape: Tape
    before: Side
    after: Side


@dataclass(frozen=True, slots=True)
class Report:
    """One comparison, with the names of what was compared."""

    name: str
    comparison: Comparison
    compared_with: tuple[tuple[str, int], ...]
    """(name, calls)."""
    laid: tuple[Laid, ...]
    sentence: str
    """The verdict in words, with the names of runs."""
    held: tuple[AlertRow, ...] = ()
    """Open alerts about calls that were planned, held and not sent: what was done knows nothing of them."""

    @property
    def verdict(self) -> str:
        """That of what was done; an alarm when a call waits to be let through."""
        return ALARMED if self.held else self.comparison.verdict

    @property
    def score(self) -> float:
        """0 to 1: the highest of what was done and of what was held."""
        return max([self.comparison.score, *(one.score / 1000 for one in self.held)])

    @property
    def exit_code(self) -> int:
        """0 quiet, 1 alarm, 3 not enough evidence."""
        return 1 if self.held else self.comparison.exit_code

    def holding(self, held: Sequence[AlertRow]) -> Report:
        """The same with the calls that wait, of which the first is the verdict where nothing done is one."""
        first = held[0].sentence if held and not self.comparison.alarm else self.sentence
        return replace(self, held=tuple(held), sentence=first)


@dataclass(frozen=True, slots=True)
class Declared:
    """What the program has declared about its tools, as far as a journal kept it."""

    identity: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    grant: tuple[str, ...] = ()


def judge(
    name: str,
    before: Sequence[CallRecord],
    after: Sequence[CallRecord],
    models: Sequence[Side],
    *,
    identity: Mapping[str, Iterable[str]] | None = None,
    grant: Collection[str] | None = None,
    final: bool = True,
    tapes: bool = True,
) -> Report:
    """Compare what *name* did after a resume with what came *before* it and with *models*, oldest first."""
    found = compare(
        before,
        after,
        [{"tools": list(side.records), "success": True} for side in models],
        final=final,
        identity=identity or None,
        grant=grant or None,
        tapes=tapes,
    )
    lost = tuple(record for record in before if record.get("phase") == LOST)
    kept = tuple(record for record in before if record.get("phase") != LOST)
    laid = []
    for tape in found.tapes:
        which = _MODEL.fullmatch(tape.before)
        if which is None:
            sides = Side(tape.before, lost), Side(tape.after, tuple(after))
        else:
            model = models[int(which[1]) - 1]
            sides = model, Side(name, (*kept, *after))
            tape = replace(tape, before=model.name, after=name)
        laid.append(Laid(tape, *sides))
    named = tuple((_named(one.what, models), one.calls) for one in found.compared_with)
    said = _MODEL.sub(lambda which: _named(which[0], models), found.sentence)
    return Report(name, found, named, tuple(laid), said if not found.alarm else found.sentence)


def declared(connection: Connection, run: RunRow) -> Declared:
    """What the last resumed segment of a run knew of its tools; nothing for a run never resumed."""
    body = started(connection, run)
    identity = {str(tool): tuple(map(str, fields)) for tool, fields in body.get("identity", {}).items()}
    return Declared(identity, tuple(map(str, body.get("grant", ()))))


def started(connection: Connection, run: RunRow, segment: int = 0) -> dict[str, Any]:
    """What was written when a segment (0: the last one) began to be compared; empty when none was."""
    found = read.entries_with_bodies(connection, run.run_id, run.branch, kinds=("divergence",))
    for entry, body in reversed(found):
        if entry.mark == "started" and segment in (0, entry.segment):
            return objects.unpack_record(body, f"{run.run_id} entry {entry.entry}")
    return {}


def models_of(connection: Connection, run: RunRow) -> list[str]:
    """Earlier successful runs of the same agent, plan and input, oldest first."""
    settings = read.run_settings(connection, run.run_id)
    found = read_alerts.earlier_runs(
        connection,
        run.agent,
        run.plan,
        settings[1] if settings else b"",
        besides=run.run_id,
        since=run.created_at,
        limit=MODELS,
    )
    return [run_id for run_id, _ in reversed(found)]


def held_of(connection: Connection, run: RunRow, segment: int = 0) -> list[AlertRow]:
    """Open alerts about calls that were held and not sent, newest first; of one segment unless it is 0."""
    found = read.alerts(connection, run_id=run.run_id, name=run.branch, states=(OPEN,))
    return [one for one in found if one.sentence.startswith(HELD) and segment in (0, one.segment)]


def model(connection: Connection, tree: TreeReader, run: RunRow) -> Side:
    """A whole run to compare others with."""
    return Side(run.run_id, tuple(records(connection, tree, whole(connection, run))))


def report(
    connection: Connection, tree: TreeReader, run: RunRow, models: Sequence[Side], *, segment: int = 0
) -> Report:
    """Compare a stored run, or what one of its segments did, with *models*."""
    found: Course = course(connection, run, segment)
    known = declared(connection, run)
    judged = judge(
        run.run_id,
        records(connection, tree, found.before),
        records(connection, tree, found.after),
        models,
        identity=known.identity,
        grant=known.grant,
        final=run.state == "done",
    )
    return judged.holding(held_of(connection, run, segment))


def _named(what: str, models: Sequence[Side]) -> str:
    which = _MODEL.fullmatch(what)
    return what if which is None else models[int(which[1]) - 1].name
