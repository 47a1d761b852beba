"""Case 25 with 200 steps: a step costs what changed in it, any step is rebuilt, a lost part is named."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from pydantic import Field

from tests.cases.inputs.case_25 import steps
from tracer import Run, State, agent
from tracer.errors import IntegrityError
from tracer.recorder import Recorder, recorder
from tracer.store import read
from tracer.verify import verify
from tracer.world import load

COUNT = 200
DELTAS_MOST = 100


class History(State, version=1):
    messages: list[dict[str, Any]] = Field(default_factory=list)
    scratch: dict[str, Any] = Field(default_factory=dict)


cost: list[int] = []


@agent("long", plan="1")
def long(run: Run, state: History) -> History:
    journal = run._segment.recorder.journal
    whole = journal.append

    def counted(append: Any) -> Any:
        cost.append(sum(map(len, append.objects.values())))
        return whole(append)

    journal.append = counted  # type: ignore[method-assign]
    for step in steps(COUNT):
        state.messages.extend(step["append"])
        state.scratch["notes"] = step["notes"]
        run.checkpoint("step")
    journal.append = whole  # type: ignore[method-assign]
    return state


@pytest.fixture
def long_run(home: Path) -> Recorder:
    cost.clear()
    long.start_or_resume("l1", History())
    return recorder()


def size_of(home: Path) -> int:
    connection = sqlite3.connect(home / "waypost.db")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    blobs = sum(path.stat().st_size for path in (home / "blobs").rglob("*") if path.is_file())
    return (home / "waypost.db").stat().st_size + blobs


def messages_at(step: int) -> list[dict[str, Any]]:
    return [message for one in list(steps(COUNT))[:step] for message in one["append"]]


def test_the_budget_of_a_long_run(long_run: Recorder, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unique = sum(len(json.dumps(message)) for message in messages_at(COUNT)) + 20 * 2_002
    assert size_of(home) <= 3 * unique
    small = [sum(len(message["content"]) for message in one["append"]) < 1_000 for one in steps(COUNT)]
    at = [bytes_ for bytes_, is_small in zip(cost[1:], small, strict=False) if is_small]
    assert median(at[-40:]) <= 1.5 * median(at[10:50]), "the last steps cost what the first ones did"
    gets: list[int] = []
    get = Recorder.get

    def counted(self: Recorder, digests: Any) -> dict[bytes, bytes]:
        wanted = list(digests)
        gets.append(len(wanted))
        return get(self, wanted)

    monkeypatch.setattr(Recorder, "get", counted)
    for sequence in (2, COUNT // 2, COUNT + 1):
        gets.clear()
        first = load(long_run, "l1", read.MAIN, sequence)
        assert len(gets) <= DELTAS_MOST
        assert first.fields["messages"] == messages_at(sequence - 1)
        assert load(long_run, "l1", read.MAIN, sequence).fields == first.fields


def test_a_lost_part_is_detected_and_named_and_earlier_steps_still_open(
    long_run: Recorder, home: Path
) -> None:
    part = load(long_run, "l1", read.MAIN, COUNT).root["messages"]["$#"]
    connection = sqlite3.connect(home / "waypost.db")
    with connection:
        gone = connection.execute("DELETE FROM object WHERE digest = ?", (bytes.fromhex(part),)).rowcount
    connection.close()
    assert gone == 1
    with pytest.raises(IntegrityError, match=part):
        load(long_run, "l1", read.MAIN, COUNT)
    assert load(long_run, "l1", read.MAIN, COUNT // 2).fields["messages"] == messages_at(COUNT // 2 - 1)
    assert any(part in problem for problem in verify(long_run, "l1", read.MAIN).problems)
