"""What does one place of the metadata claim: an expression, the old licence field, the classifiers?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from examples.licence_audit.spdx import NotAnExpression, Terms, read_expression, terms_of
from examples.licence_audit.texts import facts_of

# Words people write into the licence field, levelled by `_words`; the value is a family.
_NICKNAMES = {
    "mit": "MIT",
    "expat": "MIT",
    "bsd": "BSD",
    "new bsd": "BSD",
    "modified bsd": "BSD",
    "simplified bsd": "BSD",
    "bsd 2 clause": "BSD",
    "bsd 3 clause": "BSD",
    "2 clause bsd": "BSD",
    "3 clause bsd": "BSD",
    "apache": "Apache",
    "apache 2": "Apache",
    "apache 2.0": "Apache",
    "apache software": "Apache",
    "apache software 2.0": "Apache",
    "isc": "ISC",
    "psf": "PSF",
    "python software foundation": "PSF",
    "zpl 2.1": "ZPL",
    "zope public": "ZPL",
    "mpl 2.0": "MPL",
    "mozilla public 2.0": "MPL",
    "lgpl": "LGPL",
    "lgplv2": "LGPL",
    "lgplv2+": "LGPL",
    "lgplv2.1+": "LGPL",
    "lgplv3": "LGPL",
    "lgplv3+": "LGPL",
    "gnu lesser general public": "LGPL",
    "gpl": "GPL",
    "gplv2": "GPL",
    "gplv2+": "GPL",
    "gplv3": "GPL",
    "gplv3+": "GPL",
    "gnu general public": "GPL",
    "agplv3": "AGPL",
    "agplv3+": "AGPL",
    "public domain": "CC0",
    "unlicense": "Unlicense",
}
# Start of a classifier (without `License :: OSI Approved :: `), its family, and whether it names one licence.
_CLASSIFIERS: tuple[tuple[str, str, bool], ...] = (
    ("MIT No Attribution", "MIT", True),
    ("MIT", "MIT", True),
    ("BSD", "BSD", False),
    ("Apache Software", "Apache", False),
    ("ISC", "ISC", True),
    ("Python Software Foundation", "PSF", False),
    ("Python License", "PSF", False),
    ("Zope Public", "ZPL", False),
    ("zlib/libpng", "zlib", True),
    ("Boost Software License 1.0", "BSL", True),
    ("Historical Permission Notice", "HPND", True),
    ("The Unlicense", "Unlicense", True),
    ("CC0 1.0", "CC0", True),
    ("Artistic", "Artistic", False),
    ("Mozilla Public License 2.0", "MPL", True),
    ("Mozilla Public License 1.1", "MPL", True),
    ("Eclipse Public License", "EPL", True),
    ("European Union Public Licence", "EUPL", True),
    ("GNU Affero General Public License v3", "AGPL", True),
    ("GNU Lesser General Public License", "LGPL", True),
    ("GNU Library or Lesser General Public License", "LGPL", False),
    ("GNU General Public License v", "GPL", True),
    ("GNU General Public License", "GPL", False),
    ("Public Domain", "CC0", False),
)
_SAYS_NOTHING = {"", "unknown", "none", "n/a", "na", "see license", "see licence", "license", "dual", "other"}


@dataclass(frozen=True, slots=True)
class Claim:
    """What one place says."""

    place: str
    """`expression`, `field` or `classifier`."""
    made: bool
    """The place says something at all."""
    words: str
    """The licences named, for people."""
    families: frozenset[str]
    terms: Terms | None
    """None when nothing is claimed, or when what is claimed is not known."""
    inexact: bool
    """It is not an exact, known identifier."""


def claim_of_expression(text: str) -> Claim:
    """Read a `License-Expression`."""
    if not text:
        return _nothing("expression")
    try:
        meaning = read_expression(text)
    except NotAnExpression:
        return Claim("expression", True, text[:120], frozenset(), None, True)
    return Claim("expression", True, text, meaning.families, meaning.terms, bool(meaning.unknown))


def claim_of_field(text: str) -> Claim:
    """Read the old `License` field: an identifier, a nickname, a whole text, or nothing of use."""
    if text.lower().strip(" .") in _SAYS_NOTHING:
        return _nothing("field")
    try:
        meaning = read_expression(text)
    except NotAnExpression:
        pass
    else:
        if not meaning.unknown:
            return Claim("field", True, text, meaning.families, meaning.terms, False)
    family = _NICKNAMES.get(_words(text))
    families = frozenset({family} if family else facts_of(text).families)
    return _inexact("field", families, text)


def claim_of_classifiers(lines: tuple[str, ...]) -> Claim:
    """Read licence classifiers, given without `License :: `. Several are read as a choice."""
    if not lines:
        return _nothing("classifier")
    families, exact = set(), True
    for line in lines:
        last = line.removeprefix("OSI Approved").removeprefix(" :: ")
        known = next(((f, e) for start, f, e in _CLASSIFIERS if last.startswith(start)), None)
        if known is None:
            exact = False
        else:
            families.add(known[0])
            exact = exact and known[1]
    lightest = min((terms_of(f) for f in families), key=list(Terms).index, default=None)
    words = ", ".join(sorted(families)) or "; ".join(lines)
    return Claim("classifier", True, words, frozenset(families), lightest, not exact)


def _words(text: str) -> str:
    plain = re.sub(r"[-_,()]+", " ", text.lower())
    plain = re.sub(r"\b(the|licen[cs]es?d?|version|v(?=\d))\s*", " ", plain)
    return re.sub(r"\s+", " ", plain).strip(" .")


def _inexact(place: str, families: frozenset[str], text: str) -> Claim:
    strictest = max((terms_of(f) for f in families), key=list(Terms).index, default=None)
    words = ", ".join(sorted(families)) or " ".join(text.split())[:120]
    return Claim(place, True, words, families, strictest, True)


def _nothing(place: str) -> Claim:
    return Claim(place, False, "", frozenset(), None, False)
