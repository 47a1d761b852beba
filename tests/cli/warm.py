"""How does a test run `waypost` in a process of its own without paying for its imports each time?

One interpreter imports everything, opens nothing, and forks once per command: the child is as fresh as a new one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any, Self


class Warm:
    """The warm interpreter; a context manager."""

    def __enter__(self) -> Self:
        self._server = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )  # fmt: skip
        return self

    def run(self, args: tuple[str, ...], folder: Path) -> tuple[int, str, str]:
        """(exit code, standard output, standard error) of one command, in this process's environment and folder."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        job = {"args": args, "cwd": str(Path.cwd()), "env": dict(os.environ), "files": str(folder)}
        self._server.stdin.write(json.dumps(job) + "\n")
        self._server.stdin.flush()
        code = int(self._server.stdout.readline())
        return code, (folder / "stdout").read_text(), (folder / "stderr").read_text()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.close()
        self._server.wait(20)
        self._server.stdout.close()


def _serve() -> None:
    import tracer.cli

    for command in tracer.cli.COMMANDS:
        __import__(f"tracer.commands.{command}")
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _live(json.loads(line))
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _live(job: dict[str, Any]) -> None:
    from tracer.cli import waypost

    code = 99
    try:
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(f"{job['files']}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        os.environ.clear()
        os.environ.update(job["env"])
        os.chdir(job["cwd"])
        sys.path[0] = ""
        waypost.main(job["args"], prog_name="waypost")
    except SystemExit as done:
        code = int(done.code or 0)
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve()
