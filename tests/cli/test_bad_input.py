"""What a person can get wrong, and what can be wrong with a store: one line, its remedy, an exit code."""

from __future__ import annotations

import resource
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Outcome
from tracer.commands.exits import MEANING, Exit, exit_of
from tracer.errors import Paused, WaypostError
from tracer.store import engine

pytestmark = pytest.mark.kill

LOOKS = [
    ("runs",),
    ("show", "done"),
    ("why", "done"),
    ("cat", "done@1"),
    ("diff", "done@1", "done@2"),
    ("preflight", "done"),
    ("resume", "done"),
    ("approve", "done"),
    ("export", "done"),
    ("export", "--pending"),
    ("verify",),
    ("db", "upgrade"),
]


def one_line(done: Outcome, *parts: str) -> None:
    assert done.err.count("\n") == 1, done.err
    assert done.err.startswith("waypost: ")
    assert "Traceback" not in done.err
    for part in parts:
        assert part in done.err


@pytest.mark.parametrize("command", LOOKS, ids=" ".join)
def test_without_a_store_every_command_says_where_it_looked_and_makes_none(
    tmp_path: Path, cli: Cli, command: tuple[str, ...]
) -> None:
    done = cli(*command)
    assert (done.code, done.out) == (6, "")
    one_line(done, "There is no store here", "WAYPOST_STORE", ".waypost/waypost.db")
    assert not (tmp_path / ".waypost").exists()


@pytest.mark.parametrize(
    "command", ["show", "why", "cat", "preflight", "resume", "approve", "export", "verify"]
)
def test_an_unknown_run_is_named_together_with_the_store(store: Path, cli: Cli, command: str) -> None:
    done = cli(command, "nobody")
    assert done.code == 2
    one_line(done, "There is no such run in this store", "`waypost runs` lists them", "nobody", "waypost.db")


@pytest.mark.parametrize("command", ["show", "why", "preflight", "resume", "approve", "export", "verify"])
def test_a_checkpoint_is_not_a_run(store: Path, cli: Cli, command: str) -> None:
    done = cli(command, "done@2")
    assert done.code == 2
    one_line(done, "'done@2'", "takes a whole run")


@pytest.mark.parametrize(
    "wrong", ["", "@3", "done@", "done@0", "done@x", "done@ 3", "done@b 2:3", "../etc", "x" * 129, "done\x1b"]
)
def test_a_malformed_reference_says_what_is_wrong_with_it(store: Path, cli: Cli, wrong: str) -> None:
    done = cli("cat", wrong)
    assert done.code == 2
    one_line(done, "This cannot be read")
    assert "\x1b" not in done.err


def test_a_checkpoint_that_is_not_there_names_the_last_one(store: Path, cli: Cli) -> None:
    done = cli("cat", "done@99")
    assert done.code == 2
    one_line(done, "done@99; the last one is done@5")
    assert cli("cat", "done@b2:1").code == 2


def test_a_file_that_is_no_database_is_left_as_it_is(store: Path, cli: Cli) -> None:
    other = store / "notes.txt"
    other.write_text("not a database, but long enough to have a header of a hundred bytes" * 4)
    before = other.read_bytes()
    done = cli("--store", str(other), "runs")
    assert done.code == 6
    one_line(done, "notes.txt", "not a database")
    assert other.read_bytes() == before


def test_a_store_of_an_unknown_kind_is_one_line_too(store: Path, cli: Cli) -> None:
    done = cli("--store", "nosuchdb://somewhere", "runs")
    assert done.code == 2
    one_line(done, "nosuchdb", "Use the path of a SQLite file")
    secret = cli("--store", "nosuchdb://me:hunter2222@somewhere/x", "runs")
    assert "hunter2222" not in secret.err


def test_looking_works_while_somebody_writes_and_deciding_waits_only_so_long(
    store: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "BUSY_S", 0.2)
    with closing(sqlite3.connect(store / ".waypost/waypost.db", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert cli("runs").code == 0
        assert cli("why", "asks").code == 0
        done = cli("approve", "asks")
        writer.execute("ROLLBACK")
    assert done.code == 6
    one_line(done, "write lock", "waypost.db")
    assert cli("show", "asks", "--json").json["waiting"] == 1, "nothing half-written"
    assert cli("approve", "asks").code == 0


def test_a_full_disk_is_said_and_the_question_stays_open(store: Path, cli: Cli) -> None:
    # No file of the process may grow beyond what the database has: as full as a disk can be.
    size = (store / ".waypost/waypost.db").stat().st_size

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (min(size, 1 << 15), size))

    script = str(Path(sys.executable).with_name("waypost"))
    life = subprocess.run(
        [script, "approve", "asks"], cwd=store, preexec_fn=full, capture_output=True, text=True, timeout=60, check=False
    )  # fmt: skip
    assert life.returncode == 6, life.stderr
    one_line(Outcome(6, life.stdout, life.stderr), "no room left", "Free disk space")
    assert cli("show", "asks", "--json").json["waiting"] == 1
    assert cli("verify", "asks").code == 0


def test_settings_that_do_not_fit_name_the_variable(
    store: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAYPOST_LEASE_TTL_S", "soon")
    done = cli("runs")
    assert done.code == 2
    one_line(done, "WAYPOST_LEASE_TTL_S is 'soon'; use a number of seconds")


def test_an_unknown_command_and_an_unknown_option_are_usage_errors(store: Path, cli: Cli) -> None:
    one_line(cli("rums"), "No such command", "waypost --help")
    one_line(cli("runs", "--colour"), "No such option", "waypost runs --help")
    assert cli("rums").code == cli("runs", "--colour").code == 2


def test_a_reader_that_has_seen_enough_ends_the_command_quietly(store: Path) -> None:
    script = str(Path(sys.executable).with_name("waypost"))
    line = f"{script} export done --states | head -n 1; exit ${{PIPESTATUS[0]}}"
    life = subprocess.run(
        ["bash", "-c", line], cwd=store, capture_output=True, text=True, timeout=60, check=False
    )
    assert life.returncode == 0
    assert "Traceback" not in life.stderr
    assert "BrokenPipe" not in life.stderr


def test_every_error_of_the_tree_has_an_exit_code_and_every_code_a_meaning() -> None:
    assert set(MEANING) == set(Exit)
    kinds: list[type[BaseException]] = [WaypostError, Paused]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
    for kind in kinds:
        assert exit_of(kind.__new__(kind)) not in (Exit.OK, Exit.NO, Exit.INTERRUPTED)
