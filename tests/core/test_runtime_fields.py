"""What becomes of a field that only lives in this process, and of a key that is a secret?"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Annotated, Any

import pytest

from tracer import NotAvailable, Paused, Run, State, agent, configure
from tracer.recorder import reset
from tracer.types import RuntimeOnly

CANARY = "sk-FAKE-0000000000000000"


class Held(State, version=1):
    todo: list[int]
    lock: Annotated[Any, RuntimeOnly("a lock is this process's own")] = None
    by_key: dict[str, str] = {}  # noqa: RUF012 - pydantic copies it


@agent("holder")
def holder(run: Run, state: Held) -> Held:
    for n in run.each(state.todo):
        state.by_key[f"{CANARY}{n}"] = "used"
        if n == 2 and not run.resumed:
            run.pause("half way")
    return state


@pytest.fixture
def store(tmp_path: Path) -> Any:
    configure(home=str(tmp_path / "home"))
    yield tmp_path / "home"
    reset()


def test_a_runtime_only_field_comes_back_as_not_available_and_says_why(store: Path) -> None:
    with pytest.raises(Paused):
        holder.start_or_resume("r", Held(todo=[1, 2, 3], lock=threading.Lock()))
    state = holder.start_or_resume("r")
    assert state.lock == NotAvailable("a lock is this process's own", "_thread:lock")
    assert state.todo == []


def test_a_secret_that_is_a_key_of_a_dict_is_sealed_and_comes_back_exactly(store: Path) -> None:
    with pytest.raises(Paused):
        holder.start_or_resume("r", Held(todo=[1, 2, 3]))
    assert holder.start_or_resume("r").by_key == {f"{CANARY}{n}": "used" for n in (1, 2, 3)}
    reset()
    for file in store.rglob("*"):
        assert not file.is_file() or CANARY.encode() not in file.read_bytes(), file
