"""Which checkpoint events really arrive, if somebody receives what the run exports?

The smallest OTLP/HTTP receiver that can answer this: protobuf on `/v1/traces`, plain or gzip, on loopback, in
the harness's own process. It keeps ids and counts, never payloads. A real collector takes its place as soon
as OTEL_EXPORTER_OTLP_ENDPOINT is set.
"""

from __future__ import annotations

import threading
import zlib
from collections import Counter
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

MAX_BODY = 16 * 1024 * 1024
MAX_EVENTS = 1_000_000
_MEDIA_TYPE = "application/x-protobuf"


@dataclass(frozen=True, slots=True)
class Received:
    """What arrived of one run."""

    exported: int
    """Events, every arrival counted."""
    distinct: int
    """Events with different checkpoint ids."""
    torn: int
    """Checkpoint ids that arrived under more than one (trace id, span id): 0 in a sound export."""


class _Refused(Exception):
    def __init__(self, status: int) -> None:
        self.status = status


class Sink(ThreadingHTTPServer):
    """A receiver on a free port of 127.0.0.1; a context manager that serves while it is open."""

    daemon_threads = True

    def __init__(self, *, event: str, run_attribute: str, checkpoint_attribute: str) -> None:
        """Count the span events named *event*; the attributes name their run and checkpoint."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self._event, self._run, self._checkpoint = event, run_attribute, checkpoint_attribute
        self._lock = threading.Lock()
        self._arrived: Counter[tuple[str, str, bytes, bytes]] = Counter()

    @property
    def endpoint(self) -> str:
        """What OTEL_EXPORTER_OTLP_ENDPOINT has to be for the http/protobuf protocol."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def received(self, run_id: str) -> Received:
        """Say what has arrived of *run_id* so far."""
        with self._lock:
            mine = {key: count for key, count in self._arrived.items() if key[0] == run_id}
        spans: dict[str, set[tuple[bytes, bytes]]] = {}
        for _, checkpoint, trace, span in mine:
            spans.setdefault(checkpoint, set()).add((trace, span))
        torn = sum(len(ids) > 1 for ids in spans.values())
        return Received(sum(mine.values()), len(spans), torn)

    def take(self, message: ExportTraceServiceRequest) -> None:
        """Count the events of one export."""
        spans = [
            s for resource in message.resource_spans for scope in resource.scope_spans for s in scope.spans
        ]
        with self._lock:
            if self._arrived.total() > MAX_EVENTS:
                raise _Refused(503)
            for span in spans:
                self._arrived.update(self._keys(span))

    def _keys(self, span: Span) -> list[tuple[str, str, bytes, bytes]]:
        keys = []
        for event in span.events:
            if event.name == self._event:
                said = {a.key: a.value.string_value for a in event.attributes}
                run, checkpoint = said.get(self._run, ""), said.get(self._checkpoint, "")
                keys.append((run, checkpoint, span.trace_id, span.span_id))
        return keys

    def __enter__(self) -> Self:
        serving = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        serving.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Sink
    protocol_version = "HTTP/1.1"
    timeout = 30
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """Take one export of traces."""
        try:
            if self.path != "/v1/traces":
                raise _Refused(404)
            if self.headers.get("Content-Type", "").split(";")[0].strip() != _MEDIA_TYPE:
                raise _Refused(415)
            self.server.take(self._message())
        except _Refused as refusal:
            # What is left of the body would be read as the next request.
            self.close_connection = True
            self._answer(refusal.status, b"")
        else:
            self._answer(200, ExportTraceServiceResponse().SerializeToString())

    def log_message(self, format: str, *args: Any) -> None:
        """Write no access log."""

    def _message(self) -> ExportTraceServiceRequest:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            raise _Refused(411)
        if int(length) > MAX_BODY:
            raise _Refused(413)
        body = self.rfile.read(int(length))
        encoding = self.headers.get("Content-Encoding", "identity").lower()
        if encoding == "gzip":
            body = _inflated(body)
        elif encoding != "identity":
            raise _Refused(415)
        try:
            return ExportTraceServiceRequest.FromString(body)
        except DecodeError as error:
            raise _Refused(400) from error

    def _answer(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", _MEDIA_TYPE)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _inflated(body: bytes) -> bytes:
    inflater = zlib.decompressobj(wbits=31)
    try:
        content = inflater.decompress(body, MAX_BODY + 1)
    except zlib.error as error:
        raise _Refused(400) from error
    if len(content) > MAX_BODY:
        raise _Refused(413)
    if not inflater.eof:
        raise _Refused(400)
    return content
