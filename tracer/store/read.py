"""Every question that is put to the store: one function each, each answering with frozen rows.

Lists never load payloads; a body or object is opened by its own question. No SELECT stands anywhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final, TypeVar

from sqlalchemy import (
    Connection,
    Dialect,
    Select,
    Table,
    and_,
    bindparam,
    func,
    literal_column,
    or_,
    select,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite

from ..errors import IntegrityError
from . import driver
from .rows import AlertRow, ApprovalRow, CallRow, EntryRow, HeadRow, RunRow, SegmentRow
from .tables import PENDING, alert, approval, branch, call, entry, object, run, sealed, segment

Row = TypeVar("Row")
IN: Final = 512
"""Values in one IN list."""
MAIN: Final = "main"
VERSION_TABLE: Final = "waypost_schema"


def _columns(row: type[Any], *tables: Table) -> list[Any]:
    """The columns a row type asks for, in its order."""
    return [next(table.c[name] for table in tables if name in table.c) for name in row.__dataclass_fields__]


def _bytes(value: Any) -> bytes:
    """A value of a column of bytes, which SQLite would also let be a text."""
    if not isinstance(value, bytes):
        raise IntegrityError("a column of bytes", f"it holds {type(value).__name__}; somebody else wrote it.")
    return value


def _all(connection: Connection, row: type[Row], query: Select[Any]) -> list[Row]:
    # The driver's own tuples: a list of thousands is mostly the making of its rows.
    return [row(*values) for values in connection.execute(query).cursor.fetchall()]


def _first(connection: Connection, row: type[Row], query: Select[Any]) -> Row | None:
    values = connection.execute(query).first()
    return None if values is None else row(*values)


_RUN = select(*_columns(RunRow, branch, run)).select_from(branch.join(run, branch.c.run_id == run.c.run_id))
_HEAD = select(*_columns(HeadRow, branch))
_ENTRY = select(*_columns(EntryRow, entry))
_SEGMENT = select(*_columns(SegmentRow, segment))
_CALL = select(*_columns(CallRow, call))
_ALERT = select(*_columns(AlertRow, alert))
_APPROVAL = select(*_columns(ApprovalRow, approval))


def schema(connection: Connection) -> str | None:
    """The migration that the store stands at; None for an empty one."""
    if not connection.dialect.has_table(connection, VERSION_TABLE):
        return None
    found = connection.execute(
        select(literal_column("version_num")).select_from(text(VERSION_TABLE))
    ).scalar()
    return None if found is None else str(found)


# -- runs ---------------------------------------------------------------------------------------------------


def runs(
    connection: Connection,
    *,
    agents: Sequence[str] = (),
    states: Sequence[str] = (),
    not_states: Sequence[str] = (),
    text: str = "",
    since: int = 0,
    alerts_over: int | None = None,
    waiting: bool | None = None,
    before: tuple[int, str] | None = None,
    limit: int = 50,
) -> list[RunRow]:
    """Branches, newest first, by keyset: *before* is (created_at, run_id) of the last row seen."""
    query = _filtered(_RUN, agents, states, not_states, text, since, alerts_over, waiting)
    if before is not None:
        at, run_id = before
        query = query.where(or_(run.c.created_at < at, and_(run.c.created_at == at, run.c.run_id < run_id)))
    return _all(connection, RunRow, query.order_by(run.c.created_at.desc(), run.c.run_id.desc()).limit(limit))


def count_runs(
    connection: Connection,
    *,
    agents: Sequence[str] = (),
    states: Sequence[str] = (),
    not_states: Sequence[str] = (),
    text: str = "",
    since: int = 0,
    alerts_over: int | None = None,
    waiting: bool | None = None,
) -> int:
    """How many branches `runs` would list without a limit."""
    base = select(func.count()).select_from(branch.join(run, branch.c.run_id == run.c.run_id))
    return int(
        connection.execute(
            _filtered(base, agents, states, not_states, text, since, alerts_over, waiting)
        ).scalar_one()
    )


def _filtered(
    query: Select[Any],
    agents: Sequence[str],
    states: Sequence[str],
    not_states: Sequence[str],
    text: str,
    since: int,
    alerts_over: int | None,
    waiting: bool | None,
) -> Select[Any]:
    if agents:
        query = query.where(run.c.agent.in_(agents))
    if states:
        query = query.where(branch.c.state.in_(states))
    if not_states:
        query = query.where(branch.c.state.not_in(not_states))
    if text:
        query = query.where(
            or_(run.c.run_id.contains(text, autoescape=True), run.c.objective.contains(text, autoescape=True))
        )
    if since:
        query = query.where(branch.c.updated_at >= since)
    if alerts_over is not None:
        query = query.where(branch.c.alerts > alerts_over)
    if waiting is not None:
        query = query.where(branch.c.waiting > 0 if waiting else branch.c.waiting == 0)
    return query


def run_by_id(connection: Connection, run_id: str, name: str = MAIN) -> RunRow | None:
    """One branch of a run; None when there is none."""
    return _first(connection, RunRow, _RUN.where(branch.c.run_id == run_id, branch.c.branch == name))


def run_by_trace(connection: Connection, trace_id: bytes) -> str | None:
    """The run whose first segment, or any later one, has this trace id (16 bytes)."""
    found = connection.execute(select(run.c.run_id).where(run.c.trace_id == trace_id)).scalar()
    if found is None:
        prefix = func.substr(segment.c.span, 1, 16)
        found = connection.execute(select(segment.c.run_id).where(prefix == trace_id)).scalar()
    return None if found is None else str(found)


def agents(connection: Connection) -> list[tuple[str, int]]:
    """(agent, runs) for the filter's completions."""
    query = select(run.c.agent, func.count()).group_by(run.c.agent).order_by(run.c.agent)
    return [(str(name), int(n)) for name, n in connection.execute(query)]


