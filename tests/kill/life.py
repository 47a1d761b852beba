"""What does one process life of the small agent do? Run inside a fresh fork; dies where it is told to."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.kill import mutants, small_agent
from tracer import AlreadyResumed, Paused, ResumeRefused, configure, faults
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
    `mutant` (name or "").
    The answer: `outcome`, `state`, `points` (every point that was passed, in order), `found` (what was left
    by the process before) and `left` (what this one leaves), see `look`.
    """
    home = Path(job["home"])
    small_agent.sink = home / "sink"
    passed: list[str] = []
    with mutants.applied(job.get("mutant", "")):
        found = look(job)
        configure(home=str(home))
        with faults.armed(_trap(job.get("kill"), passed, home / "acknowledged")):
            outcome, state = _until_done(job.get("agent", "small"))
        reset()
        return {"outcome": outcome, "state": state, "points": passed, "found": found, "left": look(job)}


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
    answer = {
        "problems": [*report.problems, *gaps, *([] if integrity == "ok" else [str(integrity)])],
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


def _until_done(name: str) -> tuple[str, Any]:
    agent = getattr(small_agent, name)
    refusal = ""
    for _ in range(ROUNDS):
        try:
            state = agent.start_or_resume(RUN, small_agent.Small(todo=list(small_agent.ITEMS)))
        except (Paused, ResumeRefused) as stop:
            if not _answer_all():
                refusal = f"{type(stop).__name__}: {stop}"
                break
        except AlreadyResumed as held:
            return f"AlreadyResumed: {held}", None
        else:
            plain = state.model_dump()
            plain["blob"] = state.blob == small_agent.PAYLOAD
            return "done", plain
    return refusal or "still asking", None


def _answer_all() -> int:
    """Say yes to every open question but those about effects, which only a look outside can answer."""
    held = recorder()
    with held.store.reader.connect() as connection:
        rows = read.approvals(connection, run_id=RUN, states=("pending",))
    asked = [row for row in rows if row.kind != "effect"]
    for row in asked:
        decide(held.journal, row.approval_id, DecisionKind.APPROVE, who="kim")
    return len(asked)


def _trap(kill: list[Any] | int | None, passed: list[str], acknowledged: Path) -> Callable[[str], None]:
    seen: Counter[str] = Counter()

    def act(name: str) -> None:
        seen[name] += 1
        passed.append(name)
        if kill in ([name, seen[name]], len(passed)):
            os.kill(os.getpid(), signal.SIGKILL)
        if name == "checkpoint.committed":
            # What the page cache holds outlives a SIGKILL, so no sync is needed to prove what was promised.
            with acknowledged.open("a") as file:
                file.write("checkpoint\n")

    return act
