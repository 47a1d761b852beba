"""What does a test of the core start from? A store of its own that was made once and copied."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tracer import configure
from tracer.recorder import Recorder, recorder, reset


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an empty store and its key: making one costs more than most tests."""
    folder = tmp_path_factory.mktemp("empty") / "home"
    configure(home=str(folder))
    _ = recorder().keys
    reset()
    return folder


@pytest.fixture
def home(empty_store: Path, tmp_path: Path) -> Iterator[Path]:
    """A folder that holds an empty store, configured; everything is closed afterwards."""
    folder = tmp_path / "home"
    shutil.copytree(empty_store, folder)
    configure(home=str(folder))
    yield folder
    reset()


@pytest.fixture
def held(home: Path) -> Recorder:
    """The open recorder of that store."""
    return recorder()
