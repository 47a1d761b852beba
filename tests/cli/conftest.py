"""Real runs in a real store, made once by real processes; each test works on a copy of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.cli.warm import Warm
from tracer import recorder
from tracer.cli import waypost

AGENT = '''
"""An agent that opens tickets, can be killed inside one, asks a person, and can fail."""

import os
import signal
import sys

from tracer import KEY, Evidence, Run, State, agent, write


@write(key_param="key", identity=("dist",))
def ticket(dist: str, *, key: str = KEY) -> int:
    return len(dist)


@write(identity=("dist",))
def shout(dist: str) -> str:
    if os.environ.get("DIE_AT") == dist:
        os.kill(os.getpid(), signal.SIGKILL)
    if os.environ.get("HOLD_AT") == dist:
        print("in the call", flush=True)
        sys.stdin.read()
    return f"heard {dist}"


class Audit(State, version=1):
    todo: list[str]
    tickets: dict[str, int] = {}
    token: str = ""
    note: str = ""


@agent("licence-audit", plan="3", objective="No copyleft in the wheelhouse", grants=["ticket", "shout"])
def audit(run: Run, state: Audit) -> Audit:
    print("the agent speaks")
    for dist in run.each(state.todo):
        state.tickets[dist] = ticket(dist)
        run.evidence(Evidence(source=f"{dist}/METADATA", version="1"))
        shout(dist)
        if os.environ.get("FAIL_AT") == dist:
            raise ValueError("no licence file, password=hunter2222")
    if os.environ.get("ASK"):
        state.note = "published" if run.ask("publish the report?") else "kept back"
    return state


if __name__ == "__main__":
    audit.start_or_resume(sys.argv[1], Audit(todo=["a", "bb", "ccc"], token="sk-abcdefghijklmnop1234"))
'''


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one invocation came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which is one JSON document."""
        return json.loads(self.out)


Cli = Callable[..., Outcome]
LOADS_AGENTS = {"resume", "preflight"}
"""Commands that import the agent: classes of one name from two folders cannot live in one process."""


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the agent and a store of four runs: `done`, `asks`, `fails`, `killed`."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "audit.py").write_text(AGENT)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("WAYPOST_", "OTEL_"))}
    for run, extra, wanted in (
        ("done", {}, 0),
        ("asks", {"ASK": "1"}, 1),
        ("fails", {"FAIL_AT": "bb"}, 1),
        ("killed", {"DIE_AT": "bb"}, -9),
    ):
        life = subprocess.run(
            [sys.executable, "audit.py", run],
            cwd=folder, env={**clean, **extra}, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert life.returncode == wanted, life.stderr
    return folder


@pytest.fixture
def store(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of a test: a copy of what was made."""
    here = tmp_path / "here"
    shutil.copytree(made, here)
    monkeypatch.chdir(here)
    return here


@pytest.fixture(autouse=True)
def forget_settings() -> Iterator[None]:
    """Settings are read once per process; every test is a process of its own as far as they go."""
    recorder.reset()
    yield
    recorder.reset()


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """One interpreter that has imported everything and forks once per command."""
    with Warm() as held:
        yield held


@pytest.fixture
def cli(warm: Warm, tmp_path: Path) -> Cli:
    """`waypost` as its console script runs it; a process of its own where the agent's code is loaded."""

    def run(*args: str) -> Outcome:
        if LOADS_AGENTS.intersection(args):
            return Outcome(*warm.run(args, tmp_path))
        recorder.reset()
        done = CliRunner().invoke(waypost, args, prog_name="waypost", catch_exceptions=False)
        return Outcome(done.exit_code, done.stdout, done.stderr)

    return run


@pytest.fixture
def agent_here(store: Path) -> str:
    """The agent's code in the copy, which a test may edit."""
    return f"{store / 'audit.py'}:audit"
