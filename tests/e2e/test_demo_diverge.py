"""Is the resumed agent of the demo left alone when it keeps its place, and caught when it opens a wrong ticket?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from examples.licence_audit.astray import ASTRAY, Slip, subject
from examples.licence_audit.harness import run_demo, surveyed
from examples.licence_audit.lives import Forker, Lives
from examples.licence_audit.result import DemoResult
from tests.e2e.small_environment import few
from tracer.cli import waypost
from tracer.recorder import reset
from tracer.store import objects, read
from tracer.store.engine import Store

SEEDS = range(6)
"""Kill points and lost answers for which it has to be silent; the fifty seeds of the demo hold it to that too."""
ASTRAY_SEEDS = range(3)


@pytest.fixture(scope="module")
def lives() -> Iterator[Lives]:
    """One warm interpreter; every life is a fork of it."""
    with Forker() as forker:
        yield forker


def told(result: DemoResult, *options: str) -> tuple[int, str]:
    """(exit code, output) of `waypost divergence` about the demo's run."""
    reset()
    command = ("--store", str(result.store), "divergence", result.run_id, *options)
    done = CliRunner().invoke(waypost, command, catch_exceptions=False)
    reset()
    return done.exit_code, done.stdout


@pytest.mark.kill
@pytest.mark.parametrize("seed", SEEDS)
def test_a_resumed_agent_that_keeps_its_place_has_a_quiet_tape(
    seed: int, lives: Lives, tmp_path: Path
) -> None:
    result = run_demo(seed=seed, approve=True, home=tmp_path, only=few(), lives=lives)
    assert (result.complaints, result.alert) == ((), "")
    code, said = told(result)
    assert code == 0, said
    assert f"{result.run_id}-never-killed" in said
    assert "quiet" in said.splitlines()[0]


@pytest.mark.kill
@pytest.mark.parametrize("seed", ASTRAY_SEEDS)
def test_a_ticket_for_the_wrong_distribution_is_what_the_alert_names_first(
    seed: int, lives: Lives, tmp_path: Path
) -> None:
    names: list[str] = []
    result = run_demo(
        seed=seed, approve=True, diverge=True, home=tmp_path, only=few(), lives=lives, say=names.append
    )
    assert result.complaints == ()
    (slip,) = [line for line in names if line.startswith("The resumed agent will take")]
    right, wrong = slip.removesuffix(".").split(" take ")[1].split(" for ")
    assert wrong in result.alert
    store = Store.open(result.store, create=False)
    with store.reader.connect() as connection:
        (alert,) = read.alerts(connection, run_id=result.run_id)
        found = read.alert_by_id(connection, alert.alert_id)
        made = read.calls(connection, result.run_id, kinds=("write",))
    store.close()
    wrongly = [call for call in made if call.target.startswith(f"{wrong} ")]
    assert found is not None
    first = objects.unpack_record(found[1], "alert")["reasons"][0]
    assert (first["tool"], first["number"]) == ("open_ticket", wrongly[0].number)
    assert alert.segment == 2
    code, said = told(result)
    assert code == 1
    assert f"dist: {right} → {wrong}" in said
    assert (result.missing_effects > 0, result.duplicated_effects) == (True, 0)


def test_the_slip_follows_from_the_seed_and_lies_behind_the_kill() -> None:
    wanted, innocent = surveyed(None, few())
    first, last = min(dist for dist, _ in wanted), max(dist for dist, _ in wanted)
    slips = {Slip.of(seed, wanted, innocent, first) for seed in range(40)}
    assert len(slips) > 1
    assert Slip.of(7, wanted, innocent, first) == Slip.of(7, wanted, innocent, first)
    assert all(first < slip.right <= last and slip.wrong in innocent for slip in slips)


def test_an_agent_that_nobody_sends_astray_opens_its_tickets_for_what_it_looks_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert subject("gtk") == "gtk"
    for value, wanted in (("gtk=sax", "sax"), ("other=sax", "gtk"), ("gtk=", "gtk"), ("gtk", "gtk")):
        monkeypatch.setenv(ASTRAY, value)
        assert subject("gtk") == wanted
