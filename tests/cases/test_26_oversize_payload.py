"""Case 26, with 4 MiB for its 30: a large result lies in the blob store by its digest, once.

What is over the limit is refused once, with its path, size and limit.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from tests.cases.conftest import World
from tests.cases.inputs.case_26 import tool_output
from tests.cases.lives import KILLED, lives
from tracer import Run, State, agent
from tracer import read as reads
from tracer.recorder import recorder
from tracer.store import read
from tracer.store.objects import BLOB_FROM

SMALL_ROW = 8 * 1024
MIB = 1024 * 1024


class Pictures(State, version=1):
    seen: dict[str, bytes] = Field(default_factory=dict)


def build(world: World, output: Any = tool_output) -> Any:
    @reads
    def shoot(name: str) -> Any:
        world.does(name)
        return output()

    @agent("camera", plan="1")
    def camera(run: Run, state: Pictures) -> Pictures:
        for name in ("one", "two"):
            state.seen[name] = shoot(name)
        return state

    return camera


def test_a_large_value_is_kept_by_reference_once_and_comes_back_whole(home: Path, world: World) -> None:
    camera = build(world)
    assert (
        lives(lambda: camera.start_or_resume("c1", Pictures()), dies_at=("call.after_outcome", 2)) == KILLED
    )
    state = camera.start_or_resume("c1")
    assert state.seen == {"one": tool_output(), "two": tool_output()}
    assert world.lines() == ["one", "two"], "both results came from the ledger"
    connection = sqlite3.connect(home / "waypost.db")
    for table, column in (("entry", "body"), ("object", "data"), ("call", "result"), ("call", "args")):
        (largest,) = connection.execute(f"SELECT max(length({column})) FROM {table}").fetchone()
        assert largest < SMALL_ROW, f"a row of {table} holds {largest} bytes"
    connection.close()
    blobs = [path for path in (home / "blobs").rglob("*") if path.is_file()]
    assert len(blobs) == 1, "the same bytes are stored once"
    assert blobs[0].stat().st_size > BLOB_FROM


class Unending:
    """Nothing that could be kept."""


def test_a_result_that_cannot_be_kept_is_told_once_and_the_call_is_not_made_again(
    home: Path, world: World
) -> None:
    @agent("camera", plan="1")
    def camera(run: Run, state: Pictures) -> Pictures:
        shoot("one")
        return state

    @reads
    def shoot(name: str) -> Any:
        world.does(name)
        return {"picture": {"raw": Unending()}}

    camera.start_or_resume("c1", Pictures())
    assert world.lines() == ["one"]
    with recorder().store.reader.connect() as connection:
        (call,) = read.calls(connection, "c1")
    assert (call.state, call.flags) == ("committed", "result unstorable")
    assert "$.result.picture.raw" in call.error
    assert "Unending" in call.error


def test_a_state_over_the_limit_fails_fast_with_path_size_and_limit(
    home: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tracer.errors import LimitExceeded
    from tracer.recorder import Recorder

    commits: list[Any] = []
    journal = recorder().journal
    whole = journal.append
    monkeypatch.setattr(journal, "append", lambda append: (commits.append(append), whole(append))[1])
    assert isinstance(recorder(), Recorder)

    @agent("hoarder", plan="1")
    def hoarder(run: Run, state: Pictures) -> Pictures:
        state.seen["huge"] = b"\0" * (257 * MIB)
        run.checkpoint("huge")
        return state

    with pytest.raises(LimitExceeded) as refused:
        hoarder.start_or_resume("c2", Pictures())
    assert refused.value.path == "$.seen.huge"
    assert f"{257 * MIB} bytes are over the limit of {256 * MIB}" in str(refused.value)
    assert len(commits) == 2, "the start and the end of the run: nothing was tried again"
