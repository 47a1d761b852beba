"""Case 19, without its migrations: what the schema forbids is refused at the write; what is newer is not guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases.inputs.case_19 import BAD, GOOD, NEWER
from tracer import Paused, ResumeRefused, Run, State, agent
from tracer.errors import NotStorable
from tracer.recorder import recorder
from tracer.store import read
from tracer.verify import verify
from tracer.world import load


def of_this_release() -> Any:
    class Thread(State, version=1):
        items: list[str]
        owner: str

    return Thread


def of_a_newer_one() -> Any:
    class Thread(State, version=NEWER):
        items: list[str]
        owner: str

    return Thread


V1, V9 = of_this_release(), of_a_newer_one()


@agent("node", plan="1")
def node(run: Run, state: V1) -> V1:
    run.checkpoint("good")
    for name, value in BAD.items():
        setattr(state, name, value)
    run.checkpoint("bad_write")
    return state


def sequences() -> list[int | None]:
    with recorder().store.reader.connect() as connection:
        return [entry.sequence for entry in read.checkpoints(connection, "r0")]


def test_a_bad_write_is_refused_with_its_field_and_the_checkpoint_before_stays_usable(home: Path) -> None:
    with pytest.raises(NotStorable) as refused:
        node.start_or_resume("r0", V1(**GOOD))
    assert refused.value.path == "$.items"
    assert "list" in str(refused.value)
    assert sequences() == [1, 2], "nothing was written of it"
    assert load(recorder(), "r0", read.MAIN, 2).fields == GOOD
    assert verify(recorder(), "r0", read.MAIN).sound


def test_a_state_of_a_newer_release_is_refused_and_left_as_it_is(home: Path) -> None:
    @agent("sleeper", plan="1")
    def newer(run: Run, state: V9) -> V9:
        run.pause("asleep")
        return state

    ran: list[Any] = []

    @agent("sleeper", plan="1")
    def older(run: Run, state: V1) -> V1:
        ran.append(state)
        return state

    with pytest.raises(Paused):
        newer.start_or_resume("r4", V9(items=[], owner="u1"))
    with recorder().store.reader.connect() as connection:
        head = read.run_by_id(connection, "r4")
    with pytest.raises(ResumeRefused, match="newer than this code") as refused:
        older.start_or_resume("r4")
    assert refused.value.verdict == "abort"
    assert ran == []
    assert head is not None
    loaded = load(recorder(), "r4", read.MAIN, head.head_sequence)
    assert (loaded.version, loaded.fields) == (NEWER, {"items": [], "owner": "u1"})
    assert not older.preflight("r4").verdict.admits
