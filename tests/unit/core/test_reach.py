"""Which tools can a body reach?"""

from __future__ import annotations

from typing import Any

from tracer import read, write
from tracer.reach import reachable_tools


@write
def pay(n: int) -> int:
    return n


@read
def look(n: int) -> int:
    return n


@read
def unused(n: int) -> int:
    return n


def helper(n: int) -> int:
    return look(n)


def in_a_comprehension(run: Any, state: Any) -> Any:
    return [pay(n) for n in state]


def through_a_helper(run: Any, state: Any) -> Any:
    def inner() -> int:
        return helper(1)

    return inner()


def test_a_tool_named_in_a_comprehension_is_found() -> None:
    assert list(reachable_tools(in_a_comprehension)) == ["pay"]


def test_a_tool_behind_a_helper_and_an_inner_function_is_found() -> None:
    assert list(reachable_tools(through_a_helper)) == ["look"]


def test_a_tool_in_a_closure_is_found_and_others_are_not() -> None:
    def make(tool: Any) -> Any:
        def body(run: Any, state: Any) -> Any:
            return tool(1)

        return body

    assert list(reachable_tools(make(unused))) == ["unused"]
