"""Case 01: one bad leaf, a cycle, and a very deep nest inside state that is otherwise fine."""

import asyncio
from typing import Any


class Gateway:
    """Some object of the application, with nothing in it that could be stored."""

    __slots__ = ("sock",)

    def __init__(self) -> None:
        self.sock = object()


BAD_PATH = "$.scratch.plan[1].client"


def bad_leaf() -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": "hi"}],
        "scratch": {"plan": [{"step": 1}, {"step": 2, "client": Gateway()}]},
    }


def cycle() -> dict[str, Any]:
    planner: dict[str, Any] = {"name": "planner"}
    planner["child"] = {"parent": planner}
    return {"scratch": planner}


def loop_bound() -> dict[str, Any]:
    """Its `__dict__` walks into the event loop and back."""
    return {"scratch": {"ready": asyncio.Event()}}


def deep(levels: int = 10_000) -> dict[str, Any]:
    root: dict[str, Any] = {}
    inner = root
    for _ in range(levels):
        inner["k"] = {}
        inner = inner["k"]
    return {"scratch": root}
