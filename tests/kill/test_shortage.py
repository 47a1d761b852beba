"""What happens when the disk is full, the store locked, or everybody writes at once?

Claims (RELIABILITY 7, 9): a full disk is a typed error that says what to do, everything acknowledged can be read
all the while, and once there is room a new process goes on. Sixteen writers wait for each other and none fails.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kill.conftest import Zygote
from tracer import configure, run
from tracer.errors import SegmentPoisoned, StoreLocked
from tracer.recorder import recorder, reset
from tracer.store import engine, read

pytestmark = pytest.mark.kill

MIB = 1024 * 1024


def can_mount() -> bool:
    """Whether a small file system of our own can be had here (root with the right to mount)."""
    if os.geteuid() != 0:
        return False
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True
        )
        if done.returncode == 0:
            subprocess.run(["umount", folder], check=True)
        return done.returncode == 0


HOW = ["a limit on files", "a limit of the database", *(["a file system of 2 MiB"] if can_mount() else [])]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("how", HOW)
def test_a_full_disk_is_told_and_what_was_acknowledged_stays(
    zygote: Zygote, request: pytest.FixtureRequest, how: str
) -> None:
    home = zygote.home()
    limits: dict[str, int] = {}
    if how == "a limit on files":
        limits = {"limit": 2 * MIB}
    elif how == "a limit of the database":
        limits = {"pages": 2 * MIB // 4096}
    else:
        disk: Path = request.getfixturevalue("small_disk")
        for path in home.iterdir():
            (disk / path.name).write_bytes(path.read_bytes())
            os.chmod(disk / path.name, 0o600)
        (disk / "ballast").write_bytes(bytes(MIB // 2))
        home = disk
    code, full = zygote.do("fill", home, **limits)
    assert code == 0
    assert full["full"].startswith("StoreFull: ")
    assert "Free disk space" in full["full"]
    assert str(home) in full["full"]
    assert len(full["done"]) > 5, "it was full before it had begun"
    assert full["missing"] == []
    assert full["again"] == "SegmentPoisoned"
    if (home / "ballast").exists():
        (home / "ballast").unlink()
    code, after = zygote.do("refill", home, done=full["done"])
    assert code == 0
    assert after["missing"] == []
    assert after["problems"] == []
    assert after["number"] == full["done"][-1][1]


@pytest.fixture
def store_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A store whose writers wait a fifth of a second for each other."""
    monkeypatch.setattr(engine, "BUSY_S", 0.2)
    configure(home=str(tmp_path))
    yield tmp_path
    reset()


def test_a_locked_store_is_told_and_nothing_is_half_written(store_here: Path) -> None:
    other = sqlite3.connect(store_here / "waypost.db", isolation_level=None)

    def work() -> None:
        with run("locked", id="r1", state={"n": 0}) as one:
            other.execute("BEGIN IMMEDIATE")
            one.state["n"] = 1
            with pytest.raises(StoreLocked, match="Another process holds the store's write lock") as told:
                one.checkpoint("n")
            assert told.value.waited == 0.2
            other.execute("ROLLBACK")
            one.checkpoint("n")

    with pytest.raises(SegmentPoisoned):
        work()
    other.close()
    with recorder().store.reader.connect() as connection:
        assert [entry.sequence for entry in read.checkpoints(connection, "r1")] == [1]
    with run("free again", id="r2") as one:
        assert one.checkpoint("n", {"n": 2}) == 2


@pytest.mark.slow
def test_sixteen_writers_wait_for_each_other_and_none_fails(zygote: Zygote, root: Path) -> None:
    home = zygote.home()
    command = [sys.executable, "-m", "tests.kill.storm", str(home), "16", "50"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120, check=True)
    said = json.loads(done.stdout)
    assert [one["errors"] for one in said] == [[]] * 16
    assert {one["checkpoints"] for one in said} == {51}
    assert [one["problems"] for one in said] == [[]] * 16


def test_processes_that_make_one_store_at_once_all_get_it(in_memory: Path, root: Path) -> None:
    command = [sys.executable, "-m", "tests.kill.storm", str(in_memory / "new"), "6", "2"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120, check=True)
    assert [one["errors"] for one in json.loads(done.stdout)] == [[]] * 6
