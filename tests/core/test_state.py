"""Which fields may a state have, and does every change of it arrive in the store?"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from tracer import Paused, Run, Secret, State, agent, register_runtime
from tracer.errors import NotStorable
from tracer.items import LOOKED
from tracer.recorder import Recorder
from tracer.types import RuntimeOnly


@dataclass
class Point:
    x: int = 1


class Named(TypedDict):
    name: str


class Client:
    """Something that only lives in a process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


register_runtime(Client)


class Typed(State, version=1):
    point: Point = Point()
    named: Named = {"name": "a"}  # noqa: RUF012 - pydantic copies it
    secret: Secret = Secret("env:HOME")
    points: list[Point] = []  # noqa: RUF012


class Opened(State, version=1):
    todo: list[int] = []  # noqa: RUF012
    client: Annotated[Any, RuntimeOnly("opened by connect()")] = None
    other: Client | None = None


class Long(State, version=1):
    messages: list[dict[str, Any]] = []  # noqa: RUF012


def test_a_field_may_be_a_dataclass_a_typed_dict_or_a_secret(held: Recorder) -> None:
    @agent("typed", plan="1")
    def typed(run: Run, state: Typed) -> Typed:
        state.point.x += 1
        state.named["name"] += "b"
        state.points.append(Point(7))
        if not run.resumed:
            run.checkpoint("kept")
            run.pause("for the night")
        return state

    with pytest.raises(Paused):
        typed.start_or_resume("r1", Typed())
    done = typed.start_or_resume("r1")
    assert (done.point, done.named, done.secret) == (Point(3), {"name": "abb"}, Secret("env:HOME"))
    assert list(done.points) == [Point(7), Point(7)]


@pytest.mark.parametrize(
    ("field", "value", "path"),
    [("point", {"x": 1}, "$.point"), ("named", {"name": 7}, "$.named.name"), ("secret", "plain", "$.secret")],
)
def test_such_a_field_refuses_what_is_none_of_its_type(
    held: Recorder, field: str, value: Any, path: str
) -> None:
    @agent("wrong", plan="1")
    def wrong(run: Run, state: Typed) -> Typed:
        setattr(state, field, value)
        run.checkpoint("never")
        return state

    with pytest.raises(NotStorable) as refused:
        wrong.start_or_resume("r1", Typed())
    assert refused.value.path == path


@pytest.mark.parametrize("field", ["client", "other"])
def test_what_only_lives_here_may_be_opened_again_before_a_loop(held: Recorder, field: str) -> None:
    @agent("opens", plan="1")
    def opens(run: Run, state: Opened) -> Opened:
        setattr(state, field, Client())
        for n in run.each(state.todo):
            if n == 2 and not run.resumed:
                raise ValueError("half way")
        return state

    with pytest.raises(ValueError, match="half way"):
        opens.start_or_resume("r1", Opened(todo=[1, 2, 3]))
    assert list(opens.start_or_resume("r1").todo) == []


@pytest.mark.parametrize("count", [80, 4 * LOOKED])
def test_a_change_through_an_old_alias_is_in_the_last_checkpoint_of_a_run(held: Recorder, count: int) -> None:
    @agent("alias", plan="1")
    def alias(run: Run, state: Long) -> Long:
        first = {"status": "open"}
        state.messages.append(first)
        state.messages.extend({"status": "x"} for _ in range(count))
        run.checkpoint("one")
        run.checkpoint("two")
        first["status"] = "closed"
        return state

    alias.start_or_resume("r1", Long())
    again = alias.start_or_resume("r1")
    assert again.messages[0] == {"status": "closed"}


def test_a_change_through_an_old_alias_of_a_short_list_is_in_the_next_checkpoint(held: Recorder) -> None:
    @agent("alias", plan="1")
    def alias(run: Run, state: Long) -> Long:
        if run.resumed:
            return state
        first = {"status": "open"}
        state.messages.append(first)
        state.messages.extend({"status": "x"} for _ in range(200))
        run.checkpoint("one")
        run.checkpoint("two")
        first["status"] = "closed"
        run.checkpoint("three")
        run.pause("for the night")
        return state

    with pytest.raises(Paused):
        alias.start_or_resume("r1", Long())
    assert alias.start_or_resume("r1").messages[0] == {"status": "closed"}
