"""Case 04: what cannot outlive a process is declared and marked, or the checkpoint says so; never skipped."""

from __future__ import annotations

import io
import threading
import types
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

import tracer
from tests.cases.inputs.case_04 import RawPart, build
from tracer import codec
from tracer.errors import NotStorable
from tracer.types import NotAvailable, Registry, register, register_runtime


class Mine(BaseModel):
    """A model of the user's own around the state."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    state: Any


WRAPPERS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "alone": (lambda state: state, lambda value: value),
    "in a model": (lambda state: Mine(state=state), lambda value: value.state),
    "in a list in a dict": (lambda state: {"x": [state]}, lambda value: value["x"][0]),
}


@pytest.fixture
def known() -> Registry:
    filled = Registry()
    register(Mine, registry=filled)
    return filled


@pytest.mark.parametrize(("wrap", "unwrap"), WRAPPERS.values(), ids=WRAPPERS)
def test_declared_handles_are_marked_and_the_rest_is_kept_to_the_byte(
    wrap: Callable[[Any], Any], unwrap: Callable[[Any], Any], known: Registry
) -> None:
    register_runtime(RawPart, "the provider's raw object", registry=known)
    for cls in (type(threading.Lock()), types.GeneratorType, io.IOBase):
        register_runtime(cls, registry=known)
    data = codec.encode(codec.lower(wrap(build()), registry=known))
    state = unwrap(codec.lift(codec.decode(data), registry=known, strict=True))
    assert state["messages"][0]["content"] == "ok"
    assert state["tool_returns"] == [{"tool_call_id": "c1", "content": b"\xff\xfe"}]
    assert state["messages"][0]["raw"] == NotAvailable(
        "the provider's raw object", "vendor_pb2_not_importable:RawPart"
    )
    assert [type(each) for each in state["scratch"].values()] == [NotAvailable] * 3
    with pytest.raises(AttributeError, match="_thread:lock was not stored"):
        state["scratch"]["lock"].acquire()


@pytest.mark.parametrize(("wrap", "unwrap"), WRAPPERS.values(), ids=WRAPPERS)
def test_an_undeclared_handle_is_refused_with_its_path_in_every_wrapper(
    wrap: Callable[[Any], Any], unwrap: Callable[[Any], Any], known: Registry
) -> None:
    with pytest.raises(NotStorable) as refused:
        codec.lower(wrap(build()), registry=known)
    assert refused.value.path.endswith((".raw", ".lock", ".stream", ".fh"))
    assert "register_runtime(" in refused.value.why


def test_a_run_stops_at_a_checkpoint_that_cannot_be_written() -> None:
    def steps() -> None:
        with tracer.run("case-04", id="case-04") as run:
            run.checkpoint("good", {"n": 1})
            run.checkpoint("bad", build())

    with pytest.raises(NotStorable, match="register_runtime"):
        steps()


def test_where_loss_is_permitted_every_gap_is_reported(known: Registry) -> None:
    lost: list[NotStorable] = []
    plain = codec.lower(build(), registry=known, lost=lost)
    assert sorted(each.path for each in lost) == [
        "$.messages[0].raw",
        "$.scratch.fh",
        "$.scratch.lock",
        "$.scratch.stream",
    ]
    assert codec.lift(plain, registry=known)["tool_returns"][0]["content"] == b"\xff\xfe"
