"""Does anything raise, or go unsaid, whatever the records hold?"""

from __future__ import annotations

from typing import Any

import pytest

from tracer.divergence import canonical, compare, score


def cyclic() -> dict[str, Any]:
    args: dict[str, Any] = {"claim_id": "CL-1"}
    args["self"] = args
    return args


def deep() -> dict[str, Any]:
    top: dict[str, Any] = {}
    here = top
    for _ in range(5_000):
        here["in"] = {}
        here = here["in"]
    return top


ODD = {
    "a cycle": (cyclic(), "a cycle at self"),
    "depth": (deep(), "deeper than"),
    "breadth": ({"ids": list(range(9_000))}, "beyond the first"),
}


@pytest.mark.parametrize("name", ODD)
def test_what_cannot_be_read_of_the_arguments_is_named(name: str) -> None:
    args, said = ODD[name]
    call = canonical({"name": "pay", "args": args, "kind": "write", "ok": True}, 7)
    assert any(said in what and "call 7 (pay)" in what for what in call.left_out)


@pytest.mark.parametrize("record", [None, 3, "x", [], {}, {"name": None}])
def test_a_record_without_a_call_is_left_out_aloud(record: Any) -> None:
    found = compare([record], [record] * 3, [[record]])
    assert found.score == 0.0
    assert found.left_out


@pytest.mark.parametrize(
    "args",
    [
        float("nan"),
        {"n": float("inf")},
        {"n": 10**6_000},
        {"n": "1e999999"},
        {"b": b"\xff"},
        {"o": object()},
        {"s": {1, 2}},
        {"t": "\ud800"},
        3,
        "{",
        None,
    ],
    ids=[str(n) for n in range(11)],
)
def test_odd_values_compare_with_themselves(args: Any) -> None:
    call = {"name": "pay", "args": args, "kind": "write", "ok": True, "result": object()}
    assert score([], [call], [[call], [call]]) == 0.0
    assert score([call], [call], []) >= 0.5


def test_calls_without_ids_in_great_number_are_read_in_one_pass() -> None:
    calls = [
        {"name": "note", "args": {"text": f"thing {n % 7}"}, "kind": "write", "ok": True}
        for n in range(30_000)
    ]
    assert score([], calls, [calls]) == 0.0


def test_invisible_characters_and_full_width_digits_are_notation() -> None:
    one = {"name": "pay", "args": {"claim_id": "CL-4711"}, "kind": "write", "ok": True}
    two = {"name": "pay", "args": {"claim_id": "CL-\u200b４７１１"}, "kind": "write", "ok": True}
    assert score([one], [two], []) >= 0.5
