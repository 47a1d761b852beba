"""`waypost approve`: how does a person at this machine answer a run, and what is kept of it?"""

from __future__ import annotations

import getpass
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli

pytestmark = pytest.mark.kill


def entries(cli: Cli, run: str, kind: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in cli("export", run).out.splitlines()]
    return [line for line in lines if line.get("kind") == kind]


def effect_of(cli: Cli) -> str:
    (call,) = cli("show", "killed", "--json").json["in_doubt"]
    return str(call["effect_id"])


def test_the_one_open_question_is_answered_and_the_agent_hears_it(
    store: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = cli("approve", "asks", "--why", "checked")
    assert done.code == 0
    assert "approved: publish the report?" in done.out
    assert "waypost resume asks" in done.out
    monkeypatch.setenv("ASK", "1")
    assert cli("resume", "asks").code == 0
    assert cli("cat", "asks", "--path", "note").out == '"published"\n'
    (kept,) = entries(cli, "asks", "decision")
    assert (kept["body"]["who"], kept["body"]["why"]) == (getpass.getuser(), "checked")
    assert kept["body"]["how"] == "local, unauthenticated"


def test_a_denied_question_reaches_the_agent_as_no(
    store: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = cli("show", "asks", "--json").json["questions"][0]["approval_id"]
    done = cli("approve", "asks", "--approval", asked[:16], "--deny", "--json")
    assert [one["state"] for one in done.json["answered"]] == ["denied"]
    monkeypatch.setenv("ASK", "1")
    assert cli("resume", "asks").code == 0
    assert cli("cat", "asks", "--path", "note").out == '"kept back"\n'


def test_a_question_is_answered_once(store: Path, cli: Cli) -> None:
    asked = cli("show", "asks", "--json").json["questions"][0]["approval_id"]
    assert cli("approve", "asks").code == 0
    again = cli("approve", "asks", "--approval", asked)
    assert again.code == 3
    assert "it was approved by" in again.err
    assert "asks no question" in cli("approve", "asks").err


def test_a_call_that_happened_is_not_made_again_and_its_result_is_given_back(store: Path, cli: Cli) -> None:
    assert cli("resume", "killed").code == 3
    assert cli("show", "killed", "--json").json["waiting"] == 1
    done = cli(
        "approve",
        "killed",
        "--effect",
        effect_of(cli),
        "--happened",
        '"heard bb"',
        "--why",
        "it is in the log",
    )
    assert done.code == 0
    assert "committed: shout bb" in done.out
    shown = cli("show", "killed", "--json").json
    assert (shown["waiting"], shown["unknown"], shown["in_doubt"], shown["questions"]) == (0, 0, [], [])
    assert cli("resume", "killed").code == 0
    intents = [one for one in entries(cli, "killed", "intent") if one["body"]["tool"] == "shout"]
    assert len(intents) == 3
    assert {one["mark"] for one in intents} == {"first"}
    (kept,) = entries(cli, "killed", "decision")
    assert (kept["mark"], kept["body"]["happened"], kept["body"]["result"]) == ("reconcile", True, "heard bb")
    assert cli("verify", "killed").code == 0


def test_a_call_that_did_not_happen_is_made_again(store: Path, cli: Cli) -> None:
    assert cli("approve", "killed", "--effect", effect_of(cli)[:12], "--did-not-happen").code == 0
    assert cli("resume", "killed").code == 0
    made = [one["body"]["args"] for one in entries(cli, "killed", "intent") if one["body"]["tool"] == "shout"]
    assert [one["dist"] for one in made] == ["a", "bb", "bb", "ccc"]
    assert cli("verify", "killed").code == 0


def test_a_settled_call_cannot_be_settled_again(store: Path, cli: Cli) -> None:
    effect = effect_of(cli)
    assert cli("approve", "killed", "--effect", effect, "--did-not-happen").code == 0
    again = cli("approve", "killed", "--effect", effect, "--happened", "1")
    assert again.code == 3
    assert "it is failed, nothing was changed" in again.err


def test_a_question_about_a_call_is_not_answered_with_yes(store: Path, cli: Cli) -> None:
    cli("resume", "killed")
    asked = cli("show", "killed", "--json").json["questions"][0]["approval_id"]
    refused = cli("approve", "killed", "--approval", asked)
    assert refused.code == 2
    assert f"--effect {effect_of(cli)}" in refused.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--effect", "aaaaaaaa"), "needs one of --happened"),
        (("--effect", "aaaaaaaa", "--happened", "1", "--did-not-happen"), "needs one of --happened"),
        (("--effect", "aaaaaaaa", "--did-not-happen", "--deny"), "say --did-not-happen"),
        (("--effect", "aaaaaaaa", "--happened", "{"), "not JSON at character 2"),
        (("--effect", "aaaaaaaa", "--did-not-happen"), "There is no such call in this run"),
        (("--happened", "1"), "need --effect ID"),
        (("--waive", "everything"), "is no clause. They are: integrity"),
        (("--waive", "topology", "--approval", "a"), "exclude each other"),
        (("--approval", "ffffffff"), "0 questions with an id"),
        ((), "asks no question"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(
    store: Path, cli: Cli, options: tuple[str, ...], said: str
) -> None:
    done = cli("approve", "killed", *options)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1


def test_nobody_decides_here_about_a_store_elsewhere(
    store: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tracer.store.engine import Store

    monkeypatch.setattr(Store, "path", None, raising=False)
    real = Store.__init__

    def elsewhere(self: Store, url: Any) -> None:
        real(self, url)
        self.path = None

    monkeypatch.setattr(Store, "__init__", elsewhere)
    done = cli("approve", "asks")
    assert done.code == 2
    assert "not a local store" in done.err
