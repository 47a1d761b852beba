"""How does an outside system behave that acts once per idempotency key, and may lose its own answer?

A process of its own on loopback, with its own database. It prints `{"url": …}` on one line, and stops when
its standard input ends (its parent died) or its time is up.

    POST /tickets          {"dist", "rule", "text"} under the header Idempotency-Key
                           → 201 new, 200 known, 422 the key is that of another ticket
    GET  /tickets          {"tickets": […]}
    GET  /requests         {"requests": […]}, every POST /tickets that was committed
    POST /faults           {"withhold": [n…], "drop": [n…]}: the fate of requests by number
    GET  /faults/held?wait=SECONDS → {"held": [n…]}, as soon as one is
    POST /faults/release   lets every held answer go
"""

from __future__ import annotations

import argparse
import json
import os
import select
import socket
import sys
import threading
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from examples.licence_audit.errors import KeyUsedForAnother
from examples.licence_audit.ticket_faults import HOLD_SECONDS, Faults
from examples.licence_audit.ticket_store import TicketStore

MAX_BODY = 64 * 1024
MAX_WAIT = 30.0
MAX_KEY = 256
_LOOK_SECONDS = 0.02


class Refused(Exception):
    """The request cannot be served; the status says why."""

    def __init__(self, status: int, seen: str) -> None:
        super().__init__(seen)
        self.status = status


class TicketServer(ThreadingHTTPServer):
    """The service on a free port of 127.0.0.1."""

    daemon_threads = True

    def __init__(self, store: TicketStore) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.store, self.faults = store, Faults()

    @property
    def url(self) -> str:
        """Address of the service, without a slash at its end."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay quiet about clients that went away; they are killed on purpose here."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: TicketServer
    protocol_version = "HTTP/1.1"
    timeout = 60
    # An answer in two small packets waits 40 ms for the client's delayed acknowledgement otherwise.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Serve the readings."""
        self._serve({"/tickets": self._tickets, "/requests": self._requests, "/faults/held": self._held})

    def do_POST(self) -> None:
        """Serve what changes something."""
        self._serve({"/tickets": self._open, "/faults": self._set, "/faults/release": self._release})

    def log_message(self, format: str, *args: Any) -> None:
        """Write no access log: the request table is the log."""

    def _serve(self, routes: dict[str, Any]) -> None:
        try:
            route = routes.get(urlsplit(self.path).path)
            if route is None:
                raise Refused(404, f"no such address: {self.path[:200]}")
            route()
        except Refused as refusal:
            self._answer(refusal.status, {"error": str(refusal)})
        except KeyUsedForAnother as refusal:
            self._answer(422, {"error": str(refusal)})

    def _open(self) -> None:
        body, key = self._body(), self.headers.get("Idempotency-Key", "")
        if not key or len(key) > MAX_KEY:
            raise Refused(400, f"Idempotency-Key of 1 to {MAX_KEY} characters wanted, got {len(key)}")
        dist, rule, text = (body.get(name) for name in ("dist", "rule", "text"))
        if not (isinstance(dist, str) and isinstance(rule, str) and isinstance(text, str)):
            raise Refused(400, "dist, rule and text have to be texts")
        faults = self.server.faults
        ticket, new, request = self.server.store.open(key, dist, rule, text, faults.fates())
        if request.fate == "drop":
            self._cut()
        elif request.fate != "withhold" or self._hold(request.number):
            self._answer(201 if new else 200, asdict(ticket))

    def _hold(self, number: int) -> bool:
        """Hold the answer back; True when it was released and the client still is there."""
        faults = self.server.faults
        faults.holding(number)
        try:
            for _ in range(int(HOLD_SECONDS / _LOOK_SECONDS)):
                if faults.released_within(_LOOK_SECONDS):
                    return True
                readable, _, _ = select.select([self.connection], [], [], 0)
                if readable and not self.connection.recv(1, socket.MSG_PEEK):
                    break
        except ConnectionError:
            pass
        finally:
            faults.let_go(number)
        self.close_connection = True
        return False

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _tickets(self) -> None:
        self._answer(200, {"tickets": [asdict(ticket) for ticket in self.server.store.tickets()]})

    def _requests(self) -> None:
        self._answer(200, {"requests": [asdict(request) for request in self.server.store.requests()]})

    def _set(self) -> None:
        body, fates = self._body(), dict[int, str]()
        for fate in ("drop", "withhold"):
            numbers = body.get(fate, [])
            if not isinstance(numbers, list) or not all(type(n) is int and n > 0 for n in numbers):
                raise Refused(400, f"{fate} has to be a list of request numbers from 1")
            fates |= dict.fromkeys(numbers, fate)
        self.server.faults.set(fates)
        self._answer(200, {"faults": len(fates)})

    def _release(self) -> None:
        self._body()
        self.server.faults.release()
        self._answer(200, {})

    def _held(self) -> None:
        try:
            wait = float(parse_qs(urlsplit(self.path).query).get("wait", ["0"])[0])
        except ValueError as error:
            raise Refused(400, "wait has to be a number of seconds") from error
        self._answer(200, {"held": self.server.faults.held_within(min(max(wait, 0.0), MAX_WAIT))})

    def _body(self) -> dict[str, Any]:
        length = self.headers.get("Content-Length", "0")
        if not length.isascii() or not length.isdigit() or int(length) > MAX_BODY:
            self.close_connection = True
            raise Refused(413, f"a body of 0 to {MAX_BODY} bytes wanted, Content-Length is {length[:20]!r}")
        try:
            body = json.loads(self.rfile.read(int(length)) or b"{}")
        except (ValueError, RecursionError) as error:
            raise Refused(400, f"the body is not JSON: {error}") from error
        if not isinstance(body, dict):
            raise Refused(400, "the body has to be a JSON object")
        return body

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def main() -> None:
    """Serve until standard input ends or --max-seconds are over."""
    parser = argparse.ArgumentParser(prog="ticket_service", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--database", type=Path, required=True)
    parser.add_argument("--max-seconds", type=float, default=900.0)
    options = parser.parse_args()
    store = TicketStore(options.database)
    server = TicketServer(store)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    sys.stdout.write(json.dumps({"url": server.url}) + "\n")
    sys.stdout.flush()
    readable, _, _ = select.select([sys.stdin], [], [], options.max_seconds)
    while readable and os.read(sys.stdin.fileno(), 4096):
        readable, _, _ = select.select([sys.stdin], [], [], options.max_seconds)
    server.shutdown()
    server.server_close()
    store.close()


if __name__ == "__main__":
    main()
