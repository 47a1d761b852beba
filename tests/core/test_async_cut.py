"""Is a checkpoint of an async agent a state that was there between two awaits, while its tasks go on?"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any, cast

import pytest
from pydantic import AfterValidator
from sqlalchemy.exc import OperationalError

from tracer import Evidence, Run, State, agent, faults, run, write
from tracer.errors import SegmentPoisoned, StoreError
from tracer.journal import Append, Draft
from tracer.line import Line
from tracer.recorder import Recorder
from tracer.store import read as rows
from tracer.verify import verify
from tracer.world import load

ROUNDS = 40
"""Checkpoints of one storm; where the state is cut beside the event loop, a third of them and more are torn."""
PATIENCE_S = 20.0

sent: list[str] = []
cut_by: list[threading.Thread] = []


def seen(value: int) -> int:
    """Called by every cut, for the check of the declared types."""
    cut_by.append(threading.current_thread())
    return value


class Pair(State, version=1):
    """Between two awaits `left` and `right` are always equal; what lies between them takes a while to cut."""

    left: dict[str, int] = {}  # noqa: RUF012 - pydantic copies it
    between: dict[str, list[int]] = {}  # noqa: RUF012
    right: dict[str, int] = {}  # noqa: RUF012
    todo: list[str] = []  # noqa: RUF012
    watched: dict[str, Annotated[int, AfterValidator(seen)]] = {"by": 0}  # noqa: RUF012
    n: int = 0


@pytest.fixture(autouse=True)
def nothing_sent(held: Recorder) -> None:
    sent.clear()
    cut_by.clear()


@pytest.fixture
def nervous() -> Iterator[None]:
    """Threads take turns every ten microseconds, so that a race is lost today and not in a year."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@write
async def send(text: str) -> int:
    sent.append(text)
    return len(sent)


def play(body: Callable[[Run, Pair], Awaitable[None]], state: Pair | None, run_id: str = "r1") -> Pair:
    """Run *body* as an async agent."""

    @agent("pair", plan="1")
    async def pair(run: Run, state: Pair) -> Pair:
        await body(run, state)
        return state

    return cast(Pair, asyncio.run(pair.start_or_resume(run_id, state)))


def stored(held: Recorder, run_id: str = "r1") -> list[tuple[str, dict[str, Any]]]:
    """(step, state) of every checkpoint, as a resume would read it, from first to last."""
    with held.store.reader.connect() as connection:
        found = rows.checkpoints(connection, run_id)
    return [
        (entry.subject, dict(load(held, run_id, rows.MAIN, entry.sequence or 0).fields)) for entry in found
    ]


def entries(held: Recorder, run_id: str = "r1") -> list[tuple[str, str]]:
    with held.store.reader.connect() as connection:
        return [
            (entry.kind, entry.mark if entry.kind != "checkpoint" else entry.subject)
            for entry in rows.entries(connection, run_id)
        ]


async def keep_equal(state: Pair, over: asyncio.Event) -> None:
    """A task that changes both sides in one go: their size too, and what lies between."""
    turn = 0
    while not over.is_set():
        turn += 1
        state.left[f"k{turn % 97}"] = turn
        state.between[f"k{turn % 97}"] = [turn] * 20
        state.right[f"k{turn % 97}"] = turn
        if turn % 7 == 0:
            for side in (state.left, state.right):
                side.pop(f"k{(turn * 5) % 97}", None)
        await asyncio.sleep(0)


class Gate:
    """Holds up the next commit until it is opened; the event loop itself must open it."""

    def __init__(self) -> None:
        self.reached, self._opened = threading.Event(), threading.Event()
        self.late = False

    def pass_by(self, name: str) -> None:
        if name == "journal.before_commit" and not self.reached.is_set():
            self.reached.set()
            self.late = not self._opened.wait(PATIENCE_S)

    async def busy(self) -> None:
        """A commit has begun, and the loop is free to notice."""
        async with asyncio.timeout(PATIENCE_S):
            while not self.reached.is_set():
                await asyncio.sleep(0.001)

    def open(self) -> None:
        self._opened.set()


@contextmanager
def held_up() -> Iterator[Gate]:
    gate = Gate()
    with faults.armed(gate.pass_by):
        yield gate
    assert not gate.late, "the event loop stood still while a checkpoint was written"


