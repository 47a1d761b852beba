"""Who holds a run, and when is a holder gone?"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer.lease import Heart, Owner, Standing, me, standing, stopped_beating

words = st.text(
    st.characters(codec="ascii", exclude_characters="/", categories=["L", "N", "P"]), min_size=1, max_size=9
)


@given(st.builds(Owner, words, words, st.integers(1, 2**22), words, words))
def test_an_owner_survives_its_text(owner: Owner) -> None:
    assert Owner.parse(str(owner)) == owner


def test_an_owner_whose_host_name_holds_a_slash_is_still_read() -> None:
    assert Owner.parse("a/b/boot/12/99/token") == Owner("a/b", "boot", 12, "99", "token")


def test_the_standing_of_every_kind_of_owner() -> None:
    mine = me("token")
    assert standing(None) is Standing.FREE
    assert standing(str(mine)) is Standing.ALIVE
    assert standing(str(replace(mine, host="elsewhere"))) is Standing.ELSEWHERE
    assert standing(str(replace(mine, boot="an earlier boot"))) is Standing.DEAD
    assert standing(str(replace(mine, born="1"))) is Standing.DEAD, "another process has this number now"


def test_a_process_that_ended_is_dead_even_before_its_parent_has_looked() -> None:
    lives = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    born = Path(f"/proc/{lives.pid}/stat").read_text().rpartition(")")[2].split()[19]
    owner = str(replace(me("t"), pid=lives.pid, born=born))
    assert standing(owner) is Standing.ALIVE
    assert lives.stdin is not None
    lives.stdin.close()
    os.waitid(os.P_PID, lives.pid, os.WEXITED | os.WNOWAIT)
    assert standing(owner) is Standing.DEAD
    lives.wait()
    assert standing(owner) is Standing.DEAD


def test_a_counter_that_moves_is_a_living_holder_and_one_that_stands_is_not() -> None:
    ticks = count()
    assert not stopped_beating(lambda: next(ticks), 0.2, poll_s=0.001)
    assert stopped_beating(lambda: 7, 0.02, poll_s=0.001)


def test_the_wall_clock_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 0.0)
    monkeypatch.setattr("time.time_ns", lambda: 0)
    assert stopped_beating(lambda: 7, 0.02, poll_s=0.001)


def test_the_heart_beats_for_every_lease_until_it_is_given_back() -> None:
    beats: list[list[tuple[str, str, int]]] = []
    came = threading.Event()

    def beat(held: list[tuple[str, str, int]]) -> None:
        beats.append(held)
        came.set()

    heart = Heart(beat)
    heart.start("r1", "main", 3, 0.03)
    heart.start("r2", "main", 1, 0.03)
    assert came.wait(10)
    heart.stop("r1", "main")
    heart.close()
    assert ("r2", "main", 1) in [one for held in beats for one in held]
