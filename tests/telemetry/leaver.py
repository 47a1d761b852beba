"""A program that is told to end: takes part in its own end as the environment says, then waits for the signal.

python leaver.py RUN       OWN_HANDLER=1: the program has a handler of its own
"""

from __future__ import annotations

import os
import signal
import sys
import time
from types import FrameType

from tracer import run


def own(_number: int, _frame: FrameType | None) -> None:
    """What a program does for itself."""
    print("own handler", flush=True)
    raise SystemExit(5)


def main(run_id: str) -> None:
    """Checkpoint until the signal comes; REST: seconds between two."""
    if os.environ.get("OWN_HANDLER"):
        signal.signal(signal.SIGTERM, own)
    rest = float(os.environ.get("REST") or 0)
    with run("leaver", id=run_id) as life:
        print("ready", flush=True)
        while True:
            life.checkpoint("work", {"at": time.time_ns()})
            if rest:
                time.sleep(rest)


if __name__ == "__main__":
    main(sys.argv[1])
