"""How is a row written? Statements compiled once per dialect, and the compare-and-set on the branch head.

A checkpoint may cost four statements besides BEGIN and COMMIT; handing compiled text to the driver keeps the
cost of SQLAlchemy's own per-statement work off the agent's path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import (
    JSON,
    BigInteger,
    Connection,
    Dialect,
    Table,
    bindparam,
    cast,
    delete,
    func,
    insert,
    literal_column,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import UpdateBase

from . import driver
from .tables import ACKED, alert, approval, branch, call, entry, mute, object, run, sealed, segment

Values = Mapping[str, Any]
DELTAS: Final = frozenset(
    {"calls", "writes", "unknown", "resumes", "refusals", "waiting", "alerts", "evidence", "size"}
)
"""Columns of `branch` that an append adds to; all others are set."""

STRICT: Final = frozenset({"decide approval", "decide alert", "insert mute", "delete mute"})
"""Statements every row of which must find what it changes; else somebody else was first."""


class Statement:
    """One compiled statement and the order of its values."""

    __slots__ = ("names", "text")

    def __init__(self, text: str, names: Sequence[str]) -> None:
        self.text = text
        self.names = tuple(names)

    def run(self, connection: Connection, rows: Sequence[Values]) -> int:
        """Execute for every row; the number of rows it touched."""
        if connection.dialect.positional:
            names = self.names
            return driver.run(connection, self.text, [tuple([row[name] for name in names]) for row in rows])
        return driver.run(connection, self.text, rows)


@cache
def _compiled(name: str, dialect: str, columns: tuple[str, ...] = ()) -> Statement:
    build = _BUILDERS[name]
    clause: UpdateBase = build(dialect, columns)
    target: Dialect = sqlite.dialect() if dialect == "sqlite" else postgresql.psycopg.dialect()  # type: ignore[no-untyped-call]
    made = clause.compile(dialect=target)
    order = made.positiontup if made.positiontup is not None else list(made.params)
    return Statement(str(made), order)


def _insert_new(table: Table) -> Any:
    def build(dialect: str, _columns: tuple[str, ...]) -> UpdateBase:
        make = sqlite.insert if dialect == "sqlite" else postgresql.insert
        return make(table).on_conflict_do_nothing()

    return build


def _insert(table: Table) -> Any:
    return lambda _dialect, _columns: insert(table)


def _upsert_call(dialect: str, _columns: tuple[str, ...]) -> UpdateBase:
    make = sqlite.insert if dialect == "sqlite" else postgresql.insert
    made = make(call)
    changing = (
        "position",
        "after_sequence",
        "scope",
        "state",
        "flags",
        "idempotency_key",
        "result",
        "error",
        "attempts",
        "answers",
        "taken_from",
        "sent_at",
        "ended_at",
    )
    return made.on_conflict_do_update(
        index_elements=["run_id", "branch", "effect_id"],
        set_={name: made.excluded[name] for name in changing},
    )


def _end_segment(_dialect: str, _columns: tuple[str, ...]) -> UpdateBase:
    where = [segment.c[name] == bindparam(f"at_{name}") for name in ("run_id", "branch", "segment")]
    return (
        update(segment)
        .where(*where, segment.c.ended_at.is_(None))
        .values(ended_at=bindparam("ended_at"), outcome=bindparam("outcome"))
    )


def _decide_approval(_dialect: str, _columns: tuple[str, ...]) -> UpdateBase:
    names = ("state", "decided_at", "decided_by", "why", "used_at")
    return (
        update(approval)
        .where(
            approval.c.approval_id == bindparam("at_approval_id"), approval.c.state == bindparam("at_state")
        )
        .values({name: bindparam(name) for name in names})
    )


def _ack_entries(_dialect: str, _columns: tuple[str, ...]) -> UpdateBase:
    where = [entry.c[name] == bindparam(f"at_{name}") for name in ("run_id", "branch", "entry")]
    return (
        update(entry).where(*where).values(export=bindparam("export"), exported_at=bindparam("exported_at"))
    )


def _ack_segments(_dialect: str, _columns: tuple[str, ...]) -> UpdateBase:
    where = [segment.c[name] == bindparam(f"at_{name}") for name in ("run_id", "branch", "segment")]
    return (
        update(segment)
        .where(*where, segment.c.export != literal_column(str(ACKED)))
        .values(export=bindparam("export"), exported_at=bindparam("exported_at"))
    )


def _ack_batch(dialect: str, _columns: tuple[str, ...]) -> UpdateBase:
    """`keys`: a JSON list of [run, branch, entry]. One statement, however many rows: stepping through hundreds
    would give the interpreter lock away at each, and the journal's lock is held all the while."""
    keys: Any = bindparam("keys")
    if dialect == "sqlite":
        parts = func.json_each(keys).table_valued("value", name="acked")
        field: Any = [func.json_extract(parts.c.value, literal_column(f"'$[{n}]'")) for n in range(3)]
    else:
        parts = func.json_array_elements(cast(keys, JSON)).table_valued("value", name="acked")
        field = [parts.c.value.op("->>")(literal_column(str(n))) for n in range(3)]
        field[2] = cast(field[2], BigInteger)
    names = ("run_id", "branch", "entry")
    where = [entry.c[name] == value for name, value in zip(names, field, strict=True)]
    return (
        update(entry)
        .where(*where, entry.c.export != literal_column(str(ACKED)))
        .values(export=bindparam("export"), exported_at=bindparam("exported_at"))
    )


