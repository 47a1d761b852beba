"""What does a case start from? An empty store of its own, and a file that stands for the world outside."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tracer import configure
from tracer.recorder import recorder, reset

MEMORY = Path("/dev/shm")


class World:
    """The outside: one durable line per effect that really happened."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def does(self, line: str) -> int:
        """Let it happen; how many things have happened by then."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
        return len(self.lines())

    def lines(self) -> list[str]:
        """What happened, oldest first."""
        return self.path.read_text("utf-8").splitlines() if self.path.exists() else []


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an empty store and its key."""
    folder = tmp_path_factory.mktemp("empty-case") / "home"
    configure(home=str(folder))
    _ = recorder().keys
    reset()
    return folder


@pytest.fixture
def home(empty_store: Path) -> Iterator[Path]:
    """A folder that holds an empty store, configured; everything is closed afterwards.

    In memory where that can be had: what a sync to disk costs is none of these tests' business.
    """
    with tempfile.TemporaryDirectory(prefix="waypost-", dir=MEMORY if MEMORY.is_dir() else None) as made:
        folder = Path(made) / "home"
        shutil.copytree(empty_store, folder)
        configure(home=str(folder))
        yield folder
        reset()


@pytest.fixture
def world(tmp_path: Path) -> World:
    """An outside where nothing has happened yet."""
    return World(tmp_path / "world")
