"""What does a process do on a disk that fills up, and what does it find afterwards? Jobs for a fresh fork."""

from __future__ import annotations

import hashlib
import resource
import sqlite3
from typing import Any

from sqlalchemy import event

from tracer import configure, run
from tracer.errors import WaypostError
from tracer.recorder import recorder, reset
from tracer.store import read
from tracer.verify import verify
from tracer.world import load

RUN = "filling"
STEP = 64_000
"""Bytes of a step: incompressible hex, so that a small disk is full after a few."""
MOST = 400


def content(number: int) -> str:
    """What step *number* holds."""
    blocks = (hashlib.sha256(f"{number}/{n}".encode()).hexdigest() for n in range(STEP // 64 + 1))
    return "".join(blocks)[:STEP]


def fill(job: dict[str, Any]) -> dict[str, Any]:
    """Checkpoint until the disk is full. job: `limit` (bytes of a file, or None), `pages` (of the database)."""
    configure(home=job["home"])
    held = recorder()
    if job.get("pages"):
        event.listen(held.store.writer, "connect", lambda made, _: _pages(made, job["pages"]))
        held.journal.close()
        held.store.writer.dispose()
    if job.get("limit"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (job["limit"], resource.RLIM_INFINITY))
    done, error, again = [], "", ""
    try:
        with run("filling", id=RUN, state={"number": 0, "steps": []}) as filling:
            for number in range(1, MOST):
                filling.state["number"] = number
                filling.state["steps"].append(content(number))
                try:
                    done.append([filling.checkpoint("step"), number])
                except WaypostError as full:
                    error = f"{type(full).__name__}: {full}"
                    again = _refused(filling)
                    raise
    except WaypostError:
        pass
    if job.get("limit"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return {"done": done, "full": error, "again": again, "missing": _missing(done)}


def refill(job: dict[str, Any]) -> dict[str, Any]:
    """There is room again: what was acknowledged is there, and a new process goes on."""
    configure(home=job["home"])
    missing = _missing(job["done"])
    with run("filling", id=RUN) as filling:
        number = filling.state["number"]
        filling.state["steps"].append(content(number + 1))
        sequence = filling.checkpoint("room again")
    report = verify(recorder(), RUN, read.MAIN)
    reset()
    return {"missing": missing, "number": number, "sequence": sequence, "problems": list(report.problems)}


def _pages(connection: sqlite3.Connection, pages: int) -> None:
    connection.execute(f"PRAGMA max_page_count={pages}")


def _refused(filling: Any) -> str:
    try:
        filling.checkpoint("once more")
    except WaypostError as error:
        return type(error).__name__
    return "it passed"


def _missing(done: list[list[int]]) -> list[int]:
    """Acknowledged checkpoints that are not there exactly as they were written."""
    wrong = []
    for sequence, number in done:
        fields = load(recorder(), RUN, read.MAIN, sequence).fields
        if fields["number"] != number or fields["steps"] != [content(n) for n in range(1, number + 1)]:
            wrong.append(sequence)
    return wrong
