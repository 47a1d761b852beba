"""Which calls did a run make, in which order, before and after it was resumed?

The ledger holds one row a call, in its last state; the journal says in which process life each was sent, ended or
answered. Both together give what stood there when a segment began. Rows are read without their values; those are
opened for the calls that somebody looks at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection

from . import codec
from .callrecord import CallRecord, call_record
from .contract import CallState, CheckpointKind
from .store import objects, read, read_alerts
from .store.rows import CallRow, EntryRow, RunRow
from .tree import TreeReader

COMMITTED, LOST = "committed", "lost"
_CALLS: Final = ("intent", "outcome", "call", "answer", "suspended")
_STARTS: Final = ("start", "resume")
_LOOKED_BACK: Final = 50


@dataclass(frozen=True, slots=True)
class Made:
    """One call as one process life made it; `row.state` is what was known at the time."""

    row: CallRow
    phase: str = ""
    """`committed` or `lost` before the resume, empty after it."""
    replayed: bool = False
    """Answered from the ledger, not executed."""

    @property
    def key(self) -> tuple[str, bytes]:
        """Equal for calls of one tool with equal arguments in one store."""
        return self.row.tool, self.row.args_digest


@dataclass(frozen=True, slots=True)
class Course:
    """The calls of one run on both sides of a resume, oldest first."""

    run: RunRow
    segment: int
    """The segment that is looked at; 0: everything after the first resume, or the whole of a run never resumed."""
    before: tuple[Made, ...]
    after: tuple[Made, ...]

    @property
    def lost(self) -> tuple[Made, ...]:
        """What was done after the checkpoint that was resumed."""
        return tuple(made for made in self.before if made.phase == LOST)

    @property
    def kept(self) -> tuple[Made, ...]:
        """What was done up to it."""
        return tuple(made for made in self.before if made.phase != LOST)


def course(connection: Connection, run: RunRow, segment: int = 0) -> Course:
    """The calls of *run* around the beginning of *segment*; see `Course.segment` for 0."""
    where = run.run_id, run.branch
    rows = {row.effect_id: row for row in read.calls(connection, *where)}
    entries = read.entries(connection, *where, kinds=(*_CALLS, *_STARTS))
    first = segment or (2 if run.segment > 1 else 1)
    last = segment or run.segment
    before: dict[str, str] = {}
    after: dict[tuple[str, int], tuple[str, bool]] = {}
    flying: dict[str, None] = {}
    doubted: dict[str, int] = {}
    begun = 0
    for entry in entries:
        if entry.kind in _STARTS:
            begun = entry.segment
            continue
        if entry.segment > last:
            break
        if begun < first:
            # An outcome that the gate learnt from a service belongs to the call that was in doubt.
            before[entry.subject] = _state(entry, before.get(entry.subject))
        elif entry.kind == "intent":
            flying[entry.subject] = None
        else:
            flying.pop(entry.subject, None)
            # A write without an outcome that is sent again is one effect: where it ended, it stands.
            after.pop((entry.subject, doubted.pop(entry.subject, -1)), None)
            state = _state(entry, None)
            after[entry.subject, entry.entry] = state, entry.kind == "answer"
            if state == CallState.UNKNOWN:
                doubted[entry.subject] = entry.entry
    for effect_id in flying:
        after.pop((effect_id, doubted.pop(effect_id, -1)), None)
        after[effect_id, -1] = CallState.UNKNOWN, False
    position = _position(connection, run, first) if first > 1 else 0
    return Course(
        run,
        segment,
        tuple(
            Made(replace(rows[i], state=state), LOST if rows[i].position >= position else COMMITTED)
            for i, state in before.items()
            if i in rows
        ),
        tuple(
            Made(replace(rows[i], state=state), "", again)
            for (i, _), (state, again) in after.items()
            if i in rows
        ),
    )


def whole(connection: Connection, run: RunRow) -> tuple[Made, ...]:
    """Every call of a run by number, in its last state: what a model for other runs did."""
    return tuple(Made(row) for row in read.calls(connection, run.run_id, run.branch))


def records(connection: Connection, tree: TreeReader, made: Sequence[Made]) -> list[CallRecord]:
    """The same calls as the divergence engine reads them, with their values."""
    if not made:
        return []
    where = made[0].row.run_id, made[0].row.branch
    values = read_alerts.values_of_calls(connection, *where, [one.row.effect_id for one in made])
    out: list[CallRecord] = []
    for one in made:
        args, result = values.get(one.row.effect_id, (b"", None))
        known = one.row.state == CallState.COMMITTED
        out.append(
            call_record(
                one.row,
                _plain(tree, args, one.row.effect_id),
                _plain(tree, result, one.row.effect_id) if known else None,
                phase=one.phase,
                replayed=one.replayed,
            )
        )
    return out


def _state(entry: EntryRow, known: str | None) -> str:
    if entry.kind == "intent":
        return CallState.UNKNOWN
    if entry.kind == "answer":
        return known or CallState.COMMITTED
    return entry.mark if entry.mark in set(CallState) else CallState.UNKNOWN


def _position(connection: Connection, run: RunRow, segment: int) -> int:
    """Sequence of the advancing checkpoint that the segment resumed: what was called after it was lost."""
    found = read.segment_at(connection, run.run_id, run.branch, segment)
    if found is None:
        return 0
    past = read.checkpoints(
        connection,
        run.run_id,
        run.branch,
        before=found.from_sequence + 1,
        limit=_LOOKED_BACK,
        newest_first=True,
    )
    return next((row.sequence or 0 for row in past if CheckpointKind(row.mark).advances), found.from_sequence)


def _plain(tree: TreeReader, packed: bytes | None, where: str) -> Any:
    return tree.load(codec.decode(objects.unpack(packed, where))) if packed else None
