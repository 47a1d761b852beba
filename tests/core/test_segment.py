"""What does one process life of a run refuse, and what does a step of it cost?"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pydantic import Field
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from tracer import (
    KEY,
    AlreadyResumed,
    Evidence,
    Paused,
    ResumeRefused,
    Run,
    State,
    _agent,
    agent,
    faults,
    hold,
    read,
    run,
    write,
)
from tracer.errors import AgentError, ForkedRun, NotStorable, SegmentPoisoned, StoreError, WriteOutsideRun
from tracer.recorder import Recorder
from tracer.store import driver
from tracer.store import read as rows
from tracer.verify import verify


class Basket(State, version=1):
    todo: list[str]
    done: dict[str, int] = Field(default_factory=dict)
    owner: str = "u17"


sent: list[str] = []


@pytest.fixture(autouse=True)
def nothing_sent() -> None:
    sent.clear()


@write(key_param="key", identity=("item",))
def buy(item: str, *, key: str = KEY) -> int:
    sent.append(item)
    return len(sent)


@read
def price(item: str) -> int:
    return len(item)


@agent("basket", plan="1")
def basket(run: Run, state: Basket) -> Basket:
    for item in run.each(state.todo):
        state.done[item] = buy(item) + price(item)
    return state


def sequences(held: Recorder, run_id: str) -> list[int | None]:
    with held.store.reader.connect() as connection:
        return [entry.sequence for entry in rows.checkpoints(connection, run_id)]


def test_the_same_line_starts_finishes_and_returns_the_finished_state(held: Recorder) -> None:
    first = basket.start_or_resume("r1", Basket(todo=["a", "bb"]))
    again = basket.start_or_resume("r1", Basket(todo=["a", "bb"]))
    assert first.model_dump() == again.model_dump() == {"todo": [], "done": {"a": 2, "bb": 4}, "owner": "u17"}
    assert sent == ["a", "bb"]
    assert sequences(held, "r1") == [1, 2, 3, 4]


def test_another_input_under_an_existing_id_is_refused(held: Recorder) -> None:
    basket.start_or_resume("r1", Basket(todo=["a"]))
    with pytest.raises(AgentError, match="another initial state"):
        basket.start_or_resume("r1", Basket(todo=["b"]))


@pytest.mark.parametrize("bad", ["", "../etc", "a b", "x" * 129, ".hidden", "a\x00b"])
def test_an_id_that_cannot_name_a_run_is_refused_and_leaves_nothing(held: Recorder, bad: str) -> None:
    with pytest.raises(AgentError, match="cannot name a run"):
        basket.start_or_resume(bad, Basket(todo=[]))
    with held.store.reader.connect() as connection:
        assert rows.count_runs(connection) == 0


def test_an_initial_state_that_cannot_be_stored_leaves_no_run_behind(held: Recorder) -> None:
    state = Basket(todo=[])
    state.done["x"] = object()  # type: ignore[assignment]
    with pytest.raises(NotStorable):
        basket.start_or_resume("r1", state)
    assert basket.start_or_resume("r1", Basket(todo=["a"])).done == {"a": 2}


# -- poison ----------------------------------------------------------------------------------------------------


def test_after_the_first_refusal_no_call_and_no_checkpoint_of_the_segment_passes(held: Recorder) -> None:
    @agent("swallows", plan="1")
    def swallows(run: Run, state: Basket) -> Basket:
        lost = OperationalError("x", {}, Exception("gone"))

        def fail(name: str) -> None:
            if name == "journal.before_commit":
                raise lost

        with faults.armed(fail), pytest.raises(StoreError):
            buy("first")
        for later in (lambda: buy("second"), lambda: run.checkpoint("later"), lambda: price("x")):
            with pytest.raises(SegmentPoisoned, match="StoreError"):
                later()
        return state

    with pytest.raises(SegmentPoisoned):
        swallows.start_or_resume("r1", Basket(todo=[]))
    assert sent == [], "no intent, no dispatch"
    assert sequences(held, "r1") == [1]


def test_a_write_outside_a_run_is_refused_and_a_read_is_not(held: Recorder) -> None:
    with pytest.raises(WriteOutsideRun, match="buy"):
        buy("a")
    assert price("abc") == 3
    assert sent == []


# -- forks -----------------------------------------------------------------------------------------------------


def test_a_forked_child_that_uses_its_parents_run_is_told(held: Recorder) -> None:
    with run("parent", id="r1", state={"n": 0}) as one:
        into, out = os.pipe()
        child = os.fork()
        if child == 0:
            said = "it passed"
            try:
                one.checkpoint("in the child")
            except BaseException as error:
                said = f"{type(error).__name__} {getattr(error, 'owner_pid', '')}"
            os.write(out, said.encode())
            os._exit(0)
        os.close(out)
        with os.fdopen(into) as pipe:
            assert pipe.read() == f"ForkedRun {os.getpid()}"
        os.waitpid(child, 0)
        assert one.checkpoint("in the parent", {"n": 1}) == 2


def test_the_journal_itself_refuses_another_process(held: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    with run("parent", id="r1", state={"n": 0}) as one:
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: 1)
            with pytest.raises(ForkedRun):
                held.journal.execute("beat", [])
        one.checkpoint("step")


# -- one winner ------------------------------------------------------------------------------------------------


def test_a_run_that_lives_in_this_very_process_is_not_resumed_a_second_time(held: Recorder) -> None:
    with run("mine", id="r1", state={"n": 0}):
        with pytest.raises(AlreadyResumed, match=f"pid {os.getpid()}") as told, run("mine", id="r1"):
            pass
        assert told.value.epoch == 1
    with held.store.reader.connect() as connection:
        kinds = [(entry.kind, entry.mark) for entry in rows.entries(connection, "r1")]
    assert ("refusal", "lease") in kinds


def test_a_run_that_was_finished_between_our_look_and_our_lease_is_not_run_again(
    held: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    @agent("plain", plan="1")
    def plain(run: Run, state: Basket) -> Basket:
        if not run.resumed:
            run.pause("for the night")
        state.done["x"] = buy("x")
        return state

    with pytest.raises(Paused):
        plain.start_or_resume("r1", Basket(todo=[]))
    seen = hold.find(held, "r1")
    assert plain.start_or_resume("r1").done == {"x": 1}
    monkeypatch.setattr(_agent, "find", lambda *_: seen)
    assert plain.start_or_resume("r1").done == {"x": 1}
    assert sent == ["x"]
    assert verify(held, "r1", rows.MAIN).sound


def test_eight_threads_that_add_results_at_once_lose_none(held: Recorder) -> None:
    @write(key_param="key")
    def add(n: int, *, key: str = KEY) -> int:
        return n

    with run("threads", id="r1", state={"n": 0}):
        threads = [
            threading.Thread(target=lambda k=k: [add(n, call_key=f"{k}-{n}") for n in range(k, 40, 8)])
            for k in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    with held.store.reader.connect() as connection:
        calls = rows.calls(connection, "r1")
    assert sorted(one.call_key or "" for one in calls) == sorted(f"{n % 8}-{n}" for n in range(40))
    assert {one.state for one in calls} == {"committed"}
    assert verify(held, "r1", rows.MAIN).sound


# -- what the declared types forbid ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda state: setattr(state, "todo", None), "$.todo"),
        (lambda state: state.todo.append(7), "$.todo"),
        (lambda state: state.done.update(x="1"), "$.done.x"),
        (lambda state: state.done.update(x=True), "$.done.x"),
        (lambda state: setattr(state, "owner", 7), "$.owner"),
        (lambda state: state.todo.__setitem__(0, None), "$.todo"),
    ],
)
def test_a_value_that_the_schema_forbids_is_refused_with_its_field(
    held: Recorder, change: Any, path: str
) -> None:
    @agent("forbidden", plan="1")
    def forbidden(run: Run, state: Basket) -> Basket:
        run.checkpoint("good")
        change(state)
        run.checkpoint("bad")
        return state

    with pytest.raises(NotStorable) as refused:
        forbidden.start_or_resume("r1", Basket(todo=["a"]))
    assert refused.value.path.startswith(path)
    assert sequences(held, "r1") == [1, 2]
    report = verify(held, "r1", rows.MAIN)
    assert report.sound


# -- the budget ------------------------------------------------------------------------------------------------


@contextmanager
def statements(held: Recorder) -> Iterator[list[str]]:
    """What the writer hands to the database inside the block, by whichever of the two ways; BEGIN and COMMIT apart."""
    seen: list[str] = []
    straight = driver.run

    def note(text: str) -> None:
        if not text.startswith(("BEGIN", "COMMIT", "PRAGMA")):
            seen.append(text.split("\n")[0])

    def counted(connection: Any, text: str, given: Any) -> int:
        if connection.engine is held.store.writer:
            note(text)
        return straight(connection, text, given)

    def executed(_connection: Any, _cursor: Any, text: str, *_rest: Any) -> None:
        note(text)

    event.listen(held.store.writer, "before_cursor_execute", executed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "run", counted)
        yield seen
    event.remove(held.store.writer, "before_cursor_execute", executed)


def test_a_checkpoint_costs_at_most_four_statements(held: Recorder) -> None:
    with run("budget", id="r1", state={"n": 0, "items": []}) as one:
        one.checkpoint("first", {"n": 0, "items": ["x" * 300]})
        for n in range(5):
            one.state["n"] = n
            one.state["items"] += ["y" * 300, f"token = 'sk-FAKE{n}0000000000000000'"]
            one.evidence(Evidence(f"file{n}"))
            with statements(held) as seen:
                one.checkpoint("step")
            assert 2 <= len(seen) <= 4, seen
        with statements(held) as seen:
            one.checkpoint("unchanged")
        assert 2 <= len(seen) <= 3, seen


def test_a_checkpoint_costs_two_more_after_somebody_else_has_appended(held: Recorder) -> None:
    other = Recorder.open(held.settings)
    with run("budget", id="r1", state={"n": 0}) as one:
        one.checkpoint("first", {"n": 1, "text": "x" * 500})
        from tracer.approvals import record
        from tracer.contract import DecisionKind

        record(other.journal, "r1", rows.MAIN, DecisionKind.ACKNOWLEDGE, {"who": "kim"}, subject="seen")
        with statements(held) as seen:
            one.checkpoint("second", {"n": 2, "text": "y" * 500})
        assert 5 <= len(seen) <= 6, seen
        with statements(held) as seen:
            one.checkpoint("third", {"n": 3, "text": "z" * 500})
        assert len(seen) <= 4, seen
    other.close()


def test_a_finished_write_costs_two_transactions_of_four_statements(held: Recorder) -> None:
    with run("budget", id="r1", state={"n": 0}), statements(held) as seen:
        buy("a" * 300)
    assert len(seen) <= 8, seen


# -- the gate at the agent's door ------------------------------------------------------------------------------


def test_an_edited_body_stops_at_the_gate_before_anything_runs(held: Recorder) -> None:
    @agent("edited", plan="1")
    def before(run: Run, state: Basket) -> Basket:
        run.pause("for the night")
        return state

    @agent("edited", plan="1")
    def after(run: Run, state: Basket) -> Basket:
        buy("never")
        return state

    with pytest.raises(Paused):
        before.start_or_resume("r1", Basket(todo=[]))
    with pytest.raises(ResumeRefused, match="topology") as refused:
        after.start_or_resume("r1")
    assert "edited since the checkpoint" in str(refused.value)
    assert sent == []
    with pytest.raises(Paused):
        before.start_or_resume("r1")
