"""`waypost preflight` and `waypost resume`: what would the gate say, and how is a run taken on?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

pytestmark = pytest.mark.kill


def edit_the_body(store: Path) -> None:
    agent = store / "audit.py"
    agent.write_text(
        agent.read_text().replace('    print("the agent speaks")\n', '    print("it was edited")\n')
    )


def test_preflight_has_one_finding_per_clause_and_exits_by_the_verdict(store: Path, cli: Cli) -> None:
    done = cli("preflight", "fails", "--json")
    assert done.code == 0
    assert done.json["ruling"] == "continue"
    assert len({one["clause"] for one in done.json["findings"]}) == 12
    refused = cli("preflight", "killed")
    assert refused.code == 3
    assert "! reapprove" in refused.out
    assert "waypost approve killed --effect" in refused.out


def test_preflight_changes_nothing(store: Path, cli: Cli) -> None:
    before = cli("runs", "--json").json
    cli("preflight", "killed")
    assert cli("runs", "--json").json["runs"] == before["runs"]


def test_resume_takes_a_failed_run_to_its_end(store: Path, cli: Cli) -> None:
    done = cli("resume", "fails", "--why", "the file is back")
    assert done.code == 0
    assert "✓ done: fails" in done.out
    assert "the agent speaks" in done.err
    assert cli("resume", "fails").code == 0, "a finished run is returned as it is"


def test_resume_in_json_is_one_document_whatever_the_agent_prints(store: Path, cli: Cli) -> None:
    done = cli("resume", "fails", "--json")
    assert (done.json["outcome"], done.json["press"], done.json["run"]["state"]) == ("done", [], "done")


def test_a_refused_resume_says_which_line_answers_and_did_nothing(store: Path, cli: Cli) -> None:
    done = cli("resume", "killed")
    assert done.code == 3
    assert "the agent speaks" not in done.err
    lines = done.err.splitlines()
    assert lines[0].startswith("waypost: The gate refused to continue. `waypost preflight killed`")
    assert any(line.strip().startswith("waypost approve killed --effect") for line in lines)
    assert cli("resume", "killed", "--json").json["outcome"] == "refused"


def test_a_run_that_waits_for_an_answer_is_not_started(store: Path, cli: Cli) -> None:
    done = cli("resume", "asks")
    assert done.code == 3
    assert "waypost approve asks --approval" in done.err


def test_a_run_that_pauses_exits_with_the_code_of_a_pause(
    store: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASK", "1")
    done = cli("resume", "fails")
    assert done.code == 4
    assert "waypost approve fails --approval" in done.err
    assert cli("resume", "fails", "--json").code == 3, "and waits from then on"


def test_an_error_of_the_agent_is_one_masked_line(
    store: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIL_AT", "ccc")
    done = cli("resume", "fails")
    assert done.code == 8
    assert "Traceback" not in done.err
    assert "ValueError: no licence file" in done.err
    assert "hunter2222" not in done.err
    monkeypatch.setenv("WAYPOST_DEBUG", "1")
    assert "Traceback" in cli("resume", "fails").err


def test_a_run_held_by_a_living_process_is_left_alone(store: Path, cli: Cli) -> None:
    line = "import audit; audit.audit.start_or_resume('fails')"
    held = subprocess.Popen(
        [sys.executable, "-c", line], cwd=store, env={**os.environ, "HOLD_AT": "ccc"},
        stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert held.stdin is not None
    assert held.stdout is not None
    try:
        assert [held.stdout.readline(), held.stdout.readline()] == ["the agent speaks\n", "in the call\n"]
        done = cli("resume", "fails")
        assert done.code == 5
        assert f"pid {held.pid}" in done.err
        assert cli("why", "fails", "--json").json["state"] == "running"
        assert cli("preflight", "fails").code == 3
        (call,) = cli("show", "fails", "--json").json["in_doubt"]
        refused = cli("approve", "fails", "--effect", call["effect_id"], "--did-not-happen")
        assert refused.code == 5, "it may still learn the outcome itself"
    finally:
        held.stdin.close()
        assert held.wait(20) == 0
        held.stdout.close()


def test_another_agent_can_be_named_and_one_that_is_not_there_is_refused(
    store: Path, cli: Cli, agent_here: str
) -> None:
    assert cli("resume", "fails", "--agent", "nowhere:agent").code == 2
    assert "cannot be imported" in cli("preflight", "fails", "--agent", "nowhere:agent").err
    assert "not a function under `@agent" in cli("preflight", "fails", "--agent", "os:path").err
    assert cli("resume", "fails", "--agent", agent_here).code == 0


def test_edited_code_is_refused_until_a_person_waives_exactly_that(
    store: Path, cli: Cli, agent_here: str
) -> None:
    edit_the_body(store)
    assert "no open finding on topology" in cli("approve", "fails", "--waive", "topology").err
    refused = cli("resume", "fails", "--agent", agent_here)
    assert refused.code == 3
    assert "waypost approve fails --waive topology" in refused.err
    assert cli("approve", "fails", "--waive", "Topology", "--why", "a comment").code == 0
    assert cli("preflight", "fails", "--agent", agent_here).code == 0
    assert cli("resume", "fails", "--agent", agent_here).code == 0


def test_the_resume_log_keeps_who_and_why(store: Path, cli: Cli) -> None:
    cli("resume", "fails", "--why", "the file is back")
    lines = [line for line in cli("export", "fails").out.splitlines() if '"kind": "resume"' in line]
    assert '"why": "the file is back"' in lines[-1]
    assert f'"who": "{os.environ.get("USER", "")}' in lines[-1] or '"who": "' in lines[-1]
