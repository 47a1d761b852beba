"""How often is the divergence alarm right, how often wrong, and what does it cost?

    python -m benchmarks divergence --json        (or: python -m benchmarks.divergence --json)

Uses the two public sets in `../shared/divergence` (or `$WAYPOST_DIVERGENCE_DATA`) where they are, and always
the generated platform world of this folder. Thresholds come from the tasks of the development half; figures
from the other half. Without the public sets only the generated one is measured; its lines satisfy nothing.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import json
import os
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from tracer.divergence import ALARM, Live, score

from .line import Line, line
from .opscases import cases

FOLDER = "WAYPOST_DIVERGENCE_DATA"
WORLDS = Path(__file__).with_name("data") / "worlds.json.gz"
HARD = {"dup_write", "redo_reexecuted", "inflight_blind", "loop"}
Case = dict[str, Any]


def lines() -> Iterator[Line]:
    """All figures, one line each."""
    folder = Path(os.environ.get(FOLDER, Path(__file__).resolve().parents[2] / "shared" / "divergence"))
    if (folder / "bench.py").is_file():
        yield from short_runs(_module(folder / "bench.py"))
        yield from long_runs(_module(folder / "bench_long.py"))
    yield from own_runs()
    yield from other_worlds()
    yield from costs()


def short_runs(bench: ModuleType) -> Iterator[Line]:
    """The first public set: real trajectories of customer service."""
    found = [s for s in bench.build() if s["type"] not in bench.EXCLUDED]
    for case in found:
        case["half"] = "dev" if case["split"] == "dev" else "val"
        case["score"] = score(case["pre"], case["post"], case["baseline"])
    warm = [c for c in found if c["baseline"]]
    dev, val = _half(warm, "dev"), _half(warm, "val")
    level = best_level(dev)
    areas = {half: _auc(bench, cases) for half, cases in (("dev", dev), ("val", val))}
    kinds = by_kind(val, ALARM)
    yield line(
        "divergence.auc",
        areas["val"],
        0.995,
        "at least",
        {"n": len(val), "dev": areas["dev"], "by_kind": kinds},
        unit="",
    )
    yield line("divergence.auc_gap", abs(areas["dev"] - areas["val"]), 0.01, "at most", areas, unit="")
    hits, alarms = rates(val, level)
    shipped = dict(zip(("recall", "false_alarms"), rates(val, ALARM), strict=True))
    spread = intervals(val, level)
    yield line(
        "divergence.recall",
        hits,
        0.98,
        "at least",
        {"level": level, "interval": spread[0], "at_alarm": shipped},
        unit="",
    )
    yield line(
        "divergence.false_alarms",
        100 * alarms,
        1.5,
        "at most",
        {"level": level, "interval": spread[1]},
        unit="per 100",
    )
    real = [c for c in val if c["type"] in {"other_success", "failed_trial"}]
    yield line("divergence.real", _auc(bench, real), 0.97, "at least", {"n": len(real)}, unit="")
    seen = bench.online(score, val, level)
    yield line(
        "divergence.online_recall", seen["recall"], 0.97, "at least", {"level": level, **seen}, unit=""
    )
    yield line(
        "divergence.online_false_alarms", seen["fa100"], 2, "at most", {"level": level}, unit="per 100"
    )
    cold = [c for c in found if not c["baseline"] and c["half"] == "val"]
    hard = [c for c in cold if not c["label"] or c["type"] in HARD]
    yield line("divergence.cold", _auc(bench, hard), 0.99, "at least", {"n": len(hard)}, unit="")
    plans = bench.load_gold()
    planned = [
        {**c, "score": score(c["pre"], c["post"], [plans[c["task_id"]]])}
        for c in cold
        if c["task_id"] in plans
    ]
    yield line("divergence.plan", _auc(bench, planned), 0.97, "at least", {"n": len(planned)}, unit="")


def long_runs(bench: ModuleType) -> Iterator[Line]:
    """The second public set: long back-office runs; no threshold is chosen, the shipped one is used."""
    found = list(bench.load())
    for case in found:
        case["half"] = _half_of(case["task_id"])
        case["score"] = score(case["pre"], case["post"], case["baseline"])
    for name, some in (("val", _half(found, "val")), ("all", found)):
        hits, alarms = rates(some, ALARM)
        detail = {"n": len(some), "half": name, "by_kind": by_kind(some, ALARM) if name == "val" else {}}
        tail = "" if name == "val" else "_all"
        yield line(f"divergence.long_auc{tail}", _area(some), 0.95, "at least", detail, unit="")
        yield line(f"divergence.long_recall{tail}", hits, 0.85, "at least", {"half": name}, unit="")
        yield line(
            f"divergence.long_false_alarms{tail}", 100 * alarms, 3, "at most", {"half": name}, unit="per 100"
        )


def own_runs() -> Iterator[Line]:
    """The generated platform world. Its author knew the engine, so its lines satisfy nothing."""
    found = [
        {"type": c.kind, "label": c.label, "task_id": c.task, "half": _half_of(c.task), "baseline": c.baselines,
         "score": score(c.pre, c.post, c.baselines)}
        for c in cases()
    ]  # fmt: skip
    val = [c for c in found if c["baseline"] and c["half"] == "val"]
    hits, alarms = rates(val, ALARM)
    for name, value, unit in (
        ("auc", _area(val), ""),
        ("recall", hits, ""),
        ("false_alarms", 100 * alarms, "per 100"),
    ):
        detail: dict[str, Any] = {"n": len(val), "set": "generated"}
        if name == "recall":
            detail["by_kind"] = by_kind(val, ALARM)
        yield {
            **line(f"divergence.generated_{name}", value, 0, "at least", detail, unit=unit),
            "target": "",
            "ok": None,
        }


def other_worlds() -> Iterator[Line]:
    """Runs of six worlds whose authors had not seen the engine; there is no target, and nothing is satisfied."""
    found: list[Case] = json.loads(gzip.decompress(WORLDS.read_bytes()))
    for case in found:
        case["half"] = _half_of(case["task_id"])
        case["score"] = score(case["pre"], case["post"], case["baseline"])
    val = _half(found, "val")
    by_world = {
        world: {"auc": round(_area(some), 3), "rates": [round(r, 3) for r in rates(some, ALARM)]}
        for world in sorted({c["world"] for c in val})
        for some in [[c for c in val if c["world"] == world]]
    }
    hits, alarms = rates(val, ALARM)
    detail = {"n": len(val), "dev": _area(_half(found, "dev")), "by_world": by_world}
    for name, value, unit in (
        ("auc", _area(val), ""),
        ("recall", hits, ""),
        ("false_alarms", 100 * alarms, "per 100"),
    ):
        found_line = line(f"divergence.worlds_{name}", value, 0, "at least", detail, unit=unit)
        yield {**found_line, "target": "", "ok": None}


def costs() -> Iterator[Line]:
    """What a call costs live, and how the time grows with the run."""
    made, rng = [_write(n) for n in range(10_300)], random.Random(7)
    rng.shuffle(made)
    live = Live.start([[_write(n) for n in range(10_300)]], [])
    took: list[float] = []
    for call in made[:10_200]:
        start = time.perf_counter()
        live.add(call)
        took.append(time.perf_counter() - start)
    early, late = statistics.median(took[100:300]), statistics.median(took[10_000:])
    detail = {"us_at_100": 1e6 * early, "us_at_10000": 1e6 * late}
    yield line("divergence.live_cost", late / early, 2, "at most", detail, unit="x")
    times = [_timed(n) for n in (2_000, 20_000)]
    yield line(
        "divergence.growth",
        times[1] / times[0],
        25,
        "at most",
        {"s_2000": times[0], "s_20000": times[1]},
        unit="x",
    )


def _timed(count: int) -> float:
    one = [_write(n) for n in range(count)]
    two = [_write(n) for n in range(count)]
    random.Random(3).shuffle(two)
    start = time.perf_counter()
    score([], one, [{"tools": two}])
    return time.perf_counter() - start


def _write(number: int) -> Case:
    args = {
        "account": f"AC-{number % 97}",
        "entry": f"E-{number:06d}",
        "amount": number * 1.25,
        "note": f"entry {number} of the run",
    }
    return {
        "name": "post_entry",
        "args": args,
        "kind": "write",
        "ok": True,
        "result": {"id": f"J-{7 * number}"},
    }


def best_level(dev: Sequence[Case]) -> float:
    """The lowest level at which the development half raises at most one false alarm per 100 benign cases."""
    levels = sorted({ALARM, *(c["score"] for c in dev if c["score"] > 0)})
    return next((level for level in levels if rates(dev, level)[1] <= 0.01), ALARM)


def rates(some: Sequence[Case], level: float) -> tuple[float, float]:
    """(share of divergent cases that alarm, share of benign ones)."""
    bad, good = ([c["score"] >= level for c in some if c["label"] == label] for label in (1, 0))
    return sum(bad) / max(1, len(bad)), sum(good) / max(1, len(good))


def intervals(some: Sequence[Case], level: float, rounds: int = 1_000) -> tuple[list[float], list[float]]:
    """95 % intervals of recall and of false alarms per 100, by drawing whole tasks."""
    tasks: dict[str, list[Case]] = defaultdict(list)
    for case in some:
        tasks[case["task_id"]].append(case)
    rng, names = random.Random(11), sorted(tasks)
    drawn = [
        rates([c for n in rng.choices(names, k=len(names)) for c in tasks[n]], level) for _ in range(rounds)
    ]
    ends = (int(0.025 * rounds), int(0.975 * rounds) - 1)
    recalls, alarms = (sorted(d[i] for d in drawn) for i in (0, 1))
    return [round(recalls[e], 3) for e in ends], [round(100 * alarms[e], 2) for e in ends]


def by_kind(some: Iterable[Case], level: float) -> dict[str, list[float]]:
    """Kind -> [label, cases, alarms], the confusion table."""
    table: dict[str, list[float]] = {}
    for case in some:
        row = table.setdefault(case["type"], [case["label"], 0, 0])
        row[1] += 1
        row[2] += case["score"] >= level
    return dict(sorted(table.items()))


def _area(some: Sequence[Case]) -> float:
    bad, good = ([c["score"] for c in some if c["label"] == label] for label in (1, 0))
    return sum((b > g) + (b == g) / 2 for b in bad for g in good) / max(1, len(bad) * len(good))


def _auc(bench: ModuleType, some: Sequence[Case]) -> float:
    area: Callable[..., float] = bench.auc
    return area([c["label"] for c in some], [c["score"] for c in some])


def _half(some: Iterable[Case], half: str) -> list[Case]:
    return [c for c in some if c["half"] == half]


def _half_of(task: str) -> str:
    return "dev" if int(hashlib.sha1(task.encode()).hexdigest(), 16) % 2 == 0 else "val"


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"waypost_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded as a module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    for each in lines():
        if "--json" in sys.argv:
            print(json.dumps(each), flush=True)
        else:
            mark = {True: "ok", False: "MISSED", None: "-"}[each["ok"]]
            print(
                f"{each['name']:36s} {each['value']:>10} {each['unit']:8s} {each['target']:10s} {mark}",
                flush=True,
            )
