"""What may a person change from a page? One thing in this release: answer a question."""

from __future__ import annotations

from typing import Final

from werkzeug.exceptions import BadRequest

from inspector import text
from inspector.source import Source
from tracer import alerts, approvals
from tracer.contract import DecisionKind
from tracer.errors import Denied, UnknownRun
from tracer.store import read

HOW: Final = "inspector session on loopback, by launch link"
"""How whoever decides was authenticated, as the journal keeps it."""
LONGEST: Final = 2000
"""Characters of a reason."""
_KINDS: Final = {
    "approve": (DecisionKind.APPROVE, ("ask", "tool", alerts.QUESTION), "approved"),
    "waive": (DecisionKind.WAIVE, ("gate",), "waived"),
    "deny": (DecisionKind.DENY, ("ask", "tool", "gate", alerts.QUESTION), "denied"),
}


def decide(source: Source, approval_id: str, decision: str, why: str, digest: str, who: str) -> str:
    """Answer one question; what became of it, in a word.

    Args:
        digest: what the page said the decision is bound to; another one means that the page is out of date.

    Raises:
        BadRequest: there is no such decision, or a reason is missing.
        UnknownRun: there is no such question.
        Denied: it was answered before, has expired, is of another kind, or is not what the page showed.
    """
    if decision not in _KINDS:
        raise BadRequest("A decision is approve, deny or waive.")
    kind, subjects, done = _KINDS[decision]
    why = why.strip()
    if len(why) > LONGEST:
        raise BadRequest(f"The reason has {len(why):,} characters; {LONGEST:,} are kept.")
    if decision != "approve" and not why:
        raise BadRequest("A reason is needed: it is shown to the agent and kept.")
    with source.connect() as connection:
        found = read.approval_by_id(connection, approval_id)
    if found is None:
        raise UnknownRun(f"request {approval_id[:64]}", source.name)
    row = found[0]
    if row.kind not in subjects:
        raise Denied(
            row.subject or row.kind,
            approval_id,
            f"a request of kind {row.kind} is not answered with {decision}.",
        )
    if digest != shown_digest(row.kind, row.binding):
        raise Denied(
            row.subject or row.kind, approval_id, "the page showed something else; open it again and read."
        )
    if row.kind == alerts.QUESTION:
        alerts.answer(source.journal, row, yes=kind is DecisionKind.APPROVE, who=who, why=why, how=HOW)
    else:
        approvals.decide(source.journal, approval_id, kind, who=who, why=why, how=HOW)
    return done


def shown_digest(kind: str, binding: bytes) -> str:
    """What a page shows of the binding."""
    return "of the finding" if kind == "gate" else text.short(binding.hex(), 8, 8)
