"""How does the harness start a life of the agent, wait for its end, and kill it for certain?"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Protocol, Self

from examples.licence_audit.errors import NeverEnded
from examples.licence_audit.life import Life
from examples.licence_audit.ticket_process import CHECKOUT

STOP_SECONDS = 10.0


class Running(Protocol):
    """A life that was started."""

    pid: int

    def ended_within(self, seconds: float) -> int | None:
        """Wait up to *seconds*; return the exit code (negative signal number), None while it runs."""


class Lives(Protocol):
    """A way to start lives."""

    def start(self, life: Life) -> Running:
        """Start *life* in a process of its own."""


def ended(lives: Lives, life: Life, seconds: float) -> int:
    """Run *life* to its end and return its exit code. Raises NeverEnded after *seconds*."""
    running = lives.start(life)
    code = running.ended_within(seconds)
    if code is None:
        kill(running)
        raise NeverEnded(life.run_id, seconds)
    return code


def kill(running: Running) -> int | None:
    """SIGKILL a life and return the exit code it left: −9 when it was the signal that ended it."""
    os.kill(running.pid, signal.SIGKILL)
    return running.ended_within(STOP_SECONDS)


@dataclass(slots=True)
class _Spawned:
    process: subprocess.Popen[bytes]
    pid: int

    def ended_within(self, seconds: float) -> int | None:
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None


@dataclass(frozen=True, slots=True)
class FreshProcesses:
    """Every life in a fresh interpreter, as in real use."""

    quiet: bool = False
    """Keep what lives write on standard error from the terminal."""

    def start(self, life: Life) -> Running:
        """Start *life*; its standard output is of no interest, standard error goes to the terminal."""
        process = subprocess.Popen(
            [sys.executable, "-m", "examples.licence_audit.life", life.to_json()],
            cwd=CHECKOUT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL if self.quiet else None,
        )
        return _Spawned(process, process.pid)


@dataclass(slots=True)
class _Forked:
    forker: Forker
    pid: int
    code: int | None = None

    def ended_within(self, seconds: float) -> int | None:
        if self.code is None:
            said = self.forker.heard(seconds)
            self.code = None if said is None else said["code"]
        return self.code


class Forker:
    """Lives forked from one warm interpreter, one at a time; a context manager."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "examples.licence_audit.life", "--forker"],
            cwd=CHECKOUT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._pending = b""

    def start(self, life: Life) -> Running:
        """Fork *life*; the one before has to have ended."""
        assert self._process.stdin is not None
        self._process.stdin.write(life.to_json().encode() + b"\n")
        self._process.stdin.flush()
        said = self.heard(60.0)
        if said is None:
            raise NeverEnded(life.run_id, 60.0)
        return _Forked(self, said["pid"])

    def heard(self, seconds: float) -> dict[str, int] | None:
        """Return the next thing the forker says within *seconds*, None if nothing."""
        assert self._process.stdout is not None
        end = time.monotonic() + seconds
        while b"\n" not in self._pending:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, end - time.monotonic()))
            chunk = os.read(self._process.stdout.fileno(), 4096) if ready else b""
            if not chunk:
                return None
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        said: dict[str, int] = json.loads(line)
        return said

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
