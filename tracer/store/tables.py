"""What does the store hold? The one description of its tables.

`entry` is the append-only journal and the authority; `run`, `branch`, `segment`, `call` and `approval` are
readings of it, written in the same transaction so that lists never open a payload. Times are ns since 1970 (UTC).
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)

SCHEMA: Final = "0001"
"""The migration that a store of this release stands at."""

NONE, UNSAMPLED, PENDING, HANDED, ACKED, REFUSED = range(6)
"""Export states of a row that is a span; REFUSED: the collector took its neighbours and never this one."""

metadata: Final = MetaData()

run: Final = Table(
    "run",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("agent", Text, nullable=False),
    Column("entrypoint", Text, nullable=False),
    Column("objective", Text),
    Column("labels", LargeBinary, nullable=False),
    Column("conversation_id", Text),
    Column("parent_run_id", Text),
    Column("input_digest", LargeBinary, nullable=False),
    Column("mode", Text, nullable=False),
    Column("patterns", Integer, nullable=False),
    Column("sampled", SmallInteger, nullable=False),
    Column("trace_id", LargeBinary, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Index("ix_run_created", "created_at", "run_id"),
    Index("ix_run_trace", "trace_id"),
)

branch: Final = Table(
    "branch",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("branch", Text, primary_key=True),
    Column("forked_from", Text),
    Column("forked_at", BigInteger),
    Column("head_entry", BigInteger, nullable=False),
    Column("head_sequence", BigInteger, nullable=False),
    Column("head_tag", LargeBinary, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("owner", Text),
    Column("ttl", BigInteger, nullable=False),
    Column("beat", BigInteger, nullable=False),
    Column("beat_at", BigInteger, nullable=False),
    Column("segment", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("state_at", BigInteger, nullable=False),
    Column("plan", Text),
    Column("step", Text, nullable=False),
    Column("checkpoint_at", BigInteger, nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("calls", Integer, nullable=False),
    Column("writes", Integer, nullable=False),
    Column("unknown", Integer, nullable=False),
    Column("resumes", Integer, nullable=False),
    Column("refusals", Integer, nullable=False),
    Column("waiting", Integer, nullable=False),
    Column("alerts", Integer, nullable=False),
    Column("evidence", Integer, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("degraded", Text, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index("ix_branch_state", "state", "updated_at"),
)

entry: Final = Table(
    "entry",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("branch", Text, primary_key=True),
    Column("entry", BigInteger, primary_key=True),
    Column("sequence", BigInteger),
    Column("kind", Text, nullable=False),
    Column("id", LargeBinary, nullable=False),
    Column("segment", Integer, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("subject", Text, nullable=False),
    Column("mark", Text, nullable=False),
    Column("changed", SmallInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("tag", LargeBinary, nullable=False),
    Column("span", LargeBinary),
    Column("export", SmallInteger, nullable=False),
    Column("exported_at", BigInteger),
    Index(
        "ix_entry_sequence",
        "run_id",
        "branch",
        "sequence",
        unique=True,
        sqlite_where=text("sequence IS NOT NULL"),
        postgresql_where=text("sequence IS NOT NULL"),
    ),
    Index(
        "ix_entry_kind",
        "run_id",
        "branch",
        "kind",
        "entry",
        sqlite_where=text("kind <> 'checkpoint'"),
        postgresql_where=text("kind <> 'checkpoint'"),
    ),
    Index(
        "ix_entry_pending",
        "export",
        "at",
        sqlite_where=text("export = 2"),
        postgresql_where=text("export = 2"),
    ),
    sqlite_with_rowid=False,
)

segment: Final = Table(
    "segment",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("branch", Text, primary_key=True),
    Column("segment", Integer, primary_key=True),
    Column("epoch", BigInteger, nullable=False),
    Column("owner", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("from_sequence", BigInteger, nullable=False),
    Column("started_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    Column("outcome", Text),
    Column("span", LargeBinary, nullable=False),
    Column("link", LargeBinary),
    Column("resource", LargeBinary, nullable=False),
    Column("export", SmallInteger, nullable=False),
    Column("exported_at", BigInteger),
    Index(
        "ix_segment_pending",
        "export",
        "ended_at",
        sqlite_where=text("export = 2"),
        postgresql_where=text("export = 2"),
    ),
    Index(
        "ix_segment_open",
        "ended_at",
        sqlite_where=text("ended_at IS NULL"),
        postgresql_where=text("ended_at IS NULL"),
    ),
)

call: Final = Table(
    "call",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("branch", Text, primary_key=True),
    Column("effect_id", Text, primary_key=True),
    Column("number", Integer, nullable=False),
    Column("segment", Integer, nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("after_sequence", BigInteger, nullable=False),
    Column("scope", Text, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("call_key", Text),
    Column("tool", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("flags", Text, nullable=False),
    Column("args_digest", LargeBinary, nullable=False),
    Column("identity_digest", LargeBinary, nullable=False),
    Column("idempotency_key", Text),
    Column("key_expires_at", BigInteger),
    Column("target", Text, nullable=False),
    Column("args", LargeBinary, nullable=False),
    Column("result", LargeBinary),
    Column("error", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("answers", Integer, nullable=False),
    Column("taken_from", Text),
    Column("planned_at", BigInteger, nullable=False),
    Column("sent_at", BigInteger),
    Column("ended_at", BigInteger),
    UniqueConstraint("run_id", "branch", "number", name="uq_call_number"),
    Index("ix_call_position", "run_id", "branch", "position"),
)

approval: Final = Table(
    "approval",
    metadata,
    Column("approval_id", Text, primary_key=True),
    Column("run_id", Text, nullable=False),
    Column("branch", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("binding", LargeBinary, nullable=False),
    Column("prompt", Text, nullable=False),
    Column("detail", LargeBinary, nullable=False),
    Column("state", Text, nullable=False),
    Column("asked_at", BigInteger, nullable=False),
    Column("deadline", BigInteger),
    Column("decided_at", BigInteger),
    Column("decided_by", Text),
    Column("why", Text),
    Column("used_at", BigInteger),
    Index("ix_approval_open", "state", "asked_at"),
    Index("ix_approval_run", "run_id", "branch", "asked_at"),
)

alert: Final = Table(
    "alert",
    metadata,
    Column("alert_id", Text, primary_key=True),
    Column("run_id", Text, nullable=False),
    Column("branch", Text, nullable=False),
    Column("segment", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("score", Integer, nullable=False),
    Column("shape", Text, nullable=False),
    Column("sentence", Text, nullable=False),
    Column("compared_with", Text, nullable=False),
    Column("detail", LargeBinary, nullable=False),
    Column("raised_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("decided_at", BigInteger),
    Column("decided_by", Text),
    Column("note", Text),
    Index("ix_alert_run", "run_id", "branch", "raised_at"),
    Index("ix_alert_open", "state", "raised_at"),
)

mute: Final = Table(
    "mute",
    metadata,
    Column("agent", Text, primary_key=True),
    Column("plan", Text, primary_key=True),
    Column("shape", Text, primary_key=True),
    Column("muted_by", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("muted_at", BigInteger, nullable=False),
)

object: Final = Table(
    "object",
    metadata,
    Column("digest", LargeBinary, nullable=False, unique=True),
    Column("data", LargeBinary, nullable=False),
)

sealed: Final = Table(
    "sealed",
    metadata,
    Column("fingerprint", LargeBinary, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)
