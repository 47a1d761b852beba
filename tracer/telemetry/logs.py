"""How does an event reach backends that take log records and no span events?

OpenTelemetry moves events from spans to logs. With `WAYPOST_EVENTS=log` every event of ours is emitted through the
program's logger provider too, after its span has arrived. Only the span is acknowledged: logs are a courtesy.
"""

from __future__ import annotations

from collections.abc import Iterable

from opentelemetry import trace
from opentelemetry._logs import LogRecord, SeverityNumber, get_logger
from opentelemetry.sdk.trace import ReadableSpan

from . import names


def emit(spans: Iterable[ReadableSpan]) -> None:
    """Every event of *spans* as a log record with the same name, time, attributes and trace context."""
    logger = get_logger(names.SCOPE, names.SCOPE_VERSION)
    for span in spans:
        context = span.get_span_context()
        if context is None:
            continue
        around = trace.set_span_in_context(trace.NonRecordingSpan(context))
        for event in span.events:
            record = LogRecord(
                timestamp=event.timestamp,
                context=around,
                severity_number=SeverityNumber.INFO,
                attributes=dict(event.attributes or {}),
                event_name=event.name,
            )
            logger.emit(record)
