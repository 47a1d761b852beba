"""When is a yes a yes? Only to exactly this, in time, and once."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from pydantic import Field

from tracer import KEY, Paused, ResumeRefused, Run, State, agent, write
from tracer.approvals import Answer, decide
from tracer.contract import DecisionKind
from tracer.errors import Denied, UnknownRun
from tracer.recorder import Recorder
from tracer.store import read
from tracer.store.rows import ApprovalRow
from tracer.verify import verify


class Bill(State, version=1):
    amounts: list[int]
    said: list[str] = Field(default_factory=list)
    paid: list[int] = Field(default_factory=list)


sent: list[int] = []


class Died(BaseException):
    """Stands for a death in the middle of a call."""


dies: list[int] = []


@pytest.fixture(autouse=True)
def fresh() -> None:
    sent.clear()
    dies.clear()


@write(approval=True, key_param="key")
def pay(amount: int, *, key: str = KEY) -> int:
    sent.append(amount)
    if dies:
        dies.pop()
        raise Died
    return amount


@agent("payer", plan="1")
def payer(run: Run, state: Bill) -> Bill:
    for amount in run.each(state.amounts):
        state.paid.append(pay(amount))
    return state


@agent("asker", plan="1")
def asker(run: Run, state: Bill) -> Bill:
    for _ in range(2):
        answer = run.ask("Go on?", timeout_s=3_600)
        state.said.append(answer.state)
    return state


def questions(held: Recorder, run_id: str = "r1") -> list[ApprovalRow]:
    with held.store.reader.connect() as connection:
        return read.approvals(connection, run_id=run_id)


def pending(held: Recorder) -> list[ApprovalRow]:
    return [row for row in questions(held) if row.state == "pending"]


def say(held: Recorder, decision: DecisionKind) -> None:
    (row,) = pending(held)
    decide(held.journal, row.approval_id, decision, who="kim", why="because", how="local, unauthenticated")


def waits(resume: Callable[[], object]) -> None:
    with pytest.raises((Paused, ResumeRefused)):
        resume()


def test_a_tool_that_needs_a_yes_is_called_once_per_yes(held: Recorder) -> None:
    waits(lambda: payer.start_or_resume("r1", Bill(amounts=[10, 10, 20])))
    assert sent == []
    for done in ([10], [10, 10], [10, 10, 20]):
        waits(lambda: payer.start_or_resume("r1"))
        say(held, DecisionKind.APPROVE)
        if len(done) < 3:
            waits(lambda: payer.start_or_resume("r1"))
        else:
            assert payer.start_or_resume("r1").paid == done
        assert sent == done
    assert [row.used_at is not None for row in questions(held)] == [True] * 3
    assert len({row.binding for row in questions(held)}) == 2, (
        "the same call asks the same question, and again"
    )
    assert verify(held, "r1", read.MAIN).sound


def test_a_yes_to_other_arguments_is_no_yes(held: Recorder) -> None:
    waits(lambda: payer.start_or_resume("r1", Bill(amounts=[10])))
    say(held, DecisionKind.APPROVE)
    (yes,) = questions(held)
    waits(lambda: payer.start_or_resume("r2", Bill(amounts=[9_999])))
    assert questions(held, "r2")[0].binding != yes.binding
    assert sent == []


def test_a_no_is_told_to_the_caller_and_nothing_is_sent(held: Recorder) -> None:
    waits(lambda: payer.start_or_resume("r1", Bill(amounts=[10])))
    say(held, DecisionKind.DENY)
    with pytest.raises(Denied, match="kim said no"):
        payer.start_or_resume("r1")
    assert sent == []


def test_no_answer_is_no(held: Recorder) -> None:
    waits(lambda: payer.start_or_resume("r1", Bill(amounts=[10])))
    for _ in range(3):
        waits(lambda: payer.start_or_resume("r1"))
    assert sent == []
    assert len(questions(held)) == 1, "the same question is not asked again and again"


def test_a_second_answer_to_one_question_is_refused(held: Recorder) -> None:
    waits(lambda: payer.start_or_resume("r1", Bill(amounts=[10])))
    (row,) = questions(held)
    say(held, DecisionKind.DENY)
    with pytest.raises(Denied, match="it was denied by kim, nothing was changed"):
        decide(held.journal, row.approval_id, DecisionKind.APPROVE, who="mallory")
    assert questions(held)[0].state == "denied"


def test_an_unknown_question_cannot_be_answered(held: Recorder) -> None:
    with pytest.raises(UnknownRun):
        decide(held.journal, "ab" * 16, DecisionKind.APPROVE, who="kim")


def test_a_call_that_died_after_its_yes_goes_out_again_under_the_same_yes(held: Recorder) -> None:
    waits(lambda: payer.start_or_resume("r1", Bill(amounts=[10])))
    say(held, DecisionKind.APPROVE)
    dies.append(1)
    with pytest.raises(Died):
        payer.start_or_resume("r1")
    assert payer.start_or_resume("r1").paid == [10]
    assert sent == [10, 10], "twice under one key, which the service knows"
    assert len(questions(held)) == 1


def test_answers_of_ask_are_bound_to_their_place_and_survive_a_death(held: Recorder) -> None:
    waits(lambda: asker.start_or_resume("r1", Bill(amounts=[])))
    say(held, DecisionKind.APPROVE)
    waits(lambda: asker.start_or_resume("r1"))
    assert len(questions(held)) == 2, "the second question is another one, though its words are the same"
    say(held, DecisionKind.DENY)
    assert list(asker.start_or_resume("r1").said) == ["approved", "denied"]


def test_a_question_past_its_deadline_is_answered_by_the_clock(
    held: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits(lambda: asker.start_or_resume("r1", Bill(amounts=[])))
    (row,) = questions(held)
    later = time.time_ns() + 3_700 * 10**9
    monkeypatch.setattr(time, "time_ns", lambda: later)
    with pytest.raises(Denied, match="it has expired"):
        decide(held.journal, row.approval_id, DecisionKind.APPROVE, who="kim")
    waits(lambda: asker.start_or_resume("r1"))
    states = [one.state for one in questions(held)]
    assert states == ["expired", "pending"]
    assert questions(held)[0].decided_by == "the clock"
    with held.store.reader.connect() as connection:
        row_of_run = read.run_by_id(connection, "r1")
    assert row_of_run is not None
    assert row_of_run.waiting == 1


@pytest.mark.parametrize("state", ["denied", "expired", "pending", "", "APPROVED"])
def test_only_an_explicit_yes_is_true(state: str) -> None:
    assert not Answer(state)
    assert Answer("approved")
