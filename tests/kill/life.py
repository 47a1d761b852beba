"""What does one process life of the small agent do? Run inside a fresh fork; dies where it is told to."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy.exc import OperationalError

from tests.kill import mutants, small_agent
from tracer import Paused, ResumeRefused, WaypostError, configure, faults
from tracer.approvals import decide
from tracer.contract import DecisionKind
from tracer.recorder import recorder, reset
from tracer.store import read
from tracer.verify import verify

RUN = "r1"
ROUNDS = 6
Job = dict[str, Any]


def live(job: Job) -> Job:
    """Start or resume the run until it is done, answering what a person is asked.

    job: `home` (folder), `agent`, `kill` ([point, nth time], or how many points are passed before, or None),
    `stop` (the same, for SIGSTOP), `lose` (the same, for an answer of the database that does not arrive),
    `takeover`, `ttl` (seconds), `mutant` (name or "").
    The answer: `outcome`, `state`, `points` (every point that was passed, in order), `found` (checkpoints that
    the process before has left), `left` (what this one leaves, see `look`) and `ambiguous`, commits looked up.
    """
    home = Path(job["home"])
    small_agent.sink = home / "sink"
    passed: list[str] = []
    with mutants.applied(job.get("mutant", "")):
        found = _sequence(home)
        configure(home=str(home), lease_ttl_s=job.get("ttl", 30.0))
        with faults.armed(_trap(job, passed)):
            outcome, state = _until_done(job.get("agent", "small"), bool(job.get("takeover")))
        ambiguous = recorder().journal.ambiguous
        reset()
        said = {"outcome": outcome, "state": state, "points": passed, "ambiguous": ambiguous}
        return {**said, "found": found, "left": look(job)}


def look(job: Job) -> Job:
    """What is left behind: `problems` of the journal, the run's `row`, its entries and calls; changes nothing."""
    configure(home=job["home"])
    held = recorder(create=False)
    with held.store.reader.connect() as connection:
        there = read.run_by_id(connection, RUN) is not None
    if not there:
        reset()
        return {}
    report = verify(held, RUN, read.MAIN)
    with held.store.reader.connect() as connection:
        row = read.run_by_id(connection, RUN)
        entries = read.entries(connection, RUN)
        calls = read.calls(connection, RUN)
        waiting = len(read.approvals(connection, run_id=RUN, states=("pending",)))
        integrity = connection.exec_driver_sql("PRAGMA integrity_check").scalar_one()
    gaps = (
        []
        if [entry.entry for entry in entries] == list(range(1, len(entries) + 1))
        else ["a gap in the entries"]
    )
    epochs = [entry.epoch for entry in entries if entry.epoch]
    stale = [] if epochs == sorted(epochs) else [f"entries of a stale epoch: {epochs}"]
    answer = {
        "problems": [*report.problems, *gaps, *stale, *([] if integrity == "ok" else [str(integrity)])],
        "state": row.state if row else None,
        "sequence": row.head_sequence if row else 0,
        "unknown": row.unknown if row else 0,
        "waiting": [row.waiting if row else 0, waiting],
        "entries": len(entries),
        "calls": [[call.tool, call.state, call.attempts] for call in calls],
        "parked": [call.target for call in calls if call.state == "unknown"],
    }
    reset()
    return answer


def prepare(job: Job) -> Job:
    """An empty store with its key file, to be copied for every trial: a migration costs more than a trial."""
    configure(home=job["home"])
    _ = recorder().keys
    reset()
    return {}


def warm(job: Job) -> Job:
    """One whole life in this very process, so that its children inherit what is imported and compiled."""
    live(job)
    look(job)
    if threading.active_count() != 1:
        raise RuntimeError(f"threads are left that no child would have: {threading.enumerate()}")
    return {}


JOBS: dict[str, Callable[[Job], Job]] = {"live": live, "look": look, "prepare": prepare}


def _sequence(home: Path) -> int:
    """How many checkpoints the run has; 0 before there is one."""
    connection = sqlite3.connect(home / "waypost.db")
    row = connection.execute("SELECT head_sequence FROM branch WHERE run_id = ?", (RUN,)).fetchone()
    connection.close()
    return int(row[0]) if row else 0


def _until_done(name: str, takeover: bool) -> tuple[str, Any]:
    agent = getattr(small_agent, name)
    try:
        for _ in range(ROUNDS):
            try:
                initial = small_agent.Small(todo=list(small_agent.ITEMS))
                state = agent.start_or_resume(RUN, initial, takeover=takeover)
            except (Paused, ResumeRefused) as stop:
                if not _answer_all():
                    return f"{type(stop).__name__}: {stop}", None
            else:
                plain = state.model_dump()
                plain["blob"] = state.blob == small_agent.PAYLOAD
                return "done", plain
    except WaypostError as error:
        return f"{type(error).__name__}: {error}", None
    return "still asking", None


def _answer_all() -> int:
    """Say yes to every open question but those about effects, which only a look outside can answer."""
    held = recorder()
    with held.store.reader.connect() as connection:
        rows = read.approvals(connection, run_id=RUN, states=("pending",))
    asked = [row for row in rows if row.kind != "effect"]
    for row in asked:
        decide(held.journal, row.approval_id, DecisionKind.APPROVE, who="kim")
    return len(asked)


def _trap(job: Job, passed: list[str]) -> Callable[[str], None]:
    seen: Counter[str] = Counter()
    home = Path(job["home"])

    def act(name: str) -> None:
        seen[name] += 1
        passed.append(name)
        here = ([name, seen[name]], len(passed))
        if job.get("kill") in here:
            os.kill(os.getpid(), signal.SIGKILL)
        if job.get("stop") in here:
            (home / "stopped").write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGSTOP)
        if job.get("lose") in here:
            raise OperationalError("a statement", {}, sqlite3.OperationalError("the answer was lost"))
        if name == "checkpoint.committed":
            # What the page cache holds outlives a SIGKILL, so no sync is needed to prove what was promised.
            with (home / "acknowledged").open("a") as file:
                file.write("checkpoint\n")

    return act
