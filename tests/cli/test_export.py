"""`waypost export`: how does what is recorded get out?"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

pytestmark = pytest.mark.kill


class Collector(BaseHTTPRequestHandler):
    """Takes what it is sent, as an OTLP endpoint does."""

    requests: list[int]

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.rfile.read(length)
        type(self).requests.append(length)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def collector() -> Iterator[str]:
    Collector.requests = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_a_run_is_one_line_per_entry_in_order(store: Path, cli: Cli) -> None:
    done = cli("export", "done")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert (lines[0]["record"], lines[0]["format"], lines[0]["run_id"]) == ("run", 1, "done")
    assert [line["entry"] for line in lines[1:]] == list(range(1, lines[0]["entries"] + 1))
    assert f"export done: {lines[0]['entries']} of {lines[0]['entries']}" in done.err


def test_states_come_whole_when_they_are_asked_for(store: Path, cli: Cli) -> None:
    lines = [json.loads(line) for line in cli("export", "done", "--states").out.splitlines()]
    states = [line["state"]["todo"] for line in lines if line.get("kind") == "checkpoint"]
    assert states[:4] == [["a", "bb", "ccc"], ["bb", "ccc"], ["ccc"], []]


def test_pending_spans_are_sent_and_then_none_is_owed(
    store: Path, cli: Cli, collector: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector)
    done = cli("export", "--pending", "--json")
    assert done.code == 0
    assert done.json["sent"] > 0
    assert (done.json["left"], done.json["refused"]) == (0, [])
    assert "spans sent:" in done.err
    assert Collector.requests
    again = cli("export", "--pending")
    assert (again.code, again.out) == (0, "0 spans sent, 0 left.\n")


def test_without_an_endpoint_the_remedy_is_named_and_nothing_is_lost(store: Path, cli: Cli) -> None:
    done = cli("export", "--pending")
    assert done.code == 1
    assert "set OTEL_EXPORTER_OTLP_ENDPOINT" in done.out


def test_a_dead_collector_leaves_everything_for_later(
    store: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "2")
    done = cli("export", "--pending", "--json")
    assert done.code == 1
    assert done.json["sent"] == 0
    assert done.json["left"] > 0
    assert "127.0.0.1:9" in done.json["reason"]


def test_looking_at_a_run_sends_nothing(
    store: Path, cli: Cli, collector: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector)
    for command in (
        ("runs",),
        ("show", "done"),
        ("cat", "done"),
        ("why", "killed"),
        ("preflight", "fails"),
        ("verify",),
    ):
        cli(*command)
    assert Collector.requests == []


@pytest.mark.parametrize("wrong", [(), ("done", "--pending")])
def test_a_run_and_pending_exclude_each_other(store: Path, cli: Cli, wrong: tuple[str, ...]) -> None:
    assert cli("export", *wrong).code == 2
