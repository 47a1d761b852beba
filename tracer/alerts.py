"""What does a person say to an alert: that it was seen, that this is how the agent should act, that such are noise?

Every word is a decision in a journal, with who, when, why and how they were known. An acknowledgement lets a run
that waits for it go on at its next resume, and the call that was held be sent once, unless a person had said no to it;
it resumes and sends nothing by itself.
"""

from __future__ import annotations

import time
from typing import Any, Final

from . import approvals
from .alertrecord import ACKNOWLEDGED, EXPECTED, MUTED, OPEN, WITHDRAWN
from .contract import DecisionKind
from .errors import Denied, UnknownRun
from .journal import Append, Draft, Journal
from .store import read, read_alerts
from .store.rows import AlertRow, ApprovalRow, MuteRow

QUESTION: Final = "divergence"
"""Kind of the question that a run asks when its policy lets a person decide."""
TELL: Final = "an alert"


def find(journal: Journal, alert_id: str) -> AlertRow:
    """One alert.

    Raises:
        UnknownRun: there is none of that id.
    """
    with journal.store.reader.connect() as connection:
        found = read.alert_by_id(connection, alert_id)
    if found is None:
        raise UnknownRun(f"alert {alert_id[:64]}", "the alerts of this store")
    return found[0]


def acknowledge(
    journal: Journal, alert_id: str, *, who: str, note: str, how: str = "", expected: bool = False
) -> AlertRow:
    """Record that a person has read an alert; the alert as it stands afterwards.

    Args:
        note: what they found; kept with the alert.
        how: how they were authenticated, in words.
        expected: the agent acted as it should. The run may then be a model for later ones.

    Raises:
        UnknownRun: there is no such alert.
        Denied: somebody has decided it before.
    """
    row = find(journal, alert_id)
    state = EXPECTED if expected else ACKNOWLEDGED
    if row.state not in (OPEN, MUTED, WITHDRAWN):
        raise Denied(TELL, alert_id, f"it was {row.state} by {row.decided_by}; nothing was changed.")
    now = time.time_ns()
    question = _question(journal, row)
    body = {"who": who, "why": note, "how": how, "alert_id": alert_id, "prompt": row.sentence, "as": state}
    decision = Draft(kind="decision", mark="acknowledge", subject=alert_id, at=now, body=body)
    change = {
        "at_alert_id": alert_id,
        "at_state": row.state,
        "state": state,
        "decided_at": now,
        "decided_by": who,
        "note": note,
    }
    rows: list[tuple[str, dict[str, Any]]] = [("decide alert", change)]
    changes = {"alerts": -1} if row.state == OPEN else {}
    if question is not None:
        rows.append(("decide approval", _approved(question, now, who, note)))
        changes["waiting"] = -1
    _append(journal, row.run_id, row.branch, decision, rows, changes)
    return find(journal, alert_id)


def answer(
    journal: Journal, question: ApprovalRow, *, yes: bool, who: str, why: str, how: str
) -> ApprovalRow:
    """Answer the question that a run asks about its alert; yes is an acknowledgement. The question afterwards.

    Raises:
        Denied: it was answered before.
    """
    if yes and approvals.effective(question, time.time_ns()) == approvals.PENDING:
        row = find(journal, question.subject)
        if row.state in (OPEN, MUTED, WITHDRAWN):
            acknowledge(journal, question.subject, who=who, note=why, how=how)
            with journal.store.reader.connect() as connection:
                after = read.approval_by_id(connection, question.approval_id)
            assert after is not None
            return after[0]
    kind = DecisionKind.APPROVE if yes else DecisionKind.DENY
    return approvals.decide(journal, question.approval_id, kind, who=who, why=why, how=how)


def mute(journal: Journal, alert_id: str, shape: str, *, who: str, note: str, how: str = "") -> MuteRow:
    """Let reasons of one shape raise no alert any more, for the agent and plan version of this alert's run.

    They are still found, kept and shown. Muting what is muted changes nothing.

    Raises:
        UnknownRun: there is no such alert.
    """
    row = find(journal, alert_id)
    with journal.store.reader.connect() as connection:
        run = read.run_by_id(connection, row.run_id, row.branch)
        assert run is not None
        plan = run.plan or ""
        there = read_alerts.mute_rows(connection, agent=run.agent, plan=plan)
    found = next((one for one in there if one.shape == shape), None)
    if found is not None:
        return found
    now = time.time_ns()
    made = MuteRow(run.agent, plan, shape, who, note, now)
    body = {"who": who, "why": note, "how": how, "agent": run.agent, "plan": plan, "alert_id": alert_id}
    decision = Draft(kind="decision", mark="mute", subject=shape, at=now, body=body)
    values = {name: getattr(made, name) for name in MuteRow.__dataclass_fields__}
    _append(journal, row.run_id, row.branch, decision, [("insert mute", values)], {})
    return made


def unmute(
    journal: Journal, agent: str, plan: str, shape: str, *, who: str, note: str = "", how: str = ""
) -> None:
    """Let reasons of one shape raise alerts again. Kept in the journal of the agent's newest run.

    Raises:
        UnknownRun: this was not muted, or somebody was quicker.
    """
    with journal.store.reader.connect() as connection:
        there = read_alerts.mute_rows(connection, agent=agent, plan=plan)
        run_id = read_alerts.newest_run_of(connection, agent)
    if run_id is None or not any(one.shape == shape for one in there):
        raise UnknownRun(f"muted `{shape[:200]}` of {agent[:100]}", "what is muted in this store")
    body = {"who": who, "why": note, "how": how, "agent": agent, "plan": plan}
    decision = Draft(kind="decision", mark="unmute", subject=shape, at=time.time_ns(), body=body)
    values = {"at_agent": agent, "at_plan": plan, "at_shape": shape}
    _append(journal, run_id, read.MAIN, decision, [("delete mute", values)], {})


def _question(journal: Journal, row: AlertRow) -> ApprovalRow | None:
    with journal.store.reader.connect() as connection:
        asked = read.approvals(connection, run_id=row.run_id, name=row.branch, states=(approvals.PENDING,))
    return next((one for one in asked if (one.kind, one.subject) == (QUESTION, row.alert_id)), None)


def _approved(question: ApprovalRow, now: int, who: str, why: str) -> dict[str, Any]:
    return {
        "at_approval_id": question.approval_id,
        "at_state": approvals.PENDING,
        "state": approvals.APPROVED,
        "decided_at": now,
        "decided_by": who,
        "why": why,
        "used_at": None,
    }


def _append(
    journal: Journal,
    run_id: str,
    branch: str,
    decision: Draft,
    rows: list[tuple[str, dict[str, Any]]],
    changes: dict[str, Any],
) -> None:
    with journal.store.reader.connect() as connection:
        head = read.head(connection, run_id, branch)
    if head is None:
        raise UnknownRun(run_id)
    journal.append(Append(run_id, branch, [decision], segment=head.segment, changes=changes, rows=rows))
