"""What is made again, and what is answered, when a process dies between the items of a loop or within one?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tracer import Paused, Run, State, agent, approvals, run, write
from tracer._run import scope
from tracer.contract import DecisionKind
from tracer.errors import AgentError, StateChanged
from tracer.recorder import Recorder
from tracer.store import read as rows
from tracer.verify import verify

sent: list[str] = []


class Died(Exception):
    """Stands for the end of the process."""


class Work(State, version=1):
    todo: list[str] = []  # noqa: RUF012 - pydantic copies it
    parts: list[str] = []  # noqa: RUF012
    notes: list[Any] = []  # noqa: RUF012


@pytest.fixture(autouse=True)
def nothing_sent(held: Recorder) -> None:
    sent.clear()


@write
def send(text: str) -> int:
    sent.append(text)
    return len(sent)


def lives(body: Callable[[Run, Work, int], None], state: Work) -> Work:
    """Run the body until it no longer dies; it is told how many lives went before."""
    tried: list[int] = []

    @agent("worker", plan="1")
    def worker(run: Run, state: Work) -> Work:
        body(run, state, len(tried))
        return state

    while True:
        try:
            return worker.start_or_resume("r1", state)
        except Died:
            tried.append(1)


# -- another list in place of the one that is worked on ---------------------------------------------------------


def test_a_list_that_the_body_replaces_is_refused_and_its_effects_are_not_repeated() -> None:
    def body(run: Run, state: Work, life: int) -> None:
        for item in run.each(state.todo):
            send(item)
            if life == 0 and item == "a":
                state.todo = [one for one in state.todo if one != "c"]

    with pytest.raises(AgentError, match=r"put another list in place of `todo`.*state\.todo\[1:\]"):
        lives(body, Work(todo=["a", "b", "c"]))
    assert sent == ["a"]


def test_a_list_that_the_body_changes_behind_its_front_is_consumed_as_it_is_now() -> None:
    def body(run: Run, state: Work, life: int) -> None:
        for item in run.each(state.todo):
            send(item)
            if item == "a":
                state.todo[1:] = [one for one in state.todo[1:] if one != "c"]

    lives(body, Work(todo=["a", "b", "c", "d"]))
    assert sent == ["a", "b", "d"]


# -- checkpoints within an item ----------------------------------------------------------------------------------


def test_what_was_sent_before_a_checkpoint_within_an_item_is_not_sent_again(held: Recorder) -> None:
    def body(run: Run, state: Work, life: int) -> None:
        for item in run.each(state.todo):
            send(f"{item} first")
            run.checkpoint("within")
            send(f"{item} second")
            if life == 0 and item == "b":
                raise Died

    lives(body, Work(todo=["a", "b"]))
    assert sent == ["a first", "a second", "b first", "b second"]
    assert verify(held, "r1", rows.MAIN).sound


def test_the_same_call_on_both_sides_of_a_checkpoint_within_an_item_is_two_calls() -> None:
    def body(run: Run, state: Work, life: int) -> None:
        for _ in run.each(state.todo):
            first = send("ping")
            run.checkpoint("within")
            state.notes.append([first, send("ping")])
            if life == 0:
                raise Died

    done = lives(body, Work(todo=["a"]))
    assert sent == ["ping", "ping"]
    assert list(done.notes) == [[1, 2]]


def test_a_write_before_an_inner_loop_is_not_repeated_when_the_process_dies_in_that_loop(
    held: Recorder,
) -> None:
    def body(run: Run, state: Work, life: int) -> None:
        for item in run.each(state.todo):
            send(f"open {item}")
            for part in run.each(state.parts):
                send(f"{item}{part}")
                if life == 0 and part == "2":
                    raise Died
            send(f"close {item}")

    lives(body, Work(todo=["a"], parts=["1", "2", "3"]))
    assert sent == ["open a", "a1", "a2", "a3", "close a"]
    assert verify(held, "r1", rows.MAIN).sound


@pytest.mark.parametrize("dies", [1, 2])
def test_equal_items_of_an_inner_loop_are_each_worked_on_once_whatever_life_they_fall_in(dies: int) -> None:
    """A finished inner item answers no more, although the outer item around it goes on."""

    def body(run: Run, state: Work, life: int) -> None:
        for item in run.each(state.todo):
            send(f"open {item}")
            for part in run.each(state.parts):
                send(f"{item}{part}")
                if life < dies and len(state.parts) == 3 - life:
                    raise Died

    lives(body, Work(todo=["a"], parts=["x", "x", "x"]))
    assert sent == ["open a", "ax", "ax", "ax"]


def test_equal_outer_items_do_not_answer_for_each_other() -> None:
    def body(run: Run, state: Work, life: int) -> None:
        for item in run.each(state.todo):
            if not state.parts:
                state.parts.extend(["x", "y"])
                run.checkpoint("parts")
            for part in run.each(state.parts):
                send(f"{item}{part}")
                if life == 0 and len(state.todo) == 1 and part == "y":
                    raise Died

    lives(body, Work(todo=["a", "a"]))
    assert sent == ["ax", "ay", "ax", "ay"]


def test_the_position_stands_still_within_an_item_and_moves_when_it_is_finished(held: Recorder) -> None:
    seen: list[tuple[int, str]] = []

    def note(step: str) -> None:
        with held.store.reader.connect() as connection:
            found = rows.run_by_id(connection, "r1")
            last = rows.checkpoints(connection, "r1", newest_first=True, limit=1)[0]
        assert found is not None
        seen.append((found.position, last.mark))

    def body(run: Run, state: Work, life: int) -> None:
        note("start")
        for _ in run.each(state.todo):
            run.checkpoint("within")
            note("within")
        note("after")

    lives(body, Work(todo=["a"]))
    assert seen == [(1, "step"), (1, "inner"), (3, "step")]


def test_a_question_before_a_checkpoint_within_an_item_keeps_its_answer(held: Recorder) -> None:
    def answer(kind: DecisionKind) -> None:
        with held.store.reader.connect() as connection:
            asked = rows.approvals(connection, run_id="r1", name=rows.MAIN, states=("pending",))
        assert len(asked) == 1
        approvals.decide(held.journal, asked[0].approval_id, kind, who="kim")

    def body(run: Run, state: Work, life: int) -> None:
        for _ in run.each(state.todo):
            said = [run.ask("go?").approved]
            run.checkpoint("within")
            said.append(run.ask("go?").approved)
            if life == 0:
                raise Died
            state.notes.append(said)

    with pytest.raises(Paused):
        lives(body, Work(todo=["a"]))
    answer(DecisionKind.APPROVE)
    with pytest.raises(Paused):
        lives(body, Work(todo=["a"]))
    answer(DecisionKind.DENY)
    assert list(lives(body, Work(todo=["a"])).notes) == [[True, False]]


# -- loops that are left, and async ones -------------------------------------------------------------------------


def test_a_loop_starts_from_a_checkpoint_and_works_on_a_list_of_the_state() -> None:
    with run("free", id="r1", state={"todo": ["a"]}) as free:
        with pytest.raises(AgentError, match="give it `state"):
            list(free.each(["a"]))
        free.state["n"] = 1
        with pytest.raises(StateChanged, match=r"\$\.n"):
            list(free.each(free.state["todo"]))


def test_a_loop_that_is_left_with_break_leaves_its_item_in_the_list_and_its_scope_behind() -> None:
    def body(run: Run, state: Work, life: int) -> None:
        for _ in run.each(state.todo):
            assert scope().startswith("todo0/")
            break
        assert scope() == ""

    assert list(lives(body, Work(todo=["a", "b"])).todo) == ["a", "b"]


@pytest.mark.parametrize("how", ["break", "aclose", "cancel"])
def test_an_async_loop_that_is_left_leaves_its_scope_behind(how: str) -> None:
    @agent("async", plan="1")
    async def body(run: Run, state: Work) -> Work:
        loop: Any = run.aeach(state.todo)
        if how == "break":
            del loop
            async for _ in run.aeach(state.todo):
                break
        elif how == "aclose":
            await anext(loop)
            await loop.aclose()
        else:

            async def consume() -> None:
                async for _ in run.aeach(state.todo):
                    await asyncio.sleep(60)

            del loop
            task = asyncio.create_task(consume())
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        assert scope() == ""
        send("after")
        run.checkpoint("after")
        return state

    asyncio.run(body.start_or_resume("r1", Work(todo=["a", "b"])))


def test_an_async_loop_cuts_its_checkpoints_on_the_event_loop_and_writes_them_away_from_it(
    held: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    from tracer.segment import Segment

    here = threading.current_thread()
    where: list[tuple[str, bool]] = []
    prepare, commit = Segment.prepare, Segment.commit

    def prepared(self: Segment, *given: Any, **how: Any) -> Any:
        where.append(("cut", threading.current_thread() is here))
        return prepare(self, *given, **how)

    def committed(self: Segment, cut: Any) -> int:
        where.append(("written", threading.current_thread() is here))
        return commit(self, cut)

    @agent("async", plan="1")
    async def body(run: Run, state: Work) -> Work:
        where.clear()
        async for item in run.aeach(state.todo):
            send(item)
        return state

    monkeypatch.setattr(Segment, "prepare", prepared)
    monkeypatch.setattr(Segment, "commit", committed)
    asyncio.run(body.start_or_resume("r1", Work(todo=["a", "b"])))
    assert where == [("cut", True), ("written", False)] * 3, "two items and the end"
    assert sent == ["a", "b"]


def test_two_loops_at_once_keep_each_others_unfinished_items() -> None:
    """One finishes an item while the other is in the middle of one: what that one has sent must still answer."""
    tried: list[int] = []

    @agent("both", plan="1")
    async def both(run: Run, state: Work) -> Work:
        half = asyncio.Event()
        through = asyncio.Event()

        async def slow() -> None:
            async for item in run.aeach(state.todo):
                send(f"slow {item}")
                half.set()
                await asyncio.wait_for(through.wait(), 10)
                if not tried:
                    raise Died

        async def quick() -> None:
            await asyncio.wait_for(half.wait(), 10)
            async for item in run.aeach(state.parts):
                send(f"quick {item}")
            through.set()

        await asyncio.gather(slow(), quick())
        return state

    with pytest.raises(Died):
        asyncio.run(both.start_or_resume("r1", Work(todo=["a"], parts=["x", "x"])))
    tried.append(1)
    asyncio.run(both.start_or_resume("r1"))
    assert sent == ["slow a", "quick x", "quick x"]
