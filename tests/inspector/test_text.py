"""Can a text mislead whoever reads it?"""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from inspector import text

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
UNSEEN = "\u00ad\u200b\u200c\u200d\u2060\u2063\ufeff\u180e\u115f\u3164\U000e0041\U000e0101\ufe00"


@pytest.mark.parametrize("character", [*BIDI, *UNSEEN])
def test_what_reorders_or_hides_is_spelt_out(character: str) -> None:
    assert text.visible(f"a{character}b") == f"a‹U+{ord(character):04X}›b"


@given(st.text(st.characters(exclude_categories=())))
def test_nothing_invisible_and_no_surrogate_is_left(value: str) -> None:
    shown = text.visible(value)
    shown.encode("utf-8")
    for character in shown:
        assert (
            unicodedata.category(character) not in ("Cs", "Cf")
            or ord(character) in (0x600, 0x601, 0x602)
            or (
                unicodedata.bidirectional(character)
                not in ("RLO", "LRO", "RLE", "LRE", "PDF", "RLI", "LRI", "FSI", "PDI")
            )
        )
        assert character in "\n\t" or ord(character) >= 0x20


@given(st.text("ab \n\té€漢字אב"))
def test_honest_text_is_left_alone(value: str) -> None:
    assert text.visible(value) == value
    assert not text.has_hidden(value)


def test_markup_and_numbers_pass_and_controls_get_their_picture() -> None:
    assert text.visible(Markup("<b>\u200b</b>")) == "<b>\u200b</b>"
    assert text.visible(7) == 7
    assert text.visible("\x1b[31m\x00") == "␛[31m␀"
    assert text.visible("\ud800") == "\ufffd"
    assert text.visible("❤\ufe0f") == "❤\ufe0f"
    assert text.visible("a\ufe0f\ufe0f") == "a\ufe0f‹U+FE0F›"


@given(st.text(max_size=200), st.integers(0, 300))
def test_a_cut_text_says_how_much_of_how_much(value: str, limit: int) -> None:
    head, note = text.clip(value, limit)
    whole = len(value.encode("utf-8", "replace"))
    assert bool(note) == (whole > limit)
    assert len(head.encode("utf-8", "replace")) <= max(limit, 0) or not note
    assert not note or value.startswith(head)


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "0 B"), (999, "999 B"), (1_000, "1.0 KB"), (9_949, "9.9 KB"), (9_960, "10 KB"), (999_499, "999 KB"),
     (999_500, "1.0 MB"), (3_100_000, "3.1 MB"), (10**15, "1000 TB")],
)  # fmt: skip
def test_bytes_are_said_for_people(count: int, said: str) -> None:
    assert text.size(count) == said


@pytest.mark.parametrize(
    ("ns", "said"),
    [(0, "0 s"), (1_500, "2 µs"), (84_000_000, "84 ms"), (3_100_000_000, "3.1 s"), (39 * 10**9, "39 s"),
     (59_960_000_000, "1 m 00 s"), (1_958 * 10**9, "32 m 38 s"), (4_800 * 10**9, "1 h 20 m"),
     (274_000 * 10**9, "3 d 4 h"), (-(10**9), "−1.0 s")],
)  # fmt: skip
def test_times_are_said_for_people(ns: int, said: str) -> None:
    assert text.duration(ns) == said


def test_times_beyond_the_calendar_are_numbers_and_never_an_error() -> None:
    assert text.clock(10**21) == f"{10**21} ns"
    assert text.iso(-1) == ""
    assert text.moment(0) == "1970-01-01 00:00:00 UTC"


def test_what_stands_between_backticks_is_code_and_everything_is_escaped() -> None:
    assert text.ticked("run `a <b>` now <i>") == "run <code>a &lt;b&gt;</code> now &lt;i&gt;"
    assert text.ticked("one ` alone") == "one ` alone"
    assert text.ticked("`a\u202eb`") == "<code>a‹U+202E›b</code>"
