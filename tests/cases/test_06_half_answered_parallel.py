"""Case 06: of a parallel batch only some calls were answered; each is matched by its own id."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from pydantic import Field

from tests.cases.conftest import World
from tests.cases.lives import KILLED, lives
from tracer import KEY, Run, State, agent, model, write
from tracer import read as reads
from tracer.recorder import recorder
from tracer.store import read

CASE: dict[str, Any] = json.loads((Path(__file__).parent / "inputs" / "case_06.json").read_text("utf-8"))


class Turn(State, version=1):
    results: list[dict[str, str]] = Field(default_factory=list)
    said: str = ""


def build(world: World) -> Any:
    @reads
    async def fetch_price(sku: str) -> str:
        if sku == "B":
            await asyncio.sleep(0)  # lets c1 finish first, as in the report
        world.does(f"price {sku}")
        return str(CASE["prices"][sku])

    @write(key_param="key")
    async def reserve(sku: str, quantity: int, *, key: str = KEY) -> str:
        world.does(f"reserve {sku} {quantity} {key}")
        return "reserved"

    @model
    async def turn(seen: list[dict[str, str]]) -> str:
        world.does(f"model {len(seen)}")
        return "both are in stock"

    @agent("shopper", plan="1")
    async def shopper(run: Run, state: Turn) -> Turn:
        tools: dict[str, Any] = {"fetch_price": fetch_price, "reserve": reserve}
        calls = CASE["tool_calls"]
        first = calls[0]
        answered = [await tools[first["name"]](**first["args"], call_key=first["id"])]
        answered += await asyncio.gather(
            *(tools[call["name"]](**call["args"], call_key=call["id"]) for call in calls[1:])
        )
        for call, content in zip(calls, answered, strict=True):
            state.results.append({"tool_call_id": call["id"], "content": content})
        state.said = await turn(list(state.results))
        return state

    return shopper


def test_only_what_was_not_answered_runs_and_the_model_is_asked_last(home: Path, world: World) -> None:
    shopper = build(world)
    died = lives(
        lambda: asyncio.run(shopper.start_or_resume("s1", Turn())), dies_at=("call.after_outcome", 1)
    )
    assert died == KILLED
    assert world.lines() == ["price A"]
    with recorder().store.reader.connect() as connection:
        before = {call.call_key: call.state for call in read.calls(connection, "s1")}
    assert before == {"c1": "committed"}, "c1 is done; c2 and c3 were never begun"
    state = asyncio.run(shopper.start_or_resume("s1"))
    assert [one["tool_call_id"] for one in state.results] == ["c1", "c2", "c3"]
    assert [one["content"] for one in state.results] == ["10.00", "12.50", "reserved"]
    lines = world.lines()
    assert lines[0] == "price A"
    assert sorted(line.split()[0] for line in lines[1:3]) == ["price", "reserve"]
    assert lines[3:] == ["model 3"]
    with recorder().store.reader.connect() as connection:
        calls = {call.call_key: call for call in read.calls(connection, "s1")}
    assert {key: call.state for key, call in calls.items()} == dict.fromkeys(
        ["c1", "c2", "c3", None], "committed"
    )
    assert (calls["c1"].answers, calls["c2"].answers) == (1, 0)


def test_every_death_in_the_middle_of_the_batch_ends_the_same(
    home: Path, world: World, tmp_path: Path
) -> None:
    shopper = build(world)
    for nth in range(1, 5):
        for point in ("call.before_outcome", "call.after_outcome"):
            world.path = tmp_path / f"{point}{nth}"
            run_id = f"{point}{nth}"
            died = lives(
                lambda run_id=run_id: asyncio.run(shopper.start_or_resume(run_id, Turn())),
                dies_at=(point, nth),
            )
            assert died == KILLED
            state = asyncio.run(shopper.start_or_resume(run_id))
            assert [one["content"] for one in state.results] == ["10.00", "12.50", "reserved"]
            reserved = {line for line in world.lines() if line.startswith("reserve")}
            assert len(reserved) == 1, "under one key, however often it was sent"
