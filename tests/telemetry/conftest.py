"""What answers the exporter in these tests? A real collector, and behind it a receiver that counts."""

from __future__ import annotations

import gzip
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tracer import _resume
from tracer.agentspec import AgentSpec
from tracer.config import Settings
from tracer.contract import Plan, RunState
from tracer.journal import Draft
from tracer.recorder import Recorder, reset
from tracer.segment import Segment
from tracer.state import FreeState
from tracer.store import read
from tracer.store.engine import Store

READY_S = 20.0


@dataclass
class Answer:
    """How the receiver answers one request."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


class Receiver:
    """An OTLP/HTTP receiver on loopback: keeps every span, and answers as it is told."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.resources: list[dict[str, str]] = []
        self.requests = 0
        self.delay_s = 0.0
        self.answer: Callable[[ExportTraceServiceRequest], Answer] = lambda _request: Answer()
        self._lock = threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    data = gzip.decompress(data)
                receiver.take(self, ExportTraceServiceRequest.FromString(data))

            def log_message(self, *_args: object) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def take(self, handler: BaseHTTPRequestHandler, request: ExportTraceServiceRequest) -> None:
        time.sleep(self.delay_s)
        answer = self.answer(request)
        with self._lock:
            self.requests += 1
            if answer.status == 200:
                for part in request.resource_spans:
                    self.resources.append({a.key: a.value.string_value for a in part.resource.attributes})
                    self.spans += [span for scope in part.scope_spans for span in scope.spans]
        handler.send_response(answer.status)
        headers = {"Content-Type": "application/x-protobuf", **answer.headers}
        body = answer.body or ExportTraceServiceResponse().SerializeToString()
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    def snapshot(self) -> list[Span]:
        """All spans so far."""
        with self._lock:
            return list(self.spans)

    def events(self) -> Counter[str]:
        """Checkpoint id -> how often its event has arrived."""
        return Counter(
            text(event.attributes, "waypost.checkpoint.id")
            for span in self.snapshot()
            for event in span.events
            if event.name == "waypost.checkpoint"
        )

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def text(attributes: object, name: str) -> str:
    """One string attribute of a span or event."""
    return next((a.value.string_value for a in attributes if a.key == name), "")  # type: ignore[attr-defined]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(condition: Callable[[], bool], timeout_s: float = READY_S) -> bool:
    """Whether *condition* came true in time."""
    until = time.monotonic() + timeout_s
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@dataclass(frozen=True)
class Collector:
    """A running rotel that forwards to the receiver."""

    http: str
    grpc: str
    pid: int


@pytest.fixture
def collector(receiver: Receiver, tmp_path: Path) -> Iterator[Collector]:
    found = find_spec("rotel")
    if found is None or found.origin is None:
        pytest.fail(
            "the collector rotel is not installed; run `make test`, or pip install -r requirements-test.lock"
        )
    binary = Path(found.origin).parent / "rotel-agent"
    http, grpc = free_port(), free_port()
    with (tmp_path / "rotel.log").open("wb") as log:
        process = subprocess.Popen(
            [
                *(binary, "start", "--pid-file", tmp_path / "rotel.pid"),
                *("--otlp-http-endpoint", f"127.0.0.1:{http}", "--otlp-grpc-endpoint", f"127.0.0.1:{grpc}"),
                *("--exporter", "otlp", "--otlp-exporter-endpoint", receiver.url),
                *("--otlp-exporter-protocol", "http", "--batch-timeout", "100ms"),
            ],
            stdout=log,
            stderr=log,
            env={**os.environ, "ROTEL_PID_FILE": str(tmp_path / "rotel.pid")},
        )

    def answers() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", http)) == 0

    if not wait_for(answers):
        process.kill()
        pytest.fail(f"the collector did not start: {(tmp_path / 'rotel.log').read_text()[-400:]}")
    yield Collector(f"http://127.0.0.1:{http}", f"http://127.0.0.1:{grpc}", process.pid)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


@dataclass(frozen=True)
class Shop:
    """A store of its own, as a program that exports to *endpoint* would have it."""

    home: Path

    def open(self, endpoint: str | None = None, monkeypatch: pytest.MonkeyPatch | None = None) -> Recorder:
        """A recorder on this store; close it."""
        if monkeypatch is not None:
            monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
            if endpoint is not None:
                monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        return Recorder.open(Settings(home=str(self.home)))

    def ids(self, kind: str = "checkpoint") -> set[str]:
        """Ids of all entries of a kind, as they stand in the spans."""
        with Store.open(self.home / "waypost.db") as store, store.reader.connect() as connection:
            runs = read.runs(connection, limit=100)
            return {e.id.hex() for r in runs for e in read.entries(connection, r.run_id, kinds=[kind])}

    def owed(self) -> int:
        """Spans that are still to be sent."""
        with Store.open(self.home / "waypost.db") as store, store.reader.connect() as connection:
            return read.count_pending(connection)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """The store that `run(…)` in this test, and in programs that it starts, will use."""
    home = tmp_path / "home"
    monkeypatch.setenv("WAYPOST_HOME", str(home))
    yield Shop(home)
    reset()


class Start(Protocol):
    """Starts a program of this folder in a process of its own."""

    def __call__(
        self, *args: object, script: str = "writer.py", env: dict[str, str] | None = None, **how: Any
    ) -> subprocess.Popen[str]: ...


@pytest.fixture
def start() -> Iterator[Start]:
    """Programs that do not outlive the test."""
    started: list[subprocess.Popen[str]] = []

    def program(
        *args: object, script: str = "writer.py", env: dict[str, str] | None = None, **how: Any
    ) -> subprocess.Popen[str]:
        command = [sys.executable, str(Path(__file__).with_name(script)), *map(str, args)]
        started.append(subprocess.Popen(command, env={**os.environ, **(env or {})}, text=True, **how))
        return started[-1]

    yield program
    for process in started:
        process.kill()
        process.communicate()


def burst(recorder: Recorder, run_id: str, many: int) -> set[str]:
    """*many* checkpoints of one run at once, as fast as the store takes them; their ids."""
    spec = AgentSpec("burst", None, None, plan=Plan())
    begun = _resume.begin(recorder, spec, run_id, FreeState({}))
    segment, ids = begun.segment, set[str]()
    if segment.last_id is not None:
        ids.add(segment.last_id.hex())
    for start in range(0, many, 500):
        drafts = [_step(recorder, segment, number) for number in range(start, min(start + 500, many))]
        ids |= {draft.id.hex() for draft in drafts}
        segment.append(drafts)
    segment.end("done", RunState.DONE)
    return ids


def _step(recorder: Recorder, segment: Segment, number: int) -> Draft:
    at = time.time_ns()
    return Draft(
        kind="checkpoint",
        mark="step",
        subject=f"step {number}",
        checkpoint=True,
        at=at,
        size=100,
        span=recorder.tracing.child(at, segment.root_span).pack(),
        export=segment.export,
        body={"root": {"n": number}, "type": "dict", "version": 1, "contract": None, "parent": None},
    )
