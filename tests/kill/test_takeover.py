"""Can a process that was stopped, and whose run was taken over, still write when it wakes?

Claim (RELIABILITY 11, case 32): a worker stopped past its lease writes nothing and does nothing more once it
wakes, wherever it was stopped, and it is told. Proof: without the epoch check its writes land.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kill.conftest import Zygote
from tests.kill.test_matrix import EFFECTS, positions, sink

pytestmark = pytest.mark.kill

TTL_S = 0.3
LONGEST_S = 20.0


@pytest.fixture(scope="module")
def stalled(root: Path, in_memory: Path) -> Iterator[Zygote]:
    """A second source of processes, for the ones that are stopped."""
    folder = in_memory / "stalled"
    folder.mkdir()
    made = Zygote(root, folder)
    yield made
    made.close()


def stopped_pid(home: Path) -> int:
    """Waits for the worker to stand still."""
    until = time.monotonic() + LONGEST_S
    while time.monotonic() < until:
        text = (home / "stopped").read_text() if (home / "stopped").exists() else ""
        if text and Path(f"/proc/{text}/stat").read_text().rpartition(")")[2].split()[0] == "T":
            return int(text)
        time.sleep(0.005)
    raise AssertionError("the worker did not stop")


def takeover(
    zygote: Zygote, stalled: Zygote, stop: list[Any], mutant: str = ""
) -> tuple[dict[str, Any], ...]:
    """(what the stopped worker came to, what the one that took over came to, what is left)."""
    home = zygote.home()
    stalled.ask("live", home, stop=stop, ttl=TTL_S, mutant=mutant)
    pid = stopped_pid(home)
    _, refused = zygote.do("live", home)
    assert refused["outcome"].startswith("AlreadyResumed"), "it lives and its lease runs: no takeover unasked"
    assert f"pid {pid}" in refused["outcome"]
    _, taker = zygote.do("live", home, takeover=True, ttl=TTL_S)
    os.kill(pid, signal.SIGCONT)
    _, woken = stalled.answer()
    _, left = zygote.do("look", home)
    return woken, taker, {**left, "sink": sink(home)}


@pytest.mark.parametrize(
    "stop",
    [
        ["call.before_intent", 1],
        ["sink.after", 1],
        ["call.before_outcome", 2],
        ["checkpoint.encoded", 2],
    ],
    ids=lambda stop: stop[0],
)
def test_a_worker_that_wakes_after_a_takeover_writes_nothing_and_is_told(
    zygote: Zygote, stalled: Zygote, stop: list[Any]
) -> None:
    woken, taker, left = takeover(zygote, stalled, stop)
    assert taker["outcome"] == "done"
    assert woken["outcome"].startswith("Fenced")
    stood = positions(woken["points"]).index((stop[0], stop[1]))
    assert "sink.before" not in woken["points"][stood + 1 :]
    assert left["sink"] == EFFECTS
    assert left["problems"] == []
    assert left["state"] == "done"
    assert left["sequence"] == taker["left"]["sequence"]


def test_without_the_epoch_check_its_writes_land(zygote: Zygote, stalled: Zygote) -> None:
    woken, _, left = takeover(zygote, stalled, ["checkpoint.encoded", 2], "no epoch")
    assert not woken["outcome"].startswith("Fenced")
    assert any("stale epoch" in one for one in left["problems"])
