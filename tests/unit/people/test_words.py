"""How are texts, times and sizes said to a person?"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer.quantities import ago, counted, iso, moment, since, size, span
from tracer.visible import one_line, visible

S = 1_000_000_000
ANY = st.text(st.characters(codec=None))


@given(ANY)
def test_nothing_that_is_shown_can_steer_reorder_or_hide(text: str) -> None:
    shown = one_line(text)
    shown.encode()
    assert not [char for char in shown if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")]
    assert "\n" not in shown


@given(ANY)
def test_showing_twice_changes_nothing_more(text: str) -> None:
    assert visible(visible(text)) == visible(text)


@given(st.text("abcdefgh ÄÖ漢字é✔️\n\t", max_size=40))
def test_honest_text_is_left_alone(text: str) -> None:
    honest = re.sub("️+", "️", text)
    assert visible(honest) == honest


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", "␛[2J"),
        ("a\u202eb", "a‹U+202E›b"),
        ("x\u200by", "x‹U+200B›y"),
        ("\x7f", "‹U+007F›"),
        ("\ud800", "\ufffd"),
        ("ㅤ", "‹U+3164›"),
        ("✔️", "✔️"),
        ("✔️️", "✔️‹U+FE0F›"),
    ],
)
def test_what_hides_is_spelt_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("ns", "said"),
    [
        (0, "0 ms"),
        (84_000_000, "84 ms"),
        (3_100_000_000, "3.1 s"),
        (59 * S, "59 s"),
        (60 * S, "1 m 00 s"),
        (1958 * S, "32 m 38 s"),
        (4800 * S, "1 h 20 m"),
        (273_600 * S, "3 d 4 h"),
        (-5 * S, "−5.0 s"),
    ],
)
def test_spans(ns: int, said: str) -> None:
    assert span(ns) == said


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (4_200, "4.2 KB"), (999_499, "999 KB"), (999_500, "1.0 MB"),
     (84_000_000_000, "84 GB"), (5 * 10**15, "5000 TB")],
)  # fmt: skip
def test_sizes(count: int, said: str) -> None:
    assert size(count) == said


def test_moments_have_a_zone_and_absurd_ones_are_numbers() -> None:
    assert moment(0) == "1970-01-01 00:00:00 UTC"
    assert moment(-1) == "-1 ns"
    assert iso(1_700_000_000_123_456_789) == "2023-11-14T22:13:20.123456Z"
    assert iso(None) is None
    assert iso(2**70) == f"{2**70} ns"
    assert ago(10 * S, 10 * S) == ago(20 * S, 10 * S) == "just now"
    assert counted(1, "call") == "1 call"
    assert counted(26_000, "call") == "26,000 calls"


def test_a_person_names_a_moment_by_span_or_date() -> None:
    now = 1_700_000_000 * S
    assert since("24h", now) == now - 86_400 * S
    assert since(" 7d ", now) == now - 604_800 * S
    assert since("2023-11-14", now) == int(datetime(2023, 11, 14, tzinfo=UTC).timestamp()) * S
    assert since("2023-11-14T22:13:20+02:00", now) == now - 7200 * S
    for wrong in ("soon", "", "24", "-3h", "2023-13-01"):
        with pytest.raises(ValueError, match=r"\w"):
            since(wrong, now)
