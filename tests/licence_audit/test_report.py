"""Are equal findings equal bytes, in words that a stranger's metadata cannot break?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.licence_audit.report import Line, Ticketed, as_json, as_markdown, publish, published
from examples.licence_audit.wording import worded

LINES = st.lists(
    st.builds(
        Line,
        st.text(max_size=8),
        st.just("1.0"),
        st.sampled_from(["permissive", "missing"]),
        st.just("text"),
        st.just(("MIT",)),
        st.just((("thing/LICENSE", "ab" * 32),)),
    ),
    unique_by=lambda line: line.dist,
    max_size=6,
)
PROBLEMS = st.lists(
    st.builds(Ticketed, st.text(max_size=8), st.just("weak-copyleft"), st.text(), st.integers(1))
)


@given(LINES, PROBLEMS, st.randoms(use_true_random=False))
def test_the_order_of_findings_does_not_show(
    lines: list[Line], problems: list[Ticketed], dice: object
) -> None:
    shuffled = sorted(lines, key=lambda line: hash((line, str(dice))))
    assert as_json(lines, problems) == as_json(shuffled, problems[::-1])
    assert as_markdown(lines, problems) == as_markdown(shuffled, problems[::-1])


@given(PROBLEMS)
def test_a_detail_never_breaks_its_row(problems: list[Ticketed]) -> None:
    text = as_markdown([], problems)
    assert text.count("\n| ") == 3 + len(problems)
    assert "<" not in text.replace("\\<", "")


def test_the_report_for_machines_is_json(tmp_path: Path) -> None:
    line = Line("thing", "1.0", "missing", "no-licence-field", (), ())
    read = json.loads(as_json([line], [Ticketed("thing", "no-licence-field", "nothing declared", 3)]))
    assert read["problems"] == [
        {"dist": "thing", "rule": "no-licence-field", "detail": "nothing declared", "ticket": 3}
    ]


def test_publishing_replaces_whole_and_leaves_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "out" / "report.md"
    assert published(path) == ""
    publish(path, "old\n")
    assert publish(path, "new\n") == published(path)
    assert path.read_text() == "new\n"
    assert [file.name for file in path.parent.iterdir()] == ["report.md"]


def test_a_report_that_cannot_be_put_in_place_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.md"
    publish(path, "old\n")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        publish(path, "new\n")
    assert path.read_text() == "old\n"
    assert [file.name for file in tmp_path.iterdir()] == ["report.md"]


@given(st.integers(), st.integers(0, 40))
def test_every_attempt_words_it_anew_and_says_the_same_again(seed: int, attempt: int) -> None:
    def said(nth: int) -> str:
        return worded("thing", "1.0", "weak-copyleft", "Meaning.", "MPL", seed=seed, attempt=nth)

    assert said(attempt) == said(attempt)
    assert said(attempt) != said(attempt + 1)
    assert "thing 1.0" in said(attempt)
