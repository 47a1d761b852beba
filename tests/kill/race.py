"""What do 32 living processes do that all resume the same run at the same moment? Run as a program.

    python -m tests.kill.race HOME WORKERS ROUNDS MUTANT

All processes live across all rounds. In each, everybody waits at a barrier, then calls the same line; whoever gets
into the body waits there until the others have been told, so that nobody can win after another has finished.
Prints one JSON line: per round the winners' numbers, and what the losers were told.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
from pathlib import Path
from typing import Any

from tests.kill import mutants
from tracer import AlreadyResumed, Paused, Run, State, agent, configure
from tracer.recorder import recorder, reset

LONGEST_S = 390
_told: Any = None
_waits = False
_sink = Path("sink")


class Turn(State, version=1):
    turns: int = 0


@agent("turns", plan="1")
def turns(run: Run, state: Turn) -> Turn:
    if state.turns == 0:
        state.turns = 1
        run.checkpoint("ready")
        run.pause("until the race")
    with _sink.open("a") as file:
        file.write(f"{run.id} {os.getpid()}\n")
    _tell()
    state.turns += 1
    run.checkpoint("turned")
    return state


def main(home: str, workers: int, rounds: int, mutant: str) -> None:
    """Prepare the runs, then race for each of them."""
    global _told, _sink
    _sink = Path(home) / "sink"
    for number in range(rounds):
        configure(home=home)
        try:
            turns.start_or_resume(f"race{number}", Turn())
        except Paused:
            continue
    reset()
    context = multiprocessing.get_context("fork")
    start = context.Barrier(workers)
    _told = context.Barrier(workers)
    gathered = context.SimpleQueue()
    processes = [
        context.Process(target=_race, args=(number, home, rounds, mutant, start, gathered), daemon=True)
        for number in range(workers)
    ]
    for process in processes:
        process.start()
    answers = [
        gathered.get() for _ in processes
    ]  # a process that hangs ends itself, and its reader the caller
    for process in processes:
        process.join(LONGEST_S)
    json.dump([list(one) for one in zip(*answers, strict=True)], sys.stdout)
    print()


def _race(number: int, home: str, rounds: int, mutant: str, start: Any, gathered: Any) -> None:
    signal.alarm(LONGEST_S)
    configure(home=home)
    recorder()
    said = []
    with mutants.applied(mutant):
        for turn in range(rounds):
            start.wait(LONGEST_S)
            said.append(_try(f"race{turn}", number))
    reset()
    gathered.put(said)


def _try(run: str, number: int) -> list[Any]:
    """[worker, "won" | "told" | error, details, pid]"""
    global _waits
    _waits = True
    try:
        state = turns.start_or_resume(run)
        said = ["won", str(state.turns)]
    except AlreadyResumed as lost:
        said = ["told", lost.owner]
    except Exception as error:  # whatever it is, the others must not wait for it
        said = [f"{type(error).__name__}: {error}", ""]
    _tell()
    return [number, *said, os.getpid()]


def _tell() -> None:
    """Once per round: everybody has either won or been told."""
    global _waits
    if _waits:
        _waits = False
        _told.wait(LONGEST_S)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
