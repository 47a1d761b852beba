"""What does the comparison add to a call of a resumed segment, late in a long run against early?

    python -m benchmarks divergence-live

A whole run of 10,400 calls is the model; a second one is stopped after a hundred, resumed, and timed around the
comparison alone, in a real store. One call in ten is a write.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tracer import Run, State, agent, configure, read, write
from tracer.recorder import reset
from tracer.watch import Watch

from .line import Line, line

CALLS = 10_400
STEP = 100
EARLY, LATE = slice(100, 300), slice(10_000, 10_200)


class Stopped(Exception):
    """The first process life ends here."""


class Work(State, version=1):
    """Steps of a hundred calls that are still to be made."""

    todo: list[int]


@read
def look(number: int) -> dict[str, Any]:
    """A look-up."""
    return {"record": f"R-{number}", "state": "open"}


@write(identity=("record",))
def settle(record: str, note: str) -> dict[str, Any]:
    """A write."""
    return {"record": record, "note": note}


_stop_at = [-1]


@agent("live-cost", plan="1")
def work(run: Run, state: Work) -> Work:
    """Look, and settle every tenth."""
    for step in run.each(state.todo):
        for number in range(step * STEP, (step + 1) * STEP):
            if number == _stop_at[0]:
                raise Stopped
            if number % 10:
                look(number)
            else:
                settle(f"R-{number}", "done")
    return state


def lines() -> Iterator[Line]:
    """One line: the median of 200 calls at 10,000 over that of 200 at 100."""
    took: list[float] = []
    saw = Watch.saw

    def timed(self: Watch, *args: Any, **more: Any) -> None:
        start = time.perf_counter()
        saw(self, *args, **more)
        took.append(time.perf_counter() - start)

    with tempfile.TemporaryDirectory() as folder:
        reset()
        configure(home=str(Path(folder) / ".waypost"))
        try:
            steps = list(range(CALLS // STEP))
            work.start_or_resume("model", Work(todo=list(steps)))
            _stop_at[0] = 0
            try:
                work.start_or_resume("resumed", Work(todo=list(steps)))
            except Stopped:
                _stop_at[0] = -1
            Watch.saw = timed  # type: ignore[method-assign]
            start = time.perf_counter()
            work.start_or_resume("resumed")
            whole = time.perf_counter() - start
        finally:
            Watch.saw = saw  # type: ignore[method-assign]
            reset()
    early, late = statistics.median(took[EARLY]), statistics.median(took[LATE])
    detail = {
        "us_at_100": 1e6 * early,
        "us_at_10000": 1e6 * late,
        "calls": len(took),
        "share": sum(took) / whole,
    }
    yield line("divergence-live", late / early, 2, "at most", detail)