def counts_by_state(connection: Connection) -> dict[str, int]:
    """State -> branches in it, as stored (a dead owner is not looked at)."""
    query = select(branch.c.state, func.count()).group_by(branch.c.state)
    return {str(state): int(n) for state, n in connection.execute(query)}


def labels(connection: Connection, run_id: str) -> bytes:
    """The stored labels of a run (packed JSON)."""
    return bytes(connection.execute(select(run.c.labels).where(run.c.run_id == run_id)).scalar_one())


def run_settings(connection: Connection, run_id: str) -> tuple[str, bytes, int, int] | None:
    """(mode, input digest, sampled, pattern version) that a run was started with."""
    query = select(run.c.mode, run.c.input_digest, run.c.sampled, run.c.patterns).where(
        run.c.run_id == run_id
    )
    found = connection.execute(query).first()
    return None if found is None else (str(found[0]), _bytes(found[1]), int(found[2]), int(found[3]))


# -- the journal --------------------------------------------------------------------------------------------


def head(connection: Connection, run_id: str, name: str) -> HeadRow | None:
    """Where an append must go on."""
    return _first(connection, HeadRow, _HEAD.where(branch.c.run_id == run_id, branch.c.branch == name))


def tag_at(connection: Connection, run_id: str, name: str, number: int) -> bytes | None:
    """The tag of one entry; tells after a lost acknowledgement whose write it was."""
    found = connection.execute(
        select(entry.c.tag).where(*_at(run_id, name), entry.c.entry == number)
    ).scalar()
    return None if found is None else _bytes(found)


def _at(run_id: str, name: str) -> tuple[Any, Any]:
    return entry.c.run_id == run_id, entry.c.branch == name


def entries(
    connection: Connection,
    run_id: str,
    name: str = MAIN,
    *,
    kinds: Sequence[str] = (),
    after: int = 0,
    limit: int | None = None,
) -> list[EntryRow]:
    """Journal entries in order, without bodies."""
    query = _ENTRY.where(*_at(run_id, name), entry.c.entry > after)
    if kinds:
        query = query.where(entry.c.kind.in_(kinds))
    return _all(connection, EntryRow, query.order_by(entry.c.entry).limit(limit))


def entries_with_bodies(
    connection: Connection, run_id: str, name: str = MAIN, *, kinds: Sequence[str] = (), after: int = 0
) -> list[tuple[EntryRow, bytes]]:
    """Journal entries in order with their stored bodies (for the rare kinds, and to verify a chain)."""
    query = select(*_columns(EntryRow, entry), entry.c.body).where(*_at(run_id, name), entry.c.entry > after)
    if kinds:
        query = query.where(entry.c.kind.in_(kinds))
    return [
        (EntryRow(*values[:-1]), _bytes(values[-1]))
        for values in connection.execute(query.order_by(entry.c.entry))
    ]


def checkpoints(
    connection: Connection,
    run_id: str,
    name: str = MAIN,
    *,
    before: int | None = None,
    after: int = 0,
    limit: int | None = None,
    newest_first: bool = False,
) -> list[EntryRow]:
    """Checkpoints by sequence (*after* < sequence < *before*), without payloads."""
    query = _ENTRY.where(*_at(run_id, name), entry.c.sequence > after)
    if before is not None:
        query = query.where(entry.c.sequence < before)
    order = entry.c.sequence.desc() if newest_first else entry.c.sequence
    return _all(connection, EntryRow, query.order_by(order).limit(limit))


