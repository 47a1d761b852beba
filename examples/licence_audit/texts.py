"""Which licences does the text of a file carry, and does it name who holds the copyright?

Recognition goes by the sentence each licence is known for, after line breaks, comment marks and quotes are
levelled. It names families (`BSD`, not a clause count), because that is what metadata can be held against.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Family, a phrase it always has, and a phrase that must be there too ("" when one is enough).
_SIGNS: tuple[tuple[str, str, str], ...] = (
    ("MIT", "permission is hereby granted, free of charge, to any person obtaining a copy", ""),
    ("BSD", "redistribution and use in source and binary forms, with or without modification", ""),
    ("Apache", "apache license version 2.0, january 2004", ""),
    ("Apache", "licensed under the apache license, version 2.0", ""),
    ("Apache", "the apache software license, version 1.1", ""),
    ("ISC", "distribute this software for any purpose with or without fee", "copyright notice"),
    ("PSF", "python software foundation license version 2", ""),
    ("ZPL", "zope public license", ""),
    ("zlib", "provided 'as-is', without any express or implied warranty", "altered source versions"),
    ("BSL", "boost software license - version 1.0", ""),
    ("HPND", "this software and its documentation for any purpose and without fee", "in advertising"),
    ("Unlicense", "this is free and unencumbered software released into the public domain", ""),
    ("CC0", "cc0 1.0 universal", ""),
    ("CC-BY-SA", "attribution-sharealike", "creative commons"),
    ("CC-BY", "attribution 4.0 international", "creative commons"),
    ("Unicode", "unicode license v3", ""),
    ("WTFPL", "do what the fuck you want to public license", ""),
    ("Artistic", "the artistic license 2.0", ""),
    ("OFL", "sil open font license version 1.1", ""),
    ("MPL", "mozilla public license version 2.0", ""),
    ("MPL", "mozilla public license, v. 2.0", ""),
    ("LGPL", "gnu lesser general public license version", ""),
    ("LGPL", "gnu library general public license version", ""),
    ("EPL", "eclipse public license - v", ""),
    ("CDDL", "common development and distribution license", ""),
    ("EUPL", "european union public licence", ""),
    ("GPL", "gnu general public license version 3, 29 june 2007", ""),
    ("GPL", "gnu general public license version 2, june 1991", ""),
    ("AGPL", "gnu affero general public license version 3", ""),
    ("SSPL", "server side public license", ""),
)
# Their own text asks that the holder's notice is kept; Apache, GPL and the like carry a template instead.
_NOTICE_BEARING = frozenset({"MIT", "BSD", "ISC", "HPND", "NCSA"})
_ZERO_CLAUSE = re.compile(
    r"permission to use, copy, modify, and/or distribute this software for any purpose with or without fee "
    r"is hereby granted\. the software"
)
_MARKS = re.compile(r"^[\s*#/>;|-]+", re.MULTILINE)
_NOTICE = re.compile(
    r"^(?:copyright|\(c\)|©|portions copyright)"
    r"(?!\s+(?:notice|holders?|owners?|laws?|license|licence|and|permission|in|on|is|to|interest|disclaimer)\b)"
    r"\W*\w",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"[\[<{]\s*(?:y{2,4}|year|years|full\s?name|name of (?:author|copyright owner)|owner|author"
    r"|copyright holders?|copyright owner|organi[sz]ation)\s*[\]>}]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TextFacts:
    """What one licence file says."""

    families: tuple[str, ...]
    """Families recognised in the text, sorted; empty when none is."""
    asks_for_notice: bool
    """All it holds are licences that ask to keep the copyright notice (MIT-0, say, does not)."""
    named_holder: bool
    """A copyright line names somebody."""
    placeholder: bool
    """A copyright line still has the blanks of the template."""
    empty: bool
    """Nothing but white space."""


def facts_of(text: str) -> TextFacts:
    """Read *text* of a licence, notice or authors file."""
    levelled = _levelled(text)
    families = {family for family, sign, also in _SIGNS if sign in levelled and also in levelled}
    if _ZERO_CLAUSE.search(levelled):
        families.add("0BSD")
    lines = [_MARKS.sub("", line).strip() for line in text.splitlines()]
    notices = [line for line in lines if _NOTICE.match(line)]
    blank = [line for line in notices if _PLACEHOLDER.search(line)]
    return TextFacts(
        families=tuple(sorted(families)),
        asks_for_notice=bool(families) and families <= _NOTICE_BEARING and "copyright notice" in levelled,
        named_holder=len(notices) > len(blank),
        placeholder=bool(blank),
        empty=not text.strip(),
    )


def _levelled(text: str) -> str:
    plain = text.lower().translate(str.maketrans('‘’`“”"´', "'''''''"))
    unmarked = _MARKS.sub("", plain)
    return re.sub(r"\s+", " ", unmarked).replace("''", "'")
