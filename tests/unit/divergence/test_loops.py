"""When is a row of look-ups a circle, and when only patience?"""

from __future__ import annotations

from typing import Any

import pytest

from tracer.divergence import ALARM, score

Record = dict[str, Any]


def asked(what: str, answer: object = "open", *, ok: bool = True) -> Record:
    """A look-up of one order."""
    return {"name": f"get_{what}", "args": {"id": "O-17"}, "kind": "read", "ok": ok, "result": answer}


ORDER, CUSTOMER = asked("order"), asked("customer", {"name": "Ada"})
BUSY = asked("customer", "Error: 503 service unavailable", ok=False)
GONE = asked("order", "Error: not found", ok=False)


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([ORDER] * 6, id="one call six times"),
        pytest.param([ORDER, CUSTOMER] * 3, id="two calls in turn, three times"),
        pytest.param(
            [ORDER, CUSTOMER, ORDER, BUSY, CUSTOMER, ORDER, CUSTOMER], id="with a busy server in it"
        ),
        pytest.param([GONE] * 5, id="refused for good five times"),
    ],
)
def test_the_same_answers_again_and_again_are_a_circle(calls: list[Record]) -> None:
    assert score([], calls, []) >= ALARM


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([ORDER] * 4, id="asked four times"),
        pytest.param([ORDER, CUSTOMER] * 2, id="both asked twice"),
        pytest.param([BUSY] * 8, id="a busy server tried eight times"),
        pytest.param([GONE] * 3, id="refused three times"),
    ],
)
def test_patience_is_no_circle(calls: list[Record]) -> None:
    assert score([], calls, []) < ALARM
