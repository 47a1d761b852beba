"""Does a row always become the same span, one that every backend can hold?"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode

from tracer.spanref import SpanRef
from tracer.store.rows import EntryRow
from tracer.telemetry import spans
from tracer.telemetry.wiretext import KEYLESS, TEXT_MOST, Wording

Wire = Callable[[ReadableSpan], Any]
FIXTURES = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
SECRET = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3


def test_a_checkpoint_is_a_short_span_with_exactly_one_event(
    entry: EntryRow, body: Any, facts: Any, resource: Resource
) -> None:
    span = spans.checkpoint_span(entry, body, facts, resource)
    assert span.name == "checkpoint classify numpy"
    assert span.kind is SpanKind.INTERNAL
    assert span.status.status_code is StatusCode.UNSET
    assert [event.name for event in span.events] == ["waypost.checkpoint"]
    assert span.events[0].timestamp == span.end_time == entry.at
    assert span.attributes["waypost.payload.ref"] == "audit-7@4"
    assert span.attributes["gen_ai.agent.name"] == "licence-audit"
    assert "gen_ai.operation.name" not in span.attributes


def test_the_event_has_at_most_eight_attributes_and_says_which_tag_anchors_the_chain(
    entry: EntryRow, body: Any, facts: Any, resource: Resource
) -> None:
    run = replace(facts, conversation_id="thread-" + "x" * 400)
    event = spans.checkpoint_span(entry, body, run, resource).events[0]
    assert len(event.attributes) <= 8
    assert event.attributes["waypost.checkpoint.tag"] == entry.tag.hex()
    assert event.attributes["waypost.checkpoint.parent.id"] == body["parent"]
    assert all(len(str(value)) <= TEXT_MOST for value in event.attributes.values())


def test_ids_flags_parent_and_times_are_those_that_were_stored(
    entry: EntryRow, body: Any, facts: Any, resource: Resource, ref: SpanRef, wire: Wire
) -> None:
    sent = wire(spans.checkpoint_span(entry, body, facts, resource))
    assert (sent.trace_id, sent.span_id, sent.parent_span_id) == (ref.trace_id, ref.span_id, ref.parent_id)
    assert (sent.start_time_unix_nano, sent.end_time_unix_nano) == (ref.started_at, entry.at)
    far = replace(entry, span=replace(ref, parent_remote=True, tracestate="a=1,b=2").pack())
    other = wire(spans.checkpoint_span(far, body, facts, resource))
    assert other.trace_state == "a=1,b=2"
    assert other.flags != sent.flags


def test_a_clock_that_was_set_back_gives_no_span_that_ends_before_it_starts(
    entry: EntryRow, body: Any, facts: Any, resource: Resource, ref: SpanRef
) -> None:
    late = replace(entry, span=replace(ref, started_at=entry.at + 7).pack())
    span = spans.checkpoint_span(late, body, facts, resource)
    assert span.start_time == span.end_time == entry.at


def test_the_draft_names_come_on_top_and_only_when_asked_for(
    entry: EntryRow, body: Any, facts: Any, resource: Resource
) -> None:
    plain = spans.checkpoint_span(entry, body, facts, resource)
    draft = spans.checkpoint_span(entry, body, facts, resource, draft=True)
    assert [event.name for event in draft.events] == ["waypost.checkpoint", "gen_ai.agent.checkpointed"]
    assert dict(draft.attributes) == dict(plain.attributes)
    assert draft.events[1].attributes["gen_ai.agent.checkpoint.id"] == entry.id.hex()


def test_a_secret_in_a_step_name_is_masked_and_equal_ones_stay_equal(
    entry: EntryRow, body: Any, facts: Any, resource: Resource, wire: Wire
) -> None:
    hot = replace(entry, subject=f"call with {SECRET}")
    first, second = (wire(spans.checkpoint_span(hot, body, facts, resource)) for _ in range(2))
    assert SECRET.encode() not in first.SerializeToString()
    assert first.name == second.name


def test_under_the_stores_key_another_process_sends_the_same_bytes(
    entry: EntryRow, body: Any, facts: Any, resource: Resource, wire: Wire
) -> None:
    hot = replace(entry, subject=f"call with {SECRET}")
    keys = (b"k" * 32, b"k" * 32, b"other" * 7)
    first, second, other = (
        wire(spans.checkpoint_span(hot, body, facts, resource, words=Wording(key))).SerializeToString()
        for key in keys
    )
    assert first == second != other


def test_half_a_surrogate_pair_is_replaced_and_the_span_says_so(
    entry: EntryRow, body: Any, facts: Any, resource: Resource, caplog: pytest.LogCaptureFixture, wire: Wire
) -> None:
    odd = replace(entry, subject="emoji \ud83d cut")
    sent = wire(spans.checkpoint_span(odd, body, facts, resource))
    assert sent.name == "checkpoint emoji \ufffd cut"
    altered = next(a for a in sent.attributes if a.key == "waypost.export.altered")
    assert [value.string_value for value in altered.value.array_value.values] == ["waypost.step.name"]
    assert caplog.records == []


@pytest.mark.parametrize(
    ("state", "error", "status", "kind"),
    [
        ("committed", "", StatusCode.UNSET, None),
        ("suspended", "", StatusCode.UNSET, None),
        ("failed", "ValueError: no such dist", StatusCode.ERROR, "ValueError"),
        ("unknown", "TimeoutError: no answer in 3 s", StatusCode.ERROR, "TimeoutError"),
        ("unknown", "", StatusCode.ERROR, "unknown"),
        ("failed", "the thing, it broke: badly", StatusCode.ERROR, "failed"),
    ],
)
def test_a_call_is_an_error_only_when_it_failed_or_nobody_knows(
    entry: EntryRow,
    facts: Any,
    resource: Resource,
    state: str,
    error: str,
    status: StatusCode,
    kind: str | None,
) -> None:
    row = replace(entry, kind="outcome", mark=state, subject="ab" * 16, sequence=None)
    said = {"tool": "open_ticket", "kind": "write", "attempt": 2, "error": error, "call_key": "call_1"}
    span = spans.call_span(row, said, facts, resource)
    assert span.name == "execute_tool open_ticket"
    assert span.status.status_code is status
    assert span.attributes.get("error.type") == kind
    assert span.attributes["gen_ai.tool.call.id"] == "call_1"
    assert span.attributes["waypost.call.attempt"] == 2


def test_a_model_turn_is_a_chat_and_no_tool(entry: EntryRow, facts: Any, resource: Resource) -> None:
    row = replace(entry, kind="call", mark="committed", subject="ab" * 16, sequence=None)
    span = spans.call_span(row, {"tool": "ask", "kind": "model", "model": "m-1"}, facts, resource)
    assert (span.name, span.kind) == ("chat m-1", SpanKind.CLIENT)
    assert span.attributes["gen_ai.operation.name"] == "chat"
    assert "gen_ai.tool.name" not in span.attributes


HOSTILE = st.text(max_size=600) | st.text(alphabet=st.characters(categories=["Cs", "Cc"]), max_size=20)


@FIXTURES
@given(
    step=HOSTILE,
    conversation=st.none() | HOSTILE,
    size=st.integers(0, 2**63 - 1),
    sequence=st.integers(1, 2**63 - 1),
    error=HOSTILE,
    tool=HOSTILE,
)
def test_whatever_a_row_holds_its_span_has_bounded_text_and_the_same_bytes_again(
    entry: EntryRow,
    body: Any,
    facts: Any,
    resource: Resource,
    caplog: pytest.LogCaptureFixture,
    step: str,
    conversation: str | None,
    size: int,
    sequence: int,
    error: str,
    tool: str,
) -> None:
    row = replace(entry, subject=step, size=size, sequence=sequence)
    run = replace(facts, conversation_id=conversation)
    call = replace(entry, kind="outcome", mark="failed", subject="ab" * 16)
    said = {"tool": tool, "kind": "write", "error": error, "call_key": tool, "attempt": 1}

    def sent() -> bytes:
        made = [spans.checkpoint_span(row, body, run, resource), spans.call_span(call, said, run, resource)]
        texts = [v for span in made for v in span.attributes.values() if isinstance(v, str)]
        assert max(map(len, texts)) <= TEXT_MOST
        return encode_spans(made).SerializeToString()

    first = sent()
    KEYLESS.forget()
    assert sent() == first
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@FIXTURES
@given(
    st.builds(
        SpanRef,
        trace_id=st.binary(min_size=16, max_size=16),
        span_id=st.binary(min_size=8, max_size=8),
        parent_id=st.binary(min_size=8, max_size=8),
        flags=st.integers(0, 255),
        parent_flags=st.integers(0, 255),
        parent_remote=st.booleans(),
        started_at=st.integers(0, 2**63 - 1),
        tracestate=st.sampled_from(["", "a=1", "vendor=x:y,other=2"]),
        under_agent=st.booleans(),
    )
)
def test_a_trace_context_comes_back_from_its_bytes(ref: SpanRef) -> None:
    assert SpanRef.unpack(ref.pack()) == ref
