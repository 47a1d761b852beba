"""What does a distribution's licence amount to, and which rules does what it shows break?

Pure: `Shown` in, `Judgement` out. Every problem carries the id of the rule that fired; one distribution can
break several, and each is a ticket of its own.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from examples.licence_audit.claims import Claim, claim_of_classifiers, claim_of_expression, claim_of_field
from examples.licence_audit.evidence import Shown
from examples.licence_audit.spdx import Terms, stricter, terms_of


class Category(StrEnum):
    """What somebody who ships the distribution has to reckon with."""

    PERMISSIVE = "permissive"
    WEAK = "weak copyleft"
    STRONG = "strong copyleft"
    UNCLEAR = "unclear"
    MISSING = "missing"
    CONFLICTING = "conflicting"


RULES: dict[str, str] = {
    "metadata-unreadable": "The metadata cannot be read or has no name.",
    "no-licence-field": "The metadata says nothing about a licence: no expression, no field, no classifier.",
    "licence-field-unknown": "The licence field says UNKNOWN or the like.",
    "licence-field-free-text": "The licence field is free text, not an SPDX expression.",
    "licence-field-holds-text": "The licence field holds a whole licence text instead of its name.",
    "licence-only-in-classifier": "Only a classifier names the licence, and it does not name one exactly.",
    "unknown-licence-id": "The licence expression names a licence we do not know, or is not an expression.",
    "proprietary-terms": "A classifier says that the terms are proprietary.",
    "missing-licence-file": "No licence file is shipped, although the licence asks for its text to go along.",
    "declared-file-absent": "The metadata declares a licence file that is not shipped.",
    "licence-file-empty": "A licence file has no content.",
    "licence-file-unreadable": "A licence file is too large to be one, or cannot be read.",
    "licence-text-unrecognised": "No licence file carries a licence text we recognise.",
    "copyright-line-missing": "The licence asks to keep the copyright notice, and no shipped file has one.",
    "copyright-placeholder": "The copyright line still has the blanks of the template.",
    "expression-and-text-disagree": "Expression or field names one licence, the shipped text is another.",
    "classifier-and-text-disagree": "The classifier names one licence, the shipped text is another.",
    "classifier-and-expression-disagree": "Classifier and expression (or field) name different licences.",
    "text-stricter-than-declared": "A shipped licence text reaches further than what the metadata declares.",
    "weak-copyleft": "Changes to the distribution itself have to be given out under its licence.",
    "strong-copyleft": "Work that is given out together with the distribution comes under its licence.",
}
RULEBOOK = "licence-rules/" + hashlib.sha256(repr(sorted(RULES.items())).encode()).hexdigest()[:12]
"""Names these rules: findings of one audit have to come from one rulebook."""
_CONFLICTS = (
    "expression-and-text-disagree",
    "classifier-and-text-disagree",
    "classifier-and-expression-disagree",
    "text-stricter-than-declared",
)


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One rule that a distribution breaks."""

    rule: str
    """A key of RULES."""
    detail: str
    """What was seen, in words that depend on the evidence alone."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a distribution's licence amounts to."""

    category: Category
    decided_by: str
    """The rule or the place that decided: a key of RULES, or `expression`, `field`, `classifier`, `text`."""
    families: tuple[str, ...]
    """Licences it comes under, as far as they are known; sorted."""
    problems: tuple[Problem, ...]
    """In the order of RULES."""


def judge(shown: Shown) -> Judgement:
    """Judge what a distribution shows about its licence."""
    expression, field = claim_of_expression(shown.expression), claim_of_field(shown.field)
    named = expression if expression.made else field
    classified = claim_of_classifiers(shown.classifiers)
    texts = frozenset(f for _, text in shown.texts for f in text.families)
    found: dict[str, str] = {}
    if not shown.readable:
        found["metadata-unreadable"] = "no readable METADATA or PKG-INFO with a name"
    found |= _declaration(shown, expression, field, classified)
    found |= _files(shown, texts)
    found |= _agreement(named, classified, texts)
    category, decided_by, families = _settle(found, named, classified, texts)
    if category in (Category.WEAK, Category.STRONG):
        rule = "weak-copyleft" if category is Category.WEAK else "strong-copyleft"
        found[rule] = f"{', '.join(families)}, by {decided_by}"
    problems = tuple(Problem(rule, found[rule]) for rule in RULES if rule in found)
    return Judgement(category, decided_by, families, problems)


