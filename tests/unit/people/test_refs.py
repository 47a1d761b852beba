"""Which run, checkpoint or part does a person mean?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer.errors import BadReference
from tracer.refs import MAIN, Ref, parse, parse_checkpoint, parse_path, parse_run, path_text

RUN = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}", fullmatch=True)
NUMBER = st.integers(1, 10**18 - 1)
PATHS = st.lists(st.integers(0, 999_999_999) | st.text()).map(tuple)


@given(RUN, st.none() | NUMBER)
def test_what_a_reference_prints_is_what_it_reads(run: str, number: int | None) -> None:
    ref = Ref(run, MAIN, number)
    assert parse(str(ref)) == ref


@given(RUN, RUN, NUMBER)
def test_a_branch_is_read_between_the_run_and_the_number(run: str, branch: str, number: int) -> None:
    assert parse(f"{run}@{branch}:{number}") == Ref(run, branch, number)


@given(st.text())
def test_any_other_text_is_refused_with_a_reason_and_never_half_read(text: str) -> None:
    try:
        ref = parse(text)
    except BadReference as error:
        why, named = error.why, error.text
    else:
        why, named = str(ref), text
        assert parse(str(ref)) == ref
    assert why
    assert named == text


def test_a_run_and_a_checkpoint_are_not_taken_for_each_other() -> None:
    assert parse_run("r") == "r"
    assert parse_checkpoint("r@b2:17") == Ref("r", "b2", 17)
    with pytest.raises(BadReference, match="takes a whole run"):
        parse_run("r@1")
    with pytest.raises(BadReference, match="one checkpoint of it, such as r@1"):
        parse_checkpoint("r")


@given(PATHS)
def test_a_path_of_any_names_is_read_back_as_it_was(path: tuple[str | int, ...]) -> None:
    assert parse_path(path_text(path)) == path


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("$", ()),
        ("$.plan[2].title", ("plan", 2, "title")),
        ("plan", ("plan",)),
        ('$["a.b"].c', ("a.b", "c")),
        (r'$["say \"hi\""]', ('say "hi"',)),
    ],
)
def test_paths_as_people_write_them(text: str, path: tuple[str | int, ...]) -> None:
    assert parse_path(text) == path


@pytest.mark.parametrize("text", ["$[", "$[x]", "$.a..b", "$.a[1", '$["a]', "$a", "$.a[-1]"])
def test_a_broken_path_names_the_place(text: str) -> None:
    with pytest.raises(BadReference, match="no step begins at"):
        parse_path(text)
