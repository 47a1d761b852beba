"""What is written when a person settles a call, and what is not written when they may not?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tracer import reconcile, recorder
from tracer.errors import AlreadyResumed, LimitExceeded, NotInDoubt, NotStorable, UnknownCall, UnknownRun
from tracer.recorder import Recorder
from tracer.store import read
from tracer.verify import verify

pytestmark = pytest.mark.kill
SECRET = "sk-settledbyhand0123456789"


@pytest.fixture
def held(store: Path) -> Iterator[Recorder]:
    yield recorder.recorder(create=False)
    recorder.reset()


def in_doubt(held: Recorder) -> str:
    with held.store.reader.connect() as connection:
        (call,) = read.calls(connection, "killed", states=("sent", "unknown"))
    return call.effect_id


def entries(held: Recorder) -> int:
    with held.store.reader.connect() as connection:
        return read.count_entries(connection, "killed")


@pytest.mark.parametrize(
    "result", [7, None, "x" * 300_000, {"$tag": [1.5, True]}, [{"n": n} for n in range(2_000)], SECRET]
)
def test_the_agent_gets_exactly_what_the_person_said(
    held: Recorder, cli: Cli, result: Any, store: Path
) -> None:
    effect = in_doubt(held)
    settled = reconcile.settle(held, "killed", effect, result, who="ann", why="seen", how="here")
    assert (settled.call.state, settled.call.flags) == ("committed", "reconciled unheard")
    assert verify(held, "killed", "main").problems == ()
    recorder.reset()
    assert cli("resume", "killed").code == 0
    answers = [line for line in cli("export", "killed").out.splitlines() if '"kind": "answer"' in line]
    assert effect in {json.loads(line)["subject"] for line in answers}


def test_a_secret_in_the_result_is_not_in_the_store_in_clear(held: Recorder, store: Path) -> None:
    reconcile.settle(held, "killed", in_doubt(held), {"token": SECRET}, who="ann")
    recorder.reset()
    for path in (store / ".waypost").rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes()


def test_what_cannot_be_kept_exactly_changes_nothing(held: Recorder) -> None:
    before, effect = entries(held), in_doubt(held)
    loop: list[Any] = []
    loop.append(loop)
    for bad in (object(), loop):
        with pytest.raises((NotStorable, LimitExceeded)):
            reconcile.settle(held, "killed", effect, bad, who="ann")
    assert (entries(held), in_doubt(held)) == (before, effect)


def test_names_that_lead_nowhere_are_told_apart(held: Recorder) -> None:
    effect = in_doubt(held)
    with pytest.raises(UnknownRun):
        reconcile.settle(held, "nobody", effect, who="ann")
    for wrong in ("f" * 32, effect[:5], ""):
        with pytest.raises(UnknownCall):
            reconcile.settle(held, "killed", wrong, who="ann")
    with held.store.reader.connect() as connection:
        known = next(call for call in read.calls(connection, "killed") if call.effect_id != effect)
    with pytest.raises(NotInDoubt, match="it is committed"):
        reconcile.settle(held, "killed", known.effect_id, who="ann")


def test_a_resume_that_begins_meanwhile_wins(held: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    before, effect = entries(held), in_doubt(held)
    look = reconcile._found

    def stale(*args: Any) -> Any:
        row, call, questions = look(*args)
        return replace(row, epoch=row.epoch - 1), call, questions

    monkeypatch.setattr(reconcile, "_found", stale)
    with pytest.raises(AlreadyResumed):
        reconcile.settle(held, "killed", effect, 1, who="ann")
    assert (entries(held), in_doubt(held)) == (before, effect)
