"""Does a run go on into a store that is not there any more?"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tracer import run
from tracer._agent import FreeRun
from tracer.errors import SegmentPoisoned, StoreGone
from tracer.recorder import Recorder, reset


@pytest.fixture
def one(home: Path) -> Iterator[FreeRun]:
    """A run that goes on while its store disappears."""
    with suppress(SegmentPoisoned), run("a run", id="r1") as one:
        one.checkpoint("first")
        yield one


def deleted(home: Path) -> None:
    for path in home.glob("waypost.db*"):
        path.unlink()


def test_a_step_is_not_acknowledged_when_its_store_was_deleted(home: Path, one: FreeRun) -> None:
    deleted(home)
    with pytest.raises(StoreGone, match="no such file any more"):
        one.checkpoint("ghost")
    with pytest.raises(SegmentPoisoned, match="StoreGone"):
        one.checkpoint("after the ghost")
    assert not (home / "waypost.db").exists()


def test_a_store_that_another_file_replaced_is_not_written_to(home: Path, one: FreeRun) -> None:
    shutil.copy(home / "waypost.db", home / "copy")
    deleted(home)
    (home / "copy").rename(home / "waypost.db")
    with pytest.raises(StoreGone, match="another file stands in its place"):
        one.checkpoint("ghost")
    with pytest.raises(SegmentPoisoned):
        one.checkpoint("again")


def test_a_heartbeat_notices_that_the_store_was_deleted(home: Path, held: Recorder, one: FreeRun) -> None:
    deleted(home)
    held._beat([("r1", "main", 1)])
    with pytest.raises(SegmentPoisoned, match="StoreGone"):
        one.checkpoint("ghost")


def test_a_process_may_change_its_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    with run("a run", id="r1") as one:
        monkeypatch.chdir(tmp_path / "elsewhere")
        one.checkpoint("step")
    reset()
