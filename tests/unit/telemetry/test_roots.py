"""Does the root of a segment say how it ended, where it came from, and never that a pause is an error?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.trace import StatusCode

from tracer.spanref import SpanRef
from tracer.store.rows import EntryRow, SegmentRow
from tracer.telemetry import roots

LINK = {
    "type": "resumed_from",
    "trace_id": "0a" * 16,
    "span_id": "0b" * 8,
    "flags": 3,
    "checkpoint_id": "0c" * 16,
    "sequence": 9,
}


@pytest.mark.parametrize(
    ("outcome", "status", "incomplete"),
    [
        ("done", StatusCode.UNSET, None),
        ("paused", StatusCode.UNSET, None),
        ("aborted", StatusCode.UNSET, None),
        ("failed", StatusCode.ERROR, None),
        ("refused", StatusCode.ERROR, None),
        ("interrupted", StatusCode.ERROR, True),
        ("lost", StatusCode.ERROR, True),
    ],
)
def test_a_root_is_an_error_only_when_the_segment_failed_or_died(
    segment: SegmentRow,
    facts: Any,
    resource: Resource,
    outcome: str,
    status: StatusCode,
    incomplete: bool | None,
) -> None:
    span = roots.segment_span(replace(segment, outcome=outcome), facts, resource)
    assert span.status.status_code is status
    assert span.attributes.get("waypost.incomplete") is incomplete
    assert span.attributes["waypost.segment.outcome"] == outcome
    assert (span.start_time, span.end_time) == (segment.started_at, segment.ended_at)


def test_a_resumed_root_links_to_the_checkpoint_and_repeats_it_as_attributes(
    segment: SegmentRow, entry: EntryRow, facts: Any, resource: Resource
) -> None:
    resumed = replace(entry, kind="resume", mark="continue", subject="ann", segment=2)
    events = [(resumed, {"who": "ann", "why": "after the approval"})]
    span = roots.segment_span(segment, facts, resource, link=LINK, events=events, last=(b"\x07" * 16, 31))
    (link,) = span.links
    assert f"{link.context.trace_id:032x}" == LINK["trace_id"]
    assert f"{link.context.span_id:016x}" == LINK["span_id"]
    assert link.attributes["waypost.link.type"] == "resumed_from"
    assert span.attributes["waypost.resumed_from.checkpoint.id"] == LINK["checkpoint_id"]
    assert span.attributes["waypost.resumed_from.trace_id"] == LINK["trace_id"]
    assert span.attributes["waypost.run.origin_trace_id"] == facts.trace_id.hex()
    assert span.attributes["waypost.checkpoint.sequence"] == 31
    (event,) = span.events
    assert event.name == "waypost.resumed"
    assert event.attributes["waypost.resume.verdict"] == "continue"
    assert event.attributes["waypost.resume.reason"] == "after the approval"


@pytest.mark.parametrize("kind", ["pause", "end"])
def test_a_pause_is_an_event_with_its_reason(
    segment: SegmentRow, entry: EntryRow, facts: Any, resource: Resource, kind: str
) -> None:
    mark = "approval" if kind == "pause" else "paused"
    paused = replace(entry, kind=kind, mark=mark, subject="paused", segment=2)
    events = [(paused, {"reason": "approval", "deadline": 5})]
    made = roots.segment_span(replace(segment, outcome="paused"), facts, resource, events=events, draft=True)
    assert [event.name for event in made.events] == ["waypost.paused", "gen_ai.agent.paused"]
    assert made.events[0].attributes["waypost.pause.reason"] == "approval"
    assert made.events[1].attributes["gen_ai.agent.pause.reason"] == "approval"


def test_under_another_agent_span_the_root_does_not_pretend_to_be_a_second_agent(
    segment: SegmentRow, ref: SpanRef, facts: Any, resource: Resource
) -> None:
    nested = replace(segment, span=replace(ref, under_agent=True).pack())
    span = roots.segment_span(nested, facts, resource)
    assert span.name == "waypost.segment"
    assert "gen_ai.operation.name" not in span.attributes
    below_http = roots.segment_span(replace(segment, span=ref.pack()), facts, resource)
    assert below_http.name == "invoke_agent licence-audit"
    assert below_http.attributes["gen_ai.operation.name"] == "invoke_agent"


def test_a_failed_root_says_why_and_many_divergences_stay_few_events(
    segment: SegmentRow, entry: EntryRow, facts: Any, resource: Resource
) -> None:
    end = replace(entry, kind="end", mark="failed", subject="failed", segment=2)
    alarm = replace(entry, kind="divergence", mark="loop", subject="open_ticket", segment=2)
    events = [(end, {"reason": "ValueError: no todo"}), *[(alarm, {})] * 300]
    span = roots.segment_span(replace(segment, outcome="failed"), facts, resource, events=events)
    assert span.status.description == "ValueError: no todo"
    assert len(span.events) < 128
