"""What does a test of the core start from? A store of its own that was made once and copied."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tracer import configure
from tracer.recorder import Recorder, recorder, reset

MEMORY = Path("/dev/shm")


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an empty store and its key: making one costs more than most tests."""
    folder = tmp_path_factory.mktemp("empty") / "home"
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
def held(home: Path) -> Recorder:
    """The open recorder of that store."""
    return recorder()


def change(home: Path, sql: str) -> None:
    """Somebody edits the database behind our back."""
    connection = sqlite3.connect(home / "waypost.db")
    with connection:
        touched = connection.execute(sql).rowcount
    connection.close()
    assert touched >= 1


@contextmanager
def undone(home: Path) -> Iterator[None]:
    """What is done to the database inside is taken back; many edits share one costly run."""
    before = sqlite3.connect(":memory:")
    connection = sqlite3.connect(home / "waypost.db")
    connection.backup(before)
    yield
    before.backup(connection)
    connection.close()
    before.close()
