"""Who holds a run whose segment could not say good-bye, and what may be changed while runs go on?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tracer import AlreadyResumed, Paused, Run, State, agent, approvals, configure, faults, run
from tracer.contract import DecisionKind
from tracer.errors import ConfigError
from tracer.hold import acquire, find
from tracer.recorder import Recorder, recorder
from tracer.store import read as rows
from tracer.verify import verify


class Count(State, version=1):
    n: int = 0


@pytest.mark.parametrize(
    ("error", "point"),
    [
        (KeyboardInterrupt, "journal.before_commit"),
        (KeyboardInterrupt, "journal.after_commit"),
        (OSError, "journal.before_commit"),
    ],
)
def test_a_run_whose_segment_broke_while_it_wrote_is_resumed_by_the_same_process(
    held: Recorder, error: type[BaseException], point: str
) -> None:
    @agent("broken", plan="1")
    def broken(run: Run, state: Count) -> Count:
        def strike(name: str) -> None:
            if name == point:
                raise error

        state.n += 1
        if not run.resumed:
            with faults.armed(strike):
                run.checkpoint("struck")
        return state

    with pytest.raises(error):
        broken.start_or_resume("r1", Count())
    row = find(held, "r1")
    assert row is not None
    assert row.owner is not None, "it could not give its lease back"
    preview = broken.preflight("r1").verdict
    assert preview.admits, preview.stops
    assert broken.start_or_resume("r1").n == (2 if point == "journal.after_commit" else 1)
    assert verify(held, "r1", rows.MAIN).sound


def test_a_lease_that_this_process_is_just_taking_is_not_free(held: Recorder) -> None:
    with run("mine", id="r1", state={}) as one:
        one._segment.recorder.heart.stop("r1", rows.MAIN)
        live = dict(held.live)
        held.live.clear()
        with held.opening("r1", rows.MAIN), pytest.raises(AlreadyResumed):
            acquire(held, "r1")
        held.live.update(live)


def test_another_recorder_of_the_process_does_not_take_a_run_that_lives(held: Recorder) -> None:
    other = Recorder.open(held.settings)
    with run("mine", id="r1", state={}), pytest.raises(AlreadyResumed):
        acquire(other, "r1")
    other.close()


def test_a_run_in_which_another_one_waits_for_a_person_waits_too(held: Recorder) -> None:
    @agent("inner", plan="1")
    def inner(run: Run, state: Count) -> Count:
        state.n = int(run.ask("go on?").approved)
        return state

    @agent("outer", plan="1")
    def outer(run: Run, state: Count) -> Count:
        state.n = 10 + inner.start_or_resume("child", Count()).n
        return state

    with pytest.raises(Paused) as told:
        outer.start_or_resume("parent", Count())
    assert told.value.run_id == "child"
    row = find(held, "parent")
    assert row is not None
    assert (row.state, row.reason, row.owner) == ("paused", "waits for run child", None)
    with held.store.reader.connect() as connection:
        asked = rows.approvals(connection, run_id="child", name=rows.MAIN)
    approvals.decide(held.journal, asked[0].approval_id, DecisionKind.APPROVE, who="kim")
    assert outer.start_or_resume("parent").n == 11


def test_settings_are_not_changed_under_a_run_that_goes_on(home: Path) -> None:
    with run("mine", id="r1", state={}) as one:
        before = recorder()
        configure(home=str(home))  # says what holds already
        with pytest.raises(ConfigError, match="Run r1 goes on"):
            configure(environment="staging")
        assert recorder() is before
        one.checkpoint("still", {"n": 1})
    assert configure(environment="staging").environment == "staging"
    assert recorder() is not before
