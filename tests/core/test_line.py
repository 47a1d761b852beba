"""In what order do prepared checkpoints and appends leave, whoever comes first and whatever stops them?"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

import pytest

from tracer.contract import CheckpointKind
from tracer.cut import Cut, Place
from tracer.journal import Append
from tracer.line import Line


class Memory:
    """A lock before which something else may happen, once."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.acquire, self.release = self._lock.acquire, self._lock.release
        self._is_owned = self._lock._is_owned  # type: ignore[attr-defined] # what a condition asks of its lock
        self.before: Callable[[], None] | None = None

    def __enter__(self) -> None:
        before, self.before = self.before, None
        if before is not None:
            before()
        self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def named(name: str) -> Append:
    return Append(name, "main", [])


def cut(name: str) -> Cut:
    return Cut(Place(), named(name), CheckpointKind.STEP, 0, 0)


def test_a_checkpoint_that_is_cut_just_before_an_append_takes_its_place_is_written_before_it() -> None:
    gone: list[str] = []
    memory = Memory()
    line = Line(memory, lambda one: gone.append(one.append.run_id), gone.append)  # type: ignore[arg-type]
    memory.before = lambda: line.join(cut("late"))

    def made() -> Append:
        gone.append("append")
        return named("append")

    line.land(line.start(made))
    assert gone == ["late", "append"]


def test_a_refused_checkpoint_keeps_its_error_and_the_next_one_has_its_turn() -> None:
    def write(one: Cut) -> None:
        if one is first:
            raise ValueError("refused")

    line = Line(threading.RLock(), write, lambda _: None)
    first, second = cut("first"), cut("second")
    line.join(first)
    line.join(second)
    line.through(second)
    assert (first.done, repr(first.error)) == (True, "ValueError('refused')")
    assert (second.done, second.error) == (True, None)


def test_an_interrupt_goes_to_the_thread_that_wrote_and_refuses_what_follows() -> None:
    told: list[BaseException] = []

    def write(_one: Cut) -> None:
        raise KeyboardInterrupt

    line = Line(threading.RLock(), write, told.append)
    one = cut("one")
    line.join(one)
    with pytest.raises(KeyboardInterrupt):
        line.through(one)
    assert told == [one.error]
    line.through(one)


def test_whoever_wrote_a_checkpoint_and_was_interrupted_in_the_line_leaves_it_written_once() -> None:
    gone: list[str] = []
    memory = Memory()

    def interrupted() -> None:
        raise KeyboardInterrupt

    def write(one: Cut) -> None:
        gone.append(one.append.run_id)
        if len(gone) == 1:
            memory.before = interrupted

    line = Line(memory, write, lambda _: None)  # type: ignore[arg-type]
    first, second = cut("first"), cut("second")
    line.join(first)
    line.join(second)
    with pytest.raises(KeyboardInterrupt):
        line.through(second)
    line.through(second)
    assert gone == ["first", "second"]