def _declaration(shown: Shown, expression: Claim, field: Claim, classified: Claim) -> dict[str, str]:
    found: dict[str, str] = {}
    if shown.readable and not (expression.made or field.made or classified.made):
        rule = "licence-field-unknown" if shown.field else "no-licence-field"
        found[rule] = f"licence field: {shown.field}" if shown.field else "nothing declared"
    if expression.made and expression.inexact:
        found["unknown-licence-id"] = f"License-Expression: {shown.expression[:120]}"
    if field.made and field.inexact and not expression.made:
        if "\n" in shown.field or len(shown.field) > 120:
            found["licence-field-holds-text"] = f"{len(shown.field)} characters in the licence field"
        else:
            found["licence-field-free-text"] = f"licence field: {shown.field}"
    if classified.inexact and not expression.made and not field.made:
        found["licence-only-in-classifier"] = f"classifier: {'; '.join(shown.classifiers)}"
    if any("Proprietary" in line for line in shown.classifiers):
        found["proprietary-terms"] = f"classifier: {'; '.join(shown.classifiers)}"
    return found


def _files(shown: Shown, texts: frozenset[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    kinds = {record.path: record.kind for record in shown.records}
    licences = [(path, text) for path, text in shown.texts if kinds[path] == "licence"]
    if shown.readable and not licences and not shown.unread:
        found["missing-licence-file"] = "no file named like a licence is shipped"
    if shown.absent:
        found["declared-file-absent"] = f"declared, not there: {', '.join(shown.absent)}"
    if shown.unread:
        found["licence-file-unreadable"] = ", ".join(shown.unread)
    empty = [path for path, text in licences if text.empty]
    if empty:
        found["licence-file-empty"] = ", ".join(empty)
    full = [path for path, text in licences if not text.empty]
    if full and not texts:
        found["licence-text-unrecognised"] = ", ".join(full)
    if texts and all(text.asks_for_notice for _, text in licences if text.families):
        blank = [path for path, text in shown.texts if text.placeholder]
        if not any(text.named_holder for _, text in shown.texts):
            rule = "copyright-placeholder" if blank else "copyright-line-missing"
            found[rule] = f"{', '.join(blank)} is not filled in" if blank else f"none in {', '.join(full)}"
    return found


def _agreement(named: Claim, classified: Claim, texts: frozenset[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    declared = named.families | classified.families
    shown = ", ".join(sorted(texts))
    if texts and named.families and named.families.isdisjoint(texts):
        found["expression-and-text-disagree"] = f"declared {named.words}, the text is {shown}"
    if texts and classified.families and classified.families.isdisjoint(texts):
        found["classifier-and-text-disagree"] = f"classifier {classified.words}, the text is {shown}"
    if named.families and classified.families and named.families.isdisjoint(classified.families):
        found["classifier-and-expression-disagree"] = f"classifier {classified.words}, declared {named.words}"
    if declared and texts and not found:
        most = max((terms_of(f) for f in declared), key=list(Terms).index)
        above = sorted(f for f in texts - declared if stricter(terms_of(f), most))
        if above:
            found["text-stricter-than-declared"] = f"{', '.join(above)} beside {', '.join(sorted(declared))}"
    return found


def _settle(
    found: dict[str, str], named: Claim, classified: Claim, texts: frozenset[str]
) -> tuple[Category, str, tuple[str, ...]]:
    everything = tuple(sorted(named.families | classified.families | texts))
    for rule in _CONFLICTS:
        if rule in found:
            return Category.CONFLICTING, rule, everything
    if "proprietary-terms" in found:
        return Category.UNCLEAR, "proprietary-terms", everything
    for claim, place in ((named, named.place), (classified, "classifier")):
        if claim.terms is not None:
            return Category(claim.terms.value), place, tuple(sorted(claim.families))
        if claim.made and place == "expression":
            return Category.UNCLEAR, "unknown-licence-id", everything
    if texts:
        # Without a choice that anybody declared, every text that came along counts.
        strictest = max((terms_of(f) for f in texts), key=list(Terms).index)
        return Category(strictest.value), "text", tuple(sorted(texts))
    unsaid = ("no-licence-field", "licence-field-unknown", "metadata-unreadable")
    rule = next((rule for rule in unsaid if rule in found), "")
    if rule:
        return Category.MISSING, rule, ()
    return Category.UNCLEAR, next(iter(found), "nothing recognised"), everything
