"""What stopped a run, what is safe, what is not, what is there to press? Decided from rows alone."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import pytest

from tracer import lease
from tracer.contract import Clause, Finding, Ruling, RunState
from tracer.lease import Owner
from tracer.standing import next_action, silent_ns, state_of
from tracer.store.rows import ApprovalRow, CallRow, RunRow
from tracer.why import Explanation, Facts, explain

S = 1_000_000_000
NOW = 2_000_000_000 * S
ROW = RunRow(
    run_id="r",
    branch="main",
    agent="a",
    entrypoint="m:a",
    objective=None,
    plan=None,
    conversation_id=None,
    parent_run_id=None,
    created_at=NOW - 900 * S,
    trace_id=b"\0" * 16,
    state="running",
    reason="",
    state_at=NOW - 900 * S,
    head_entry=9,
    head_sequence=4,
    head_tag=b"",
    epoch=1,
    owner=None,
    ttl=30 * S,
    beat=3,
    beat_at=NOW - 60 * S,
    segment=1,
    step="tools",
    checkpoint_at=NOW - 70 * S,
    position=4,
    calls=3,
    writes=2,
    unknown=0,
    resumes=0,
    refusals=0,
    waiting=0,
    alerts=0,
    evidence=0,
    size=10,
    degraded="",
    updated_at=NOW - 60 * S,
)
CALL = CallRow(
    run_id="r",
    branch="main",
    effect_id="e1" * 16,
    number=1,
    segment=1,
    position=4,
    after_sequence=4,
    scope="",
    ordinal=0,
    call_key=None,
    tool="pay",
    kind="write",
    state="unknown",
    flags="",
    args_digest=b"",
    identity_digest=b"",
    idempotency_key=None,
    key_expires_at=None,
    target="invoice 7",
    error="",
    attempts=1,
    answers=0,
    taken_from=None,
    planned_at=NOW,
    sent_at=NOW,
    ended_at=None,
)
ASK = ApprovalRow(
    "q" * 32, "r", "main", "ask", "", b"", "publish?", "pending", NOW, None, None, None, None, None
)
ME = lease.me("token")
DEAD = Owner(ME.host, ME.boot, 2**22 - 1, "1", "token")
AFAR = Owner("another-host", ME.boot, 7, "1", "token")


def row(**values: Any) -> RunRow:
    owner = values.pop("owner", None)
    return replace(ROW, owner=None if owner is None else str(owner), **values)


def told(facts: Facts) -> Explanation:
    return explain(facts, "waypost")


def lines(facts: Facts) -> list[str]:
    return [one.command for one in told(facts).press]


def test_a_running_run_is_what_its_owner_is() -> None:
    assert state_of(row(owner=ME), NOW) is RunState.RUNNING
    assert state_of(row(owner=DEAD), NOW) is RunState.INTERRUPTED
    assert state_of(row(), NOW) is RunState.INTERRUPTED
    assert state_of(row(owner=AFAR), NOW) is RunState.LOST
    assert state_of(row(owner=AFAR, beat_at=NOW - 29 * S), NOW) is RunState.RUNNING
    assert state_of(row(owner=replace(ME, born="0")), NOW) is RunState.INTERRUPTED, (
        "the pid was given out again"
    )


def test_what_was_written_as_an_end_stays() -> None:
    for state in (RunState.DONE, RunState.PAUSED, RunState.FAILED, RunState.ABORTED):
        assert state_of(row(state=str(state), owner=DEAD), NOW) is state


def test_silence_is_never_negative() -> None:
    assert silent_ns(row(beat_at=NOW + S), NOW) == 0


@pytest.mark.parametrize(
    ("found", "kind", "command"),
    [
        (row(owner=ME), "wait", ""),
        (row(owner=DEAD), "resume", "waypost resume r"),
        (row(owner=AFAR), "takeover", "waypost resume r --takeover"),
        (row(owner=DEAD, head_sequence=0), "restart", "waypost why r"),
        (row(state="paused", waiting=1), "answer", "waypost why r"),
        (row(state="paused"), "resume", "waypost resume r"),
        (row(state="failed"), "mend", "waypost resume r"),
        (row(state="done"), "none", ""),
        (row(state="quarantined"), "look", "waypost verify r"),
    ],
)
def test_each_state_has_its_next_step(found: RunRow, kind: str, command: str) -> None:
    action = next_action(found, NOW)
    assert (action.kind, action.command) == (kind, command)
    assert action.text


def test_a_living_owner_is_named_and_its_silence_told() -> None:
    said = told(Facts(row(owner=ME), RunState.RUNNING, NOW))
    assert f"pid {os.getpid()} works on it" in said.stopped
    assert "last sign of life was 1 m 00 s ago" in said.stopped


def test_a_call_with_a_live_key_is_safe_and_one_without_is_not() -> None:
    keyed = replace(CALL, idempotency_key="wp-1", key_expires_at=NOW + S)
    for call, safe in ((CALL, False), (keyed, True), (replace(keyed, key_expires_at=NOW), False)):
        said = told(Facts(row(owner=DEAD), RunState.INTERRUPTED, NOW, doubts=(call,)))
        assert any("pay invoice 7" in one for one in said.safe) is safe
        assert any("pay invoice 7" in one for one in said.unsafe) is not safe


def test_every_open_question_has_its_line_and_the_resume_comes_last() -> None:
    effect = replace(ASK, kind="effect", subject=CALL.effect_id)
    gate = replace(ASK, kind="gate", subject="runtime identity")
    found = lines(
        Facts(
            row(state="interrupted"),
            RunState.INTERRUPTED,
            NOW,
            doubts=(CALL,),
            questions=(effect, gate, gate, ASK),
        )
    )
    assert found == [
        f"waypost approve r --effect {CALL.effect_id} --happened RESULT",
        f"waypost approve r --effect {CALL.effect_id} --did-not-happen",
        "waypost approve r --waive 'runtime identity'",
        f"waypost approve r --approval {ASK.approval_id}",
        "waypost resume r",
    ]


def test_what_the_gate_will_not_let_pass_is_not_offered_for_a_waiver() -> None:
    finding = Finding(Clause.STATE_VERSION, Ruling.ABORT, "The checkpoint is newer.", "deploy the newer code")
    said = told(Facts(row(state="interrupted"), RunState.INTERRUPTED, NOW, refused=(finding,)))
    assert "The gate refused the last resume" in said.stopped
    assert any("deploy the newer code" in one.what for one in said.press)
    assert [one.command for one in said.press if one.command] == ["waypost preflight r"]


def test_a_run_without_a_checkpoint_cannot_be_resumed() -> None:
    said = told(Facts(row(owner=DEAD, head_sequence=0), RunState.INTERRUPTED, NOW))
    assert "before its first checkpoint" in said.stopped
    assert "under another id" in said.press[0].what


def test_a_finished_run_has_nothing_to_press() -> None:
    said = told(Facts(row(state="done"), RunState.DONE, NOW, committed=2))
    assert said.press == ()
    assert said.unsafe == ()


def test_a_lost_run_is_taken_over_and_nothing_else() -> None:
    assert lines(Facts(row(owner=AFAR), RunState.LOST, NOW, questions=(ASK,))) == [
        "waypost resume r --takeover"
    ]
