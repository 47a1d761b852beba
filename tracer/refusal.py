"""What is written when the gate says no?"""

from __future__ import annotations

import time
from typing import Any

from . import gate
from .approvals import APPROVED, PENDING, question
from .contract import Clause, Ruling, RunState, Verdict
from .journal import Append, Draft
from .recorder import Recorder
from .store import objects, read
from .store.rows import RunRow
from .world import Loaded, waiver_binding


def log_refusal(
    recorder: Recorder, row: RunRow, epoch: int, loaded: Loaded, verdict: Verdict, who: str, why: str
) -> None:
    """Release the lease, log the verdict, and ask a person about each finding that can be waived."""
    now = time.time_ns()
    body = {
        "who": who,
        "why": why,
        "from_sequence": loaded.entry.sequence,
        "ruling": str(verdict.ruling),
        "findings": [finding.to_plain() for finding in verdict.findings],
    }
    drafts = [Draft(kind="refusal", mark=str(verdict.ruling), subject=who, at=now, body=body)]
    rows: list[tuple[str, dict[str, Any]]] = []
    asked = 0
    with recorder.store.reader.connect() as connection:
        known = read.approvals(connection, run_id=row.run_id, name=row.branch)
    for finding in verdict.stops:
        if finding.ruling is Ruling.ABORT or not finding.subject:
            continue
        effect = finding.clause is Clause.EFFECTS
        binding = finding.subject.encode() if effect else waiver_binding(gate.waiver_of(finding))
        kind = "effect" if effect else "gate"
        if finding.clause is Clause.PERMISSIONS or any(
            q.kind == kind and q.binding == binding and q.state in (PENDING, APPROVED) for q in known
        ):
            continue
        detail = finding.to_plain()
        _, draft, values = question(
            row.run_id,
            row.branch,
            kind=kind,
            subject=finding.subject if effect else str(finding.clause),
            binding=binding,
            prompt=finding.what,
            detail=detail,
            asked_at=now,
            deadline=None,
            packed_detail=objects.pack_record(detail),
        )
        drafts.append(draft)
        rows.append(values)
        asked += 1
    state = RunState.PAUSED if row.state == RunState.PAUSED else RunState.INTERRUPTED
    changes: dict[str, Any] = {"owner": None, "refusals": 1, "waiting": asked}
    if row.state != state:
        changes |= {"state": str(state), "reason": "stopped by the gate", "state_at": now}
    recorder.journal.append(
        Append(row.run_id, row.branch, drafts, segment=row.segment, epoch=epoch, rows=rows, changes=changes)
    )
    recorder.heart.stop(row.run_id, row.branch)
