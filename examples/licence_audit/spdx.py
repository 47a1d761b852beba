"""What does an SPDX licence expression allow at best, and does it name licences we know?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Terms(StrEnum):
    """How far a licence reaches into the work that uses it, from lightest to strictest."""

    PERMISSIVE = "permissive"
    WEAK = "weak copyleft"
    STRONG = "strong copyleft"


_ORDER = {Terms.PERMISSIVE: 0, Terms.WEAK: 1, Terms.STRONG: 2}

# Family, then its identifiers. A family is what a licence text can be told apart by.
_KNOWN: dict[Terms, dict[str, str]] = {
    Terms.PERMISSIVE: {
        "MIT": "MIT MIT-0 MIT-CMU X11",
        "BSD": "BSD-2-Clause BSD-3-Clause BSD-4-Clause BSD-3-Clause-Clear BSD-2-Clause-Patent BSD-1-Clause",
        "0BSD": "0BSD",
        "Apache": "Apache-2.0 Apache-1.1 Apache-1.0",
        "ISC": "ISC",
        "PSF": "PSF-2.0 Python-2.0 Python-2.0.1 CNRI-Python",
        "ZPL": "ZPL-2.0 ZPL-2.1",
        "zlib": "Zlib zlib-acknowledgement libpng-2.0",
        "BSL": "BSL-1.0",
        "HPND": "HPND",
        "Unlicense": "Unlicense",
        "CC0": "CC0-1.0",
        "CC-BY": "CC-BY-3.0 CC-BY-4.0",
        "Unicode": "Unicode-3.0 Unicode-DFS-2016",
        "WTFPL": "WTFPL",
        "NCSA": "NCSA",
        "AFL": "AFL-2.1 AFL-3.0",
        "Artistic": "Artistic-2.0",
        "OFL": "OFL-1.1",
        "BlueOak": "BlueOak-1.0.0",
    },
    Terms.WEAK: {
        "MPL": "MPL-1.1 MPL-2.0 MPL-2.0-no-copyleft-exception",
        "LGPL": "LGPL-2.0-only LGPL-2.0-or-later LGPL-2.1-only LGPL-2.1-or-later LGPL-3.0-only "
        "LGPL-3.0-or-later LGPL-2.0 LGPL-2.1 LGPL-3.0",
        "EPL": "EPL-1.0 EPL-2.0",
        "CDDL": "CDDL-1.0 CDDL-1.1",
        "EUPL": "EUPL-1.1 EUPL-1.2",
        "CC-BY-SA": "CC-BY-SA-3.0 CC-BY-SA-4.0",
    },
    Terms.STRONG: {
        "GPL": "GPL-1.0-or-later GPL-2.0-only GPL-2.0-or-later GPL-3.0-only GPL-3.0-or-later GPL-2.0 GPL-3.0",
        "AGPL": "AGPL-3.0-only AGPL-3.0-or-later AGPL-3.0",
        "SSPL": "SSPL-1.0",
    },
}
_FAMILIES = {family: terms for terms, families in _KNOWN.items() for family in families}
_IDS = {
    spdx.lower(): (spdx, family)
    for families in _KNOWN.values()
    for family, ids in families.items()
    for spdx in ids.split()
}
# An exception that takes the copyleft out of linking; any other one leaves the licence as strict as it was.
_RELAXING = {"classpath-exception-2.0", "gcc-exception-3.1", "gcc-exception-2.0", "bootloader-exception"}
_TOKEN = re.compile(r"\s*(\(|\)|[A-Za-z0-9.+-]+(?::[A-Za-z0-9.+-]+)?)")
MAX_LENGTH = 1_000
MAX_PARENTHESES = 50


class NotAnExpression(ValueError):
    """The text is not an SPDX licence expression."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an expression says once it is read."""

    families: frozenset[str]
    """Families of the licences it names and we know."""
    terms: Terms | None
    """What binds whoever picks the lightest branch of every OR; None when an unknown licence may bind."""
    unknown: tuple[str, ...]
    """Identifiers we do not know, sorted; includes every LicenseRef-."""


def terms_of(family: str) -> Terms:
    """Return how far the licences of *family* reach. Raises KeyError for a family we do not know."""
    return _FAMILIES[family]


def stricter(left: Terms, right: Terms) -> bool:
    """Say whether *left* reaches further than *right*."""
    return _ORDER[left] > _ORDER[right]


def read_expression(text: str) -> Meaning:
    """Read *text*, at most MAX_LENGTH characters, as an SPDX expression. Raises NotAnExpression."""
    if len(text) > MAX_LENGTH:
        raise NotAnExpression(f"{len(text)} characters, more than {MAX_LENGTH}")
    if text.count("(") > MAX_PARENTHESES:
        raise NotAnExpression(f"{text.count('(')} parentheses, more than {MAX_PARENTHESES}")
    tokens = _tokens(text)
    meaning, rest = _or(tokens, 0)
    if rest != len(tokens):
        raise NotAnExpression(f"unexpected {tokens[rest]!r} in {text!r}")
    return meaning


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotAnExpression(f"unexpected {text[at]!r} in {text!r}")
        tokens.append(match[1])
        at = match.end()
    return tokens


def _or(tokens: list[str], at: int) -> tuple[Meaning, int]:
    left, at = _and(tokens, at)
    while at < len(tokens) and tokens[at].upper() == "OR":
        right, at = _and(tokens, at + 1)
        left = _joined(left, right, lightest=True)
    return left, at


def _and(tokens: list[str], at: int) -> tuple[Meaning, int]:
    left, at = _one(tokens, at)
    while at < len(tokens) and tokens[at].upper() == "AND":
        right, at = _one(tokens, at + 1)
        left = _joined(left, right, lightest=False)
    return left, at


def _one(tokens: list[str], at: int) -> tuple[Meaning, int]:
    if at >= len(tokens):
        raise NotAnExpression("it ends where a licence identifier should stand")
    if tokens[at] == "(":
        inner, at = _or(tokens, at + 1)
        if at >= len(tokens) or tokens[at] != ")":
            raise NotAnExpression("a parenthesis is not closed")
        return inner, at + 1
    if tokens[at] == ")" or tokens[at].upper() in {"AND", "OR", "WITH"}:
        raise NotAnExpression(f"{tokens[at]!r} where a licence identifier should stand")
    named, at = tokens[at], at + 1
    relaxed = False
    if at < len(tokens) and tokens[at].upper() == "WITH":
        if at + 1 >= len(tokens):
            raise NotAnExpression("WITH without an exception")
        relaxed = tokens[at + 1].lower() in _RELAXING
        at += 2
    known = _IDS.get(named.removesuffix("+").lower())
    if known is None:
        return Meaning(frozenset(), None, (named,)), at
    terms = _FAMILIES[known[1]]
    if relaxed and terms is Terms.STRONG:
        terms = Terms.WEAK
    return Meaning(frozenset({known[1]}), terms, ()), at


def _joined(left: Meaning, right: Meaning, *, lightest: bool) -> Meaning:
    known = [side.terms for side in (left, right) if side.terms is not None]
    terms: Terms | None
    if lightest:
        # A known branch of an OR can be chosen; the unknown one then does not bind.
        terms = min(known, key=_ORDER.__getitem__, default=None)
    else:
        terms = max(known, key=_ORDER.__getitem__) if len(known) == 2 else None
    unknown = tuple(sorted({*left.unknown, *right.unknown}))
    return Meaning(left.families | right.families, terms, unknown)
