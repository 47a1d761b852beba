"""What does the gate say of a checkpoint in this world?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer.contract import Clause, Finding, ResumePolicy, Ruling, Verdict
from tracer.gate import OpenQuestion, UnknownCall, World, decide, waiver_of

IDENTITY = {
    "agent": "a",
    "topology": "t" * 64,
    "tools": {"pay": "1" * 64},
    "packages": {"six": "1.0"},
    "python": "3.11.7",
    "host": "h",
    "model": "m-1",
    "prompt": None,
    "policy_bundle": None,
    "principal": "kim",
    "environment": "prod",
}


def world(**changes: Any) -> World:
    base = World(
        sequence=3,
        contract={"plan": {"objective": "o", "version": "3"}, "identity": IDENTITY},
        state_type="S",
        state_version=1,
        now_state_type="S",
        now_state_version=1,
        now_plan={"objective": "o", "version": "3"},
        now_identity=IDENTITY,
    )
    return replace(base, **changes)


def finding(verdict: Verdict, clause: Clause) -> Finding:
    return next(f for f in verdict.findings if f.clause is clause and f.ruling is not Ruling.NOT_JUDGED)


def test_an_unchanged_world_continues_with_one_finding_per_clause() -> None:
    verdict = decide(world(), ResumePolicy())
    assert verdict.admits
    assert [f.clause for f in verdict.findings] == list(Clause)


@pytest.mark.parametrize(
    ("change", "clause", "ruling"),
    [
        ({"damage": "entry 4 is missing"}, Clause.INTEGRITY, Ruling.ABORT),
        ({"holder": "host pid 7"}, Clause.LEASE, Ruling.ABORT),
        ({"now_state_version": 2}, Clause.STATE_VERSION, Ruling.REAPPROVE),
        ({"state_version": 2}, Clause.STATE_VERSION, Ruling.ABORT),
        ({"now_plan": {"objective": "o", "version": "4"}}, Clause.PLAN, Ruling.REAPPROVE),
        ({"now_plan": {"objective": None, "version": "3"}}, Clause.PLAN, Ruling.REAPPROVE),
        ({"now_identity": {**IDENTITY, "topology": "u"}}, Clause.TOPOLOGY, Ruling.REAPPROVE),
        ({"now_identity": {**IDENTITY, "model": "m-2"}}, Clause.IDENTITY, Ruling.REAPPROVE),
        ({"now_identity": {**IDENTITY, "principal": "lee"}}, Clause.IDENTITY, Ruling.REAPPROVE),
        ({"now_identity": {**IDENTITY, "tools": {"pay": "2" * 64}}}, Clause.IDENTITY, Ruling.REAPPROVE),
        ({"now_identity": {**IDENTITY, "tools": {}}}, Clause.IDENTITY, Ruling.REAPPROVE),
        ({"now_identity": {**IDENTITY, "packages": {"six": "2.0"}}}, Clause.IDENTITY, Ruling.CONTINUE),
        ({"now_identity": {**IDENTITY, "host": "other"}}, Clause.IDENTITY, Ruling.CONTINUE),
        ({"unknown": (UnknownCall("e", "pay", "7", "key"),)}, Clause.EFFECTS, Ruling.CONTINUE),
        ({"unknown": (UnknownCall("e", "pay", "7", "reconciled"),)}, Clause.EFFECTS, Ruling.CONTINUE),
        ({"unknown": (UnknownCall("e", "pay", "7", "expired"),)}, Clause.EFFECTS, Ruling.REAPPROVE),
        ({"unknown": (UnknownCall("e", "pay", "7", "opaque"),)}, Clause.EFFECTS, Ruling.REAPPROVE),
        ({"questions": (OpenQuestion("q", "Publish?", "pending"),)}, Clause.PERMISSIONS, Ruling.REAPPROVE),
        ({"questions": (OpenQuestion("q", "Publish?", "expired"),)}, Clause.PERMISSIONS, Ruling.CONTINUE),
    ],
)
def test_each_change_has_the_ruling_of_the_default_policy(
    change: Any, clause: Clause, ruling: Ruling
) -> None:
    verdict = decide(world(**change), ResumePolicy())
    assert finding(verdict, clause).ruling is ruling
    assert verdict.ruling is ruling


def test_an_added_tool_disturbs_nothing_that_was_planned() -> None:
    more = {**IDENTITY, "tools": {**IDENTITY["tools"], "mail": "9"}}  # type: ignore[dict-item]
    assert decide(world(now_identity=more), ResumePolicy()).admits


def test_every_finding_that_stops_names_a_remedy() -> None:
    bad = world(
        damage="x",
        holder="y",
        now_state_version=9,
        now_plan={},
        now_identity={},
        unknown=(UnknownCall("e", "t", "", "opaque"),),
    )
    assert all(f.remedy != "none needed" for f in decide(bad, ResumePolicy()).stops)


def test_a_waiver_admits_exactly_what_was_accepted_and_nothing_like_it() -> None:
    changed = world(now_identity={**IDENTITY, "model": "m-2"})
    stop = decide(changed, ResumePolicy()).stops[0]
    accepted = replace(changed, waivers={waiver_of(stop): "kim"})
    verdict = decide(accepted, ResumePolicy())
    assert verdict.admits
    assert finding(verdict, Clause.IDENTITY).waived_by == "kim"
    other = replace(accepted, now_identity={**IDENTITY, "model": "m-3"})
    assert not decide(other, ResumePolicy()).admits


def test_nobody_can_waive_an_abort() -> None:
    damaged = world(damage="entry 4 is missing")
    stop = decide(damaged, ResumePolicy()).stops[0]
    assert not decide(replace(damaged, waivers={waiver_of(stop): "kim"}), ResumePolicy()).admits


@given(st.lists(st.sampled_from(list(Ruling)), max_size=12))
def test_the_strictest_finding_wins(rulings: list[Ruling]) -> None:
    verdict = Verdict(tuple(Finding(Clause.PLAN, ruling, "x") for ruling in rulings))
    judged = [r for r in rulings if r is not Ruling.NOT_JUDGED]
    assert verdict.ruling is max(judged, key=list(Ruling).index, default=Ruling.CONTINUE)


def test_findings_and_policies_survive_storage() -> None:
    for one in decide(world(damage="x"), ResumePolicy()).findings:
        assert Finding.from_plain(one.to_plain()) == one
    strict = replace(ResumePolicy(), packages=Ruling.ABORT)
    assert ResumePolicy.from_plain(strict.to_plain()) == strict
    assert "packages" in strict.paragraph()
