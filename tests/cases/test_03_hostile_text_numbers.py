"""Case 03: text and numbers that backends refuse come back exactly, and what is stored stays strict JSON."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracer
from tests.unit.exact import same
from tracer import codec
from tracer.errors import NotStorable

MESSAGES: list[dict[str, str]] = json.loads((Path(__file__).parent / "inputs" / "case_03.json").read_text())[
    "messages"
]
NUMBERS = [math.nan, math.inf, -0.0, 2**80, Decimal("0.10"), Fraction(1, 3), complex(1, 2)]
NUMPY = [np.float32(0.1), np.int64(7), np.array([1.0, math.nan])]
KEYS = ["1", True, None, np.int64(1)]


def test_all_four_texts_come_back_exactly_through_strict_json() -> None:
    data = codec.encode(codec.lower(MESSAGES))
    json.loads(data, parse_constant=pytest.fail)
    data.decode("utf-8")
    again = codec.lift(codec.decode(data))
    assert same(again, MESSAGES)
    assert ("\0" in again[0]["content"], "\0" in again[2]["content"]) == (True, False)
    assert "🚀" in again[2]["content"]


def test_all_four_texts_come_back_through_the_store() -> None:
    with tracer.run("case-03", id="case-03") as run:
        run.checkpoint("hostile", {"messages": MESSAGES, "numbers": NUMBERS})
    with tracer.run("case-03", id="case-03") as run:
        assert same(list(run.state["messages"]), MESSAGES)
        assert same(list(run.state["numbers"]), NUMBERS)


def test_numbers_come_back_in_value_and_type_and_stay_strict() -> None:
    data = codec.encode(codec.lower(NUMBERS))
    json.loads(data, parse_constant=pytest.fail)
    assert same(codec.lift(codec.decode(data)), NUMBERS)


def test_numpy_values_come_back_with_their_data_type() -> None:
    for value in NUMPY:
        again: Any = codec.lift(codec.decode(codec.encode(codec.lower(value))))
        assert (type(again), again.dtype, again.tobytes()) == (type(value), value.dtype, value.tobytes())


def test_keys_that_look_alike_stay_apart() -> None:
    value = {key: number for number, key in enumerate(KEYS)}
    again = codec.lift(codec.decode(codec.encode(codec.lower(value))))
    assert list(map(type, again)) == list(map(type, value))
    assert again == value


def test_one_value_that_cannot_be_kept_is_refused_with_its_path() -> None:
    with pytest.raises(NotStorable, match=r"\$\.numbers\[1\] is numpy\.ndarray"):
        codec.lower({"numbers": [1, np.array([object()])]})
