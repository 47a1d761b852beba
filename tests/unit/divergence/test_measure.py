"""Do two amounts and two days mean the same in other units and other words?"""

from __future__ import annotations

from typing import Any

import pytest

from tracer.divergence import ALARM, compare, score

Record = dict[str, Any]
SAME = [
    ("70.7F", "21.5 °C"),
    ("70.7°F", 21.5),
    ("-40 F", "-40 C"),
    ("300K", "26.85 °C"),
    ("5 GB", "5120 MB"),
    ("5 GB", 5),
    ("2 kg", "2000 g"),
    ("2 kg", "4.41 lb"),
    ("2 kg", 2000),
    ("90 min", "1.5 h"),
    ("90 min", 5400),
    ("2 days", "48 hours"),
    ("1 t", "1000 kg"),
    ("500 mg", 0.5),
]
APART = [
    ("70.7F", "22.5 °C"),
    ("70.7F", "70.7 °C"),
    ("0 °C", "33 °F"),
    ("5 MB", "5 GB"),
    ("2 kg", "2 lb"),
    ("2 kg", 3),
    ("90 min", "1 h"),
    ("30 s", "30 ms"),
    ("10 m", "10 min"),
    ("10 mg", "10 g"),
    ("500 mg", 50),
    ("1000 EUR", "1000 kg"),
    ("200 g", "201 g"),
]
SAME_DAY = [
    ("2026-03-25", "25 March"),
    ("2026-03-25", "March 25th"),
    ("2026-12-24", "Dec 24"),
    ("2026-03-25", "Wed, March 25"),
]
OTHER_DAY = [
    ("2026-03-25", "26 March"),
    ("2026-03-25", "25 April"),
    ("2026-03-25", "March 2026"),
    ("2026-03-25", "2025-03-25"),
    ("2026-03-03", "31 February"),
]


def measured(value: object) -> list[Record]:
    """A run that sets one value."""
    return [
        {
            "name": "set_value",
            "args": {"room": "R-204", "value": value},
            "kind": "write",
            "ok": True,
            "result": 0,
        }
    ]


@pytest.mark.parametrize(("one", "two"), [*SAME, *SAME_DAY])
def test_the_same_in_other_units_and_words_is_quiet(one: object, two: object) -> None:
    assert score([], measured(one), [measured(two)] * 2) < ALARM
    assert score([], measured(two), [measured(one)] * 2) < ALARM


@pytest.mark.parametrize(("one", "two"), [*APART, *OTHER_DAY])
def test_another_amount_and_another_day_alarm(one: object, two: object) -> None:
    assert score([], measured(one), [measured(two)] * 2) >= ALARM
    assert score([], measured(two), [measured(one)] * 2) >= ALARM


def ordered(*amounts: str) -> list[Record]:
    return [
        {
            "name": "order_flour",
            "args": {"mill": "M-204", "amount": a},
            "kind": "write",
            "ok": True,
            "result": 0,
        }
        for a in amounts
    ]


def test_parts_in_several_units_add_up() -> None:
    assert score([], ordered("1.5 kg", "500 g"), [ordered("2 kg"), ordered("2 kg")]) < ALARM
    assert score([], ordered("1.5 kg", "500 kg"), [ordered("2 kg"), ordered("2 kg")]) >= ALARM


@pytest.mark.parametrize(("one", "two"), [("2 kg", "2000 g"), ("2 kg", "4.41 lb"), ("90 min", "1.5 h")])
def test_the_same_once_more_in_another_unit_is_a_repeat(one: str, two: str) -> None:
    usual = ordered(one)
    assert score([], ordered(two), [usual, usual]) < ALARM
    assert [r.code for r in compare(usual, ordered(two), [usual, usual]).reasons] == ["write.repeated"]
