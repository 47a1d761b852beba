"""Which local names would a resume lose?"""

from __future__ import annotations

from typing import Any

import pytest

from tracer import Run, State, agent
from tracer.carried import carried
from tracer.errors import AgentError


class Bag(State, version=1):
    todo: list[str]
    seen: list[str] = []  # noqa: RUF012 - pydantic copies it


def counts(run: Run, state: Bag) -> Bag:
    n = 0
    for _ in run.each(state.todo):
        n += 1  # noqa: SIM113 - the very thing that is refused
    return state


def collects(run: Run, state: Bag) -> Bag:
    out: list[Any] = []
    for item in run.each(state.todo):
        out.append(item)  # noqa: PERF402 - the very thing that is refused
    return state


def keys(run: Run, state: Bag) -> Bag:
    by: dict[str, int] = dict()  # noqa: C408
    for item in run.each(state.todo):
        by[item] = 1
    return state


def clean(run: Run, state: Bag) -> Bag:
    prefix = "x"
    for item in run.each(state.todo):
        parts = []
        total = 0
        for part in item.split():
            parts.append(prefix + part)
            total += len(part)
        state.seen.append(" ".join(parts))
    return state


@pytest.mark.parametrize(
    ("body", "name"), [(counts, "n"), (collects, "out"), (keys, "by")], ids=["counter", "list", "dict"]
)
def test_a_local_that_lives_from_item_to_item_is_found_with_its_line(body: Any, name: str) -> None:
    found = carried(body)
    assert [one.name for one in found] == [name]
    assert found[0].line > body.__code__.co_firstlineno


def test_what_is_made_anew_for_every_item_is_not_carried() -> None:
    assert carried(clean) == []


def test_declaring_such_an_agent_is_refused_and_says_where_to_keep_it() -> None:
    with pytest.raises(AgentError, match=r"`n` \(line \d+, counts on.*keep it in the state"):
        agent("counting")(counts)
