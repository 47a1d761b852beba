"""What must hold for any runs at all?"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer.divergence import ALARM, Live, score
from tracer.divergence.harmless import HARMLESS

Record = dict[str, Any]

RECORDS = st.integers(100, 140).map(lambda n: f"ORD-{n}")
WORDS = st.sampled_from(["standard", "express", "Munich", "blue", "urgent"])
DAYS = st.integers(1, 28).map(lambda d: f"2026-03-{d:02d}")
VALUES = st.one_of(
    st.integers(0, 5_000), WORDS, DAYS, st.booleans(), st.lists(RECORDS, max_size=3, unique=True)
)
ARGS = st.fixed_dictionaries(
    {"order_id": RECORDS},
    optional={
        "amount": st.integers(1, 900),
        "way": WORDS,
        "due": DAYS,
        "items": st.lists(RECORDS, max_size=3, unique=True),
        "options": st.dictionaries(st.sampled_from(["colour", "size"]), VALUES, max_size=2),
    },
)
READS = st.builds(
    lambda a, n: call("get_order", a, "read", {"order_id": a["order_id"], "total": n}),
    ARGS,
    st.integers(1, 99),
)
WRITES = st.builds(
    lambda tool, a, n: call(tool, a, "write", {"entry": f"JE-{n}"}),
    st.sampled_from(["ship_order", "refund_order", "mark_orders"]),
    ARGS,
    st.integers(10_000, 99_999),
)
RUNS = st.lists(st.one_of(READS, WRITES), max_size=12)


def call(name: str, args: Record, kind: str, result: Any = None) -> Record:
    return {"name": name, "args": args, "kind": kind, "ok": True, "result": result}


def split(run: list[Record], at: int) -> tuple[list[Record], list[Record]]:
    cut = at % (len(run) + 1)
    return [{**c, "phase": "committed"} for c in run[:cut]], run[cut:]


@given(RUNS, st.integers(0, 20), st.integers(0, 3))
def test_a_run_that_repeats_its_baselines_never_alarms(run: list[Record], at: int, copies: int) -> None:
    pre, post = split(run, at)
    # A run that itself repeats a write has nothing to say for it without a baseline.
    if copies or len({str((c["name"], c["args"])) for c in run}) == len(run):
        assert score(pre, post, [{"tools": run}] * max(1, copies)) == 0.0


@given(RUNS, st.integers(0, 20), st.randoms(use_true_random=False))
def test_permuting_reads_between_two_writes_never_alarms(
    run: list[Record], at: int, rng: random.Random
) -> None:
    pre, post = split(run, at)
    shuffled: list[Record] = []
    block: list[Record] = []
    for step in [*post, None]:
        if step is not None and step["kind"] == "read":
            block.append(step)
            continue
        rng.shuffle(block)
        shuffled += block + ([step] if step is not None else [])
        block = []
    assert score(pre, shuffled, [{"tools": run}]) < ALARM


@given(RUNS, WRITES, st.integers(0, 20), st.integers(0, 3))
def test_a_write_done_once_more_than_in_any_baseline_always_alarms(
    run: list[Record], write: Record, at: int, baselines: int
) -> None:
    done = [*run, write]
    pre, post = split(done, at)
    again = {**write, "result": {"entry": "JE-1"}}
    assert score(pre, [*post, again], [{"tools": done}] * baselines) >= ALARM


@given(RUNS, WRITES)
def test_a_committed_write_repeated_without_a_baseline_always_alarms(
    run: list[Record], write: Record
) -> None:
    live = Live.start([], [*run, write])
    assert [r.code for r in live.add(write)] == ["write.repeated"]


@pytest.mark.parametrize("name", HARMLESS)
@given(base=RUNS, run=RUNS, at=st.integers(0, 20))
def test_a_harmless_transformation_of_both_sides_leaves_the_score(
    name: str, base: list[Record], run: list[Record], at: int
) -> None:
    change = HARMLESS[name]
    pre, post = split(run, at)
    plain = score(pre, post, [{"tools": base}])
    assert score(change(pre), change(post), [{"tools": change(base)}]) == pytest.approx(plain)


@given(RUNS, RUNS, st.integers(0, 20))
def test_a_live_comparison_ends_where_the_whole_one_does(
    base: list[Record], run: list[Record], at: int
) -> None:
    pre, post = split(run, at)
    live = Live.start([base], pre)
    for step in post:
        live.add(step)
    assert live.score == pytest.approx(score(pre, post, [{"tools": base}], final=False))
    live.finish()
    assert live.score == pytest.approx(score(pre, post, [{"tools": base}]))


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_value_raises(junk: Any) -> None:
    for records in ([junk], [{"name": junk, "args": junk, "result": junk, "kind": junk}], junk):
        assert 0.0 <= score(records, records, [records, {"tools": records}]) <= 1.0


@given(RUNS, RUNS, st.integers(0, 20))
def test_a_trial_says_what_the_call_will_say_and_changes_nothing(
    base: list[Record], run: list[Record], at: int
) -> None:
    pre, post = split(run, at)
    tried, plain = Live.start([base], pre), Live.start([base], pre)
    for record in post:
        planned = tried.trial({**record, "result": None})
        said = tried.add(record)
        assert said == plain.add(record)
        # A batch is tried member by member; a look-up that is missing is found only when the write is placed.
        if record["kind"] == "write" and "[" not in json.dumps(record["args"]):
            assert {r for r in said if r.code != "write.before_lookup"} == set(planned)
    assert tried.finish() == plain.finish()
