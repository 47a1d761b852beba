"""What does a person have to say, and what has been said?

A question is an entry and a row; an answer is an entry of its own, bound to exactly what was asked, good for one
use. No answer, an expired one, or one to something else is "no".
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .contract import DecisionKind
from .errors import Denied, UnknownRun
from .journal import Append, Draft, Journal
from .store import read
from .store.rows import ApprovalRow

PENDING, APPROVED, DENIED, EXPIRED = "pending", "approved", "denied", "expired"


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a question."""

    state: str
    """`approved`, `denied` or `expired`."""
    by: str = ""
    why: str = ""
    approval_id: str = ""

    @property
    def approved(self) -> bool:
        """True only for an explicit, unexpired yes to exactly this."""
        return self.state == APPROVED

    def __bool__(self) -> bool:
        return self.approved


def effective(row: ApprovalRow, now_ns: int) -> str:
    """The state of a question at *now_ns*: a pending one past its deadline has expired, whoever looks."""
    if row.state == PENDING and row.deadline is not None and now_ns >= row.deadline:
        return EXPIRED
    return row.state


def question(
    run_id: str,
    branch: str,
    *,
    kind: str,
    subject: str,
    binding: bytes,
    prompt: str,
    detail: Mapping[str, Any],
    asked_at: int,
    deadline: int | None,
    packed_detail: bytes,
) -> tuple[str, Draft, tuple[str, dict[str, Any]]]:
    """(approval id, its journal entry, its row): what an append needs to ask."""
    draft = Draft(
        kind="approval",
        mark=kind,
        subject=subject,
        at=asked_at,
        body={"prompt": prompt, "binding": binding.hex(), "deadline": deadline, "detail": dict(detail)},
    )
    row = {
        "approval_id": draft.id.hex(),
        "run_id": run_id,
        "branch": branch,
        "kind": kind,
        "subject": subject,
        "binding": binding,
        "prompt": prompt,
        "detail": packed_detail,
        "state": PENDING,
        "asked_at": asked_at,
        "deadline": deadline,
        "decided_at": None,
        "decided_by": None,
        "why": None,
        "used_at": None,
    }
    return draft.id.hex(), draft, ("insert approval", row)


def decide(
    journal: Journal, approval_id: str, decision: DecisionKind, *, who: str, why: str = "", how: str = ""
) -> ApprovalRow:
    """Record what a person said to one question; the row as it stands afterwards.

    Args:
        who: the person's name as the session or the system knows it.
        how: how they were authenticated, in words (`local, unauthenticated`).

    Raises:
        UnknownRun: there is no such question.
        Denied: it was answered before, or has expired; the message says when and by whom.
    """
    with journal.store.reader.connect() as connection:
        found = read.approval_by_id(connection, approval_id)
        head = None if found is None else read.head(connection, found[0].run_id, found[0].branch)
    if found is None or head is None:
        raise UnknownRun(approval_id, "the questions of this store")
    row = found[0]
    now = time.time_ns()
    state = effective(row, now)
    if state != PENDING:
        said = "it has expired" if state == EXPIRED else f"it was {row.state} by {row.decided_by}"
        raise Denied(row.subject or row.kind, approval_id, f"{said}, nothing was changed.")
    to = APPROVED if decision in (DecisionKind.APPROVE, DecisionKind.WAIVE) else DENIED
    draft = Draft(
        kind="decision",
        mark=str(decision),
        subject=approval_id,
        at=now,
        body={"who": who, "why": why, "how": how, "binding": row.binding.hex(), "prompt": row.prompt},
    )
    journal.append(
        Append(
            row.run_id,
            row.branch,
            [draft],
            segment=head.segment,
            changes={"waiting": -1},
            rows=[("decide approval", _decided(approval_id, PENDING, to, now, who, why, None))],
        )
    )
    with journal.store.reader.connect() as connection:
        after = read.approval_by_id(connection, approval_id)
    assert after is not None
    return after[0]


def use(row: ApprovalRow, now_ns: int) -> tuple[Draft, tuple[str, dict[str, Any]]]:
    """The entry and row change that consume an answer."""
    draft = Draft(kind="decision used", mark=row.state, subject=row.approval_id, at=now_ns, body={})
    values = _decided(
        row.approval_id,
        row.state,
        row.state,
        row.decided_at or now_ns,
        row.decided_by or "",
        row.why or "",
        now_ns,
    )
    return draft, ("decide approval", values)


def expire(row: ApprovalRow, now_ns: int) -> tuple[Draft, tuple[str, dict[str, Any]]]:
    """The entry and row change of an expiry, written by the first who sees it and acts on it."""
    body = {"deadline": row.deadline}
    draft = Draft(kind="decision", mark=EXPIRED, subject=row.approval_id, at=now_ns, body=body)
    values = _decided(row.approval_id, PENDING, EXPIRED, now_ns, "the clock", "", now_ns)
    return draft, ("decide approval", values)


def record(
    journal: Journal,
    run_id: str,
    branch: str,
    decision: DecisionKind,
    body: Mapping[str, Any],
    *,
    subject: str,
    rows: list[tuple[str, dict[str, Any]]] | None = None,
    changes: Mapping[str, Any] | None = None,
) -> None:
    """Record a decision that answers no question: a waiver, a reconciliation, an acknowledgement.

    Raises:
        UnknownRun: there is no such run.
    """
    with journal.store.reader.connect() as connection:
        head = read.head(connection, run_id, branch)
    if head is None:
        raise UnknownRun(run_id)
    draft = Draft(kind="decision", mark=str(decision), subject=subject, body=body, at=time.time_ns())
    journal.append(
        Append(run_id, branch, [draft], segment=head.segment, changes=dict(changes or {}), rows=rows or [])
    )


def _decided(
    approval_id: str, was: str, state: str, at: int, who: str, why: str, used_at: int | None
) -> dict[str, Any]:
    return {
        "at_approval_id": approval_id,
        "at_state": was,
        "state": state,
        "decided_at": at,
        "decided_by": who,
        "why": why,
        "used_at": used_at,
    }
