"""Would the demo notice what it promises does not happen?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.licence_audit.errors import AuditError, NeverEnded, TooFewProblems
from examples.licence_audit.harness import next_lines, wanted_of
from examples.licence_audit.life import Life
from examples.licence_audit.lives import Running, ended, kill
from examples.licence_audit.result import DemoResult
from examples.licence_audit.stage import Stage
from examples.licence_audit.tally import Tally, tally_of
from examples.licence_audit.ticket_faults import FaultPlan
from examples.licence_audit.ticket_store import Request, Ticket
from examples.licence_audit.trial import complaints_about

PLAN = FaultPlan(withhold=2, drop=(1,))
GOOD = Tally(duplicated=(), missing=(), unwanted=(), requests=12, repeats=2, reworded=2)
EFFECTS = st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from(["r", "s"]))


def test_a_run_that_holds_gives_no_complaint() -> None:
    assert complaints_about(GOOD, PLAN) == []


@pytest.mark.parametrize(
    ("tally", "said"),
    [
        (Tally((("a", "r"),), (), (), 12, 2, 2), "Twice: a, r."),
        (Tally((), (("a", "r"),), (), 12, 2, 2), "Missing: a, r."),
        (Tally((), (), (("a", "r"),), 12, 2, 2), "Nobody wanted: a, r."),
        (Tally((), (), (), 13, 3, 3), "3 repeats reached the service for 2 faults."),
        (Tally((), (), (), 11, 1, 1), "1 repeats reached the service for 2 faults."),
        (Tally((), (), (), 12, 2, 1), "Only 1 of 2 repeats were worded anew."),
    ],
)
def test_whatever_does_not_hold_is_said(tally: Tally, said: str) -> None:
    assert complaints_about(tally, PLAN) == [said]


@given(st.sets(EFFECTS, max_size=6), st.lists(EFFECTS, max_size=12))
def test_the_tally_adds_up(wanted: set[tuple[str, str]], opened: list[tuple[str, str]]) -> None:
    tickets = [Ticket(n, f"k{n}", dist, rule, "t", 0) for n, (dist, rule) in enumerate(opened, 1)]
    requests = [Request(t.number, t.key, t.dist, t.rule, "t", t.number, "answer", 0) for t in tickets]
    tally = tally_of(wanted, tickets, requests)
    assert len(opened) == len(set(opened)) + len(tally.duplicated)
    assert set(opened) == (wanted - set(tally.missing)) | set(tally.unwanted)
    assert (tally.requests, tally.repeats) == (len(opened), 0)
    assert tally.clean == (sorted(opened) == sorted(wanted))


@dataclass
class _Sleeping:
    """A life that never ends by itself."""

    process: subprocess.Popen[bytes]
    pid: int

    def ended_within(self, seconds: float) -> int | None:
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None


class _Sleepers:
    """Starts lives that never end by themselves, and knows the last one."""

    last: subprocess.Popen[bytes]

    def start(self, life: Life) -> Running:
        self.last = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
        return _Sleeping(self.last, self.last.pid)


def test_a_kill_leaves_minus_nine() -> None:
    assert kill(_Sleepers().start(Life("R", "report.md", 1))) == -signal.SIGKILL


def test_a_life_that_never_ends_is_killed_and_named() -> None:
    sleepers = _Sleepers()
    with pytest.raises(NeverEnded, match="Run R"):
        ended(sleepers, Life("R", "report.md", 1), 0.05)
    assert sleepers.last.returncode == -signal.SIGKILL


def test_a_life_survives_its_way_to_another_process() -> None:
    life = Life("R", "/r.md", 7, only=("a", "b"), limit=3, environment={"A": "b"})
    assert Life.from_json(life.to_json()) == life


def test_the_record_has_the_promised_keys_on_one_line(tmp_path: Path) -> None:
    result = DemoResult("R", 9, 3, -9, 0, 0, 9, 9, 4096, "continue", None, "paused", tmp_path, tmp_path)
    assert "\n" not in result.to_json()
    assert json.loads(result.to_json())["report_equal"] is None
    assert list(json.loads(result.to_json())) == [
        "run_id", "checkpoints", "segments", "killed_exit", "duplicated_effects", "missing_effects",
        "events_exported", "events_distinct", "store_bytes", "verdict", "report_equal",
    ]  # fmt: skip


def test_the_next_lines_are_exact_and_only_those_that_are_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: "/bin/waypost")
    there = Stage("R", tmp_path / "my home", tmp_path, 1)
    home = f"WAYPOST_HOME='{tmp_path}/my home' "
    lines = next_lines(there, waits=True, serve=True)
    assert lines == (f"{home}waypost approve R", f"{home}waypost resume R")
    default = Stage("R", Path(".waypost").absolute(), tmp_path, 1)
    assert next_lines(default, waits=False, serve=False) == ("waypost inspect",)


def test_an_environment_with_too_few_problems_is_refused() -> None:
    with pytest.raises(TooFewProblems, match="need 8"):
        wanted_of(None, ["pytest"])


def test_every_error_says_what_was_seen_and_descends_from_one() -> None:
    error = TooFewProblems(2, 30, 8)
    assert isinstance(error, AuditError)
    assert str(error).endswith("Found 2 in 30 distributions, need 8.")
    assert os.linesep not in str(error)
