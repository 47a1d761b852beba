"""Case 05, the core's half: a call without a result is settled from the ledger, never by a blind second run.

The history that a strict provider accepts is the savers' half.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.conftest import World
from tests.cases.lives import KILLED, lives
from tracer import KEY, NOT_FOUND, ResumeRefused, Run, State, agent, write
from tracer.recorder import recorder
from tracer.store import read

CASE: dict[str, Any] = json.loads((Path(__file__).parent / "inputs" / "case_05.json").read_text("utf-8"))


class Thread(State, version=1):
    messages: list[dict[str, Any]]


def agent_with(tool: Any) -> Any:
    @agent("booker", plan="1")
    def booker(run: Run, state: Thread) -> Thread:
        call = state.messages[-1]["tool_calls"][0]
        result = tool(**call["args"], call_key=call["id"])
        state.messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        return state

    return booker


def tools(world: World) -> dict[str, Any]:
    """The same tool, as it can be declared."""
    result = CASE["result"]

    @write(name="book_room", key_param="key")
    def with_key(room: str, *, key: str = KEY) -> dict[str, str]:
        if not [line for line in world.lines() if line.startswith(key)]:
            world.does(f"{key} book {room}")
        return dict(result)

    def booked(room: str) -> Any:
        return dict(result) if world.lines() else NOT_FOUND

    @write(name="book_room", reconcile=booked)
    def asked(room: str) -> dict[str, str]:
        world.does(f"book {room}")
        return dict(result)

    @write(name="book_room")
    def opaque(room: str) -> dict[str, str]:
        world.does(f"book {room}")
        return dict(result)

    return {"key": with_key, "reconcile": asked, "opaque": opaque}


@pytest.mark.parametrize("variant", CASE["variants"])
@pytest.mark.parametrize("declared", ["key", "reconcile", "opaque"])
def test_an_orphan_call_is_settled_from_the_ledger(
    home: Path, world: World, variant: str, declared: str
) -> None:
    booker = agent_with(tools(world)[declared])
    point, nth = CASE["variants"][variant]["dies_at"]
    start = Thread(messages=CASE["messages"])
    assert lives(lambda: booker.start_or_resume("t1", start), dies_at=(point, nth)) == KILLED
    assert len(world.lines()) == CASE["variants"][variant]["effects_before"]
    in_doubt = variant in ("started, outcome unknown", "happened, outcome unknown")
    outcomes = []
    for _ in range(3):
        try:
            outcomes.append([dict(one) for one in booker.start_or_resume("t1").messages])
        except ResumeRefused as refused:
            outcomes.append(str(refused))
    assert outcomes[0] == outcomes[1] == outcomes[2], "a second and third resume give the same"
    if in_doubt and declared == "opaque":
        assert "waypost approve" in outcomes[0]
        assert len(world.lines()) == CASE["variants"][variant]["effects_before"], "never a blind second run"
    else:
        assert outcomes[0][:2] == CASE["messages"], "the original call is kept"
        assert outcomes[0][2] == {"role": "tool", "tool_call_id": "call_A", "content": CASE["result"]}
        assert len(world.lines()) == 1
    with recorder().store.reader.connect() as connection:
        resumes = read.entries(connection, "t1", kinds=("resume", "refusal"))
        answers = read.entries(connection, "t1", kinds=("answer",))
    assert resumes
    asked = declared == "reconcile" and variant == "happened, outcome unknown"
    given_back = variant == "completed" or asked
    assert len(answers) == given_back, "a result that is given back has its line in the journal"
