"""`waypost cat` and `waypost diff`: what does a checkpoint hold, and what differs between two?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import Field

from tracer import Run, State, agent
from tracer.recorder import configure

pytestmark = pytest.mark.kill
SECRET = "sk-abcdefghijklmnop1234"


class Hostile(State, version=2):
    text: str = ""
    rows: list[dict[str, str]] = Field(default_factory=list)


@agent("hostile")
def hostile(run: Run, state: Hostile) -> Hostile:
    run.checkpoint("step \x1b[2J\u202egnp.exe")
    return state


def test_cat_shows_state_and_contract_of_the_last_checkpoint_of_a_bare_run(store: Path, cli) -> None:
    shown = cli("cat", "done", "--json").json
    assert shown["checkpoint"] == "done@5"
    assert shown["state"]["tickets"] == {"a": 1, "bb": 2, "ccc": 3}
    assert shown["contract"]["plan"] == {"objective": "No copyleft in the wheelhouse", "version": "3"}
    assert {"evidence", "effects", "permissions", "identity", "policy"} <= set(shown["contract"])


def test_cat_folds_the_installed_packages_and_says_how_to_see_them(store: Path, cli) -> None:
    (line,) = (line for line in cli("cat", "done").out.splitlines() if " entries; " in line)
    assert "entries; --contract --path '$.identity.packages' shows them" in line
    assert '"click"' in cli("cat", "done", "--contract", "--path", "$.identity.packages").out


def test_cat_masks_secrets_and_raw_leaves_them_sealed(store: Path, cli) -> None:
    assert cli("cat", "done@1", "--path", "token").out.startswith('"‹sealed')
    raw = json.loads(cli("cat", "done@1", "--raw").out)
    assert list(raw["state"]["token"]) == ["$sealed"]
    for form in (
        ("cat", "done@1"),
        ("cat", "done@1", "--json"),
        ("cat", "done@1", "--raw"),
        ("export", "done", "--states"),
    ):
        done = cli(*form)
        assert done.code == 0
        assert SECRET not in done.out + done.err


def test_cat_path_leads_to_one_part(store: Path, cli) -> None:
    assert cli("cat", "done@2", "--path", "$.todo[1]").out == '"ccc"\n'
    assert cli("cat", "done@main:2", "--path", '$.tickets["a"]', "--json").json["value"] == 1
    assert cli("cat", "done", "--contract", "--path", "$.plan.version").out == '"3"\n'


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("$.nope", "'nope' is not in it"),
        ("$.todo[9]", "a list of"),
        ("$.todo.x", "a list of"),
        ("$[", "no step begins"),
    ],
)
def test_a_path_that_leads_nowhere_says_how_far_it_went(store: Path, cli, path: str, seen: str) -> None:
    done = cli("cat", "done@1", "--path", path)
    assert done.code == 2
    assert seen in done.err


def test_diff_lists_what_changed_and_what_changed_in_the_contract(store: Path, cli) -> None:
    done = cli("diff", "done@1", "done@2")
    assert done.code == 0
    assert "− $.todo[0]  a" in done.out
    assert "+ $.tickets.a  1" in done.out
    assert "~ contract.effects.committed  0 → 2" in done.out
    assert "contract" not in cli("diff", "done@1", "done@2", "--state-only").out


def test_diff_in_json_keeps_values_and_counts_what_it_left_out(store: Path, cli) -> None:
    found = cli("diff", "done@1", "done@2", "--json").json
    assert {"op": "added", "path": "$.tickets.a", "new": 1} in found["changes"]
    quiet = cli("diff", "done@1", "done@2", "--ignore-times", "--json").json
    assert len(quiet["changes"]) <= len(found["changes"])


def test_diff_of_a_checkpoint_with_itself_finds_nothing(store: Path, cli) -> None:
    assert "no difference" in cli("diff", "done@2", "done@2").out


def test_two_runs_can_be_compared(store: Path, cli) -> None:
    found = cli("diff", "killed@2", "done@2", "--state-only", "--json").json
    assert (found["old"], found["new"], found["changes"]) == ("killed@2", "done@2", [])


def test_nothing_from_the_store_steers_the_terminal(store: Path, cli) -> None:
    text = "\x1b]0;owned\x07 \u202egnp\u200b [bold red]x[/] " + SECRET
    configure()
    hostile.start_or_resume("hostile", Hostile(text=text, rows=[{"\x1b[31mkey": "v\u2066"}]))
    for form in (
        ("cat", "hostile"),
        ("cat", "hostile", "--json"),
        ("show", "hostile"),
        ("why", "hostile"),
        ("diff", "hostile@1", "done@1"),
        ("export", "hostile", "--states"),
        ("runs",),
    ):
        done = cli(*form)
        assert done.code == 0, done.err
        said = done.out + done.err
        assert not {"\x1b", "\x07", "\u202e", "\u200b", "\u2066"} & set(said), form
        assert SECRET not in said
    assert "␛" in cli("show", "hostile").out
    assert "[bold red]" in cli("cat", "hostile").out
