"""Do 20,000 values of every kind come back equal in value and type, with equal bytes?"""

from __future__ import annotations

import contextlib
import gc
import json
import re
from collections.abc import Iterator
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.exact import Values, registry, same
from tracer import codec
from tracer.errors import IntegrityError
from tracer.types import Registry

KNOWN = registry()


@pytest.fixture(autouse=True)
def no_collections() -> Iterator[None]:
    """Values by the thousand make the collector look at everything the test run holds, again and again."""
    gc.disable()
    yield
    gc.enable()


def test_the_judge_of_sameness_is_not_blind() -> None:
    for one, other in [
        (1, True), (1, 1.0), (0.0, -0.0), ([1], (1,)), ({1}, frozenset({1})), ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (Decimal("1.0"), Decimal("1.00")), ([{"a": [1]}], [{"a": [True]}]), ({1}, {True}),
    ]:  # fmt: skip
        assert not same(one, other), (one, other)


@pytest.mark.parametrize("seed", range(20))
def test_values_of_every_kind_come_back_in_value_and_type(seed: int) -> None:
    values = Values(seed)
    for number in range(1000):
        value = values.value()
        plain = codec.lower(value, registry=KNOWN)
        data = codec.encode(plain)
        again = codec.decode(data)
        lifted = (
            codec.lift(again, registry=KNOWN, strict=True)
            if "Opaque" not in repr(value)
            else codec.lift(again, registry=KNOWN)
        )
        assert same(lifted, value), (seed, number, value, data)
        if number % 10 == 0:
            assert codec.encode(codec.lower(lifted, registry=KNOWN)) == data
            json.loads(data, parse_constant=pytest.fail)


@pytest.mark.parametrize("seed", range(3))
def test_equal_values_have_equal_canonical_bytes_whatever_the_order_of_their_keys(seed: int) -> None:
    values = Values(seed)
    for _ in range(200):
        pairs = [(key, values.value(2)) for key in ("b", "a", 1, None, (2, "x"))]
        assert codec.canonical(dict(pairs), registry=KNOWN) == codec.canonical(
            dict(pairs[::-1]), registry=KNOWN
        )
        texts = {"z": values.value(2), "$y": {"q": 1, "p": 2}, "x": 3}
        assert codec.canonical(texts, registry=KNOWN) == codec.canonical(
            {"x": 3, "$y": {"p": 2, "q": 1}, "z": texts["z"]}, registry=KNOWN
        )


TEXT = st.text('ab$\0"\\é🚀\ud83e\udd23\u202e', max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT | st.integers(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
@settings(max_examples=80)
def test_whatever_hypothesis_thinks_of_comes_back(value: object) -> None:
    assert same(codec.lift(codec.decode(codec.encode(codec.lower(value)))), value)


TAGS = st.sampled_from(
    re.findall(
        r"\S+",
        """
    $int $float $str $text $tuple $set $frozenset $pairs $obj $sealed $bytes $bytearray $datetime $date $time
    $timedelta $zone $decimal $fraction $complex $uuid $path $range $ordered $counter $deque $secret $secretstr
    $secretbytes $gone $unset $np $ndarray $deep $ref $# $ $$ $later
        """,
    )
)
NAMES = st.sampled_from([*registry().by_name, "gone:Type"])
HOSTILE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats()
    | st.sampled_from(["", "x", "inf", "<f8", "UTC", "|O"])
    | NAMES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TAGS, inner, max_size=1)
        | st.builds(lambda name, content: {"$obj": [name, content]}, NAMES, inner)
        | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=10,
)


@given(HOSTILE)
@settings(max_examples=120)
def test_whatever_stands_in_the_store_lifting_it_fails_only_in_ways_of_ours(plain: object) -> None:
    with contextlib.suppress(IntegrityError):
        codec.lift(plain, open=lambda _: "secret", registry=KNOWN)  # type: ignore[arg-type]


@given(st.binary(max_size=40) | TEXT.map(lambda text: json.dumps(text).encode()))
@settings(max_examples=80)
def test_bytes_of_any_kind_are_decoded_or_refused_in_a_way_of_ours(data: bytes) -> None:
    with contextlib.suppress(IntegrityError):
        codec.lift(codec.decode(data), registry=Registry())
