"""A program that is killed: checkpoints up to a number, from wherever it stopped the last time.

python writer.py RUN LAST [PAUSE_S]
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import nullcontext

from tracer import faults, run
from tracer.recorder import reset


def main(run_id: str, last: int, pause_s: float) -> None:
    """Count to *last*, one checkpoint each."""
    with run("counter", id=run_id) as life:
        while life.state.get("n", 0) < last:
            life.state["n"] = life.state.get("n", 0) + 1
            life.checkpoint(f"count {life.state['n']}")
            if pause_s:
                time.sleep(pause_s)
    reset()


def die(point: str) -> None:
    """As a kill from outside would, but exactly there."""
    if point == os.environ["DIE_AT"]:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    with faults.armed(die) if "DIE_AT" in os.environ else nullcontext():
        main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 0.0)
