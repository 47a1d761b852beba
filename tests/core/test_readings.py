"""Is an edited row noticed before anybody acts on it, though the journal itself is untouched?"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from pydantic import Field

from tests.core.conftest import change, undone
from tracer import KEY, Paused, ResumeRefused, Run, State, agent, read, write
from tracer.recorder import Recorder
from tracer.store.read import MAIN
from tracer.verify import damage_of, verify


class Job(State, version=1):
    todo: list[int]
    done: list[int] = Field(default_factory=list)


sent: list[int] = []


@write(key_param="key", identity=("n",))
def act(n: int, *, key: str = KEY) -> int:
    sent.append(n)
    return n * 10


@read
def look(n: int) -> int:
    return n


@agent("worker", plan="1")
def worker(run: Run, state: Job) -> Job:
    for n in run.each(state.todo):
        state.done.append(act(look(n)))
        if n == 2:
            run.ask("Go on?")
    return state


@pytest.fixture
def paused(held: Recorder) -> Recorder:
    """A run that asked a person between an effect and its checkpoint."""
    sent.clear()
    with pytest.raises(Paused):
        worker.start_or_resume("r1", Job(todo=[1, 2, 3]))
    assert sent == [1, 2]
    assert verify(held, "r1", MAIN).sound
    return held


EDITS = {
    "the effect never happened": "UPDATE call SET state = 'failed' WHERE tool = 'act'",
    "the effect is in doubt": "UPDATE call SET state = 'unknown' WHERE tool = 'act'",
    "another result": "UPDATE call SET result = X'003939' WHERE tool = 'act'",
    "other arguments": "UPDATE call SET args = X'007B7D' WHERE tool = 'act'",
    "another key": "UPDATE call SET idempotency_key = 'wp-other' WHERE tool = 'act'",
    "another identity": "UPDATE call SET identity_digest = zeroblob(32)",
    "a read had another result": "UPDATE call SET result = X'003939' WHERE tool = 'look'",
    "a call is gone": "DELETE FROM call WHERE tool = 'act'",
    "an approval nobody gave": "UPDATE approval SET state = 'approved', decided_by = 'kim'",
    "an approval of something else": "UPDATE approval SET binding = zeroblob(32)",
    "no question at all": "DELETE FROM approval",
    "the run is done": "UPDATE branch SET state = 'done'",
    "an older position": "UPDATE branch SET position = 1",
    "another epoch": "UPDATE branch SET epoch = 7",
    "another owner": "UPDATE branch SET owner = 'h/b/1/1/t'",
    "another program": "UPDATE run SET entrypoint = 'os:system'",
}


def test_an_edited_row_is_damage(paused: Recorder, home: Path) -> None:
    unnoticed = []
    for what, sql in EDITS.items():
        with undone(home):
            change(home, sql)
            if verify(paused, "r1", MAIN).sound or not damage_of(paused, "r1", MAIN):
                unnoticed.append(what)
    assert unnoticed == []
    assert verify(paused, "r1", MAIN).sound, "each edit was taken back"


def test_a_call_that_somebody_added_is_damage(paused: Recorder, home: Path) -> None:
    connection = sqlite3.connect(home / "waypost.db")
    columns = [row[1] for row in connection.execute("PRAGMA table_info('call')")]
    given = ", ".join({"effect_id": "'ff'", "number": "99"}.get(name, name) for name in columns)
    with connection:
        connection.execute(f"INSERT INTO call SELECT {given} FROM call LIMIT 1")
    connection.close()
    assert "no entry has written it" in damage_of(paused, "r1", MAIN)


def test_the_gate_stops_a_run_whose_ledger_was_edited(paused: Recorder, home: Path) -> None:
    change(home, EDITS["the effect never happened"])
    with pytest.raises(ResumeRefused, match="abort") as refused:
        worker.start_or_resume("r1")
    assert "integrity" in str(refused.value)
    assert sent == [1, 2]