def checkpoint(connection: Connection, run_id: str, name: str, sequence: int) -> EntryRow | None:
    """One checkpoint, without its payload."""
    return _first(connection, EntryRow, _ENTRY.where(*_at(run_id, name), entry.c.sequence == sequence))


def last_entry(connection: Connection, run_id: str, name: str, kind: str) -> EntryRow | None:
    """The newest entry of one of the rare kinds."""
    query = _ENTRY.where(*_at(run_id, name), entry.c.kind == kind)
    return _first(connection, EntryRow, query.order_by(entry.c.entry.desc()).limit(1))


def count_entries(connection: Connection, run_id: str, name: str = MAIN, *, kind: str = "") -> int:
    """How many entries (of one kind) a branch has."""
    query = select(func.count()).select_from(entry).where(*_at(run_id, name))
    if kind:
        query = query.where(entry.c.kind == kind)
    return int(connection.execute(query).scalar_one())


def body(connection: Connection, run_id: str, name: str, number: int) -> bytes | None:
    """The stored (packed) body of one entry."""
    found = connection.execute(
        select(entry.c.body).where(*_at(run_id, name), entry.c.entry == number)
    ).scalar()
    return None if found is None else _bytes(found)


def objects(connection: Connection, digests: Iterable[bytes]) -> dict[bytes, bytes]:
    """Digest -> stored (packed) bytes for those that exist."""
    wanted = list(digests)
    out: dict[bytes, bytes] = {}
    for start in range(0, len(wanted), IN):
        part = wanted[start : start + IN]
        text, names = _objects(connection.dialect.name, 1 << (len(part) - 1).bit_length())
        part += part[:1] * (len(names) - len(part))
        values = part if connection.dialect.positional else dict(zip(names, part, strict=True))
        for digest, data in driver.fetch(connection, text, values):
            out[_bytes(digest)] = _bytes(data)
    return out


@cache
def _objects(dialect: str, count: int) -> tuple[str, tuple[str, ...]]:
    """The compiled question for *count* objects, and the names of its values. A state is rebuilt from dozens of
    small reads, so SQLAlchemy's work for each would cost more than the reads."""
    names = tuple(f"digest_{number}" for number in range(count))
    query = select(object.c.digest, object.c.data).where(object.c.digest.in_(list(map(bindparam, names))))
    target: Dialect = sqlite.dialect() if dialect == "sqlite" else postgresql.psycopg.dialect()  # type: ignore[no-untyped-call]
    return str(query.compile(dialect=target)), names


def sealed_values(connection: Connection, fingerprints: Iterable[bytes]) -> dict[bytes, bytes]:
    """Fingerprint -> ciphertext for those that exist."""
    wanted = list(fingerprints)
    out: dict[bytes, bytes] = {}
    for start in range(0, len(wanted), IN):
        part = wanted[start : start + IN]
        query = select(sealed.c.fingerprint, sealed.c.data).where(sealed.c.fingerprint.in_(part))
        out.update((_bytes(print_), _bytes(data)) for print_, data in connection.execute(query))
    return out


# -- segments, calls, approvals -----------------------------------------------------------------------------


def segments(connection: Connection, run_id: str, name: str = MAIN) -> list[SegmentRow]:
    """The process lives of a branch, oldest first."""
    query = _SEGMENT.where(segment.c.run_id == run_id, segment.c.branch == name)
    return _all(connection, SegmentRow, query.order_by(segment.c.segment))


def calls(
    connection: Connection,
    run_id: str,
    name: str = MAIN,
    *,
    position: int | None = None,
    states: Sequence[str] = (),
    kinds: Sequence[str] = (),
    flag: str = "",
    after: int = 0,
    limit: int | None = None,
) -> list[CallRow]:
    """Calls by number; *position* keeps those made after that advancing checkpoint and before the next."""
    query = _CALL.where(call.c.run_id == run_id, call.c.branch == name, call.c.number > after)
    if position is not None:
        query = query.where(call.c.position == position)
    if states:
        query = query.where(call.c.state.in_(states))
    if kinds:
        query = query.where(call.c.kind.in_(kinds))
    if flag:
        query = query.where(call.c.flags.contains(flag, autoescape=True))
    return _all(connection, CallRow, query.order_by(call.c.number).limit(limit))


