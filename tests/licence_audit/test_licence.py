"""Which rule fires on what a distribution shows, and what does its licence amount to?"""

from __future__ import annotations

from pathlib import Path

import pytest

from examples.licence_audit.evidence import shown_by
from examples.licence_audit.licence import RULES, Category, Judgement, judge
from tests.licence_audit.conftest import GPL, MIT, Install

GOOD = "License-Expression: MIT\nLicense-File: LICENSE\n"
SHIPPED = {"licenses/LICENSE": MIT}


def rules(judgement: Judgement) -> list[str]:
    return [problem.rule for problem in judgement.problems]


def test_an_expression_with_its_text_is_no_problem(install: Install) -> None:
    judgement = judge(shown_by(install(GOOD, SHIPPED)))
    assert (judgement.category, judgement.decided_by) == (Category.PERMISSIVE, "expression")
    assert judgement.problems == ()


CLASSIFIER = "Classifier: License :: "
OSI = f"{CLASSIFIER}OSI Approved :: "
PERMISSIVE, UNCLEAR, MISSING = Category.PERMISSIVE, Category.UNCLEAR, Category.MISSING
CONFLICT, WEAK, STRONG = Category.CONFLICTING, Category.WEAK, Category.STRONG
FILE, FREE = "missing-licence-file", "licence-field-free-text"
UNNAMED = MIT.replace("Copyright (c) 2024 Ada Example", "")
BLANK = MIT.replace("2024 Ada Example", "[year] [fullname]")
FIELD = MIT.replace("\n", "\n        ")
BSD = """Copyright 2020 Ada
Redistribution and use in source and binary forms, with or without modification, are permitted
if they retain the above copyright notice."""


def shipping(**texts: str) -> dict[str, str]:
    return {f"licenses/{name}": text for name, text in texts.items()}


@pytest.mark.parametrize(
    ("headers", "files", "fired", "category"),
    [
        ("", {}, ["no-licence-field", FILE], MISSING),
        ("License: UNKNOWN\n", SHIPPED, ["licence-field-unknown"], PERMISSIVE),
        ("License: UNKNOWN\n", {}, ["licence-field-unknown", FILE], MISSING),
        ("License: BSD\n", {}, [FREE, FILE], PERMISSIVE),
        ("License: Yours to use\n", SHIPPED, [FREE], PERMISSIVE),
        ("License: Yours to use\n", {}, [FREE, FILE], UNCLEAR),
        (f"License: {FIELD}\n", SHIPPED, ["licence-field-holds-text"], PERMISSIVE),
        ("License: MIT\n", SHIPPED, [], PERMISSIVE),
        ("License-Expression: Foo-1.0\n", SHIPPED, ["unknown-licence-id"], UNCLEAR),
        ("License-Expression: MIT OR\n", SHIPPED, ["unknown-licence-id"], UNCLEAR),
        (GOOD, {}, [FILE, "declared-file-absent"], PERMISSIVE),
        (GOOD, shipping(LICENSE=" \n"), ["licence-file-empty"], PERMISSIVE),
        (GOOD, shipping(LICENSE="Be kind."), ["licence-text-unrecognised"], PERMISSIVE),
        (GOOD, shipping(LICENSE=UNNAMED), ["copyright-line-missing"], PERMISSIVE),
        (GOOD, shipping(LICENSE=BLANK), ["copyright-placeholder"], PERMISSIVE),
        (GOOD, shipping(LICENSE=GPL), ["expression-and-text-disagree"], CONFLICT),
        (GOOD, shipping(LICENSE=MIT, COPYING=GPL), ["text-stricter-than-declared"], CONFLICT),
        ("License-Expression: GPL-3.0-only\n", shipping(COPYING=GPL), ["strong-copyleft"], STRONG),
        ("License-Expression: GPL-3.0-only OR MIT\n", shipping(COPYING=GPL, LICENSE=MIT), [], PERMISSIVE),
        ("License-Expression: MPL-2.0 AND MIT\n", SHIPPED, ["weak-copyleft"], WEAK),
        (f"{OSI}MIT License\n", SHIPPED, [], PERMISSIVE),
        (f"{OSI}BSD License\n", shipping(LICENSE=BSD), ["licence-only-in-classifier"], PERMISSIVE),
        (f"{OSI}MIT License\n", shipping(COPYING=GPL), ["classifier-and-text-disagree"], CONFLICT),
        (
            f"{GOOD}{OSI}Apache Software License\n",
            SHIPPED,
            ["classifier-and-text-disagree", "classifier-and-expression-disagree"],
            CONFLICT,
        ),
        (
            f"{CLASSIFIER}Other/Proprietary License\n",
            shipping(LICENSE="Ask us."),
            ["licence-only-in-classifier", "proprietary-terms", "licence-text-unrecognised"],
            UNCLEAR,
        ),
    ],
)
def test_the_rule_that_fires_follows_from_what_is_shown(
    install: Install, headers: str, files: dict[str, str], fired: list[str], category: Category
) -> None:
    judgement = judge(shown_by(install(headers, files)))
    assert rules(judgement) == fired
    assert judgement.category is category


def test_a_distribution_without_metadata_is_a_problem_of_its_own(install: Install) -> None:
    dist = install(GOOD, SHIPPED)
    Path(dist.where, "METADATA").unlink()
    judgement = judge(shown_by(dist))
    assert rules(judgement) == ["metadata-unreadable"]
    assert judgement.category is Category.MISSING


def test_rules_come_in_one_order_and_are_all_explained(install: Install) -> None:
    fired = rules(judge(shown_by(install("License: UNKNOWN\n"))))
    assert fired == sorted(fired, key=list(RULES).index)
    assert all(text.endswith(".") for text in RULES.values())
