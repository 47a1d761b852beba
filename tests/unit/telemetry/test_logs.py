"""Does an event arrive as a log record too, with the trace it belongs to?"""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry import _logs
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs import export as exporting
from opentelemetry.sdk.resources import Resource

from tracer.spanref import SpanRef
from tracer.store.rows import EntryRow
from tracer.telemetry import logs, spans


def test_an_event_becomes_a_log_record_with_its_name_time_and_trace(
    entry: EntryRow, body: Any, facts: Any, resource: Resource, ref: SpanRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Renamed between the releases that are supported.
    memory = getattr(exporting, "InMemoryLogRecordExporter", None) or exporting.InMemoryLogExporter
    kept = memory()
    provider = LoggerProvider(shutdown_on_exit=False)
    provider.add_log_record_processor(exporting.SimpleLogRecordProcessor(kept))
    monkeypatch.setattr(logs, "get_logger", provider.get_logger)
    logs.emit([spans.checkpoint_span(entry, body, facts, resource)])
    (found,) = kept.get_finished_logs()
    record = found.log_record
    assert record.event_name == "waypost.checkpoint"
    assert record.timestamp == entry.at
    assert (record.trace_id, record.span_id) == (int.from_bytes(ref.trace_id), int.from_bytes(ref.span_id))
    assert record.attributes["waypost.checkpoint.id"] == entry.id.hex()
    provider.shutdown()


def test_without_a_logger_provider_nothing_happens(
    entry: EntryRow, body: Any, facts: Any, resource: Resource
) -> None:
    assert _logs.get_logger("x") is not None
    logs.emit([spans.checkpoint_span(entry, body, facts, resource)])
