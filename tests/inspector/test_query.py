"""Is a filter line read as it was meant?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inspector.query import STATES, address, completions, parse


def test_every_filter_and_plain_words_are_read() -> None:
    query = parse("agent:audit,sync state:interrupted,lost since:24h alerts:>0 waiting:yes copyleft wheel")
    assert query.agents == ("audit", "sync")
    assert query.states == ("interrupted", "lost")
    assert (query.since_s, query.alerts_over, query.waiting) == (86_400, 0, True)
    assert query.words == "copyleft wheel"
    assert query.problem is None


def test_states_that_are_read_off_a_row_are_looked_for_among_the_stored_ones() -> None:
    assert parse("state:awaiting").stored_states() == ("paused",)
    assert parse("state:interrupted").stored_states() == ("interrupted", "running")
    assert parse("state:!done").stored_not_states() == ("done",)
    assert parse("state:!running").stored_not_states() == ()


def test_a_misspelt_state_names_the_nearest_one_and_the_line_as_it_was_meant() -> None:
    problem = parse("agent:a state:interupted alerts:>0").problem
    assert problem is not None
    assert (problem.word, problem.text) == ("interupted", "is not a state")
    assert problem.instead == "agent:a state:interrupted alerts:>0"
    assert all(state in problem.known for state in STATES)


def test_an_unknown_filter_and_a_bad_value_say_what_would_do() -> None:
    assert parse("stat:done").problem.instead == "state:done"  # type: ignore[union-attr]
    assert parse("since:soon").problem.known == "Times: 30m, 24h, 7d, 2w."  # type: ignore[union-attr]
    assert parse("alerts:many").problem is not None
    assert parse("waiting:perhaps").problem is not None


def test_the_last_word_is_completed() -> None:
    found = completions("agent:x state:in", [], {"interrupted": 2})
    assert found == [("agent:x state:interrupted", "state:interrupted", "2")]
    assert completions("ag", [("audit", 1)], {}) == [("agent:", "agent:", "")]
    assert completions("agent:au", [("audit", 7), ("sync", 1)], {}) == [("agent:audit", "agent:audit", "7")]


@given(st.text(max_size=80))
def test_any_line_is_read_or_refused_and_never_an_error(line: str) -> None:
    query = parse(line)
    assert query.problem is None or query.problem.known
    assert address(line).startswith("/")
