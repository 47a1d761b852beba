"""What do many processes come to that all write to one store at once? Run as a program.

python -m tests.kill.storm HOME WRITERS STEPS
"""

from __future__ import annotations

import json
import multiprocessing
import signal
import sys
from typing import Any

from tracer import configure, run
from tracer.recorder import recorder, reset
from tracer.store import read
from tracer.verify import verify

LONGEST_S = 100


def main(home: str, writers: int, steps: int) -> None:
    """One run per process, all at once; prints what each came to."""
    context = multiprocessing.get_context("fork")
    start, gathered = context.Barrier(writers), context.SimpleQueue()
    processes = [
        context.Process(target=_write, args=(n, home, steps, start, gathered), daemon=True)
        for n in range(writers)
    ]
    for process in processes:
        process.start()
    said = [gathered.get() for _ in processes]
    for process in processes:
        process.join(LONGEST_S)
    configure(home=home)
    held = recorder(create=False)
    for one in said:
        one["problems"] = list(verify(held, one["run"], read.MAIN).problems) if not one["errors"] else []
    reset()
    print(json.dumps(said))


def _write(number: int, home: str, steps: int, start: Any, gathered: Any) -> None:
    signal.alarm(LONGEST_S)
    configure(home=home)
    said: dict[str, Any] = {"run": f"storm{number}", "errors": [], "checkpoints": 0}
    start.wait(LONGEST_S)
    try:
        with run("storm", id=said["run"], state={"n": 0}) as one:
            for step in range(steps):
                one.state["n"] = step
                said["checkpoints"] = one.checkpoint("step")
    except Exception as error:  # an error of the driver that nobody has translated is a finding too
        said["errors"].append(f"{type(error).__name__}: {error}")
    reset()
    gathered.put(said)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
