"""What does a question to the store answer with? One frozen row per kind of answer; none holds a payload.

All times are ns since 1970, UTC; sizes are bytes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run in a list: its branch head and what was counted on the way."""

    run_id: str
    branch: str
    agent: str
    entrypoint: str
    objective: str | None
    plan: str | None
    conversation_id: str | None
    parent_run_id: str | None
    created_at: int
    trace_id: bytes
    state: str
    reason: str
    state_at: int
    head_entry: int
    head_sequence: int
    head_tag: bytes
    epoch: int
    owner: str | None
    ttl: int
    beat: int
    beat_at: int
    segment: int
    step: str
    checkpoint_at: int
    position: int
    calls: int
    writes: int
    unknown: int
    resumes: int
    refusals: int
    waiting: int
    alerts: int
    evidence: int
    size: int
    degraded: str
    updated_at: int


@dataclass(frozen=True, slots=True)
class HeadRow:
    """What an append must match, and who holds the lease."""

    head_entry: int
    head_sequence: int
    head_tag: bytes
    epoch: int
    owner: str | None
    ttl: int
    beat: int
    beat_at: int
    segment: int
    state: str
    reason: str
    position: int


@dataclass(frozen=True, slots=True)
class EntryRow:
    """One journal entry without its body."""

    run_id: str
    branch: str
    entry: int
    sequence: int | None
    kind: str
    mark: str
    id: bytes
    segment: int
    epoch: int
    at: int
    subject: str
    size: int
    changed: int
    tag: bytes
    span: bytes | None
    export: int
    exported_at: int | None


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """One process life of a run."""

    run_id: str
    branch: str
    segment: int
    epoch: int
    owner: str
    host: str
    pid: int
    from_sequence: int
    started_at: int
    ended_at: int | None
    outcome: str | None
    span: bytes
    link: bytes | None
    resource: bytes
    export: int
    exported_at: int | None


@dataclass(frozen=True, slots=True)
class CallRow:
    """One call in the ledger. `args` and `result` are stored bytes: opened only to replay or to show one call."""

    run_id: str
    branch: str
    effect_id: str
    number: int
    segment: int
    position: int
    after_sequence: int
    scope: str
    ordinal: int
    call_key: str | None
    tool: str
    kind: str
    state: str
    flags: str
    args_digest: bytes
    identity_digest: bytes
    idempotency_key: str | None
    key_expires_at: int | None
    target: str
    error: str
    attempts: int
    answers: int
    taken_from: str | None
    planned_at: int
    sent_at: int | None
    ended_at: int | None


@dataclass(frozen=True, slots=True)
class AlertRow:
    """One divergence alert of one segment; its reasons are opened by a question of their own."""

    alert_id: str
    run_id: str
    branch: str
    segment: int
    state: str
    """`open`, `acknowledged`, `expected`, `muted` or `withdrawn`; see `tracer.alerts`."""
    score: int
    """Thousandths."""
    shape: str
    sentence: str
    """Of the first reason."""
    compared_with: str
    raised_at: int
    updated_at: int
    decided_at: int | None
    decided_by: str | None
    note: str | None


@dataclass(frozen=True, slots=True)
class MuteRow:
    """One shape of reasons that raises no alert for an agent and a plan version (empty: undeclared)."""

    agent: str
    plan: str
    shape: str
    muted_by: str
    note: str
    muted_at: int


@dataclass(frozen=True, slots=True)
class ApprovalRow:
    """One question to a person, open or answered."""

    approval_id: str
    run_id: str
    branch: str
    kind: str
    subject: str
    binding: bytes
    prompt: str
    state: str
    asked_at: int
    deadline: int | None
    decided_at: int | None
    decided_by: str | None
    why: str | None
    used_at: int | None
