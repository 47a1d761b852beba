"""Is what a service says of a lost call kept like any other result, and is it asked only for so long?"""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cases.lives import KILLED, die, lives
from tracer import Paused, Run, State, agent, world, write
from tracer.errors import ResumeRefused
from tracer.recorder import recorder
from tracer.store import objects

SECRET = "sk-ant-api03-" + "z" * 93 + "AA"
LARGE = "a line of a long report\n" * 30_000
answers: dict[str, Any] = {}


class Nothing(State, version=1):
    n: int = 0


def asked(x: str) -> Any:
    answer = answers[x]
    return answer() if callable(answer) else answer


@write(reconcile=asked)
def lost(x: str) -> Any:
    die()


@agent("forgetful")
def forgetful(run: Run, state: Nothing) -> Nothing:
    answers["result"] = lost("x")
    state.n = 1
    return state


@pytest.fixture
def dead(home: Path) -> Path:
    """A run that died inside a call."""
    answers.clear()
    assert lives(lambda: forgetful.start_or_resume("r1", Nothing())) == KILLED
    return home


def stored(home: Path) -> bytes:
    """Every byte of every row, packed and unpacked."""
    out: list[bytes] = []
    with sqlite3.connect(home / "waypost.db") as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in connection.execute(f"SELECT * FROM {name}"):
                for value in row:
                    data = value.encode() if isinstance(value, str) else value
                    if isinstance(data, bytes):
                        out += [data, _opened(data)]
    connection.close()
    return b"".join(out)


def _opened(value: bytes) -> bytes:
    try:
        return objects.unpack(value, "a row")
    except Exception:
        return b""


def test_what_reconcile_returns_is_sealed_and_comes_back_exactly(dead: Path) -> None:
    answers["x"] = {"token": SECRET}
    forgetful.start_or_resume("r1")
    assert answers["result"] == {"token": SECRET}
    assert b"z" * 40 not in stored(dead)


def test_a_large_answer_of_reconcile_goes_into_objects_of_its_own(dead: Path) -> None:
    answers["x"] = LARGE
    forgetful.start_or_resume("r1")
    assert answers["result"] == LARGE
    with sqlite3.connect(dead / "waypost.db") as connection:
        (largest,) = connection.execute("SELECT max(length(result)) FROM call").fetchone()
    connection.close()
    assert largest < 1000


def test_an_answer_that_cannot_be_stored_does_not_make_the_call_forgotten(dead: Path) -> None:
    answers["x"] = threading.Lock()
    with pytest.raises(Paused) as paused:
        forgetful.start_or_resume("r1")
    assert "result could not be stored" in str(paused.value)
    with recorder().store.reader.connect() as connection:
        ((state, flags),) = connection.exec_driver_sql("SELECT state, flags FROM call").fetchall()
    assert state == "committed"
    assert "result unstorable" in flags


def test_a_service_that_does_not_answer_is_not_waited_for_and_the_finding_says_so(
    dead: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world, "PROBE_S", 0.05)
    never = threading.Event()
    answers["x"] = lambda: never.wait(30)
    began = time.monotonic()
    with pytest.raises(ResumeRefused) as refused:
        forgetful.start_or_resume("r1")
    assert not never.is_set()
    assert time.monotonic() - began < 25
    never.set()
    assert "its reconcile did not answer within 0.05 s" in str(refused.value)
    assert "make its service reachable and resume again" in str(refused.value)
    assert "neither key nor reconcile" not in str(refused.value)


def test_a_reconcile_that_raises_is_quoted_without_its_secrets_and_may_be_asked_again(dead: Path) -> None:
    def refuses() -> None:
        raise RuntimeError(f"401 for {SECRET}")

    answers["x"] = refuses
    with pytest.raises(ResumeRefused, match="its reconcile raised RuntimeError: 401 for ‹sealed") as refused:
        forgetful.start_or_resume("r1")
    assert SECRET not in str(refused.value)
    answers["x"] = 7
    forgetful.start_or_resume("r1")
    assert answers["result"] == 7