def call_by_id(connection: Connection, run_id: str, effect_id: str) -> CallRow | None:
    """One call on whatever branch it was made."""
    return _first(connection, CallRow, _CALL.where(call.c.run_id == run_id, call.c.effect_id == effect_id))


def effect(connection: Connection, effect_id: str) -> CallRow | None:
    """One call by its effect id alone (for a deep link)."""
    return _first(connection, CallRow, _CALL.where(call.c.effect_id == effect_id).limit(1))


def call_values(connection: Connection, run_id: str, name: str, effect_id: str) -> tuple[bytes, bytes | None]:
    """(stored arguments, stored result or None) of one call."""
    query = select(call.c.args, call.c.result).where(
        call.c.run_id == run_id, call.c.branch == name, call.c.effect_id == effect_id
    )
    args, result = connection.execute(query).one()
    return _bytes(args), None if result is None else _bytes(result)


def call_states(connection: Connection, run_id: str, name: str = MAIN) -> dict[tuple[str, str], int]:
    """(kind, state) -> number of calls."""
    query = (
        select(call.c.kind, call.c.state, func.count())
        .where(call.c.run_id == run_id, call.c.branch == name)
        .group_by(call.c.kind, call.c.state)
    )
    return {(str(kind), str(state)): int(n) for kind, state, n in connection.execute(query)}


def last_call_number(connection: Connection, run_id: str, name: str) -> int:
    """The highest call number of a branch; 0 without calls."""
    query = select(func.max(call.c.number)).where(call.c.run_id == run_id, call.c.branch == name)
    return int(connection.execute(query).scalar() or 0)


def approvals(
    connection: Connection,
    *,
    run_id: str | None = None,
    name: str | None = None,
    states: Sequence[str] = (),
    limit: int | None = None,
) -> list[ApprovalRow]:
    """Questions to people, oldest first."""
    query = _APPROVAL
    if run_id is not None:
        query = query.where(approval.c.run_id == run_id)
    if name is not None:
        query = query.where(approval.c.branch == name)
    if states:
        query = query.where(approval.c.state.in_(states))
    return _all(
        connection, ApprovalRow, query.order_by(approval.c.asked_at, approval.c.approval_id).limit(limit)
    )


def approval_by_id(connection: Connection, approval_id: str) -> tuple[ApprovalRow, bytes] | None:
    """One question and its stored detail."""
    query = select(*_columns(ApprovalRow, approval), approval.c.detail)
    values = connection.execute(query.where(approval.c.approval_id == approval_id)).first()
    return None if values is None else (ApprovalRow(*values[:-1]), bytes(values[-1]))


def count_approvals(connection: Connection, *, state: str) -> int:
    """How many questions are in a state."""
    query = select(func.count()).select_from(approval).where(approval.c.state == state)
    return int(connection.execute(query).scalar_one())


# -- divergence ---------------------------------------------------------------------------------------------


def alerts(
    connection: Connection,
    *,
    run_id: str | None = None,
    name: str | None = None,
    states: Sequence[str] = (),
    limit: int | None = None,
) -> list[AlertRow]:
    """Divergence alerts, newest first."""
    query = _ALERT
    if run_id is not None:
        query = query.where(alert.c.run_id == run_id)
    if name is not None:
        query = query.where(alert.c.branch == name)
    if states:
        query = query.where(alert.c.state.in_(states))
    return _all(connection, AlertRow, query.order_by(alert.c.raised_at.desc()).limit(limit))


def alert_by_id(connection: Connection, alert_id: str) -> tuple[AlertRow, bytes] | None:
    """One alert and its stored reasons."""
    query = select(*_columns(AlertRow, alert), alert.c.detail).where(alert.c.alert_id == alert_id)
    values = connection.execute(query).first()
    return None if values is None else (AlertRow(*values[:-1]), bytes(values[-1]))


def count_alerts(connection: Connection, *, state: str) -> int:
    """How many alerts are in a state."""
    query = select(func.count()).select_from(alert).where(alert.c.state == state)
    return int(connection.execute(query).scalar_one())


def calls_with_values(
    connection: Connection, run_id: str, name: str = MAIN, *, after: int = 0
) -> list[tuple[CallRow, bytes, bytes | None]]:
    """Calls by number with their stored arguments and results (to compare two runs)."""
    query = (
        select(*_columns(CallRow, call), call.c.args, call.c.result)
        .where(call.c.run_id == run_id, call.c.branch == name, call.c.number > after)
        .order_by(call.c.number)
    )
    return [
        (CallRow(*values[:-2]), bytes(values[-2]), None if values[-1] is None else bytes(values[-1]))
        for values in connection.execute(query)
    ]


