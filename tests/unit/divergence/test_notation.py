"""Which notations mean the same, and which only look so?"""

from __future__ import annotations

from typing import Any

import pytest

from tracer.divergence.leaf import leaf
from tracer.divergence.sameness import agree

SAME = [
    ("INV-31045", "inv 31045"),
    ("INV-31045", "31045"),
    ("#W123", "order W123"),
    ("A-0042", "A-42"),
    (31045, "31045"),
    ("1,234.50", 1234.5),
    ("1.234,50", 1234.5),
    ("308,82", 308.82),
    ("$20", 20),
    ("20.00 EUR", 20),
    ("€20", "20 eur"),
    ("1e3", 1000),
    ("2026-03-25", "25 Mar 2026"),
    ("2026-03-25", "March 25, 2026"),
    ("2026-03-25T00:00:00", "25.03.2026"),
    ("2026-03-25", "2026/3/25"),
    ("03/04/2026", "2026-04-03"),
    ("03/04/2026", "2026-03-04"),
    ("2026-03-25T10:00:00+02:00", "2026-03-25T08:00:00Z"),
    ("6 pm", "18:00"),
    ("TX", "Texas"),
    ("USA", "United States of America"),
    ("975 Sunset Drive", "975 Sunset Dr."),
    ("on_hold", "On Hold"),
    ("Ida@Example.com", "ida@example.com"),
    (True, "true"),
    (True, "yes"),
    ("５", 5),
]
APART = [
    ("INV-31045", "INV-31046"),
    ("INV-31045", "PO-31045"),
    ("A-12", "B-12"),
    ("A-12", "AB-12"),
    ("$20", "€20"),
    (20, 21),
    ("1,234", 1.234),
    ("2026-03-25", "2026-03-26"),
    ("25.03.2026", "2026-03-24"),
    ("TX", "NY"),
    ("economy", "basic economy"),
    ("on", "option"),
    ("975 Sunset Drive", "957 Sunset Drive"),
    ("ida@example.com", "ida@examp1e.com"),
    ("512MB", "512GB"),
    (True, False),
    ("no", "none"),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_two_notations_of_one_value_agree(one: Any, two: Any) -> None:
    a, b = leaf(one), leaf(two)
    assert a is not None
    assert b is not None
    assert agree(a, b)
    assert agree(b, a)


@pytest.mark.parametrize(("one", "two"), APART)
def test_two_values_do_not_agree(one: Any, two: Any) -> None:
    a, b = leaf(one), leaf(two)
    assert a is not None
    assert b is not None
    assert not agree(a, b)
    assert not agree(b, a)


@pytest.mark.parametrize("nothing", [None, "", "  ", "\u200b"])
def test_what_says_nothing_has_no_leaf(nothing: Any) -> None:
    assert leaf(nothing) is None
