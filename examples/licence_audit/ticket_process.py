"""How does the harness run the ticket service, tell it what to lose, and read what it has done?"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from examples.licence_audit.errors import ServiceDidNotStart
from examples.licence_audit.ticket_store import Request, Ticket

CHECKOUT = Path(__file__).resolve().parents[2]
START_SECONDS = 20.0
STOP_SECONDS = 10.0


@dataclass(slots=True)
class TicketProcess:
    """A running ticket service; a context manager that stops it."""

    url: str
    process: subprocess.Popen[bytes]

    @classmethod
    def start(cls, database: Path, *, max_seconds: float = 900.0) -> Self:
        """Start a service over *database* and wait until it listens. Raises ServiceDidNotStart."""
        # -S: it needs the standard library alone, and starts twice as fast without site-packages.
        command = [sys.executable, "-S", "-m", "examples.licence_audit.ticket_service"]
        process = subprocess.Popen(
            [*command, "--database", str(database), "--max-seconds", str(max_seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=CHECKOUT,
        )
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], START_SECONDS)
        line = os.read(process.stdout.fileno(), 4096) if ready else b""
        service = cls("", process)
        try:
            service.url = str(json.loads(line)["url"])
        except (ValueError, KeyError) as error:
            service.stop()
            raise ServiceDidNotStart(f"It printed {line[:200]!r}.") from error
        return service

    def set_faults(self, *, withhold: int = 0, drop: tuple[int, ...] = ()) -> None:
        """Say after which requests, by number, it acts and then holds or loses its answer."""
        self._call("/faults", {"withhold": [withhold] if withhold else [], "drop": list(drop)})

    def held_within(self, seconds: float) -> list[int]:
        """Wait up to *seconds* (at most 30) until an answer is held back; return the numbers held."""
        return [int(number) for number in self._call(f"/faults/held?wait={seconds}")["held"]]

    def release(self) -> None:
        """Let held answers go out."""
        self._call("/faults/release", {})

    def tickets(self) -> list[Ticket]:
        """Return its tickets, by number."""
        return [Ticket(**row) for row in self._call("/tickets")["tickets"]]

    def requests(self) -> list[Request]:
        """Return the requests it has committed, by number."""
        return [Request(**row) for row in self._call("/requests")["requests"]]

    def stop(self) -> None:
        """End it, as the death of its parent would; kill it when it does not."""
        pipes = [pipe for pipe in (self.process.stdin, self.process.stdout) if pipe is not None]
        pipes[0].close()
        # The end of its output comes at once; `wait` alone looks for the exit at growing intervals.
        select.select(pipes[1:], [], [], STOP_SECONDS)
        pipes[-1].close()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _call(self, address: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        # No proxy of the environment: the service is on loopback.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(urllib.request.Request(self.url + address, data), timeout=60) as answer:
            read: dict[str, Any] = json.load(answer)
        return read
