"""`waypost runs`: which runs are there, where do they stand now, and what is next?"""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.kill


def test_every_run_is_listed_with_the_state_that_holds_now(store: Path, cli) -> None:
    done = cli("runs")
    assert done.code == 0
    for run, state in (
        ("done", "✓ done"),
        ("asks", "‖ paused"),
        ("fails", "✕ failed"),
        ("killed", "✕ interrupted"),
    ):
        (line,) = (line for line in done.out.splitlines() if line.startswith(run))
        assert state in line
    assert "4 of 4 runs shown" in done.err


def test_a_killed_run_is_interrupted_although_the_store_still_says_running(store: Path, cli) -> None:
    (run,) = cli("runs", "--state", "interrupted", "--json").json["runs"]
    assert (run["run_id"], run["state"], run["stored_state"]) == ("killed", "interrupted", "running")
    assert cli("runs", "--state", "running", "--json").json["runs"] == []


def test_filters_narrow_and_the_rest_is_counted(store: Path, cli) -> None:
    assert [
        run["run_id"] for run in cli("runs", "--state", "done", "--state", "failed", "--json").json["runs"]
    ] == [
        "fails",
        "done",
    ]
    assert cli("runs", "--agent", "another", "--json").json == {"shown": 0, "total": 0, "runs": []}
    limited = cli("runs", "--limit", "1")
    assert "1 of 4 runs shown; --limit shows more." in limited.err
    assert cli("runs", "--since", "1h", "--json").json["total"] == 4
    assert cli("runs", "--since", "2200-01-01", "--json").json["total"] == 0


def test_the_next_step_of_each_run_is_a_line_to_type(store: Path, cli) -> None:
    following = {run["run_id"]: run["next"] for run in cli("runs", "--json").json["runs"]}
    assert following["done"]["command"] == ""
    assert following["killed"]["command"] == "waypost resume killed"
    assert following["asks"]["command"] == "waypost why asks"
    assert following["fails"]["kind"] == "mend"


def test_a_line_to_type_names_the_store_that_was_asked(
    store: Path, cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(store.parent)
    asked = str(store / ".waypost/waypost.db")
    following = {run["run_id"]: run["next"] for run in cli("--store", asked, "runs", "--json").json["runs"]}
    assert following["killed"]["command"] == f"waypost --store {asked} resume killed"


def test_a_store_without_runs_says_how_to_get_one(store: Path, cli) -> None:
    found = cli("runs", "--agent", "another")
    assert (found.code, found.out) == (0, "")
    assert "No run fits" in found.err


@pytest.mark.parametrize("wrong", ["yesterday", "24", "2026-13-01", "h"])
def test_a_time_that_cannot_be_read_is_a_usage_error(store: Path, cli, wrong: str) -> None:
    done = cli("runs", "--since", wrong)
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert "30m, 24h, 7d" in done.err


def test_a_table_fits_eighty_columns(store: Path, cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for command in (("runs",), ("show", "killed"), ("verify",)):
        assert max(map(len, cli(*command).out.splitlines())) <= 80
