"""How does a benchmark run an agent of ours? Through the public API, on a store of its own."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tracer
from tracer import recorder

from .corpus import Message

Lap = Callable[[], float]
AGENT = "bench"
RUN = "bench-1"


class Chat(tracer.State, version=1):
    """The state of a chat agent: a list that every step appends to."""

    messages: list[dict[str, Any]]


@contextmanager
def scratch(name: str) -> Iterator[Path]:
    """A fresh folder, removed at the end; on the disk of `TMPDIR`."""
    folder = Path(tempfile.mkdtemp(prefix=f"waypost-{name}-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def home(folder: Path) -> Iterator[Path]:
    """Waypost configured to a store below *folder*, traced but sending nowhere; yields the store's file."""
    held = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(("OTEL_", "WAYPOST_"))}
    recorder.reset()
    tracer.configure(home=folder / "waypost", store=str(folder / "waypost" / "waypost.db"))
    try:
        yield folder / "waypost" / "waypost.db"
    finally:
        recorder.reset()
        os.environ.update(held)


def chat(messages: Sequence[Message], clock: Lap = time.perf_counter, *, run_id: str = RUN) -> list[float]:
    """Append and checkpoint every message; what each checkpoint took on *clock*."""
    return _chat(messages, clock, run_id, lambda state: None)


def read_chat(
    messages: Sequence[Message], clock: Lap = time.perf_counter, *, run_id: str = RUN
) -> list[float]:
    """The same with an agent that goes through all of its messages before every step, as one that asks a model."""
    return _chat(messages, clock, run_id, lambda state: list(state.messages))


def _chat(
    messages: Sequence[Message], clock: Lap, run_id: str, think: Callable[[Chat], object]
) -> list[float]:
    laps: list[float] = []

    @tracer.agent(AGENT, plan="1", objective="Measure what a checkpoint costs")
    def body(run: tracer.Run, state: Chat) -> Chat:
        for message in messages:
            think(state)
            state.messages.append(message)
            began = clock()
            run.checkpoint("turn")
            laps.append(clock() - began)
        return state

    body.start_or_resume(run_id, Chat(messages=[]))
    return laps


def plain_chat(
    messages: Sequence[Message], clock: Lap = time.perf_counter, *, run_id: str = RUN
) -> list[float]:
    """The same with the plain dict of `run(…)`, whose list notices nothing and is compared at every step."""
    laps: list[float] = []
    with tracer.run(AGENT, id=run_id, state={"messages": []}) as run:
        for message in messages:
            run.state["messages"].append(message)
            began = clock()
            run.checkpoint("turn")
            laps.append(clock() - began)
    return laps


def stored_bytes(path: Path) -> int:
    """Bytes of a database with its WAL folded back, and of everything that lies beside it."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return sum(file.stat().st_size for file in path.parent.rglob("*") if file.is_file())
