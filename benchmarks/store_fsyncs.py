"""How often does a checkpoint wait for the disk? Its fsyncs are counted by strace.

The run is a process of its own. It yields the processor before and after every checkpoint, a system call that
nothing else here makes, so that the trace says which fsync belongs to which checkpoint. What other threads sync
meanwhile, and what opening and closing the store sync, is counted apart.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from . import corpus, ours
from .line import Line, line

N: Final = 1_000
TARGET: Final = 1.0
MARK: Final = "sched_yield"
TIMEOUT_S: Final = 300
_CALL: Final = re.compile(r"^(\d+) +(\w+)\(")
"""A call as strace writes it when it begins; `<... fsync resumed>` is its end."""


def lines() -> Iterator[Line]:
    """fsync and fdatasync calls per checkpoint.

    Raises:
        SystemExit: strace is not installed, or may not trace.
    """
    strace = shutil.which("strace")
    if strace is None:
        raise SystemExit("store-fsyncs counts with strace, which is not installed: apt-get install strace")
    with ours.scratch("fsyncs") as folder:
        trace = folder / "trace"
        command = [strace, "-f", "-o", str(trace), "-e", f"trace=fsync,fdatasync,{MARK}"]
        command += [sys.executable, "-m", __name__, str(folder)]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            cwd=Path(__file__).parent.parent,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"strace could not follow the run (it needs ptrace):\n{done.stderr.strip()}")
        inside, beside, around = count(trace.read_text("ascii", "replace"))
    words = corpus.words(N)
    detail = {
        **words.said(),
        "checkpoints_by_fsyncs": {str(times): n for times, n in sorted(Counter(inside).items())},
        "by_other_threads_meanwhile": beside,
        "while_opening_and_closing": around,
    }
    yield line("store-fsyncs", statistics.fmean(inside), TARGET, "at most", detail, unit="fsyncs")


def count(trace: str) -> tuple[list[int], int, int]:
    """(fsyncs of each checkpoint, of other threads between the first and the last one, before and after)."""
    calls = [(match[1], match[2]) for match in map(_CALL.match, trace.splitlines()) if match]
    marks = [place for place, (_, name) in enumerate(calls) if name == MARK]
    worker = calls[marks[0]][0]
    first, last = marks[0], marks[-1]
    inside = [
        sum(thread == worker and name != MARK for thread, name in calls[begin:end])
        for begin, end in zip(marks[::2], marks[1::2], strict=True)
    ]
    beside = sum(thread != worker for thread, _ in calls[first:last])
    around = sum(name != MARK for _, name in (*calls[:first], *calls[last:]))
    return inside, beside, around


def _run(folder: Path) -> None:
    """The traced process: the clock that brackets every checkpoint is the mark."""

    def mark() -> float:
        os.sched_yield()
        return 0.0

    with ours.home(folder):
        ours.chat(corpus.words(N).messages, mark)


if __name__ == "__main__":
    _run(Path(sys.argv[1]))
