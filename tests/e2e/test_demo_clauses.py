"""Is every clause of the demo's contract declared, and does a change of each show at the gate?

One audit is taken up to its question; then, one after the other, what each clause is about is changed.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from examples.licence_audit import agent as program
from examples.licence_audit.agent import Audit, audit
from examples.licence_audit.book import Book
from examples.licence_audit.report import published
from examples.licence_audit.ticket_process import TicketProcess
from tests.e2e.small_environment import few
from tracer import (
    Agent,
    Clause,
    Finding,
    Paused,
    ResumePolicy,
    ResumeRefused,
    Ruling,
    Verdict,
    configure,
    write,
)
from tracer import approvals as answers
from tracer.agentspec import AgentSpec
from tracer.contract import DecisionKind, Plan
from tracer.recorder import recorder, reset
from tracer.store import read

RUN = "audit-with-clauses"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with an audit that has opened its tickets and waits for an answer; made once, then copied."""
    home = tmp_path_factory.mktemp("prepared")
    reset()
    configure(home=str(home), store="", principal="ada")
    with (
        TicketProcess.start(home / "tickets.db", max_seconds=120) as service,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv(program.TICKETS, service.url)
        with pytest.raises(Paused):
            audit.start_or_resume(RUN, Audit(report=str(home / "report.md"), only=list(few())))
    reset()
    return home


@pytest.fixture
def paused(prepared: Path, tmp_path: Path) -> Iterator[Path]:
    """A home of its own with that audit."""
    home = tmp_path / "home"
    shutil.copytree(prepared, home)
    reset()
    configure(home=str(home), store="", principal="ada")
    yield home
    reset()


@pytest.fixture
def asked(paused: Path) -> Path:
    """The same, its question answered with yes."""
    with Book.open(paused / "waypost.db") as book:
        book.approve(RUN)
    return paused


def verdict_of(spec: AgentSpec = audit.spec) -> Verdict:
    return Agent[Audit](spec).preflight(RUN).verdict


def findings(verdict: Verdict, clause: Clause) -> list[Finding]:
    return [finding for finding in verdict.findings if finding.clause is clause]


@pytest.mark.usefixtures("asked")
def test_every_clause_is_declared_from_the_first_checkpoint_on() -> None:
    loaded = audit.preflight(RUN).loaded
    contract = loaded.contract
    assert contract["plan"] == {"objective": audit.spec.plan.objective, "version": "3"}
    assert contract["identity"]["policy_bundle"].startswith("licence-rules/")
    assert set(contract["identity"]["tools"]) == {"inventory", "examine", "open_ticket", "publish_report"}
    assert contract["policy"]["evidence_gone"] == "abort"
    with recorder().store.reader.connect() as connection:
        row = read.run_by_id(connection, RUN)
        segments = read.segments(connection, RUN)
    assert row is not None
    assert row.evidence >= 2 * len(few())
    assert segments[0].span
    assert verdict_of().admits


@pytest.mark.usefixtures("asked")
def test_another_plan_needs_a_person() -> None:
    spec = replace(audit.spec, plan=Plan(audit.spec.plan.objective, "4"))
    found = findings(verdict_of(spec), Clause.PLAN)
    assert [(f.ruling, f.before, f.after) for f in found] == [(Ruling.REAPPROVE, "3", "4")]
    with pytest.raises(ResumeRefused, match="Plan version was 3, is 4"):
        Agent[Audit](spec).start_or_resume(RUN)


@pytest.mark.usefixtures("asked")
def test_other_rules_or_another_principal_need_a_person() -> None:
    spec = replace(audit.spec, policy_bundle="licence-rules/others")
    configure(principal="bob")
    found = findings(verdict_of(spec), Clause.IDENTITY)
    assert {f.subject: f.ruling for f in found} == {
        "policy bundle": Ruling.REAPPROVE,
        "principal": Ruling.REAPPROVE,
    }


def read_calls(tool: str) -> int:
    with recorder().store.reader.connect() as connection:
        return sum(call.tool == tool for call in read.calls(connection, RUN, read.MAIN))


def other_ticket(dist: str, rule: str, text: str, urgent: bool) -> int:
    """A tool of the same name that takes something else."""
    raise AssertionError("the gate comes first")


@pytest.mark.usefixtures("asked")
def test_a_tool_with_another_signature_needs_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = write(name="open_ticket", identity=("dist", "rule"))(other_ticket)
    monkeypatch.setattr(program, "open_ticket", changed)
    found = findings(verdict_of(), Clause.IDENTITY)
    assert [(f.subject, f.ruling) for f in found] == [("tool open_ticket", Ruling.REAPPROVE)]


@pytest.mark.usefixtures("asked")
def test_an_edited_body_needs_a_person() -> None:
    found = findings(verdict_of(replace(audit.spec, topology="0" * 64)), Clause.TOPOLOGY)
    assert [f.ruling for f in found] == [Ruling.REAPPROVE]


@pytest.mark.usefixtures("paused")
def test_the_open_question_holds_the_run() -> None:
    found = findings(verdict_of(), Clause.PERMISSIONS)
    assert [f.ruling for f in found] == [Ruling.REAPPROVE]
    assert "publish the report?" in found[0].what


@pytest.mark.usefixtures("paused")
def test_a_no_leaves_the_tickets_and_publishes_nothing() -> None:
    held = recorder()
    with held.store.reader.connect() as connection:
        question = read.approvals(connection, run_id=RUN)[0]
    answers.decide(held.journal, question.approval_id, DecisionKind.DENY, who="ada", why="not yet")
    state = audit.start_or_resume(RUN)
    assert state.published == ""
    assert len(state.tickets) == len(state.findings) > 0
    assert read_calls("publish_report") == 0


@pytest.mark.usefixtures("asked")
def test_the_policy_that_counts_is_the_one_the_checkpoint_was_written_under() -> None:
    lenient = replace(audit.spec, plan=Plan("another", "4"), policy=ResumePolicy(plan=Ruling.CONTINUE))
    assert not verdict_of(lenient).admits


@pytest.mark.usefixtures("asked")
def test_evidence_is_shown_and_not_judged_yet() -> None:
    assert [f.ruling for f in findings(verdict_of(), Clause.EVIDENCE)] == [Ruling.NOT_JUDGED]


@pytest.mark.usefixtures("asked")
def test_the_resumed_segment_is_another_trace_that_points_back() -> None:
    state = audit.start_or_resume(RUN)
    assert state.published == published(Path(state.report))
    with recorder().store.reader.connect() as connection:
        first, second = read.segments(connection, RUN)
        last = read.checkpoints(connection, RUN)[-1]
    assert first.span[:16] != second.span[:16]
    assert second.link is not None
    assert first.span[:16] in second.link
    assert last.mark == "final"
