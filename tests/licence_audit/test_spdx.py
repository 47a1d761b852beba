"""What does an SPDX expression bind its user to?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.licence_audit.spdx import NotAnExpression, Terms, read_expression


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("MIT", Terms.PERMISSIVE),
        ("mit", Terms.PERMISSIVE),
        ("MPL-2.0 AND (Apache-2.0 OR MIT)", Terms.WEAK),
        ("GPL-3.0-or-later OR MIT", Terms.PERMISSIVE),
        ("GPL-2.0+ AND MIT", Terms.STRONG),
        ("GPL-2.0-only WITH Classpath-exception-2.0", Terms.WEAK),
        ("GPL-2.0-only WITH Some-exception", Terms.STRONG),
        ("LicenseRef-Ours OR MIT", Terms.PERMISSIVE),
        ("LicenseRef-Ours AND MIT", None),
        ("MIT OR BSD-3-Clause AND GPL-3.0-only", Terms.PERMISSIVE),
    ],
)
def test_or_gives_the_choice_and_and_adds_up(text: str, terms: Terms | None) -> None:
    assert read_expression(text).terms is terms


DEEP = "(" * 500 + "MIT" + ")" * 499


@pytest.mark.parametrize(
    "text", ["", "MIT License", "MIT OR", "(MIT", "MIT)", "AND", "MIT WITH", "MIT/X11", DEEP]
)
def test_what_is_not_an_expression_is_refused(text: str) -> None:
    with pytest.raises(NotAnExpression):
        read_expression(text)


@given(st.text(alphabet="MITGPL-23.0 ()ANDORWH+", max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        meaning = read_expression(text)
    except NotAnExpression:
        return
    assert meaning.terms is None or meaning.families


EXPRESSIONS = st.recursive(
    st.sampled_from(["MIT", "Apache-2.0", "MPL-2.0", "GPL-3.0-only"]),
    lambda inner: st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(lambda t: f"({' '.join(t)})"),
    max_leaves=12,
)


@given(EXPRESSIONS, EXPRESSIONS)
def test_the_order_of_two_sides_makes_no_difference(left: str, right: str) -> None:
    for word in ("AND", "OR"):
        assert read_expression(f"{left} {word} {right}") == read_expression(f"{right} {word} {left}")
