"""Case 20, the gate's half: a changed objective or plan is noticed before anything runs, and a waiver is exact."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from tests.cases.conftest import World
from tracer import UNDECLARED, Paused, ResumeRefused, Run, State, agent, model
from tracer.approvals import decide
from tracer.contract import Clause, DecisionKind
from tracer.recorder import recorder
from tracer.store import objects, read

CASE: dict[str, Any] = json.loads((Path(__file__).parent / "inputs" / "case_20.json").read_text("utf-8"))


class Export(State, version=1):
    steps: list[str]
    done: list[str] = Field(default_factory=list)


def build(world: World, objective: Any, plan: Any = "7") -> Any:
    @model
    def turn(step: str) -> str:
        world.does(f"model: {step}")
        return step

    @agent("exporter", plan=plan, objective=objective)
    def exporter(run: Run, state: Export) -> Export:
        for step in run.each(state.steps):
            state.done.append(turn(step))
            if step == "s2" and not run.resumed:
                run.pause("lunch")
        return state

    return exporter


@pytest.fixture
def paused(home: Path, world: World) -> World:
    """The run of the report: two steps are done, it stands before s3."""
    before = CASE["before"]
    with pytest.raises(Paused):
        build(world, before["objective"], before["plan"]).start_or_resume(
            "e1", Export(steps=["s1", "s2", "s3"])
        )
    world.path.unlink()
    return world


def gate_questions() -> list[Any]:
    with recorder().store.reader.connect() as connection:
        return [
            row for row in read.approvals(connection, run_id="e1", states=("pending",)) if row.kind == "gate"
        ]


def waive() -> None:
    (question,) = gate_questions()
    decide(
        recorder().journal,
        question.approval_id,
        DecisionKind.WAIVE,
        who="owner",
        why="finish under the old one",
    )


def test_a_changed_objective_is_noticed_before_any_call_and_both_are_logged(paused: World) -> None:
    edited = build(paused, CASE["edits"][0]["objective"])
    with pytest.raises(ResumeRefused, match="plan and objective"):
        edited.start_or_resume("e1")
    assert paused.lines() == []
    with recorder().store.reader.connect() as connection:
        (body,) = [body for _, body in read.entries_with_bodies(connection, "e1", kinds=("refusal",))]
    said = objects.unpack_record(body, "the refusal")
    finding = next(
        one for one in said["findings"] if one["clause"] == Clause.PLAN and one["ruling"] == "reapprove"
    )
    assert finding["before"] == CASE["before"]["objective"]
    assert finding["after"] == CASE["edits"][0]["objective"]


def test_a_waiver_lets_exactly_this_change_pass_and_no_later_one(paused: World) -> None:
    edited = build(paused, CASE["edits"][0]["objective"])
    with pytest.raises(ResumeRefused):
        edited.start_or_resume("e1")
    waive()
    again = build(paused, CASE["edits"][1]["objective"])
    with pytest.raises(ResumeRefused, match="this year"):
        again.start_or_resume("e1")
    assert paused.lines() == [], "the waiver was for the first edit"
    verdict = edited.preflight("e1").verdict
    assert [one.waived_by for one in verdict.findings if one.clause is Clause.PLAN] == ["owner"]
    assert list(edited.start_or_resume("e1").done) == ["s1", "s2", "s3"]
    assert paused.lines() == ["model: s3"], "s1 is in the state, s2 is given back by the ledger"


def test_two_edits_while_paused_are_one_question(paused: World) -> None:
    for _ in range(3):
        with pytest.raises(ResumeRefused):
            build(paused, CASE["edits"][1]["objective"]).start_or_resume("e1")
    assert len(gate_questions()) == 1


def test_a_deleted_objective_stops_the_run(paused: World) -> None:
    with pytest.raises(ResumeRefused, match="undeclared"):
        build(paused, UNDECLARED).start_or_resume("e1")
    assert paused.lines() == []


def test_another_plan_version_stops_the_run(paused: World) -> None:
    with pytest.raises(ResumeRefused, match="Plan version was 7, is 8"):
        build(paused, CASE["before"]["objective"], "8").start_or_resume("e1")
    assert paused.lines() == []
