"""How does a run put a question to a person, and take the answer once?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from . import approvals
from .errors import Paused
from .seal import mask
from .segment import Segment
from .store import objects, read


def take_answer(segment: Segment, kind: str, subject: str, binding: bytes) -> approvals.Answer | None:
    """The unused answer to exactly this question, consumed; None when it was never asked."""
    now = time.time_ns()
    with segment.recorder.store.reader.connect() as connection:
        rows = read.approvals(connection, run_id=segment.run_id, name=segment.branch)
    for row in rows:
        if (
            row.kind != kind
            or row.subject != subject
            or row.binding != binding
            or row.state == approvals.USED
        ):
            continue
        state = approvals.effective(row, now)
        if state == approvals.PENDING:
            return None
        if state == approvals.EXPIRED and row.state == approvals.PENDING:
            draft, change = approvals.expire(row, now)
            segment.append([draft], rows=[change], changes={"waiting": -1})
        elif state in (approvals.APPROVED, approvals.DENIED):
            draft, change = approvals.use(row, now)
            segment.append([draft], rows=[change])
        segment.approvals_used.append(row.approval_id)
        segment.contract_changed()
        return approvals.Answer(state, row.decided_by or "", row.why or "", row.approval_id)
    return None


def ask_person(
    segment: Segment,
    pause: Callable[[str, str], Paused],
    reason: str,
    question: Mapping[str, Any],
    detail: Mapping[str, Any],
    timeout_s: float | None = None,
) -> Paused:
    """Ask, unless exactly this is asked already; the pause that the caller raises."""
    now = time.time_ns()
    with segment.recorder.store.reader.connect() as connection:
        rows = read.approvals(connection, run_id=segment.run_id, name=segment.branch, states=("pending",))
    if not any(row.kind == question["kind"] and row.binding == question["binding"] for row in rows):
        _, draft, row_values = approvals.question(
            segment.run_id,
            segment.branch,
            kind=str(question["kind"]),
            subject=str(question["subject"]),
            binding=question["binding"],
            prompt=mask(str(question["prompt"])),
            detail=detail,
            asked_at=now,
            deadline=None if timeout_s is None else now + int(timeout_s * 1e9),
            packed_detail=objects.pack_record(detail),
        )
        segment.append([draft], rows=[row_values], changes={"waiting": 1})
    return pause(reason, str(question["prompt"]))
