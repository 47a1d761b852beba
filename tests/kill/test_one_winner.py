"""Do two workers ever resume the same run?

Claim (case 32): of 32 living processes that resume one run at the same moment exactly one gets it; every other
one is told who, has run nothing, and has written nothing but its refusal. Proof that there was a race: without
the epoch check the same race has several winners.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.kill.conftest import Zygote
from tracer import configure
from tracer.recorder import recorder, reset
from tracer.store import read
from tracer.verify import verify

pytestmark = [pytest.mark.kill, pytest.mark.slow]

WORKERS, ROUNDS = 32, 200


def race(root: Path, home: Path, workers: int, rounds: int, mutant: str = "") -> list[list[list[Any]]]:
    """Per round: what each worker came to, see `race`."""
    command = [sys.executable, "-m", "tests.kill.race", str(home), str(workers), str(rounds), mutant]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=400, check=True)
    answer: list[list[list[Any]]] = json.loads(done.stdout)
    return answer


def test_of_32_living_processes_exactly_one_resumes_in_each_of_200_rounds(zygote: Zygote, root: Path) -> None:
    home = zygote.home()
    rounds = race(root, home, WORKERS, ROUNDS)
    assert len(rounds) == ROUNDS
    wrong = []
    for number, said in enumerate(rounds):
        winners = [pid for _, word, _, pid in said if word == "won"]
        told = [owner for _, word, owner, _ in said if word == "told"]
        if len(winners) != 1 or len(told) != WORKERS - 1:
            wrong.append(f"round {number}: {said}")
        elif {owner.rpartition(" ")[2] for owner in told} != {str(winners[0])}:
            wrong.append(f"round {number}: {winners[0]} won, the losers were told {set(told)}")
    assert wrong == []
    ran = Counter(line.split()[0] for line in (home / "sink").read_text("utf-8").splitlines())
    assert ran == {f"race{number}": 1 for number in range(ROUNDS)}
    assert broken_journals(home) == []


def broken_journals(home: Path) -> list[str]:
    """Every run whose journal is not: one start, one lease, 31 refusals, one end, gap-free and sound."""
    configure(home=str(home))
    held = recorder(create=False)
    wrong = []
    for number in range(ROUNDS):
        run = f"race{number}"
        report = verify(held, run, read.MAIN)
        with held.store.reader.connect() as connection:
            entries = read.entries(connection, run)
            row = read.run_by_id(connection, run)
        kinds = Counter(entry.kind for entry in entries)
        assert row is not None
        if (
            report.problems
            or [entry.entry for entry in entries] != list(range(1, len(entries) + 1))
            or (kinds["lease"], kinds["refusal"], row.refusals, row.epoch) != (1, WORKERS - 1, WORKERS - 1, 2)
            or row.state != "done"
        ):
            wrong.append(f"{run}: {report.problems} {dict(kinds)} {row}")
    reset()
    return wrong


def test_without_the_epoch_check_several_take_the_same_run(zygote: Zygote, root: Path) -> None:
    rounds = race(root, zygote.home(), 12, 5, "no epoch")
    assert any(sum(word != "told" for _, word, *_ in said) > 1 for said in rounds)


def test_without_the_lock_taken_first_writers_fail_instead_of_waiting(zygote: Zygote, root: Path) -> None:
    rounds = race(root, zygote.home(), 16, 8, "no immediate")
    assert any("StoreLocked" in word for said in rounds for _, word, *_ in said)
