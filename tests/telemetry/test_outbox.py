"""What happens to spans when the collector is slow, dead, cross, or not a collector at all?"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from tracer import run
from tracer.recorder import Recorder, recorder
from tracer.store import read
from tracer.store.tables import ACKED, PENDING, REFUSED
from tracer.telemetry.outbox import Outbox, export_pending
from tracer.telemetry.provider import Tracing

from .conftest import Answer, Collector, Receiver, Shop, burst, free_port, wait_for

BURST = 10_000


def states(held: Recorder, run_id: str) -> dict[int, int]:
    """Export state -> rows, of those that are spans."""
    with held.store.reader.connect() as connection:
        found = read.exported(connection, run_id)
    return {state: n for state, n in found.items() if state}


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.fixture
def exporting(shop: Shop, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Recorder]:
    """A recorder that exports to the given place."""

    def opened(endpoint: str = receiver.url) -> Recorder:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        return recorder()

    return opened  # type: ignore[return-value]


def test_a_burst_of_ten_thousand_against_a_slow_exporter_loses_nothing(
    exporting: Callable[[], Recorder], receiver: Receiver
) -> None:
    receiver.delay_s = 0.1
    held = exporting()
    ids = burst(held, "burst-1", BURST)
    assert len(ids) == BURST + 1
    assert held.outbox.flush(30) == 0
    assert set(receiver.events()) == ids
    assert set(receiver.events().values()) == {1}
    assert states(held, "burst-1") == {ACKED: BURST + 1}
    assert receiver.requests < 30


@pytest.mark.collector
def test_a_burst_through_a_real_collector_with_a_slow_backend_loses_nothing(
    exporting: Callable[[str], Recorder], receiver: Receiver, collector: Collector
) -> None:
    receiver.delay_s = 0.05
    ids = burst(exporting(collector.http), "burst-1", 5_000)
    assert recorder().outbox.flush(30) == 0
    assert wait_for(lambda: set(receiver.events()) >= ids)
    assert set(receiver.events()) == ids


@pytest.mark.collector
def test_grpc_is_spoken_when_asked_for(
    exporting: Callable[[str], Recorder],
    receiver: Receiver,
    collector: Collector,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    ids = burst(exporting(collector.grpc), "grpc-1", 700)
    assert recorder().outbox.flush(20) == 0
    assert wait_for(lambda: set(receiver.events()) >= ids)


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_with_a_dead_collector_the_run_is_unhurt_and_the_backlog_is_sent_later(
    exporting: Callable[[str], Recorder],
    shop: Shop,
    receiver: Receiver,
    collector: Collector,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    protocol: str,
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
    held = exporting(f"http://127.0.0.1:{free_port()}")
    with run("counter", id="dead-1") as life:
        for number in range(300):
            life.checkpoint("count", {"n": number})
    assert held.outbox.flush(20) == 302
    assert held.outbox.flush(20) == 302
    assert held.outbox.down
    assert len(said(caplog)) == 1
    assert "do not reach http://127.0.0.1" in said(caplog)[0]
    assert len(shop.ids()) == 301

    monkeypatch.setenv(
        "OTEL_EXPORTER_OTLP_ENDPOINT", collector.grpc if protocol == "grpc" else collector.http
    )
    steps: list[tuple[int, int]] = []
    report = export_pending(
        held.store, held.journal, Tracing.from_env(), progress=lambda done, all_: steps.append((done, all_))
    )
    assert (report.sent, report.left, report.reason) == (302, 0, "")
    assert steps[-1] == (302, 302)
    assert wait_for(lambda: set(receiver.events()) >= shop.ids())


def test_without_an_endpoint_rows_wait_and_no_thread_is_started(shop: Shop) -> None:
    with run("counter", id="quiet-1") as life:
        life.checkpoint("count", {"n": 1})
    held = recorder()
    assert states(held, "quiet-1") == {PENDING: 2}
    assert held.outbox.flush(1) == 3
    report = export_pending(held.store, held.journal, held.tracing)
    assert (report.sent, report.left) == (0, 3)
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" in report.reason


def test_a_collector_that_comes_back_is_mentioned_once_and_gets_everything(
    exporting: Callable[[], Recorder], receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.answer = lambda _request: Answer(500)
    held = exporting()
    ids = burst(held, "back-1", 600)
    for _ in range(3):
        assert held.outbox.flush(10) == 602
    receiver.answer = lambda _request: Answer()
    assert held.outbox.flush(10) == 0
    assert set(receiver.events()) == ids
    assert [line.split(" http")[0] for line in said(caplog)] == ["spans do not reach", "spans reach"]


@pytest.mark.parametrize("status", [429, 503])
def test_a_collector_that_wants_to_be_left_alone_loses_nothing(
    exporting: Callable[[], Recorder], receiver: Receiver, status: int
) -> None:
    receiver.answer = lambda _request: Answer(status, {"Retry-After": "3600"})
    held = exporting()
    ids = burst(held, "busy-1", 100)
    assert held.outbox.flush(10) == 102
    assert receiver.requests == 1
    receiver.answer = lambda _request: Answer()
    report = export_pending(held.store, held.journal, held.tracing)
    assert report.left == 0
    assert set(receiver.events()) == ids


@pytest.mark.parametrize("status", [400, 413])
def test_one_span_that_the_collector_refuses_does_not_hold_up_the_others(
    exporting: Callable[[], Recorder], receiver: Receiver, status: int
) -> None:
    def picky(request: ExportTraceServiceRequest) -> Answer:
        scopes = [scope for part in request.resource_spans for scope in part.scope_spans]
        hit = any(span.name.endswith("step 77") for scope in scopes for span in scope.spans)
        return Answer(status if hit else 200)

    receiver.answer = picky
    held = exporting()
    ids = burst(held, "picky-1", 300)
    assert held.outbox.flush(20) == 0
    assert len(ids - set(receiver.events())) == 1
    assert states(held, "picky-1") == {ACKED: 300, REFUSED: 1}
    assert held.outbox.refused == 1
    report = export_pending(held.store, held.journal, held.tracing)
    assert (report.sent, report.left) == (0, 0)


def test_a_collector_that_refuses_everything_is_blamed_and_not_the_spans(
    exporting: Callable[[], Recorder], receiver: Receiver
) -> None:
    receiver.answer = lambda _request: Answer(400)
    held = exporting()
    burst(held, "cross-1", 300)
    assert held.outbox.flush(20) == 302
    assert states(held, "cross-1") == {PENDING: 301}
    assert receiver.requests < 40


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, {"Content-Type": "text/html"}, b"<html>a page</html>"),
        Answer(302, {"Location": "/login"}),
        Answer(404),
        Answer(401),
    ],
    ids=["page", "redirect", "not found", "not allowed"],
)
def test_what_is_no_collector_acknowledges_nothing(
    exporting: Callable[[], Recorder], receiver: Receiver, answer: Answer
) -> None:
    receiver.answer = lambda _request: answer
    held = exporting()
    burst(held, "web-1", 20)
    assert held.outbox.flush(10) == 22
    assert held.outbox.down


def test_spans_that_the_collector_says_it_threw_away_are_mentioned(
    exporting: Callable[[], Recorder], receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    partial = ExportTraceServiceResponse()
    partial.partial_success.rejected_spans = 3
    receiver.answer = lambda _request: Answer(200, body=partial.SerializeToString())
    held = exporting()
    burst(held, "partial-1", 20)
    assert held.outbox.flush(10) == 0
    assert said(caplog) == ["the collector threw away 3 of 22 spans"]


def test_two_outboxes_of_one_store_do_not_send_the_same_spans(
    exporting: Callable[[], Recorder], receiver: Receiver
) -> None:
    receiver.delay_s = 0.05
    held = exporting()
    second = Outbox(held.store, held.journal, held.tracing, linger_s=0.0)
    third = Outbox(held.store, held.journal, held.tracing, linger_s=0.0)
    ids = burst(held, "two-1", 1_500)
    second.notify()
    third.notify()
    assert held.outbox.flush(20) == second.flush(20) == third.flush(20) == 0
    second.close(1)
    third.close(1)
    assert set(receiver.events()) == ids
    assert set(receiver.events().values()) == {1}


def test_a_row_of_which_no_span_can_be_made_is_put_aside_with_its_reason(
    exporting: Callable[[], Recorder], receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    held = exporting()
    ids = burst(held, "torn-1", 50)
    with held.store.writer.begin() as connection:
        connection.exec_driver_sql("UPDATE entry SET body = x'07' WHERE entry = 9")
    assert held.outbox.flush(10) == 0
    assert len(ids - set(receiver.events())) == 1
    assert "torn-1 (main), entry 9 is put aside: IntegrityError" in said(caplog)[0]


def test_a_forked_child_leaves_the_parents_outbox_alone(
    exporting: Callable[[], Recorder], receiver: Receiver
) -> None:
    held = exporting()
    burst(held, "fork-1", 20)
    assert held.outbox.flush(10) == 0
    child = os.fork()
    if child == 0:
        held.outbox.notify()
        left = held.outbox.flush(0.1) + held.outbox.close(0.1)
        os._exit(7 + left)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    ids = burst(held, "fork-2", 20)
    assert held.outbox.flush(10) == 0
    assert ids <= set(receiver.events())


def test_closing_twice_is_harmless_and_a_closed_outbox_starts_nothing(
    exporting: Callable[[], Recorder], receiver: Receiver
) -> None:
    held = exporting()
    burst(held, "close-1", 20)
    assert held.outbox.close(10) == 0
    assert held.outbox.close(10) == 0
    held.outbox.notify()
    assert receiver.requests == 1
