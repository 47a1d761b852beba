"""What does `--json` call each thing? One function per row, with keys that stay.

Texts from the store are masked; ids, digests and times are not. Times are ISO 8601 in UTC.
"""

from __future__ import annotations

from typing import Any

from ..contract import Finding, Verdict
from ..quantities import iso
from ..seal import mask
from ..standing import holder, next_action, state_of
from ..store.rows import ApprovalRow, CallRow, EntryRow, RunRow, SegmentRow


def run(row: RunRow, now_ns: int, program: str) -> dict[str, Any]:
    """One run in a list."""
    action = next_action(row, now_ns, program)
    return {
        "run_id": row.run_id,
        "branch": row.branch,
        "agent": mask(row.agent),
        "objective": _text(row.objective),
        "plan": _text(row.plan),
        "state": str(state_of(row, now_ns)),
        "stored_state": row.state,
        "reason": mask(row.reason),
        "state_at": iso(row.state_at),
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "checkpoints": row.head_sequence,
        "checkpoint_at": iso(row.checkpoint_at),
        "step": mask(row.step),
        "entries": row.head_entry,
        "segments": row.segment,
        "epoch": row.epoch,
        "holder": holder(row) or None,
        "beat_at": iso(row.beat_at),
        "calls": row.calls,
        "writes": row.writes,
        "unknown": row.unknown,
        "resumes": row.resumes,
        "refusals": row.refusals,
        "waiting": row.waiting,
        "alerts": row.alerts,
        "evidence": row.evidence,
        "stored_bytes": row.size,
        "degraded": row.degraded,
        "trace_id": row.trace_id.hex(),
        "entrypoint": row.entrypoint,
        "conversation_id": _text(row.conversation_id),
        "parent_run_id": row.parent_run_id,
        "next": {"kind": action.kind, "text": action.text, "command": action.command},
    }


def checkpoint(row: EntryRow) -> dict[str, Any]:
    """One checkpoint in a list."""
    return {
        "sequence": row.sequence,
        "entry": row.entry,
        "id": row.id.hex(),
        "kind": row.mark,
        "step": mask(row.subject),
        "segment": row.segment,
        "at": iso(row.at),
        "stored_bytes": row.size,
        "changed": bool(row.changed),
        "tag": row.tag.hex(),
    }


def segment(row: SegmentRow) -> dict[str, Any]:
    """One process life."""
    return {
        "segment": row.segment,
        "epoch": row.epoch,
        "host": row.host,
        "pid": row.pid,
        "from_sequence": row.from_sequence,
        "started_at": iso(row.started_at),
        "ended_at": iso(row.ended_at),
        "outcome": row.outcome,
    }


def call(row: CallRow) -> dict[str, Any]:
    """One call in the ledger, without its arguments."""
    return {
        "effect_id": row.effect_id,
        "number": row.number,
        "tool": mask(row.tool),
        "target": mask(row.target),
        "kind": row.kind,
        "state": row.state,
        "flags": row.flags.split(),
        "segment": row.segment,
        "after_sequence": row.after_sequence,
        "attempts": row.attempts,
        "idempotency_key": row.idempotency_key,
        "key_expires_at": iso(row.key_expires_at),
        "sent_at": iso(row.sent_at),
        "ended_at": iso(row.ended_at),
        "error": mask(row.error),
    }


def approval(row: ApprovalRow, state: str) -> dict[str, Any]:
    """One question to a person; *state* as of now."""
    return {
        "approval_id": row.approval_id,
        "run_id": row.run_id,
        "kind": row.kind,
        "subject": mask(row.subject),
        "prompt": mask(row.prompt),
        "state": state,
        "asked_at": iso(row.asked_at),
        "deadline": iso(row.deadline),
        "decided_at": iso(row.decided_at),
        "decided_by": _text(row.decided_by),
        "why": _text(row.why),
    }


def finding(found: Finding) -> dict[str, Any]:
    """What the gate found on one clause."""
    return {name: mask(text) for name, text in found.to_plain().items()}


def verdict(said: Verdict) -> dict[str, Any]:
    """What the gate says of a resume."""
    return {
        "ruling": str(said.ruling),
        "admits": said.admits,
        "findings": [finding(one) for one in said.findings],
    }


def _text(value: str | None) -> str | None:
    return None if value is None else mask(value)
