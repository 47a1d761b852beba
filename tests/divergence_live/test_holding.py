"""Is the wrong write itself held before it is sent, and is a yes good for exactly that call?"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Any

import pytest

from tests.divergence_live.conftest import (
    TODO,
    Audit,
    Mind,
    Stopped,
    alerts,
    audit,
    entries,
    given,
    stopped,
)
from tracer import (
    Agent,
    Paused,
    ResumePolicy,
    ResumeRefused,
    Ruling,
    Run,
    agent,
    approvals,
    faults,
    write,
)
from tracer import alerts as decisions
from tracer.alertrecord import HELD
from tracer.calls import Calls, Ticket
from tracer.contract import DecisionKind
from tracer.divergence import ALARM
from tracer.errors import Diverged, NotStorable, SegmentPoisoned, StoreError
from tracer.holding import Holding
from tracer.recorder import Recorder
from tracer.store import objects, read
from tracer.store.rows import ApprovalRow

pytestmark = pytest.mark.usefixtures("model")


def questions(held: Recorder) -> list[ApprovalRow]:
    with held.store.reader.connect() as connection:
        return read.approvals(connection, run_id="audit-1")


def standing(held: Recorder) -> tuple[str, int, int]:
    """(state, open alerts, open questions)."""
    with held.store.reader.connect() as connection:
        row = read.run_by_id(connection, "audit-1")
    assert row is not None
    return row.state, row.alerts, row.waiting


def detail(held: Recorder, alert_id: str) -> dict[str, Any]:
    with held.store.reader.connect() as connection:
        found = read.alert_by_id(connection, alert_id)
    assert found is not None
    return objects.unpack_record(found[1], "alert")


def ledger(held: Recorder) -> list[str]:
    """What the calls of the run are about."""
    with held.store.reader.connect() as connection:
        return [call.target for call in read.calls(connection, "audit-1")]


def wrong(held: Recorder, mind: Mind, ruling: Ruling = Ruling.REAPPROVE) -> Agent[Audit]:
    """An agent whose resumed life was about to open a ticket for the wrong distribution, and was paused."""
    made = stopped(ruling=ruling)
    mind.other = {"mailkit": "iconset"}
    with pytest.raises(Paused, match="divergence"):
        made.start_or_resume("audit-1")
    return made


def acknowledge(held: Recorder, *, expected: bool = False) -> None:
    """Acknowledge the newest alert."""
    decisions.acknowledge(held.journal, alerts()[0].alert_id, who="maya", note="seen", expected=expected)


def sent(mind: Mind, about: str) -> int:
    return [dist for _, dist in mind.sent].count(about)


@pytest.mark.parametrize("ruling", [Ruling.REVALIDATE, Ruling.REAPPROVE])
def test_the_wrong_write_itself_is_not_sent_and_a_person_is_asked_about_exactly_it(
    held: Recorder, mind: Mind, ruling: Ruling
) -> None:
    wrong(held, mind, ruling)
    assert sent(mind, "iconset") == 0
    assert not any("iconset" in about for about in ledger(held))
    assert standing(held) == ("paused", 1, 1)
    (alert,) = alerts()
    assert (alert.state, alert.segment) == ("open", 2)
    assert alert.score >= ALARM * 1000
    assert alert.sentence == f"{HELD}open_ticket has dist = iconset where the baselines have mailkit."
    kept = detail(held, alert.alert_id)
    first = kept["reasons"][0]
    assert (first["tool"], first["target"]) == ("open_ticket", "iconset copyleft")
    assert first["number"] == len(ledger(held)) + 1
    assert [one["path"] for one in first["fields"] if one["kind"] == "changed"] == ["dist"]
    assert kept["compared_with"] == ["model-1", "model-2"]
    assert kept["held"]["tool"] == "open_ticket"
    (asked,) = questions(held)
    assert asked.prompt == f"{alert.sentence} May exactly this call be sent?"
    with held.store.reader.connect() as connection:
        found = read.approval_by_id(connection, asked.approval_id)
    assert found is not None
    assert objects.unpack_record(found[1], "question")["args"] == {"dist": "iconset", "rule": "copyleft"}
    assert [mark for mark, _ in entries("divergence")] == ["started", "argument.changed"]


def test_abort_ends_the_run_before_the_wrong_write_and_again_until_the_alert_is_acknowledged(
    held: Recorder, mind: Mind
) -> None:
    made = stopped(ruling=Ruling.ABORT)
    mind.other = {"mailkit": "iconset"}
    for _ in range(2):
        with pytest.raises(Diverged, match=r"Held, not sent\. If sent: open_ticket has dist = iconset"):
            made.start_or_resume("audit-1")
        assert sent(mind, "iconset") == 0
    assert standing(held) == ("failed", 1, 0)
    assert questions(held) == []
    acknowledge(held)
    made.start_or_resume("audit-1")
    assert (sent(mind, "iconset"), standing(held)) == (1, ("done", 0, 0))


@pytest.mark.parametrize("expected", [False, True])
def test_an_acknowledged_call_is_sent_once_and_no_second_alert_is_raised_about_it(
    held: Recorder, mind: Mind, expected: bool
) -> None:
    made = wrong(held, mind)
    acknowledge(held, expected=expected)
    made.start_or_resume("audit-1")
    assert sent(mind, "iconset") == 1
    assert standing(held) == ("done", 0, 0)
    assert [one.state for one in alerts()] == ["expected" if expected else "acknowledged"]
    assert [(one.kind, one.state) for one in questions(held)] == [("divergence", "approved")]


def test_a_yes_holds_across_further_deaths_before_and_after_the_call_is_sent(
    held: Recorder, mind: Mind
) -> None:
    made = wrong(held, mind)
    (asked,) = questions(held)
    approvals.decide(held.journal, asked.approval_id, DecisionKind.APPROVE, who="maya")
    for stop in ("mailkit", "qrlib", "sax"):
        mind.stop_at = stop
        with pytest.raises(Stopped, match=stop):
            made.start_or_resume("audit-1")
        assert sent(mind, "iconset") == (stop != "mailkit")
    mind.stop_at = ""
    made.start_or_resume("audit-1")
    assert sent(mind, "iconset") == 1
    assert standing(held)[0] == "done"
    assert (len(alerts()), len(questions(held))) == (1, 1)


def test_a_call_that_proves_to_have_failed_may_be_tried_again_on_the_same_yes(
    held: Recorder, mind: Mind
) -> None:
    @write(name="open_ticket", identity=("dist", "rule"), failed_on=(ConnectionError,))
    def shaky(dist: str, rule: str) -> int:
        """Open a ticket, at the second attempt."""
        mind.sent.append(("tried", dist))
        if sent(mind, dist) == 1:
            raise ConnectionError("refused")
        return len(mind.sent)

    def body(run: Run, state: Audit) -> Audit:
        for dist in run.each(state.todo):
            if dist == mind.stop_at:
                raise Stopped(dist)
            try:
                shaky(mind.other.get(dist, dist), "copyleft")
            except ConnectionError:
                shaky(mind.other.get(dist, dist), "copyleft")
        return state

    made: Agent[Audit] = agent("shaky", plan="1", policy=ResumePolicy(divergence=Ruling.REAPPROVE))(body)
    for name in ("calm-1", "calm-2"):
        made.start_or_resume(name, given())
        mind.sent.clear()
    mind.stop_at = "mailkit"
    with pytest.raises(Stopped):
        made.start_or_resume("audit-1", given())
    mind.stop_at, mind.other = "", {"mailkit": "iconset"}
    with pytest.raises(Paused):
        made.start_or_resume("audit-1")
    assert sent(mind, "iconset") == 0
    acknowledge(held)
    made.start_or_resume("audit-1")
    assert (sent(mind, "iconset"), standing(held)) == (2, ("done", 0, 0))


def test_a_yes_is_used_up_by_the_effect_and_to_do_it_twice_is_asked_anew(held: Recorder, mind: Mind) -> None:
    made = wrong(held, mind)
    acknowledge(held)
    mind.other = {"mailkit": "iconset", "sax": "iconset"}
    with pytest.raises(Paused, match="was done 2 times"):
        made.start_or_resume("audit-1")
    assert sent(mind, "iconset") == 1
    assert [one.state for one in alerts()] == ["open", "acknowledged"]


def test_a_yes_that_an_earlier_life_has_used_is_used_for_good(held: Recorder, mind: Mind) -> None:
    made = wrong(held, mind)
    acknowledge(held)
    mind.stop_at = "qrlib"
    with pytest.raises(Stopped):
        made.start_or_resume("audit-1")
    mind.stop_at, mind.other = "", {"sax": "iconset"}
    with pytest.raises(Paused, match="was done 2 times"):
        made.start_or_resume("audit-1")
    assert (sent(mind, "iconset"), sent(mind, "qrlib")) == (1, 1)


def test_a_call_that_was_let_through_raises_no_alert_when_its_answer_is_given_back(
    held: Recorder, mind: Mind
) -> None:
    made = audit(Ruling.REAPPROVE, ("read_licence", "open_ticket"))
    mind.stop_at, mind.extra = "mailkit", "mailkit"
    with pytest.raises(Stopped):
        made.start_or_resume("audit-1", given())
    mind.stop_at = ""
    with pytest.raises(Paused, match="close_ticket is not in the grant"):
        made.start_or_resume("audit-1")
    acknowledge(held)
    with faults.armed(partial(_dies, "call.after_outcome")), pytest.raises(Stopped):
        made.start_or_resume("audit-1")
    assert sent(mind, "111") == 1
    made.start_or_resume("audit-1")
    assert (sent(mind, "111"), standing(held)) == (1, ("done", 0, 0))
    assert [one.state for one in alerts()] == ["acknowledged"]


def test_another_wrong_call_is_asked_about_anew(held: Recorder, mind: Mind) -> None:
    made = wrong(held, mind)
    acknowledge(held)
    mind.other = {"mailkit": "elsewhere"}
    with pytest.raises(Paused, match="elsewhere"):
        made.start_or_resume("audit-1")
    assert (sent(mind, "elsewhere"), standing(held)) == (0, ("paused", 1, 1))
    assert len({one.shape for one in alerts()}) == 1
    acknowledge(held)
    mind.other = {"mailkit": "iconset"}
    made.start_or_resume("audit-1")
    assert (sent(mind, "iconset"), sent(mind, "elsewhere")) == (1, 0)


def test_another_wrong_call_of_the_same_life_is_held_although_one_was_let_through(
    held: Recorder, mind: Mind
) -> None:
    made = wrong(held, mind)
    acknowledge(held)
    mind.other = {"mailkit": "iconset", "sax": "elsewhere"}
    with pytest.raises(Paused, match="elsewhere"):
        made.start_or_resume("audit-1")
    assert (sent(mind, "iconset"), sent(mind, "elsewhere")) == (1, 0)


def test_a_no_ends_the_run_and_an_acknowledgement_after_it_frees_the_run_and_not_the_call(
    held: Recorder, mind: Mind
) -> None:
    made = wrong(held, mind)
    decisions.answer(held.journal, questions(held)[0], yes=False, who="maya", why="wrong ticket", how="test")
    for _ in range(2):
        with pytest.raises(Diverged, match="maya said no"):
            made.start_or_resume("audit-1")
    assert (sent(mind, "iconset"), standing(held)[0]) == (0, "failed")
    acknowledge(held)
    with pytest.raises(Paused, match="iconset"):
        made.start_or_resume("audit-1")
    assert sent(mind, "iconset") == 0
    assert [one.state for one in alerts()] == ["open", "acknowledged"]
    with pytest.raises(ResumeRefused, match="If sent"):
        made.start_or_resume("audit-1")
    acknowledge(held)
    mind.other = {}
    made.start_or_resume("audit-1")
    assert (sent(mind, "iconset"), sent(mind, "mailkit"), standing(held)[0]) == (0, 1, "done")


def test_a_death_between_the_alert_and_its_question_loses_neither(
    held: Recorder, mind: Mind, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = stopped(ruling=Ruling.REAPPROVE)
    mind.other = {"mailkit": "iconset"}
    with monkeypatch.context() as patch:

        def dies(*_args: object, **_more: object) -> None:
            raise Stopped("here")

        patch.setattr("tracer.holding.ask_person", dies)
        with pytest.raises(Stopped):
            made.start_or_resume("audit-1")
    assert (len(alerts()), questions(held)) == (1, [])
    with pytest.raises(Paused, match="May exactly this call be sent"):
        made.start_or_resume("audit-1")
    assert (len(alerts()), len(questions(held)), sent(mind, "iconset")) == (1, 1, 0)


def test_who_acknowledges_before_the_question_is_asked_lets_the_call_through_at_once(
    held: Recorder, mind: Mind, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = stopped(ruling=Ruling.ABORT)
    mind.other = {"mailkit": "iconset"}
    hold = Holding.hold

    def quick(self: Holding, *args: Any) -> None:
        hold(self, *args)
        acknowledge(held)

    monkeypatch.setattr(Holding, "hold", quick)
    made.start_or_resume("audit-1")
    assert (sent(mind, "iconset"), standing(held)) == (1, ("done", 0, 0))
    assert [one.state for one in alerts()] == ["acknowledged"]


def test_a_muted_shape_is_sent_without_a_question(held: Recorder, mind: Mind) -> None:
    made = wrong(held, mind)
    (alert,) = alerts()
    for reason in detail(held, alert.alert_id)["reasons"]:
        decisions.mute(held.journal, alert.alert_id, reason["shape"], who="maya", note="known")
    decisions.answer(held.journal, questions(held)[0], yes=False, who="maya", why="", how="test")
    acknowledge(held)
    made.start_or_resume("audit-1")
    assert sent(mind, "iconset") == 1
    assert [one.state for one in alerts()] == ["muted", "acknowledged"]
    assert (standing(held), len(questions(held))) == (("done", 0, 0), 1)


@pytest.mark.parametrize("ruling", [Ruling.REAPPROVE, Ruling.ABORT])
def test_a_right_write_is_not_held_and_costs_no_alert(held: Recorder, mind: Mind, ruling: Ruling) -> None:
    made = stopped(ruling=ruling)
    made.start_or_resume("audit-1")
    assert standing(held) == ("done", 0, 0)
    assert (alerts(), questions(held)) == ([], [])
    assert [dist for _, dist in mind.sent] == list(TODO)


def test_a_policy_that_only_records_tries_nothing_sends_the_call_and_tells_of_it(
    held: Recorder, mind: Mind, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[object] = []
    monkeypatch.setattr("tracer.divergence.Live.trial", lambda _live, record: tried.append(record) or [])
    made = stopped()
    mind.other = {"mailkit": "iconset"}
    made.start_or_resume("audit-1")
    assert (sent(mind, "iconset"), standing(held), tried) == (1, ("done", 1, 0), [])
    assert not alerts()[0].sentence.startswith(HELD)


def test_a_call_that_is_answered_or_sent_again_under_its_key_is_not_tried(
    held: Recorder, mind: Mind, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = stopped(ruling=Ruling.REAPPROVE)
    tried: list[str] = []

    def noted(_live: object, record: dict[str, Any]) -> list[object]:
        tried.append(record["args"]["dist"])
        return []

    monkeypatch.setattr("tracer.divergence.Live.trial", noted)
    for point in ("call.after_intent", "call.after_outcome"):
        with faults.armed(partial(_dies, point)), pytest.raises(Stopped):
            made.start_or_resume("audit-1")
    made.start_or_resume("audit-1")
    assert tried == ["mailkit", "qrlib", "sax"]
    assert (sent(mind, "mailkit"), standing(held)) == (1, ("done", 0, 0))


def test_a_trial_that_breaks_is_said_once_and_the_agent_goes_on(
    held: Recorder, mind: Mind, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    made = stopped(ruling=Ruling.ABORT)

    def broken(*_args: object, **_more: object) -> object:
        raise RuntimeError("no more")

    monkeypatch.setattr("tracer.divergence.Live.trial", broken)
    mind.other = {"mailkit": "iconset"}
    with caplog.at_level(logging.WARNING, "waypost.divergence"):
        made.start_or_resume("audit-1")
    assert standing(held)[0] == "done"
    (logged,) = [one for one in caplog.records if one.name == "waypost.divergence"]
    assert "before call 6, open_ticket: RuntimeError: no more The run goes on." in logged.getMessage()
    assert [mark for mark, _ in entries("divergence")] == ["started", "stopped"]


def test_an_alert_that_cannot_be_written_stops_the_call(
    held: Recorder, mind: Mind, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = stopped(ruling=Ruling.REAPPROVE)
    mind.other = {"mailkit": "iconset"}

    def full(*_args: object, **_more: object) -> object:
        raise StoreError("disk full")

    monkeypatch.setattr("tracer.holding.Holding.hold", full)
    with pytest.raises(StoreError, match="disk full"):
        made.start_or_resume("audit-1")
    assert sent(mind, "iconset") == 0


def test_a_secret_among_the_held_arguments_stays_sealed(held: Recorder, mind: Mind) -> None:
    secret = "sk-abcdefghijklmnop1234567890"
    made = stopped(ruling=Ruling.REAPPROVE)
    mind.other = {"mailkit": f"iconset {secret}"}
    with pytest.raises(Paused):
        made.start_or_resume("audit-1")
    (alert,) = alerts()
    said = f"{alert} {detail(held, alert.alert_id)} {entries('divergence')} {entries('approval')}"
    assert secret not in said
    acknowledge(held)
    made.start_or_resume("audit-1")
    assert sent(mind, f"iconset {secret}") == 1


def test_a_write_of_an_async_agent_is_held_as_well(held: Recorder, mind: Mind) -> None:
    @write(name="open_ticket", identity=("dist",))
    async def opened(dist: str) -> int:
        """Open a ticket."""
        mind.sent.append(("open_ticket", dist))
        return len(mind.sent)

    @agent("async-audit", plan="1", policy=ResumePolicy(divergence=Ruling.REAPPROVE))
    async def made(run: Run, state: Audit) -> Audit:
        async for dist in run.aeach(state.todo):
            if dist == mind.stop_at:
                raise Stopped(dist)
            await opened(mind.other.get(dist, dist))
        return state

    for name in ("calm-1", "calm-2"):
        asyncio.run(made.start_or_resume(name, given()))
    mind.stop_at = "mailkit"
    with pytest.raises(Stopped):
        asyncio.run(made.start_or_resume("audit-1", given()))
    mind.stop_at, mind.other = "", {"mailkit": "iconset"}
    with pytest.raises(Paused, match="iconset"):
        asyncio.run(made.start_or_resume("audit-1"))
    assert (sent(mind, "iconset"), standing(held)) == (0, ("paused", 1, 1))
    acknowledge(held)
    asyncio.run(made.start_or_resume("audit-1"))
    assert (sent(mind, "iconset"), standing(held)) == (1, ("done", 0, 0))


def _dies(at: str, point: str) -> None:
    if point == at:
        raise Stopped(at)


def _parallel(mind: Mind) -> Agent[Audit]:
    """An agent that may open one ticket twice at once, under two call keys; calm in its earlier runs."""

    @write(name="open_ticket", identity=("dist",))
    async def opened(dist: str) -> int:
        """Open a ticket."""
        await asyncio.sleep(0.05)
        mind.sent.append(("open_ticket", dist))
        return len(mind.sent)

    @agent("parallel-audit", plan="1", policy=ResumePolicy(divergence=Ruling.REAPPROVE))
    async def made(run: Run, state: Audit) -> Audit:
        async for dist in run.aeach(state.todo):
            if dist == mind.stop_at:
                raise Stopped(dist)
            about = mind.other.get(dist, dist)
            keys = "ab" if about == mind.extra else "a"
            done = [opened(about, call_key=f"{dist}-{about}-{key}") for key in keys]
            for answer in await asyncio.gather(*done, return_exceptions=True):
                if isinstance(answer, BaseException):
                    raise answer
        return state

    for name in ("calm-1", "calm-2"):
        asyncio.run(made.start_or_resume(name, given()))
    mind.sent.clear()
    mind.stop_at = "mailkit"
    with pytest.raises(Stopped):
        asyncio.run(made.start_or_resume("audit-1", given()))
    mind.stop_at, mind.other = "", {"mailkit": "iconset"}
    with pytest.raises(Paused):
        asyncio.run(made.start_or_resume("audit-1"))
    return made


def test_one_yes_lets_one_of_two_equal_calls_through_that_are_made_at_once(
    held: Recorder, mind: Mind
) -> None:
    made = _parallel(mind)
    acknowledge(held)
    mind.extra = "iconset"
    with pytest.raises((Paused, SegmentPoisoned)):  # whichever of the two is heard of first
        asyncio.run(made.start_or_resume("audit-1"))
    assert sent(mind, "iconset") == 1
    assert [one.state for one in alerts()] == ["open", "acknowledged"]


def _trying(mind: Mind) -> Agent[Audit]:
    """An agent that makes a call that cannot be stored once more, under another call key; it was held before."""

    @write(name="open_ticket", identity=("dist",))
    def opened(dist: str) -> int:
        """Open a ticket."""
        mind.sent.append(("open_ticket", dist))
        return len(mind.sent)

    @agent("trying", plan="1", policy=ResumePolicy(divergence=Ruling.REAPPROVE))
    def made(run: Run, state: Audit) -> Audit:
        for dist in run.each(state.todo):
            if dist == mind.stop_at:
                raise Stopped(dist)
            about = mind.other.get(dist, dist)
            try:
                opened(about, call_key=f"{about}-1")
            except NotStorable:
                opened(about, call_key=f"{about}-2")
        return state

    for name in ("calm-1", "calm-2"):
        made.start_or_resume(name, given())
    mind.sent.clear()
    mind.stop_at = "mailkit"
    with pytest.raises(Stopped):
        made.start_or_resume("audit-1", given())
    mind.stop_at, mind.other = "", {"mailkit": "iconset"}
    with pytest.raises(Paused):
        made.start_or_resume("audit-1")
    assert sent(mind, "iconset") == 0
    return made


def test_a_call_that_was_planned_on_a_yes_and_never_sent_leaves_it_to_the_next(
    held: Recorder, mind: Mind, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _trying(mind)
    acknowledge(held)
    intend, refused = Calls._intend, []

    def once(self: Calls, ticket: Ticket) -> None:
        if ticket.row.target == "iconset" and not refused:
            refused.append(ticket.row.call_key)
            raise NotStorable("$.args", "str", "refused")
        intend(self, ticket)

    monkeypatch.setattr(Calls, "_intend", once)
    made.start_or_resume("audit-1")
    assert (refused, sent(mind, "iconset")) == (["iconset-1"], 1)
    assert [one.state for one in alerts()] == ["acknowledged"]


def test_a_call_that_is_withdrawn_before_it_is_dispatched_leaves_its_yes_to_the_next(
    held: Recorder, mind: Mind, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _trying(mind)
    acknowledge(held)
    begin, withdrawn = Calls.begin, []

    def cancelled(self: Calls, *given: Any) -> Ticket:
        ticket = begin(self, *given)
        if ticket.row.target == "iconset" and not withdrawn:
            withdrawn.append(ticket.row.call_key)
            self.withdrawn(ticket)
            raise NotStorable("$.args", "str", "refused")
        return ticket

    monkeypatch.setattr(Calls, "begin", cancelled)
    made.start_or_resume("audit-1")
    assert (withdrawn, sent(mind, "iconset")) == (["iconset-1"], 1)
    assert [one.state for one in alerts()] == ["acknowledged"]
