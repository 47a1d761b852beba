"""Is a resumed agent that does something else noticed at once, and one that goes on left alone?"""

from __future__ import annotations

import logging

import pytest
from opentelemetry.sdk.resources import Resource

from tests.divergence_live.conftest import Mind, alerts, audit, entries, given, stopped
from tracer import Paused, ResumeRefused, Ruling
from tracer import alerts as decisions
from tracer.divergence import ALARM, Call, Live
from tracer.errors import Diverged
from tracer.recorder import Recorder
from tracer.store import objects, read
from tracer.store.rows import ApprovalRow
from tracer.telemetry import names, roots

pytestmark = pytest.mark.usefixtures("model")


def question(held: Recorder, run_id: str = "audit-1") -> list[ApprovalRow]:
    with held.store.reader.connect() as connection:
        return read.approvals(connection, run_id=run_id)


def standing(held: Recorder, run_id: str = "audit-1") -> tuple[str, int, int]:
    with held.store.reader.connect() as connection:
        row = read.run_by_id(connection, run_id)
    assert row is not None
    return row.state, row.alerts, row.waiting


def test_an_agent_that_goes_on_as_before_is_left_alone(held: Recorder) -> None:
    stopped().start_or_resume("audit-1")
    assert alerts() == []
    ((mark, body),) = entries("divergence")
    assert mark == "started"
    assert body["compared_with"] == ["model-1", "model-2"]
    assert body["identity"]["open_ticket"] == ["dist", "rule"]
    assert standing(held) == ("done", 0, 0)


def test_a_ticket_for_the_wrong_distribution_is_an_alert_before_the_next_call(
    held: Recorder, mind: Mind
) -> None:
    made = stopped()
    mind.other = {"mailkit": "iconset"}
    made.start_or_resume("audit-1")
    (alert,) = alerts()
    assert (alert.state, alert.segment) == ("open", 2)
    assert alert.score >= ALARM * 1000
    assert "iconset" in alert.sentence
    with held.store.reader.connect() as connection:
        found = read.alert_by_id(connection, alert.alert_id)
    assert found is not None
    detail = objects.unpack_record(found[1], "alert")
    assert detail["compared_with"] == ["model-1", "model-2"]
    first = detail["reasons"][0]
    assert first["target"] == "iconset copyleft"
    with held.store.reader.connect() as connection:
        call = read.calls(connection, "audit-1", after=first["number"] - 1, limit=1)[0]
    assert (call.tool, "iconset" in call.target) == ("open_ticket", True)
    assert standing(held)[1] == 1


def test_the_first_life_of_a_run_is_not_compared(held: Recorder, mind: Mind) -> None:
    mind.other = {"mailkit": "iconset"}
    audit().start_or_resume("first", given())
    assert alerts("first") == []
    assert entries("divergence", "first") == []