def _beat(_dialect: str, _columns: tuple[str, ...]) -> UpdateBase:
    return (
        update(branch)
        .where(
            branch.c.run_id == bindparam("at_run_id"),
            branch.c.branch == bindparam("at_branch"),
            branch.c.epoch == bindparam("at_epoch"),
        )
        .values(beat=branch.c.beat + 1, beat_at=bindparam("beat_at"))
    )


def _head(_dialect: str, columns: tuple[str, ...]) -> UpdateBase:
    """`columns`: names to set or add to, then, after "|", the names of guards beside the head."""
    cut = columns.index("|")
    changes = {
        name: branch.c[name] + bindparam(name) if name in DELTAS else bindparam(name)
        for name in columns[:cut]
    }
    guards = [branch.c[name] == bindparam(f"at_{name}") for name in columns[cut + 1 :]]
    return (
        update(branch)
        .where(
            branch.c.run_id == bindparam("at_run_id"),
            branch.c.branch == bindparam("at_branch"),
            branch.c.head_entry == bindparam("at_head_entry"),
            *guards,
        )
        .values(changes)
    )


def _upsert_alert(dialect: str, _columns: tuple[str, ...]) -> UpdateBase:
    make = sqlite.insert if dialect == "sqlite" else postgresql.insert
    made = make(alert)
    changing = ("state", "score", "shape", "sentence", "compared_with", "detail", "updated_at")
    # What a person has decided stays as it was decided, however late a segment learns of it.
    return made.on_conflict_do_update(
        index_elements=["alert_id"],
        set_={name: made.excluded[name] for name in changing},
        where=alert.c.decided_at.is_(None),
    )


def _decide_alert(_dialect: str, _columns: tuple[str, ...]) -> UpdateBase:
    names = ("state", "decided_at", "decided_by", "note")
    return (
        update(alert)
        .where(alert.c.alert_id == bindparam("at_alert_id"), alert.c.state == bindparam("at_state"))
        .values({name: bindparam(name) for name in names})
    )


def _settle_alert(_dialect: str, _columns: tuple[str, ...]) -> UpdateBase:
    return (
        update(alert)
        .where(alert.c.alert_id == bindparam("at_alert_id"), alert.c.decided_at.is_(None))
        .values(state=bindparam("state"), updated_at=bindparam("updated_at"))
    )


def _delete_mute(_dialect: str, _columns: tuple[str, ...]) -> UpdateBase:
    where = [mute.c[name] == bindparam(f"at_{name}") for name in ("agent", "plan", "shape")]
    return delete(mute).where(*where)


_BUILDERS: Final[dict[str, Any]] = {
    "upsert alert": _upsert_alert,
    "decide alert": _decide_alert,
    "settle alert": _settle_alert,
    "insert mute": _insert_new(mute),
    "delete mute": _delete_mute,
    "insert run": _insert(run),
    "insert branch": _insert(branch),
    "insert entry": _insert(entry),
    "insert segment": _insert(segment),
    "insert approval": _insert(approval),
    "insert object": _insert_new(object),
    "insert sealed": _insert_new(sealed),
    "upsert call": _upsert_call,
    "end segment": _end_segment,
    "decide approval": _decide_approval,
    "ack entries": _ack_entries,
    "ack batch": _ack_batch,
    "ack segments": _ack_segments,
    "beat": _beat,
    "head": _head,
}


def execute(connection: Connection, name: str, rows: Sequence[Values]) -> int:
    """Run the named statement for every row; the number of rows it touched."""
    return _compiled(name, connection.dialect.name).run(connection, rows)


def move_head(
    connection: Connection,
    run_id: str,
    name: str,
    expected_entry: int,
    changes: Values,
    guards: Iterable[tuple[str, Any]] = (),
) -> bool:
    """Compare-and-set on a branch head: true when the head was *expected_entry* and every guard held.

    *changes* sets columns of `branch`, except those in `DELTAS`, which are added to.
    """
    held = sorted(guards)
    columns = (*sorted(changes), "|", *(column for column, _ in held))
    statement = _compiled("head", connection.dialect.name, columns)
    row = {
        **changes,
        "at_run_id": run_id,
        "at_branch": name,
        "at_head_entry": expected_entry,
        **{f"at_{column}": value for column, value in held},
    }
    return statement.run(connection, [row]) == 1
