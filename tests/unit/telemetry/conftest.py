"""What do the rows of a run look like, that spans are made of?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan

from tracer.spanref import SpanRef
from tracer.store.rows import EntryRow, SegmentRow
from tracer.store.tables import PENDING

AT = 1_700_000_000_000_000_000


@dataclass(frozen=True)
class Facts:
    """What spans say of a run."""

    run_id: str = "audit-7"
    agent: str = "licence-audit"
    conversation_id: str | None = None
    parent_run_id: str | None = None
    trace_id: bytes = bytes(range(16))


@pytest.fixture
def facts() -> Facts:
    return Facts()


@pytest.fixture
def ref() -> SpanRef:
    return SpanRef(bytes(range(16)), bytes(range(1, 9)), bytes(range(2, 10)), 3, 3, False, AT - 5_000)


@pytest.fixture
def resource() -> Resource:
    return Resource({"service.name": "audit"})


@pytest.fixture
def entry(ref: SpanRef) -> EntryRow:
    return EntryRow(
        run_id="audit-7",
        branch="main",
        entry=12,
        sequence=4,
        kind="checkpoint",
        mark="step",
        id=bytes(range(16)),
        segment=1,
        epoch=1,
        at=AT,
        subject="classify numpy",
        size=1234,
        changed=1,
        tag=bytes(range(32)),
        span=ref.pack(),
        export=PENDING,
        exported_at=None,
    )


@pytest.fixture
def body() -> dict[str, Any]:
    root = {"todo": {"$#": "ab" * 32, "n": 300}}
    return {"root": root, "type": "Audit", "version": 1, "contract": {"$#": "cd" * 32}, "parent": "ef" * 16}


@pytest.fixture
def segment(ref: SpanRef) -> SegmentRow:
    root = replace(ref, parent_id=bytes(8), parent_flags=0)
    return SegmentRow(
        run_id="audit-7",
        branch="main",
        segment=2,
        epoch=3,
        owner="host/boot/12/34/token",
        host="host",
        pid=12,
        from_sequence=4,
        started_at=AT - 5_000,
        ended_at=AT + 9_000,
        outcome="done",
        span=root.pack(),
        link=None,
        resource=b"",
        export=PENDING,
        exported_at=None,
    )


@pytest.fixture
def wire() -> Callable[[ReadableSpan], Any]:
    """A span as the receiver gets it."""

    def encoded(span: ReadableSpan) -> Any:
        return encode_spans([span]).resource_spans[0].scope_spans[0].spans[0]

    return encoded


def values(span_or_event: Any) -> Mapping[str, Any]:
    """Attributes as a dict."""
    return dict(span_or_event.attributes)