def test_what_shows_only_afterwards_holds_the_next_write_and_an_acknowledgement_lets_it_go_on(
    held: Recorder, mind: Mind, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = stopped(ruling=Ruling.REAPPROVE)
    mind.other = {"mailkit": "iconset"}
    monkeypatch.setattr("tracer.divergence.Live.trial", lambda *_: [])
    before = len(mind.sent)
    with pytest.raises(Paused, match=r"something else: open_ticket has dist = iconset .* May it go on"):
        made.start_or_resume("audit-1")
    assert [about for _, about in mind.sent[before:]] == ["iconset"]
    assert standing(held) == ("paused", 1, 1)
    with pytest.raises(ResumeRefused, match="something else"):
        made.start_or_resume("audit-1")
    (alert,) = alerts()
    decisions.acknowledge(held.journal, alert.alert_id, who="maya", note="the tracker was told", how="test")
    assert standing(held)[1:] == (0, 0)
    made.start_or_resume("audit-1")
    assert standing(held) == ("done", 0, 0)
    assert [(one.kind, one.state) for one in question(held)] == [("divergence", "approved")]
    (alert,) = alerts()
    assert (alert.state, alert.decided_by, alert.note) == ("acknowledged", "maya", "the tracker was told")
    ((mark, body),) = [one for one in entries("decision") if one[0] == "acknowledge"]
    assert (mark, body["who"], body["how"]) == ("acknowledge", "maya", "test")


def test_abort_ends_the_run_before_the_write_that_follows_one_that_had_gone_out(
    held: Recorder, mind: Mind, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = stopped(ruling=Ruling.ABORT)
    mind.other = {"mailkit": "iconset"}
    monkeypatch.setattr("tracer.divergence.Live.trial", lambda *_: [])
    sent = len(mind.sent)
    for _ in range(2):
        with pytest.raises(Diverged, match="iconset"):
            made.start_or_resume("audit-1")
        assert len(mind.sent) == sent + 1
    assert standing(held)[0] == "failed"


def test_a_muted_shape_raises_no_alarm_and_stays_visible(held: Recorder, mind: Mind) -> None:
    made = stopped()
    mind.other = {"mailkit": "iconset"}
    made.start_or_resume("audit-1")
    (alert,) = alerts()
    with held.store.reader.connect() as connection:
        found = read.alert_by_id(connection, alert.alert_id)
    assert found is not None
    for reason in objects.unpack_record(found[1], "alert")["reasons"]:
        decisions.mute(held.journal, alert.alert_id, reason["shape"], who="maya", note="known")
    mind.other = {}
    again = stopped(ruling=Ruling.ABORT, run_id="audit-2")
    mind.other = {"mailkit": "iconset"}
    again.start_or_resume("audit-2")
    (quiet,) = alerts("audit-2")
    assert (quiet.state, standing(held, "audit-2")) == ("muted", ("done", 0, 0))
    decisions.unmute(held.journal, "licence-audit", "3", alert.shape, who="maya")
    mind.other = {}
    third = stopped(run_id="audit-3")
    mind.other = {"mailkit": "iconset"}
    third.start_or_resume("audit-3")
    assert alerts("audit-3")[0].state == "open"
    marks = [mark for run in ("audit-1", "audit-2", "audit-3") for mark, _ in entries("decision", run)]
    assert {"mute", "unmute"} <= set(marks)


def test_a_run_with_an_alert_is_no_model_until_somebody_says_it_was_right(held: Recorder, mind: Mind) -> None:
    made = stopped()
    mind.other = {"mailkit": "iconset"}
    made.start_or_resume("audit-1")
    mind.other = {}
    stopped(run_id="audit-2").start_or_resume("audit-2")
    assert "audit-1" not in entries("divergence", "audit-2")[0][1]["compared_with"]
    decisions.acknowledge(held.journal, alerts()[0].alert_id, who="maya", note="so be it", expected=True)
    stopped(run_id="audit-3").start_or_resume("audit-3")
    assert "audit-1" in entries("divergence", "audit-3")[0][1]["compared_with"]


def test_an_alert_is_decided_once(held: Recorder, mind: Mind) -> None:
    made = stopped()
    mind.other = {"mailkit": "iconset"}
    made.start_or_resume("audit-1")
    decisions.acknowledge(held.journal, alerts()[0].alert_id, who="maya", note="seen")
    with pytest.raises(Exception, match="acknowledged by maya"):
        decisions.acknowledge(held.journal, alerts()[0].alert_id, who="bob", note="seen too")


def test_a_comparison_that_breaks_is_logged_once_and_the_agent_goes_on(
    held: Recorder, mind: Mind, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    made = stopped(ruling=Ruling.ABORT)
    whole = Live.add

    def broken(live: Live, record: object) -> object:
        if isinstance(record, Call):  # An earlier run, read before the segment begins.
            return whole(live, record)
        raise RuntimeError("no more")

    monkeypatch.setattr("tracer.divergence.Live.add", broken)
    failures: list[str] = []
    monkeypatch.setattr(held.metrics, "comparison_failed", failures.append)
    with caplog.at_level(logging.WARNING, "waypost.divergence"):
        made.start_or_resume("audit-1")
    assert standing(held)[0] == "done"
    assert failures == ["RuntimeError"]
    (logged,) = [one for one in caplog.records if one.name == "waypost.divergence"]
    assert "The run goes on" in logged.getMessage()
    assert [mark for mark, _ in entries("divergence")] == ["started", "stopped"]


def test_a_comparison_that_cannot_begin_is_no_reason_not_to_resume(
    held: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = stopped()

    def broken(*_args: object, **_more: object) -> object:
        raise RuntimeError("no more")

    monkeypatch.setattr("tracer.divergence.Live.start", broken)
    made.start_or_resume("audit-1")
    assert standing(held)[0] == "done"
    assert [mark for mark, _ in entries("divergence")] == ["stopped"]


def test_a_run_that_diverges_at_every_call_is_told_of_a_few_times_not_at_each(
    held: Recorder, mind: Mind
) -> None:
    todo = [f"dist-{number}" for number in range(60)]
    given_ = given().model_copy(update={"todo": list(todo)})
    for name in ("long-1", "long-2"):
        audit().start_or_resume(name, given_)
    made = audit()
    mind.stop_at = todo[0]
    with pytest.raises(Exception, match="dist-0"):
        made.start_or_resume("audit-1", given_)
    mind.stop_at = ""
    mind.other = {dist: f"wrong-{dist}" for dist in todo}
    made.start_or_resume("audit-1")
    written = [mark for mark, _ in entries("divergence") if mark != "started"]
    assert 1 <= len(written) <= 12
    (alert,) = alerts()
    with held.store.reader.connect() as connection:
        found = read.alert_by_id(connection, alert.alert_id)
    assert found is not None
    detail = objects.unpack_record(found[1], "alert")
    assert (len(detail["reasons"]), detail["count"] > 50) == (50, True)


def test_the_event_of_an_alarm_stands_on_the_root_of_its_segment_and_only_there(
    held: Recorder, mind: Mind
) -> None:
    made = stopped()
    mind.other = {"mailkit": "iconset"}
    made.start_or_resume("audit-1")
    with held.store.reader.connect() as connection:
        run = read.run_by_id(connection, "audit-1")
        segments = read.segments(connection, "audit-1")
        told = [read.segment_entries(connection, "audit-1", read.MAIN, n, roots.KINDS) for n in (1, 2)]
    assert run is not None
    events = []
    for segment, found in zip(segments, told, strict=True):
        opened = [(entry, objects.unpack_record(body, "entry")) for entry, body in found]
        events.append(roots.segment_span(segment, run, Resource({}), events=opened).events)
    assert [event.name for event in events[0] if event.name == names.EVENT_DIVERGED] == []
    (alarm,) = [event for event in events[1] if event.name == names.EVENT_DIVERGED]
    assert alarm.attributes is not None
    assert alarm.attributes[names.DIVERGENCE_SUBJECT] == "open_ticket"
    score = alarm.attributes[names.DIVERGENCE_SCORE]
    assert isinstance(score, float)
    assert ALARM <= score <= 1
    assert "iconset" in str(alarm.attributes[names.DIVERGENCE_REASON])
