"""Case 33, the journal's half: order and staleness come from numbers, whatever the clocks say."""

from __future__ import annotations

import json
import socket
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tracer import run
from tracer.recorder import recorder
from tracer.store import read
from tracer.verify import verify
from tracer.world import load

WRITES: list[dict[str, str]] = json.loads(
    (Path(__file__).parent / "inputs" / "case_33.json").read_text("utf-8")
)["writes"]


def ns(text: str) -> int:
    moment = datetime.fromisoformat(text)
    return int(moment.timestamp()) * 10**9 + moment.microsecond * 1_000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets what every clock of this host says."""

    def set_(text: str) -> None:
        monkeypatch.setattr(time, "time_ns", lambda: ns(text))
        monkeypatch.setattr(time, "time", lambda: ns(text) / 1e9)

    return set_


def test_history_is_in_the_order_of_the_writes_and_no_write_is_called_stale(home: Path, clock: Any) -> None:
    clock(WRITES[0]["at"])
    with run("clocks", id="k", state={"wrote": ""}) as one:
        for number, write in enumerate(WRITES, 2):
            clock(write["at"])
            assert one.checkpoint(write["wrote"], {"wrote": write["wrote"]}) == number
    with recorder().store.reader.connect() as connection:
        checkpoints = read.checkpoints(connection, "k")
        head = read.run_by_id(connection, "k")
        (segment,) = read.segments(connection, "k")
    assert [one.subject for one in checkpoints] == ["start", *(write["wrote"] for write in WRITES)]
    assert head is not None
    assert load(recorder(), "k", read.MAIN, head.head_sequence).fields == {"wrote": WRITES[-1]["wrote"]}
    assert [one.at for one in checkpoints[1:]] == [ns(write["at"]) for write in WRITES], (
        "raw times stay, in UTC"
    )
    assert segment.host == socket.gethostname()
    assert verify(recorder(), "k", read.MAIN).sound


def test_a_clock_that_jumps_takes_no_lease_and_refuses_no_resume(home: Path, clock: Any) -> None:
    clock(WRITES[3]["at"])
    with run("clocks", id="k", state={"n": 0}) as one:
        clock(WRITES[4]["at"])
        one.checkpoint("back in 1999", {"n": 1})
    clock(WRITES[2]["at"])
    with run("clocks", id="k") as again:
        assert again.state == {"n": 1}
        assert again.sequence == 3
    assert verify(recorder(), "k", read.MAIN).sound


def test_times_are_whole_nanoseconds_and_survive_every_precision(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = 1_746_305_857_067_034_123
    monkeypatch.setattr(time, "time_ns", lambda: odd)
    with run("clocks", id="k", state={"n": 0}):
        pass
    with recorder().store.reader.connect() as connection:
        assert {one.at for one in read.entries(connection, "k")} == {odd}
    assert datetime.fromtimestamp(odd / 1e9, UTC).tzinfo is UTC
