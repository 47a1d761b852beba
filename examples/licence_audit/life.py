"""What does one process life of the audit need to know, and how does it end?

`python -m examples.licence_audit.life JSON` is a life in a fresh interpreter. `--forker` waits for lives on
standard input and forks each from one warm interpreter, which is what makes fifty kill trials affordable.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from dataclasses import asdict, dataclass, field
from typing import Self

_WARM = (
    "examples.licence_audit.agent",
    "tracer.store.migrate",
    "opentelemetry.exporter.otlp.proto.http.trace_exporter",
)
"""Loaded before the first fork: the agent, and what a run of it would import late, each time anew."""
DONE, CRASHED, PAUSED = 0, 1, 75
"""Exit codes of a life. 75 is what sysexits calls "try again later"; a killed life has minus the signal."""


@dataclass(frozen=True, slots=True)
class Life:
    """One process life of one run."""

    run_id: str
    report: str
    """Absolute path the report goes to."""
    seed: int
    python: str = ""
    """Interpreter whose distributions are audited; empty: the one that runs."""
    only: tuple[str, ...] = ()
    limit: int = 0
    environment: dict[str, str] = field(default_factory=dict)
    """Set before anything of ours is imported: store, ticket service, exporter."""

    def to_json(self) -> str:
        """Return it as one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> Self:
        """Read what `to_json` wrote."""
        read = json.loads(line)
        return cls(**{**read, "only": tuple(read["only"])})


def live(life: Life) -> int:
    """Start or resume the run of *life* in this process; return how it ended."""
    os.environ.update(life.environment)
    from examples.licence_audit.agent import Audit, audit
    from tracer import Paused
    from tracer.recorder import reset

    wanted = Audit(
        python=life.python,
        only=list(life.only),
        limit=life.limit,
        report=life.report,
        seed=life.seed,
    )
    try:
        audit.start_or_resume(life.run_id, wanted)
    except Paused:
        return PAUSED
    finally:
        # A forked life leaves by os._exit, which runs nothing of this; the exporter has to be asked.
        reset()
    return DONE


def serve_forks() -> None:
    """Read lives from standard input, one a line; answer `{"pid"}` at its start and `{"code"}` at its end."""
    for module in _WARM:
        importlib.import_module(module)
    from tracer.identity import packages

    # Kept for the life of a process: every fork would list the distributions of the interpreter anew.
    packages()

    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            os._exit(_forked(line))
        _tell({"pid": pid})
        _, status = os.waitpid(pid, 0)
        _tell({"code": os.waitstatus_to_exitcode(status)})


def _forked(line: str) -> int:
    # Standard output belongs to the conversation with the harness.
    os.dup2(2, 1)
    try:
        return live(Life.from_json(line))
    except BaseException:
        traceback.print_exc()
        return CRASHED
    finally:
        sys.stderr.flush()


def _tell(said: dict[str, int]) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if sys.argv[1:] == ["--forker"]:
        serve_forks()
    else:
        sys.exit(live(Life.from_json(sys.argv[1])))
