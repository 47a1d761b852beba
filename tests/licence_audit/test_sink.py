"""Does the sink count what really arrives, and refuse what is too large or no export at all?"""

from __future__ import annotations

import gzip
import http.client
from collections.abc import Iterator

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from examples.licence_audit import sink as module
from examples.licence_audit.sink import Received, Sink

PROTOBUF = {"Content-Type": "application/x-protobuf"}


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink(event="checkpoint", run_attribute="run", checkpoint_attribute="id") as serving:
        yield serving


def export(*spans: tuple[str, str, bytes]) -> bytes:
    message = ExportTraceServiceRequest()
    scope = message.resource_spans.add().scope_spans.add()
    for run, checkpoint, span_id in spans:
        span = scope.spans.add(trace_id=b"t" * 16, span_id=span_id, name="checkpoint")
        event = span.events.add(name="checkpoint")
        for key, value in (("run", run), ("id", checkpoint)):
            event.attributes.add(key=key).value.string_value = value
        span.events.add(name="something else")
    return message.SerializeToString()


def post(sink: Sink, body: bytes, headers: dict[str, str] = PROTOBUF, path: str = "/v1/traces") -> int:
    line = http.client.HTTPConnection(sink.endpoint.removeprefix("http://"), timeout=10)
    try:
        line.request("POST", path, body, headers)
        answer = line.getresponse()
        answer.read()
        return answer.status
    finally:
        line.close()


def test_events_are_counted_by_run_and_told_apart_by_checkpoint(sink: Sink) -> None:
    body = export(("R", "c1", b"s" * 8), ("R", "c2", b"u" * 8), ("other", "c1", b"v" * 8))
    assert [post(sink, body), post(sink, body)] == [200, 200]
    assert sink.received("R") == Received(exported=4, distinct=2, torn=0)


def test_one_checkpoint_under_two_spans_is_torn(sink: Sink) -> None:
    post(sink, export(("R", "c1", b"s" * 8), ("R", "c1", b"u" * 8)))
    assert sink.received("R") == Received(exported=2, distinct=1, torn=1)


def test_gzip_is_taken_and_a_bomb_is_not(sink: Sink, monkeypatch: pytest.MonkeyPatch) -> None:
    zipped = PROTOBUF | {"Content-Encoding": "gzip"}
    assert post(sink, gzip.compress(export(("R", "c1", b"s" * 8))), zipped) == 200
    monkeypatch.setattr(module, "MAX_BODY", 10_000)
    assert post(sink, gzip.compress(bytes(1_000_000)), zipped) == 413
    assert post(sink, gzip.compress(export(("R", "c2", b"u" * 8)))[:-4], zipped) == 400
    assert sink.received("R").exported == 1


@pytest.mark.parametrize(
    ("body", "headers", "path", "status"),
    [
        (b"\xff" * 9, PROTOBUF, "/v1/traces", 400),
        (b"{}", {"Content-Type": "application/json"}, "/v1/traces", 415),
        (b"", PROTOBUF | {"Content-Encoding": "br"}, "/v1/traces", 415),
        (b"", PROTOBUF, "/v1/logs", 404),
        (b"", PROTOBUF | {"Content-Length": str(2**30)}, "/v1/traces", 413),
    ],
)
def test_what_is_no_export_is_refused(
    sink: Sink, body: bytes, headers: dict[str, str], path: str, status: int
) -> None:
    assert post(sink, body, headers, path) == status
