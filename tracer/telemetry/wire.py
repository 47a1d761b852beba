"""Did the collector take these spans; and if not, is it the collector or the spans?

Wraps the real OTLP exporter. That one answers yes or no, explains itself in the log again and again, and waits up
to ten seconds between tries of its own. Here its words are caught and kept as the reason, the answer's status,
`Retry-After` and body are looked at, and waiting is left to the outbox, which can be told to stop.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum
from importlib.metadata import entry_points
from typing import Any, Final

from opentelemetry.context import _SUPPRESS_INSTRUMENTATION_KEY, attach, detach, set_value
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from ..errors import ConfigError
from .otelenv import GRPC, OTLP
from .provider import Tracing

WAIT_MOST_S: Final = 300.0
"""Seconds for which a `Retry-After` is obeyed."""
_BAD_DATA: Final = frozenset({400, 413, 422})
_CREDENTIALS: Final = (
    "OTEL_PYTHON_EXPORTER_OTLP_HTTP_CREDENTIAL_PROVIDER",
    "OTEL_PYTHON_EXPORTER_OTLP_HTTP_TRACES_CREDENTIAL_PROVIDER",
)
_LOGGERS: Final = (
    "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "opentelemetry.exporter.otlp.proto.grpc.exporter",
    "opentelemetry.exporter.otlp.common.http",
    "urllib3.connectionpool",
)


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of one batch."""

    ok: bool
    reason: str = ""
    blame_data: bool = False
    """The collector objects to the spans themselves: a smaller batch may pass."""
    wait_s: float = 0.0
    """How long it asked to be left alone."""
    dropped: int = 0
    """Spans that it took and threw away (`partial_success`); the protocol forbids sending them again."""


@dataclass(slots=True)
class _Answer:
    """What was seen of the last request."""

    status: int = 0
    wait_s: float = 0.0
    words: str = ""
    html: bool = False
    dropped: int = 0


class Wire:
    """One exporter and its connection; belongs to one thread of one process."""

    def __init__(self, tracing: Tracing) -> None:
        self._answer = _Answer()
        self._ears = _Ears(self._heard)
        self._exporter = _exporter(tracing, self._saw)

    def send(self, spans: Sequence[ReadableSpan]) -> Sent:
        """Export one batch; waits at most `OTEL_EXPORTER_OTLP_TIMEOUT` (10 s). Never raises."""
        self._answer = answer = _Answer()
        # An instrumented HTTP client must not make spans of sending spans.
        token = attach(set_value(_SUPPRESS_INSTRUMENTATION_KEY, True))
        try:
            with self._ears.open():
                result = self._exporter.export(spans)
        except _Retrying:
            result = SpanExportResult.FAILURE
        except Exception as error:
            return Sent(False, _root_of(error), blame_data=_unencodable(error))
        finally:
            detach(token)
        if result is SpanExportResult.SUCCESS:
            if answer.html or 300 <= answer.status < 400:
                return Sent(False, f"something that is no OTLP receiver answered {answer.status}")
            return Sent(True, dropped=answer.dropped)
        words = answer.words or "no answer"
        if answer.status:
            words = f"{answer.status} {words}"
        too_large = "larger than" in words or "exceeds max_request_size" in words
        blame = (
            answer.status in _BAD_DATA
            or "INVALID_ARGUMENT" in words
            or "Failed to encode" in words
            or too_large
        )
        return Sent(False, words[:300], blame, min(answer.wait_s, WAIT_MOST_S))

    def close(self) -> None:
        """Give up what is under way and close the connection. May be called from another thread."""
        with self._ears.open(any_thread=True):
            self._exporter.shutdown()

    def _saw(self, response: Any, *_args: object, **_kwargs: object) -> None:
        answer = self._answer
        answer.status = int(response.status_code)
        answer.wait_s = _seconds(response.headers.get("Retry-After"))
        kind = response.headers.get("Content-Type", "")
        answer.html = kind.startswith("text/html")
        if not response.ok:
            answer.words = str(response.reason)
        elif response.content and kind.startswith("application/x-protobuf"):
            answer.dropped = _rejected(response.content)

    def _heard(self, record: logging.LogRecord) -> None:
        if record.levelno < logging.WARNING:
            return
        message = record.getMessage().partition("\n")[0]
        transient = message.startswith("Transient error")
        args = record.args if isinstance(record.args, tuple) else ()
        error = next((arg for arg in args if isinstance(arg, BaseException)), None)
        code = next((arg.name for arg in args if isinstance(arg, Enum)), "")
        if error is not None:
            message = _root_of(error)
        self._answer.words = message if code in message else f"{code} {message}"
        if transient and threading.get_ident() == self._ears.thread:
            raise _Retrying


class _Retrying(Exception):
    """Leaves the exporter where it would sleep before its next try."""


class _Ears(logging.Filter):
    """Hears what the exporter logs in this thread, and keeps it from the program's handlers."""

    def __init__(self, heard: Callable[[logging.LogRecord], None]) -> None:
        super().__init__()
        self._heard = heard
        self.thread: int | None = None

    @contextmanager
    def open(self, *, any_thread: bool = False) -> Iterator[None]:
        """Listen while in this block."""
        loggers = [logging.getLogger(name) for name in _LOGGERS]
        self.thread = None if any_thread else threading.get_ident()
        for logger in loggers:
            # First, because the exporter's own filter swallows repetitions.
            logger.filters.insert(0, self)
        try:
            yield
        finally:
            for logger in loggers:
                logger.removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        """False for our own records."""
        if self.thread is not None and record.thread != self.thread:
            return True
        self._heard(record)
        return False


def _exporter(tracing: Tracing, saw: Callable[..., None]) -> SpanExporter:
    if not tracing.setting.exporter.startswith(OTLP):
        return _named(tracing.setting.exporter)
    # Imported here: gRPC and requests cost every program 0.2 s that never exports.
    if tracing.setting.protocol == GRPC:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as Grpc

        return Grpc()
    import requests
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as Http

    if any(name in os.environ for name in _CREDENTIALS):
        return Http()
    session = requests.Session()
    session.max_redirects = 0
    session.hooks["response"] = [saw]
    return Http(session=session)


def _named(name: str) -> SpanExporter:
    for found in entry_points(group="opentelemetry_traces_exporter", name=name):
        made: SpanExporter = found.load()()
        return made
    raise ConfigError(
        f"OTEL_TRACES_EXPORTER={name} is not installed. Use otlp or none, or install its package."
    )


def _rejected(content: bytes) -> int:
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    try:
        return int(ExportTraceServiceResponse.FromString(content).partial_success.rejected_spans)
    except DecodeError:
        return 0


def _seconds(value: str | None) -> float:
    if not value:
        return 0.0
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0


def _unencodable(error: Exception) -> bool:
    return isinstance(error, ValueError | TypeError | AttributeError | KeyError) and not isinstance(
        error, OSError
    )


def _root_of(error: BaseException) -> str:
    """What lies at the bottom of an error that three libraries have wrapped."""
    seen: set[int] = set()
    while id(error) not in seen:
        seen.add(id(error))
        inside = [getattr(arg, "reason", arg) for arg in error.args if isinstance(arg, BaseException)]
        error = error.__cause__ or error.__context__ or next(iter(inside), None) or error
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"{type(error).__name__}: {error}"