# -- one moment ------------------------------------------------------------------------------------------------


async def by_hand(run: Run, state: Pair) -> None:
    for turn in range(ROUNDS):
        await run.acheckpoint(f"step {turn}")


async def by_items(run: Run, state: Pair) -> None:
    async for _ in run.aeach(state.todo):
        await asyncio.sleep(0)


@pytest.mark.usefixtures("nervous")
@pytest.mark.parametrize("way", [by_hand, by_items])
def test_every_checkpoint_is_a_state_that_was_there_between_two_awaits(
    held: Recorder, way: Callable[[Run, Pair], Awaitable[None]]
) -> None:
    async def body(run: Run, state: Pair) -> None:
        over = asyncio.Event()
        # An `each` begins from a checkpoint, so nothing may move before its first item.
        task = asyncio.ensure_future(keep_equal(state, over))
        try:
            await way(run, state)
        finally:
            over.set()
            await task

    play(body, Pair(todo=[f"item {n}" for n in range(ROUNDS)]))
    kept = stored(held)
    assert len(kept) == ROUNDS + 2
    torn = [step for step, fields in kept if fields["left"] != fields["right"]]
    assert torn == []
    assert len({tuple(fields["left"].items()) for _, fields in kept}) > ROUNDS // 2, "the sibling did work"
    assert verify(held, "r1", rows.MAIN).sound


@pytest.mark.usefixtures("nervous")
def test_the_last_checkpoint_is_whole_although_a_task_outlives_the_body(held: Recorder) -> None:
    async def body(run: Run, state: Pair) -> None:
        keeping.append(asyncio.ensure_future(keep_equal(state, asyncio.Event())))
        for _ in range(100):
            await asyncio.sleep(0)

    for n in range(12):
        keeping: list[asyncio.Future[None]] = []
        play(body, Pair(), f"r{n}")
        step, fields = stored(held, f"r{n}")[-1]
        assert (step, fields["left"]) == ("final", fields["right"])


def test_an_async_agent_starts_with_the_state_as_it_was_when_it_was_called(held: Recorder) -> None:
    @agent("pair", plan="1")
    async def pair(run: Run, state: Pair) -> Pair:
        return state

    async def both() -> None:
        given = Pair(between={f"k{n}": [n] for n in range(2000)})
        starting = asyncio.ensure_future(pair.start_or_resume("r1", given))
        await asyncio.sleep(0)
        given.n = 1
        given.between.clear()
        assert (await starting).n == 0

    asyncio.run(both())
    _, fields = stored(held)[0]
    assert (fields["n"], len(fields["between"])) == (0, 2000)


def test_every_cut_of_an_async_agent_is_made_by_the_thread_of_its_event_loop(held: Recorder) -> None:
    async def body(run: Run, state: Pair) -> None:
        cut_by.clear()
        await run.acheckpoint("by hand")
        async for _ in run.aeach(state.todo):
            await run.acheckpoint("inside")

    play(body, Pair(todo=["a", "b"]))
    assert [step for step, _ in stored(held)] == [
        "start",
        "by hand",
        "inside",
        "todo",
        "inside",
        "todo",
        "final",
    ]
    assert cut_by == [threading.main_thread()] * 6


# -- first in, first out ---------------------------------------------------------------------------------------


def test_checkpoints_of_many_tasks_at_once_hold_what_each_saw_in_the_order_they_were_asked_for(
    held: Recorder,
) -> None:
    """More of them than there are threads to write them, among writes that need the same threads."""
    many = 30
    numbers: list[int] = []

    async def one(run: Run, state: Pair, n: int) -> None:
        state.n = n
        numbers.append(await run.acheckpoint(f"task {n}"))
        assert run.sequence >= numbers[-1]

    async def body(run: Run, state: Pair) -> None:
        tasks: list[Awaitable[Any]] = [one(run, state, n) for n in range(many)]
        tasks[5:5] = [send(f"text {n}") for n in range(12)]
        async with asyncio.timeout(PATIENCE_S * 3):
            await asyncio.gather(*tasks)

    play(body, Pair())
    assert [(step, fields["n"]) for step, fields in stored(held)[1:-1]] == [
        (f"task {n}", n) for n in range(many)
    ]
    assert sorted(numbers) == list(range(2, many + 2))
    assert len(sent) == 12
    assert verify(held, "r1", rows.MAIN).sound


