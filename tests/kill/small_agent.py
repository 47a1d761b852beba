"""Which agent is killed? A small one that uses everything: state, reads, key and reconcile tools, evidence, ask."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from pydantic import Field

from tracer import KEY, NOT_FOUND, Evidence, Run, State, agent, faults, read, write
from tracer.toolspec import NotFound

ITEMS = ("anise", "basil")
PAYLOAD = b"".join(hashlib.sha256(bytes([n % 256, n // 256])).digest() for n in range(6_400))
"""200 kB that do not compress: as base64 text over the 256 KiB from which a value lies in the blob store."""

sink = Path("sink")
"""The outside world: one line per effect that really happened, `key <tab> tool <tab> subject`."""


def happened(tool: str, subject: str) -> int | None:
    """The number of the line that this effect has in the sink; None when it did not happen."""
    for number, line in enumerate(lines(), 1):
        if line.split("\t")[1:] == [tool, subject]:
            return number
    return None


def lines() -> list[str]:
    """What happened outside, oldest first."""
    return sink.read_text("utf-8").splitlines() if sink.exists() else []


def act(key: str, tool: str, subject: str) -> int:
    """Do it, durably, unless *key* was seen before; the number of its line."""
    faults.point("sink.before")
    for number, line in enumerate(lines(), 1):
        if line.split("\t")[0] == key:
            return number
    handle = os.open(sink, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(handle, f"{key}\t{tool}\t{subject}\n".encode())
        os.fsync(handle)
    finally:
        os.close(handle)
    faults.point("sink.after")
    return len(lines())


class Small(State, version=1):
    todo: list[str]
    seen: dict[str, str] = Field(default_factory=dict)
    booked: dict[str, int] = Field(default_factory=dict)
    log: list[str] = Field(default_factory=list)
    invoice: int = 0
    published: bool = False
    blob: bytes = b""


@read
def look(item: str) -> str:
    return item.upper()


@write(key_param="idempotency_key", identity=("item",))
def book(item: str, note: str, *, idempotency_key: str = KEY) -> int:
    return act(idempotency_key, "book", item)


def _invoiced(customer: str, amount: int) -> int | NotFound:
    return happened("charge", f"{customer} {amount}") or NOT_FOUND


@write(reconcile=_invoiced)
def charge(customer: str, amount: int) -> int:
    return act(f"no key, pid {os.getpid()}", "charge", f"{customer} {amount}")


@agent("small", plan="1", objective="Book everything once")
def small(run: Run, state: Small) -> Small:
    for item in run.each(state.todo):
        state.seen[item] = look(item)
        run.evidence(Evidence(f"shelf/{item}", version="1"))
        state.booked[item] = book(item, f"as worded by process {os.getpid()}")
        state.log.append(f"{item} is booked")
    if not state.published:
        answer = run.ask("Publish the list?")
        state.invoice = charge("house", 12)
        state.published = answer.approved
        state.blob = PAYLOAD
        run.checkpoint("publish")
    return state


@write
def post(item: str) -> int:
    """Nobody can tell afterwards whether this happened."""
    return act(f"no key, pid {os.getpid()}", "post", item)


@agent("opaque", plan="1", objective="Post everything at most once")
def opaque(run: Run, state: Small) -> Small:
    for item in run.each(state.todo):
        state.booked[item] = post(item)
    return state
