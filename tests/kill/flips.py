"""Which single flipped bits of a database go unnoticed? A job for a fresh fork."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

from tests.kill.life import RUN
from tracer import configure
from tracer.errors import WaypostError
from tracer.recorder import recorder, reset
from tracer.store import read
from tracer.verify import verify
from tracer.world import load

BELIEVED = (
    "agent",
    "entrypoint",
    "objective",
    "head_entry",
    "head_sequence",
    "head_tag",
    "epoch",
    "owner",
    "segment",
)
BELIEVED += ("state", "reason", "position", "step")
"""Columns of a run that decide anything; times and counters are for lists."""


def flip(job: dict[str, Any]) -> dict[str, Any]:
    """Flip `count` bits, one at a time, in copies of the store in `home`.

    The answer counts `detected`, `untyped` (noticed, but with an error that is none of ours) and `unchanged`,
    and lists `missed`: the bit and what was believed.
    """
    home, copy = Path(job["home"]), Path(job["home"]) / "flipped"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(home, copy, ignore=shutil.ignore_patterns("flipped"))
    before = _believed(copy)
    reset()  # closing folds the write-ahead log into the file
    original = (copy / "waypost.db").read_bytes()
    out: dict[str, Any] = {"detected": 0, "untyped": [], "unchanged": 0, "missed": []}
    source = random.Random(job["seed"])
    for _ in range(job["count"]):
        bit = source.randrange(len(original) * 8)
        damaged = bytearray(original)
        damaged[bit // 8] ^= 1 << bit % 8
        for extra in ("waypost.db-wal", "waypost.db-shm"):
            (copy / extra).unlink(missing_ok=True)
        (copy / "waypost.db").write_bytes(damaged)
        try:
            after = _believed(copy)
        except WaypostError:
            out["detected"] += 1
        except Exception as error:
            out["untyped"].append(f"bit {bit}: {type(error).__name__}: {error}"[:300])
        else:
            if after == before:
                out["unchanged"] += 1
            else:
                out["missed"].append(
                    [bit, [str(pair) for pair in zip(before, after, strict=True) if pair[0] != pair[1]]]
                )
        finally:
            reset()
    return out


def _believed(home: Path) -> list[Any]:
    """What a resume of the run would believe; raises where damage is noticed."""
    configure(home=str(home))
    held = recorder(create=False)
    report = verify(held, RUN, read.MAIN)
    if not report.sound:
        raise WaypostError(report.problems[0])
    with held.store.reader.connect() as connection:
        row = read.run_by_id(connection, RUN)
        assert row is not None
        calls = read.calls(connection, RUN)
        values = [read.call_values(connection, RUN, read.MAIN, one.effect_id) for one in calls]
        asked = read.approvals(connection, run_id=RUN)
    loaded = load(held, RUN, read.MAIN, row.head_sequence)
    return [[getattr(row, name) for name in BELIEVED], loaded.fields, loaded.contract, calls, values, asked]
