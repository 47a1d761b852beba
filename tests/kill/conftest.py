"""What does a kill test start from? A process that forks fresh ones, and an empty store to copy for each trial."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

MEMORY = Path("/dev/shm")
"""A file system in memory where there is one: SIGKILL leaves the page cache alone, so a disk would prove no more."""


class Zygote:
    """Runs every job in a fork of one process that has imported everything once."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        self._numbers = iter(range(1_000_000))
        command = [sys.executable, "-m", "tests.kill.zygote"]
        self.process = subprocess.Popen(
            command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.do("prepare", folder / "empty")
        self.do("warm", self.home())

    def home(self) -> Path:
        """A new folder with an empty store and its key."""
        made = self.folder / f"trial{next(self._numbers)}"
        shutil.copytree(self.folder / "empty", made)
        return made

    def do(self, job: str, home: Path, **more: Any) -> tuple[int, dict[str, Any]]:
        """(exit code of the fork, negative for a signal; what it answered)."""
        self.ask(job, home, **more)
        return self.answer()

    def ask(self, job: str, home: Path, **more: Any) -> None:
        """Start a job, and do not wait for its answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"do": job, "home": str(home), **more}) + "\n")
        self.process.stdin.flush()

    def answer(self) -> tuple[int, dict[str, Any]]:
        """What the job that was asked for came to."""
        assert self.process.stdout is not None
        said = json.loads(self.process.stdout.readline())
        assert "error" not in said["answer"], said["answer"]["trace"]
        return said["exit"], said["answer"]

    def close(self) -> None:
        """End the process; a fork that is left is ended by its own alarm."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()


@pytest.fixture(scope="session")
def in_memory() -> Iterator[Path]:
    """A folder on a file system in memory, or an ordinary one where there is none."""
    base = MEMORY if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="waypost-kill-", dir=base) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def zygote(root: Path, in_memory: Path) -> Iterator[Zygote]:
    """One process for all trials of this session."""
    made = Zygote(root, in_memory)
    yield made
    made.close()


@pytest.fixture(scope="session")
def clean(zygote: Zygote) -> dict[str, Any]:
    """A run that was never killed: its state, and every point it passed, in order."""
    code, life = zygote.do("live", zygote.home())
    assert (code, life["outcome"]) == (0, "done")
    return life
