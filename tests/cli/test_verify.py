"""`waypost verify` and `waypost db`: is what is stored what was written, and can this release use it?"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

pytestmark = pytest.mark.kill


def change(store: Path, statement: str, *values: object) -> int:
    """Change the database behind Waypost's back."""
    with closing(sqlite3.connect(store / ".waypost/waypost.db", isolation_level=None)) as connection:
        return connection.execute(statement, values).rowcount


def test_a_sound_store_is_told_run_by_run(store: Path, cli: Cli) -> None:
    done = cli("verify")
    assert done.code == 0
    for run in ("done", "asks", "fails", "killed"):
        assert any(line.startswith(run) and "✓ ok" in line for line in done.out.splitlines())
    assert "runs verified: 4 of 4" in done.err
    assert "4 runs verified, none damaged; unsigned" in done.err


def test_one_changed_entry_is_found_and_the_others_are_still_sound(store: Path, cli: Cli) -> None:
    assert change(store, "UPDATE entry SET subject = 'forged' WHERE run_id = 'done' AND entry = 3") == 1
    done = cli("verify", "--json")
    assert done.code == 1
    reports = {report["run_id"]: report for report in done.json["runs"]}
    assert not reports["done"]["sound"]
    assert "entry 3" in reports["done"]["problems"][0]
    assert reports["asks"]["sound"]
    assert cli("verify", "done").code == 1
    assert cli("verify", "asks").code == 0


def test_a_missing_entry_and_a_missing_object_are_found(store: Path, cli: Cli) -> None:
    change(store, "DELETE FROM entry WHERE run_id = 'asks' AND entry = 4")
    assert "entry 4 is missing" in cli("verify", "asks").out
    change(store, "DELETE FROM object")
    done = cli("verify", "done")
    assert done.code == 1
    assert "it is not in the store" in " ".join(done.out.split())


def test_a_body_that_is_not_even_ours_is_damage_and_no_crash(store: Path, cli: Cli) -> None:
    change(store, "UPDATE entry SET body = ? WHERE run_id = 'done' AND sequence = 2", b"\x00{}")
    done = cli("verify", "done")
    assert done.code == 1
    assert "Traceback" not in done.err


def test_a_damaged_checkpoint_cannot_be_looked_at_as_if_it_were_sound(store: Path, cli: Cli) -> None:
    change(store, "UPDATE entry SET body = ? WHERE run_id = 'done' AND sequence = 2", b"\x01nonsense")
    done = cli("cat", "done@2")
    assert done.code == 7
    assert "done@2" in done.err


def test_progress_of_one_run_counts_its_checkpoints(store: Path, cli: Cli) -> None:
    assert "checkpoints verified: 5 of 5" in cli("verify", "done").err


def test_an_unknown_run_is_a_usage_error_and_not_damage(store: Path, cli: Cli) -> None:
    done = cli("verify", "nobody")
    assert (done.code, done.out) == (2, "")


def test_db_upgrade_of_a_store_of_today_has_nothing_to_do(store: Path, cli: Cli) -> None:
    assert "stands at 0001" in cli("db", "upgrade").out
    done = cli("db", "upgrade", "--check", "--json")
    assert done.code == 0
    assert (done.json["pending"], done.json["upgraded"]) == ([], False)


def test_an_empty_database_is_upgraded_only_when_asked(store: Path, cli: Cli) -> None:
    sqlite3.connect(store / "empty.db").close()
    (store / "empty.db").touch()
    old = cli("--store", "empty.db", "runs")
    assert old.code == 6
    assert "waypost db upgrade" in old.err
    check = cli("--store", "empty.db", "db", "upgrade", "--check", "--json")
    assert check.code == 1
    assert (check.json["found"], check.json["upgraded"]) == (None, False)
    assert len(check.json["pending"]) >= 1
    assert cli("--store", "empty.db", "db", "upgrade").code == 0
    assert cli("--store", "empty.db", "runs").code == 0


def test_a_newer_store_is_left_alone_by_everybody(store: Path, cli: Cli) -> None:
    change(store, "UPDATE waypost_schema SET version_num = '9999'")
    for command in (
        ("runs",),
        ("show", "done"),
        ("verify",),
        ("approve", "asks"),
        ("db", "upgrade"),
        ("resume", "fails"),
    ):
        done = cli(*command)
        assert done.code == 6, command
        assert "Upgrade waypost; nothing was changed" in done.err
        assert done.err.count("\n") == 1
