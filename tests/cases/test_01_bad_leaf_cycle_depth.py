"""Case 01: a bad leaf, a cycle or a deep nest is named at once, and the checkpoint before stays the head."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tracer
from tests.cases.inputs import case_01
from tracer import codec
from tracer.errors import LimitExceeded, NotStorable
from tracer.types import NotAvailable

CASES: list[tuple[Callable[[], Any], str, str, str]] = [
    (case_01.bad_leaf, case_01.BAD_PATH, "Gateway", "no data"),
    (case_01.cycle, "$.scratch.child.parent", "dict", "it is $.scratch again"),
    (case_01.loop_bound, "$.scratch.ready", "asyncio.locks.Event", "register_runtime(Event)"),
    (case_01.deep, "$.scratch" + ".k" * 999, "dict", "more than 1000 containers deep"),
]
IDS = ["bad leaf", "cycle", "loop bound", "deep"]


@pytest.mark.parametrize(("make", "path", "kind", "why"), CASES, ids=IDS)
def test_the_refusal_names_the_path_and_the_type_of_the_leaf(
    make: Callable[[], Any], path: str, kind: str, why: str
) -> None:
    with pytest.raises(NotStorable) as refused:
        codec.lower(make())
    assert refused.value.path == path
    assert refused.value.type.endswith(kind)
    assert why in refused.value.why


@pytest.mark.parametrize(("make", "path", "kind", "why"), CASES, ids=IDS)
def test_the_run_learns_it_at_the_checkpoint_and_the_one_before_stays_the_head(
    make: Callable[[], Any], path: str, kind: str, why: str
) -> None:
    with tracer.run("case-01", id="case-01", state={"scratch": {"n": 0}}) as run:
        good = run.checkpoint("good", {"scratch": {"n": 1}})
        with pytest.raises(NotStorable, match=kind):
            run.checkpoint("bad", make())
        assert run.sequence == good
        assert run.checkpoint("after", {"scratch": {"n": 2}}) == good + 1


@pytest.mark.parametrize(("make", "path", "kind", "why"), CASES, ids=IDS)
def test_where_loss_is_permitted_the_gap_is_marked_at_its_path(
    make: Callable[[], Any], path: str, kind: str, why: str
) -> None:
    lost: list[NotStorable] = []
    plain = codec.lower(make(), lost=lost)
    assert [each.path for each in lost] == [path]
    value = codec.lift(codec.decode(codec.encode(plain)))
    for step in path.replace("[", ".").replace("]", "").split(".")[1:]:
        value = value[int(step) if step.isdigit() else step]
    assert isinstance(value, NotAvailable)


def test_a_cycle_is_no_recursion_error_however_it_is_reached() -> None:
    with pytest.raises(LimitExceeded):
        codec.lower((frozenset(), {3: [case_01.cycle()]}))