# -- the outbox ---------------------------------------------------------------------------------------------

# Literal, because an index on part of a table is only seen to fit a value that stands in the statement.
_OWED: Any = literal_column(str(PENDING))
_PENDING = (
    select(*_columns(EntryRow, entry), entry.c.body).where(entry.c.export == _OWED).order_by(entry.c.at)
)


def pending_entries(connection: Connection, limit: int, after: int = 0) -> list[tuple[EntryRow, bytes]]:
    """Entries that are spans and were not acknowledged, oldest first, with their stored bodies."""
    query = _PENDING.where(entry.c.at >= after).limit(limit)
    return [(EntryRow(*values[:-1]), values[-1]) for values in connection.execute(query)]


def pending_segments(connection: Connection, limit: int) -> list[SegmentRow]:
    """Ended segments whose root span was not acknowledged."""
    query = _SEGMENT.where(segment.c.export == _OWED, segment.c.ended_at.is_not(None))
    return _all(connection, SegmentRow, query.order_by(segment.c.ended_at).limit(limit))


def open_pending_segments(connection: Connection, limit: int) -> list[SegmentRow]:
    """Segments that have not ended and owe their root span, oldest first: they live, or died without a word."""
    query = _SEGMENT.where(segment.c.export == _OWED, segment.c.ended_at.is_(None))
    return _all(connection, SegmentRow, query.order_by(segment.c.started_at).limit(limit))


def count_pending(connection: Connection) -> int:
    """How many spans are still owed (rows of live segments' roots not counted)."""
    query = select(func.count()).select_from(entry).where(entry.c.export == _OWED)
    roots = select(func.count()).select_from(segment)
    roots = roots.where(segment.c.export == _OWED, segment.c.ended_at.is_not(None))
    return int(connection.execute(query).scalar_one()) + int(connection.execute(roots).scalar_one())


def segment_at(connection: Connection, run_id: str, name: str, number: int) -> SegmentRow | None:
    """One process life of a branch."""
    where = (segment.c.run_id == run_id, segment.c.branch == name, segment.c.segment == number)
    return _first(connection, SegmentRow, _SEGMENT.where(*where))


def segment_entries(
    connection: Connection, run_id: str, name: str, number: int, kinds: Sequence[str]
) -> list[tuple[EntryRow, bytes]]:
    """Entries of some rare kinds that one segment wrote, with bodies: the events of its root span."""
    query = select(*_columns(EntryRow, entry), entry.c.body)
    query = query.where(*_at(run_id, name), entry.c.kind.in_(kinds), entry.c.segment == number)
    query = query.order_by(entry.c.entry)
    return [(EntryRow(*values[:-1]), values[-1]) for values in connection.execute(query)]


def last_checkpoint_of(
    connection: Connection, run_id: str, name: str, number: int
) -> tuple[bytes, int] | None:
    """(id, sequence) of the last checkpoint that one segment wrote."""
    query = select(entry.c.id, entry.c.sequence).where(*_at(run_id, name), entry.c.sequence.is_not(None))
    found = connection.execute(
        query.where(entry.c.segment == number).order_by(entry.c.sequence.desc()).limit(1)
    ).first()
    return None if found is None else (bytes(found[0]), int(found[1]))


def last_entry_at(connection: Connection, run_id: str, name: str, number: int) -> int:
    """When one segment last wrote anything; 0 when it never did."""
    query = select(entry.c.at).where(*_at(run_id, name), entry.c.segment == number)
    return int(connection.execute(query.order_by(entry.c.entry.desc()).limit(1)).scalar() or 0)


def exported(connection: Connection, run_id: str, name: str = MAIN) -> dict[int, int]:
    """Export state -> entries of a branch in it."""
    query = select(entry.c.export, func.count()).where(*_at(run_id, name)).group_by(entry.c.export)
    return {int(state): int(n) for state, n in connection.execute(query)}


def unended_segments(connection: Connection, limit: int = 200) -> list[SegmentRow]:
    """Segments that have neither ended nor been recovered."""
    return _all(connection, SegmentRow, _SEGMENT.where(segment.c.ended_at.is_(None)).limit(limit))


def page_bytes(connection: Connection) -> int:
    """Bytes of the whole SQLite file, as SQLite counts them."""
    pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    return int(pages) * int(connection.exec_driver_sql("PRAGMA page_size").scalar_one())
