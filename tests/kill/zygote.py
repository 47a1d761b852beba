"""How does a trial get a fresh process for the price of a fork? Imports once, then forks one child per job.

Run as a program. Reads one JSON job per line; answers each with `{"exit": n, "answer": …}`, where n is negative
for a signal. Single-threaded, so that forking is safe.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from typing import Any

from tests.kill import flips, life, shortage

LONGEST_S = 60
JOBS = {**life.JOBS, "fill": shortage.fill, "refill": shortage.refill, "flip": flips.flip}


def main() -> None:
    """Serve until standard input ends."""
    for line in sys.stdin:
        job = json.loads(line)
        json.dump({"exit": 0, "answer": life.warm(job)} if job["do"] == "warm" else _fork(job), sys.stdout)
        sys.stdout.write("\n")
        sys.stdout.flush()


def _fork(job: dict[str, Any]) -> dict[str, Any]:
    into, out = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(into)
        signal.alarm(LONGEST_S)
        code = 0
        try:
            answer = JOBS[job["do"]](job)
        except BaseException as error:
            answer, code = {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}, 1
        with os.fdopen(out, "w") as pipe:
            json.dump(answer, pipe)
        os._exit(code)
    os.close(out)
    with os.fdopen(into) as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    return {"exit": os.waitstatus_to_exitcode(status), "answer": json.loads(said) if said else {}}


if __name__ == "__main__":
    main()
