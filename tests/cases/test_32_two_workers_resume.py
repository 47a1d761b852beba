"""Case 32: of two workers that resume one run at the same moment one wins, and the other has done nothing.

With 32 processes and 200 rounds, and with a stopped worker that wakes, it stands in tests/kill.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from tests.cases.conftest import World
from tests.cases.lives import KILLED, lives
from tracer import KEY, AlreadyResumed, Paused, Run, State, agent, configure, write
from tracer.lease import Owner
from tracer.recorder import recorder, reset, settings
from tracer.store import read
from tracer.verify import verify


class Payment(State, version=1):
    paid: int = 0


def build(world: World, before: str = "", hold: threading.Event | None = None) -> object:
    @write(key_param="key")
    def pay(amount: int, *, key: str = KEY) -> int:
        world.does(f"pay {amount}")
        if hold is not None:
            assert hold.wait(30)
        return amount

    @agent("payer", plan="1")
    def payer(run: Run, state: Payment) -> Payment:
        if before and not run.resumed:
            run.pause(before)
        state.paid += pay(10)
        return state

    return payer


def kinds(run_id: str) -> list[tuple[str, str, str]]:
    with recorder().store.reader.connect() as connection:
        return [(entry.kind, entry.mark, entry.subject) for entry in read.entries(connection, run_id)]


@pytest.mark.parametrize("round_", range(3))
def test_two_processes_at_once(home: Path, world: World, round_: int) -> None:
    payer = build(world, "for the night")
    with pytest.raises(Paused):
        payer.start_or_resume("p1", Payment())  # type: ignore[attr-defined]
    where = settings().home
    reset()
    ready, go = os.pipe(), os.pipe()
    said = os.pipe()
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            os.close(go[1])
            configure(home=where)
            recorder()
            os.write(ready[1], b".")
            os.read(go[0], 1)  # until the other end is closed: for both at the same moment
            try:
                payer.start_or_resume("p1")  # type: ignore[attr-defined]
                word = "won"
            except AlreadyResumed as lost:
                word = f"lost to {lost.owner} since {lost.since}"
            os.write(said[1], f"{os.getpid()} {word}\n".encode())
            reset()
            os._exit(0)
        children.append(child)
    os.read(ready[0], 1)
    os.read(ready[0], 1)
    os.close(go[1])
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    words = os.read(said[0], 4_096).decode().splitlines()
    for end in (*ready, go[0], *said):
        os.close(end)
    configure(home=where)
    won = [line.split()[0] for line in words if line.endswith("won")]
    # Whoever comes after the end meets a finished run and is given its state: that is no second resume.
    assert won
    assert world.lines() == ["pay 10"]
    for line in words:
        if "lost to" in line:
            assert f"pid {won[0]} since" in line
    assert [kind for kind, _, _ in kinds("p1")].count("resume") == 1
    assert verify(recorder(), "p1", read.MAIN).sound


def test_a_run_that_this_same_process_has_just_started_is_not_adopted_by_its_recovery(
    home: Path, world: World
) -> None:
    hold = threading.Event()
    payer = build(world, hold=hold)
    thread = threading.Thread(target=lambda: payer.start_or_resume("p1", Payment()))  # type: ignore[attr-defined]
    thread.start()
    while not world.lines():
        pass
    with pytest.raises(AlreadyResumed, match=rf"held by .* pid {os.getpid()} \(epoch 1\)"):
        payer.start_or_resume("p1")  # type: ignore[attr-defined]
    hold.set()
    thread.join(30)
    assert world.lines() == ["pay 10"]
    refusals = [(mark, subject) for kind, mark, subject in kinds("p1") if kind == "refusal"]
    assert len(refusals) == 1
    assert refusals[0][0] == "lease"
    assert f"pid {os.getpid()}" in refusals[0][1]


def test_a_takeover_of_a_dead_owner_says_whose_run_it_was(home: Path, world: World) -> None:
    payer = build(world)
    start = lambda: payer.start_or_resume("p1", Payment())  # type: ignore[attr-defined]  # noqa: E731
    assert lives(start, dies_at=("call.before_outcome", 1)) == KILLED
    with recorder().store.reader.connect() as connection:
        row = read.run_by_id(connection, "p1")
    assert row is not None
    dead = Owner.parse(row.owner or "")
    assert payer.start_or_resume("p1").paid == 10  # type: ignore[attr-defined]
    with recorder().store.reader.connect() as connection:
        (lease,) = read.entries(connection, "p1", kinds=("lease",))
        segments = read.segments(connection, "p1")
    assert lease.mark == "dead"
    assert [one.pid for one in segments] == [dead.pid, os.getpid()]
    assert [one.outcome for one in segments] == ["interrupted", "done"]
    assert [one.epoch for one in segments] == [1, 2]