def test_the_loop_goes_on_while_a_checkpoint_is_written_and_what_comes_then_is_behind_it(
    held: Recorder,
) -> None:
    async def body(run: Run, state: Pair) -> None:
        with held_up() as gate:
            state.n = 1
            first = asyncio.ensure_future(run.acheckpoint("first"))
            await gate.busy()
            state.n = 2
            writing = asyncio.ensure_future(send("a"))
            second = asyncio.ensure_future(run.acheckpoint("second"))
            await asyncio.sleep(0.05)
            run.evidence(Evidence("file"))
            state.n = 3
            assert run.sequence == 1, "nothing is said to be durable before it is"
            gate.open()
            assert await asyncio.gather(first, second) == [2, 3]
            await writing
        assert run.sequence == 3

    play(body, Pair())
    assert [fields["n"] for _, fields in stored(held)] == [0, 1, 2, 3]
    made = entries(held)
    place = {what: made.index(what) for what in made}
    assert place["checkpoint", "first"] < place["checkpoint", "second"]
    assert place["checkpoint", "second"] < place["evidence", ""], "noted after it was cut"
    assert place["checkpoint", "first"] < place["intent", "first"]
    assert verify(held, "r1", rows.MAIN).sound


def test_a_call_made_while_a_checkpoint_is_written_answers_after_a_crash(held: Recorder) -> None:
    """It belongs to what follows the checkpoint: its result is not in the state that was cut."""
    lives: list[int] = []

    async def body(run: Run, state: Pair) -> None:
        lives.append(1)
        if len(lives) == 1:
            await send("a")
            with held_up() as gate:
                checkpoint = asyncio.ensure_future(run.acheckpoint("between"))
                await gate.busy()
                calling = asyncio.ensure_future(send("a"))
                await asyncio.sleep(0.05)
                gate.open()
                await checkpoint
                await calling
            raise RuntimeError("dies")
        await send("a")

    with pytest.raises(RuntimeError, match="dies"):
        play(body, Pair())
    with held.store.reader.connect() as connection:
        calls = rows.calls(connection, "r1")
    assert [(call.position, call.after_sequence, call.ordinal) for call in calls] == [(1, 1, 0), (2, 2, 0)]
    play(body, None)
    assert sent == ["a", "a"]


