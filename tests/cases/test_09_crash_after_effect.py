"""Case 09: a crash after some effects of a step; each has happened exactly once in the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from tests.cases.conftest import World
from tests.cases.inputs.case_09 import EXPECTED, RESULTS, STEP
from tests.cases.lives import KILLED, die, lives
from tracer import KEY, Run, State, agent, model, write
from tracer.recorder import recorder
from tracer.store import read


class Order(State, version=1):
    messages: list[dict[str, Any]] = Field(default_factory=list)
    said: str = ""


class Broken(Exception):
    """The model's provider is down."""


def build(world: World, crash: list[str]) -> Any:
    """An agent of one step; *crash* is emptied by the crash it asks for."""

    @write(key_param="key")
    def charge(order: str, amount: int, *, key: str = KEY) -> Any:
        world.does(f"charge {order} {amount}")
        return RESULTS["charge"]

    @write(key_param="key")
    def refund(order: str, *, key: str = KEY) -> Any:
        world.does(f"refund {order}")
        return RESULTS["refund"]

    @write(key_param="key")
    def notify(channel: str, *, key: str = KEY) -> Any:
        if crash == ["third tool"]:
            die()
        world.does(f"notify {channel}")
        return RESULTS["notify"]

    @model
    def turn(messages: list[Any]) -> str:
        if crash == ["model"]:
            crash.clear()
            raise Broken
        return "done"

    @agent("orders", plan="1")
    def orders(run: Run, state: Order) -> Order:
        tools: dict[str, Any] = {"charge": charge, "refund": refund, "notify": notify}
        contents = [{"tool": name, "content": tools[name](**args)} for name, args in STEP]
        state.said = turn(contents)
        state.messages.extend(contents)
        run.checkpoint("step")
        return state

    return orders


def everything_once(world: World, state: Order) -> None:
    assert world.lines() == EXPECTED
    assert [one["content"] for one in state.messages] == list(RESULTS.values())


def test_a_sigkill_in_the_third_tool(home: Path, world: World) -> None:
    assert lives(lambda: build(world, ["third tool"]).start_or_resume("o1", Order())) == KILLED
    with recorder().store.reader.connect() as connection:
        before = {call.tool: call.state for call in read.calls(connection, "o1")}
    assert before == {"charge": "committed", "refund": "committed", "notify": "sent"}
    everything_once(world, build(world, []).start_or_resume("o1"))


@pytest.mark.parametrize("tool", [1, 2, 3])
@pytest.mark.parametrize("point", ["call.after_intent", "call.before_outcome", "call.after_outcome"])
def test_a_sigkill_around_any_tool_sends_nothing_under_a_second_key(
    home: Path, world: World, point: str, tool: int
) -> None:
    assert lives(lambda: build(world, []).start_or_resume("o1", Order()), dies_at=(point, tool)) == KILLED
    state = build(world, []).start_or_resume("o1")
    assert [one["content"] for one in state.messages] == list(RESULTS.values())
    with recorder().store.reader.connect() as connection:
        calls = read.calls(connection, "o1", kinds=("write",))
    assert [(call.tool, call.state) for call in calls] == [(name, "committed") for name in RESULTS]
    assert len({call.idempotency_key for call in calls}) == 3
    sent_twice = {"call.after_intent": 0, "call.before_outcome": 1, "call.after_outcome": 0}[point]
    assert len(world.lines()) == 3 + sent_twice, (
        "sent again only where no outcome was known, and with its stored key"
    )
    assert set(world.lines()) == set(EXPECTED)


def test_an_exception_of_the_model_after_the_tools(home: Path, world: World) -> None:
    orders = build(world, ["model"])
    with pytest.raises(Broken):
        orders.start_or_resume("o1", Order())
    assert world.lines() == EXPECTED
    everything_once(world, orders.start_or_resume("o1"))


def test_a_retry_of_the_whole_step_by_the_caller(home: Path, world: World) -> None:
    orders = build(world, ["model"])
    for attempt in range(4):
        try:
            state = orders.start_or_resume("o1", Order())
        except Broken:
            assert attempt == 0
            continue
        everything_once(world, state)
