"""How does a run put a question to a person, and take the answer once?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from . import approvals
from .errors import Paused
from .segment import Segment
from .store import objects, read


def take_answer(segment: Segment, kind: str, subject: str, binding: bytes) -> approvals.Answer | None:
    """The answer to exactly this question, or None when it was never asked or is still open.

    The entry that consumes it becomes durable with the next one, so with the intent of the call it allows. A
    consumed answer to a tool is gone; one to `ask` is given back at the same position, where a crash may have
    come between, and nowhere else, because the position is part of the binding.
    """
    now = time.time_ns()
    with segment.recorder.store.reader.connect() as connection:
        rows = read.approvals(connection, run_id=segment.run_id, name=segment.branch)
    for row in reversed(rows):
        if (row.kind, row.subject, row.binding) != (kind, subject, binding):
            continue
        state = approvals.effective(row, now)
        used = row.used_at is not None or row.approval_id in segment.approvals_used
        if state == approvals.PENDING or (used and kind != "ask"):
            return None
        if not used:
            if row.state == approvals.PENDING:
                draft, change = approvals.expire(row, now)
                segment.note(draft, [change], {"waiting": -1})
            else:
                draft, change = approvals.use(row, now)
                segment.note(draft, [change])
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
            prompt=segment.shown(str(question["prompt"])),
            detail=detail,
            asked_at=now,
            deadline=None if timeout_s is None else now + int(timeout_s * 1e9),
            packed_detail=objects.pack_record(detail),
        )
        segment.append([draft], rows=[row_values], changes={"waiting": 1})
    return pause(reason, str(question["prompt"]))
