"""How is something measured so that two sides can be compared on a machine that is not quiet?

Both sides run in turns, in one process and one minute: a disk whose fsync swings by a factor of ten swings for
both. Of several rounds the median ratio counts. CPU time is the process's own, over all of its threads.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
CPU = time.process_time
WALL = time.perf_counter


def say(text: str) -> None:
    """Progress, on stderr."""
    print(text, file=sys.stderr, flush=True)


def interleaved(rounds: int, *sides: Callable[[], T]) -> list[list[T]]:
    """Every side once a round, the order turned from round to round; per side its results in order."""
    results: list[list[T]] = [[] for _ in sides]
    for number in range(rounds):
        order = list(range(len(sides)))
        for place in order if number % 2 == 0 else reversed(order):
            results[place].append(sides[place]())
        say(f"  round {number + 1} of {rounds}")
    return results


def ratio(numerators: Sequence[float], denominators: Sequence[float]) -> float:
    """The median over the rounds of one side against the other."""
    return statistics.median(a / b for a, b in zip(numerators, denominators, strict=True))


def decile(laps: Sequence[float], which: int) -> float:
    """The median of one tenth of the laps, in their order; 0 is the first tenth, -1 the last."""
    size = max(1, len(laps) // 10)
    return statistics.median(laps[:size] if which == 0 else laps[-size:])


@contextmanager
def quiet() -> Iterator[None]:
    """No collection of garbage inside: what one side left behind must not be swept on the other's time."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def apart(module: str, *arguments: str, timeout_s: float = 600.0) -> Any:
    """What `python -m module arguments` prints as JSON, from a process of its own.

    Raises:
        SystemExit: it failed; its stderr is shown.
    """
    command = [sys.executable, "-m", module, *arguments]
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, cwd=root, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[1:])} failed with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def resident_bytes() -> int:
    """Resident memory of this process now."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def high_water(*, anew: bool = False) -> int:
    """The most memory this process has been resident in, in bytes; *anew* begins to count from now."""
    if anew:
        Path("/proc/self/clear_refs").write_text("5", "ascii")
    text = Path("/proc/self/status").read_text("ascii")
    return int(text.partition("VmHWM:")[2].split()[0]) * 1024
