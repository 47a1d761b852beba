"""Who is told success, when several threads wait for one commit and something goes wrong in it?"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from tracer import faults, run
from tracer.errors import AlreadyResumed, Fenced, StoreError, UnknownRun
from tracer.journal import Append, Draft
from tracer.recorder import Recorder
from tracer.store import read
from tracer.verify import verify


@pytest.fixture
def journal(held: Recorder) -> Recorder:
    """A store with one run, to which decisions can be appended."""
    with run("a run", id="r1", state={"n": 0}):
        pass
    return held


def note(subject: str, **more: Any) -> Append:
    return Append(
        "r1", read.MAIN, [Draft(kind="decision", mark="acknowledge", subject=subject, body={})], **more
    )


def subjects(held: Recorder) -> list[str]:
    with held.store.reader.connect() as connection:
        return [entry.subject for entry in read.entries(connection, "r1", kinds=("decision",))]


def together(held: Recorder, appends: list[Append], act: Callable[[str], None]) -> list[BaseException | None]:
    """Append all of them as one batch; what each caller was told. *act* is called at every fault point."""
    told: list[BaseException | None] = [None] * len(appends)

    def work(place: int) -> None:
        try:
            held.journal.append(appends[place])
        except BaseException as error:
            told[place] = error

    threads = [threading.Thread(target=work, args=(place,)) for place in range(len(appends))]
    with faults.armed(act):
        with held.journal._committing:
            for thread in threads:
                thread.start()
            while len(held.journal._queue) < len(appends):
                pass
        for thread in threads:
            thread.join(30)
    return told


def test_those_who_wait_share_one_commit(journal: Recorder) -> None:
    points: list[str] = []
    assert together(journal, [note(str(n)) for n in range(5)], points.append) == [None] * 5
    assert points.count("journal.before_commit") == 1
    assert sorted(subjects(journal)) == list("01234")
    assert verify(journal, "r1", read.MAIN).sound


def test_a_bad_entry_takes_nobody_down_and_is_not_told_success(journal: Recorder) -> None:
    bad = [note("fenced", epoch=99), note("nobody"), note("guarded", guards={"segment": 7})]
    bad[1].run_id = "nobody"
    told = together(journal, [note("a"), *bad, note("b")], lambda _: None)
    assert [type(error) for error in told] == [type(None), Fenced, UnknownRun, AlreadyResumed, type(None)]
    assert sorted(subjects(journal)) == ["a", "b"]
    assert verify(journal, "r1", read.MAIN).sound


class Once:
    """Raises at the first pass of one point."""

    def __init__(self, point: str, error: BaseException) -> None:
        self.point, self.error, self.done = point, error, False

    def __call__(self, name: str) -> None:
        if name == self.point and not self.done:
            self.done = True
            raise self.error


def lost() -> OperationalError:
    return OperationalError("a statement", {}, sqlite3.OperationalError("the answer was lost"))


@pytest.mark.parametrize("error", [lost, lambda: MemoryError("no room for the answer")])
def test_a_batch_whose_acknowledgement_is_lost_is_success_for_all_and_in_the_journal_once(
    journal: Recorder, error: Callable[[], BaseException]
) -> None:
    told = together(journal, [note(str(n)) for n in range(4)], Once("journal.after_commit", error()))
    assert told == [None] * 4
    assert sorted(subjects(journal)) == list("0123")
    assert journal.journal.ambiguous > 0
    assert verify(journal, "r1", read.MAIN).sound


def test_a_batch_that_fails_before_its_commit_is_tried_again_one_by_one(journal: Recorder) -> None:
    told = together(journal, [note(str(n)) for n in range(4)], Once("journal.before_commit", lost()))
    assert told == [None] * 4
    assert sorted(subjects(journal)) == list("0123")


@pytest.mark.parametrize("point", ["journal.before_commit", "journal.after_commit"])
def test_an_interrupt_in_the_middle_of_others_work_costs_them_nothing(journal: Recorder, point: str) -> None:
    told = together(journal, [note(str(n)) for n in range(4)], Once(point, KeyboardInterrupt()))
    interrupted = [place for place, error in enumerate(told) if isinstance(error, KeyboardInterrupt)]
    assert len(interrupted) == 1
    assert [error for error in told if error is not None and not isinstance(error, KeyboardInterrupt)] == []
    written = subjects(journal)
    assert len(written) == len(set(written)), "nobody is in the journal twice"
    others = {str(n) for n in range(4)} - {str(interrupted[0])}
    assert others <= set(written), "who was told success is in the journal"
    assert verify(journal, "r1", read.MAIN).sound


def test_after_a_failure_the_next_append_goes_on_from_the_true_head(journal: Recorder) -> None:
    with faults.armed(Once("journal.before_commit", lost())), pytest.raises(StoreError):
        journal.journal.append(note("lost"))
    journal.journal.append(note("kept"))
    assert subjects(journal) == ["kept"]
    assert verify(journal, "r1", read.MAIN).sound
