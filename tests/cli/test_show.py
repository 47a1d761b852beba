"""`waypost show` and `waypost why`: what is known of one run, and what is there to press?"""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.kill


def test_show_has_lives_checkpoints_open_calls_and_the_next_step(store: Path, cli) -> None:
    done = cli("show", "killed")
    assert done.code == 0
    for part in (
        "✕ interrupted",
        "Process lives",
        "killed@2",
        "Calls without an outcome",
        "shout bb",
        "waypost resume killed",
    ):
        assert part in done.out


def test_show_has_open_questions_with_their_whole_ids(store: Path, cli) -> None:
    shown = cli("show", "asks", "--json").json
    (question,) = shown["questions"]
    assert question["prompt"] == "publish the report?"
    assert question["approval_id"] in cli("show", "asks").out


def test_show_says_how_many_checkpoints_it_left_out(store: Path, cli) -> None:
    done = cli("show", "done", "--last", "2")
    assert "2 of 5 checkpoints shown" in done.err
    shown = cli("show", "done", "--last", "2", "--json").json
    assert [one["sequence"] for one in shown["checkpoint_list"]] == [4, 5]
    assert shown["checkpoints"] == 5


def test_why_of_a_killed_run_names_the_call_nobody_can_vouch_for(store: Path, cli) -> None:
    said = cli("why", "killed", "--json").json
    assert said["state"] == "interrupted"
    assert "died after killed@2" in said["stopped"]
    assert any("`shout bb`" in one and "not sent again" in one for one in said["unsafe"])
    assert any(one.startswith("2 checkpoints stored") for one in said["safe"])
    assert [one["command"] for one in said["press"]] == ["waypost resume killed"]


def test_why_of_a_paused_run_prints_the_line_that_answers(store: Path, cli) -> None:
    said = cli("why", "asks", "--json").json
    assert "publish the report?" in said["stopped"]
    commands = [one["command"] for one in said["press"]]
    assert commands[0].startswith("waypost approve asks --approval ")
    assert commands[-1] == "waypost resume asks"


def test_why_of_a_failed_run_masks_what_its_error_gave_away(store: Path, cli) -> None:
    done = cli("why", "fails")
    assert "ValueError: no licence file" in done.out
    assert "hunter2222" not in done.out
    assert "‹sealed" in done.out


def test_why_of_a_finished_run_says_that_it_is_over(store: Path, cli) -> None:
    assert cli("why", "done", "--json").json["press"] == []
    assert "Nothing; it is over." in cli("why", "done").out
