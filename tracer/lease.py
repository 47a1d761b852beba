"""Who holds a run, and is the holder still alive?

A lease is over when its owner is proven dead on this host, or when its heartbeat counter has not moved for the
time to live on the *observer's* monotonic clock. No wall clock decides.
"""

from __future__ import annotations

import enum
import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path


class Standing(enum.StrEnum):
    """What this host can say of an owner."""

    FREE = "free"
    DEAD = "dead"
    ALIVE = "alive"
    ELSEWHERE = "elsewhere"


@dataclass(frozen=True, slots=True)
class Owner:
    """A process life: host, boot, pid and the start time of that pid, and one token for one segment."""

    host: str
    boot: str
    pid: int
    born: str
    token: str

    def __str__(self) -> str:
        return "/".join((self.host, self.boot, str(self.pid), self.born, self.token))

    @classmethod
    def parse(cls, text: str) -> Owner:
        """The inverse of `str`."""
        host, boot, pid, born, token = text.rsplit("/", 4)
        return cls(host, boot, int(pid), born, token)

    @property
    def name(self) -> str:
        """For people: host and pid."""
        return f"{self.host} pid {self.pid}"


def me(token: str) -> Owner:
    """This process as an owner."""
    return Owner(
        socket.gethostname().replace("/", "_"), _boot(), os.getpid(), _born(os.getpid()) or "0", token
    )


def standing(owner: str | None) -> Standing:
    """Free, dead, alive on this host, or on another one (where only its heartbeat can tell)."""
    if owner is None:
        return Standing.FREE
    held = Owner.parse(owner)
    if held.host != me("").host:
        return Standing.ELSEWHERE
    if held.boot != _boot():
        return Standing.DEAD
    born = _born(held.pid)
    return Standing.ALIVE if born is not None and born == held.born else Standing.DEAD


def mine(owner: str) -> bool:
    """Whether *owner* is this very process, whatever segment of it."""
    held, here = Owner.parse(owner), me("")
    return (held.host, held.boot, held.pid, held.born) == (here.host, here.boot, here.pid, here.born)


def stopped_beating(beat: Callable[[], int], ttl_s: float, *, poll_s: float = 0.0) -> bool:
    """Watch a heartbeat counter for *ttl_s* seconds of our own monotonic clock; true when it never moved."""
    first = beat()
    pause = poll_s or min(1.0, ttl_s / 10)
    until = time.monotonic() + ttl_s
    while time.monotonic() < until:
        time.sleep(min(pause, max(0.0, until - time.monotonic())))
        if beat() != first:
            return False
    return True


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return "unknown-boot"


def _born(pid: int) -> str | None:
    """Start time of a process in clock ticks since boot; None when there is no such process or it is a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except FileNotFoundError:
        return _born_elsewhere(pid)
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else fields[19]


def _born_elsewhere(pid: int) -> str | None:
    """Without /proc only "there is such a process" can be told."""
    if Path("/proc/self/stat").exists():
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return "0"


class Heart:
    """Beats for every live segment of this process, from one thread of ours."""

    def __init__(self, beat: Callable[[list[tuple[str, str, int]]], None]) -> None:
        self._beat = beat
        self._held: dict[tuple[str, str], tuple[int, float]] = {}
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None

    def start(self, run_id: str, branch: str, epoch: int, ttl_s: float) -> None:
        """Beat for this lease, three times in its time to live."""
        with self._wake:
            self._held[run_id, branch] = (epoch, ttl_s)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="waypost-heart", daemon=True)
                self._thread.start()
            self._wake.notify()

    def stop(self, run_id: str, branch: str) -> None:
        """The lease is given back."""
        with self._wake:
            self._held.pop((run_id, branch), None)

    def beats(self, run_id: str, branch: str) -> bool:
        """Whether this process beats for that lease."""
        with self._wake:
            return (run_id, branch) in self._held

    def close(self) -> None:
        """Stop beating for all."""
        with self._wake:
            self._held.clear()
            thread, self._thread = self._thread, None
            self._wake.notify()
        if thread is not None:
            thread.join(timeout=5)

    def _work(self) -> None:
        while True:
            with self._wake:
                if self._thread is not threading.current_thread():
                    return
                pause = min((ttl for _, ttl in self._held.values()), default=60.0) / 3
                if self._wake.wait(pause):
                    continue
                held = [(run_id, branch, epoch) for (run_id, branch), (epoch, _) in self._held.items()]
            if held:
                self._beat(held)
