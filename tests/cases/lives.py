"""How does a case get a second process? A fork whose death is real and whose exit code is looked at."""

from __future__ import annotations

import os
import signal
import traceback
from collections import Counter
from collections.abc import Callable

from tracer import configure, faults
from tracer.recorder import reset, settings

KILLED = -signal.SIGKILL
LONGEST_S = 60


def die() -> None:
    """Die as by `kill -9`."""
    os.kill(os.getpid(), signal.SIGKILL)


def lives(body: Callable[[], object], *, dies_at: tuple[str, int] | None = None) -> int:
    """Run *body* in a process of its own; its exit code, negative for a signal.

    Args:
        dies_at: a fault point and at which pass of it the process kills itself.
    """
    home = settings().home
    reset()  # a child must inherit no open store and no thread
    configure(home=home)
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 3
    try:
        signal.alarm(LONGEST_S)
        passed: Counter[str] = Counter()

        def act(name: str) -> None:
            passed[name] += 1
            if (name, passed[name]) == dies_at:
                die()

        with faults.armed(act):
            body()
        reset()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)