def test_what_took_its_place_before_a_cut_is_in_the_journal_before_it(
    held: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Objects and evidence that the checkpoint counts on are with whoever was there first."""
    started, go_on = threading.Event(), threading.Event()
    append = held.journal.append

    def slow(one: Any) -> Any:
        if one.drafts[-1].kind == "note":
            started.set()
            assert go_on.wait(PATIENCE_S)
        return append(one)

    monkeypatch.setattr(held.journal, "append", slow)
    with run("free", id="r1", state={"n": 0}) as one:
        one.evidence(Evidence("file"))
        first = threading.Thread(target=one._segment.append, args=([Draft("note", {})],))
        first.start()
        assert started.wait(PATIENCE_S)
        second = threading.Thread(target=one.checkpoint, args=("after",))
        second.start()
        second.join(0.1)
        assert second.is_alive()
        go_on.set()
        for thread in (first, second):
            thread.join(PATIENCE_S)
    assert [kind for kind, _ in entries(held)][-4:] == ["evidence", "note", "checkpoint", "end"]


def test_a_checkpoint_whose_caller_is_cancelled_is_made_all_the_same_and_in_its_turn(held: Recorder) -> None:
    async def body(run: Run, state: Pair) -> None:
        with held_up() as gate:
            first = asyncio.ensure_future(run.acheckpoint("first"))
            await gate.busy()
            state.n = 1
            tasks = [asyncio.ensure_future(run.acheckpoint(f"cancelled {n}")) for n in range(12)]
            await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            gate.open()
            await first
            for task in tasks:
                with suppress(asyncio.CancelledError):
                    await task
        async with asyncio.timeout(PATIENCE_S):
            while run.sequence < 2 + len(tasks):
                await asyncio.sleep(0.001)
        state.n = 2
        await run.acheckpoint("after")

    play(body, Pair())
    steps = ["start", "first", *(f"cancelled {n}" for n in range(12)), "after", "final"]
    assert [step for step, _ in stored(held)] == steps
    assert [fields["n"] for _, fields in stored(held)] == [0, 0, *[1] * 12, 2, 2]


# -- refusals --------------------------------------------------------------------------------------------------


def test_when_a_checkpoint_is_refused_those_that_were_cut_after_it_are_not_written(held: Recorder) -> None:
    """Each is written as a change of the one before, so without it they could not be read."""
    told: list[BaseException] = []
    gate = Gate()

    def fail(name: str) -> None:
        gate.pass_by(name)
        if name == "journal.before_commit":
            faults_left.append(name)
            if len(faults_left) == 1:
                raise OperationalError("x", {}, Exception("gone"))

    faults_left: list[str] = []

    async def body(run: Run, state: Pair) -> None:
        with faults.armed(fail):
            tasks: list[asyncio.Future[Any]] = []
            for n in range(4):
                state.n = n + 1
                tasks.append(asyncio.ensure_future(run.acheckpoint(f"step {n}")))
                await asyncio.sleep(0)
            tasks.append(asyncio.ensure_future(send("never")))
            await gate.busy()
            gate.open()
            told.extend(await asyncio.gather(*tasks, return_exceptions=True))
        assert run.sequence == 1

    with pytest.raises(SegmentPoisoned, match="StoreError"):
        play(body, Pair())
    assert [type(one) for one in told] == [StoreError, *[SegmentPoisoned] * 4]
    assert [step for step, _ in stored(held)] == ["start"]
    assert sent == [], "no intent, no dispatch"


def test_whoever_is_interrupted_while_writing_for_another_leaves_a_refusal_to_that_one(
    held: Recorder,
) -> None:
    def interrupt(name: str) -> None:
        if name == "journal.before_commit":
            raise KeyboardInterrupt

    with suppress(SegmentPoisoned), run("free", id="r1", state={"n": 0}) as one:
        cut = one._segment.prepare("waits")
        with faults.armed(interrupt), pytest.raises(KeyboardInterrupt):
            one._segment.append([Draft("note", {})])
        with pytest.raises(SegmentPoisoned, match="KeyboardInterrupt"):
            one._segment.commit(cut)
        assert (one.sequence, one._segment.sequence) == (1, 1)
    assert [kind for kind, _ in entries(held)] == ["start", "checkpoint"]


def test_no_checkpoint_of_a_task_that_goes_on_comes_after_the_end_of_its_run(held: Recorder) -> None:
    async def restless(run: Run, state: Pair) -> None:
        with suppress(SegmentPoisoned):
            while True:
                state.n += 1
                await run.acheckpoint("restless")

    async def body(run: Run, state: Pair) -> None:
        going.append(asyncio.ensure_future(restless(run, state)))
        await asyncio.sleep(0.01)

    for n in range(8):
        going: list[asyncio.Future[None]] = []
        play(body, Pair(), f"r{n}")
        assert entries(held, f"r{n}")[-1][0] == "end"


def test_who_is_interrupted_before_its_entry_is_written_holds_nobody_up_and_the_segment_says_why(
    held: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, behind, told = Line.start, [], []

    @agent("pair", plan="1")
    def pair(run: Run, state: Pair) -> Pair:
        segment = run._segment

        def interrupted(self: Line, made: Callable[[], Append]) -> Append:
            start(self, made)
            behind.append(segment.prepare("behind"))
            raise KeyboardInterrupt

        def refused() -> None:
            with pytest.raises(SegmentPoisoned, match="KeyboardInterrupt"):
                segment.commit(behind[0])
            told.append("refused")

        with monkeypatch.context() as patch:
            patch.setattr(Line, "start", interrupted)
            with pytest.raises(KeyboardInterrupt):
                segment.append([Draft(kind="evidence", at=1, body={})])
        waits = threading.Thread(target=refused, daemon=True)
        waits.start()
        waits.join(PATIENCE_S)
        assert told == ["refused"]
        return state

    with pytest.raises(SegmentPoisoned, match="KeyboardInterrupt"):
        pair.start_or_resume("r1", Pair())
