"""What does one scalar argument mean, whatever notation it was written in?"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Final

from .lexicon import words
from .measure import MEASURES
from .moment import moment

LONGEST: Final = 4_000
"""Characters of one string that are read; the rest only counts through the length."""

SHOWN: Final = 120
"""Characters of a value that are kept for people."""

CURRENCIES: Final = words(
    "usd eur gbp jpy chf cad aud nzd sek nok dkk pln czk huf inr cny brl mxn zar krw sgd hkd"
)
UNITS: Final = {
    "$": "usd",
    "us$": "usd",
    "€": "eur",
    "£": "gbp",
    "¥": "jpy",
    "₹": "inr",
    "%": "%",
    "percent": "%",
    "pct": "%",
    "pcs": "pcs",
    "units": "pcs",
    **{code: code for code in CURRENCIES},
    **{unit: unit for unit in MEASURES},
}
"""Symbols and words that may stand beside a number; only between two that are both present can they disagree."""

LOOKALIKE: Final = str.maketrans("авсԁеһіјӏморԛѕтхуѵԝгкпαβεικνορτυχωӕ", "abcdehijlmopqstxyvwrknabeiknoptuxwa")
"""Cyrillic and Greek letters that a person takes for Latin ones (casefolded)."""

_AMOUNT = re.compile(
    r"(?P<sign>-?)\s*(?P<pre>us\$|[$€£¥₹]|[a-z]{3}(?=[\s\d.,+-]))?\s*"
    r"(?P<num>[+-]?[\d.][\d.,'\u202f\u00a0 _]*?(?:e[+-]?\d{1,3})?)"
    r"\s*(?P<post>[$€£¥₹%]|°?[a-z]{1,10})?\.?"
)
_GROUPED = re.compile(r"[+-]?\d{1,3}(?P<sep>[.,' \u202f\u00a0_])\d{3}(?:(?P=sep)\d{3})*(?:(?P<dec>[.,])\d+)?")
_MAIL = re.compile(r"[^<>@]{0,60}<([^<>@\s]{1,60}@[^<>@\s]{1,60})>")
_DIGITS = re.compile(r"\d+")
_UNIT = re.compile(r"[^\W\d_][^\s\d]{0,11}")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Leaf:
    """One scalar in canonical form.

    `key` is coarse: two leaves that may mean the same share it; it is "" where only wording decides.
    `norm` is exact: equal norms of one kind mean the same.
    """

    kind: str
    """number, date, id, word, text, flag or born (an identifier that this run itself was given)."""
    key: str
    norm: str
    words: tuple[str, ...] = ()
    unit: str = ""
    number: Decimal | None = None
    raw: str = ""
    """As it was written, cut to a line; for people only."""

    @property
    def hard(self) -> bool:
        """Can this leaf tell one record or amount from another without reading prose?"""
        return self.key != "" and self.kind != "born"


def leaf(value: object) -> Leaf | None:
    """The canonical form of a scalar; None for what says nothing (null, empty text)."""
    if value is None:
        return None
    if isinstance(value, bool):
        return Leaf("flag", "", "true" if value else "false")
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, Decimal):
        return _decimal(value, "") if value.is_finite() else Leaf("word", "", str(value).casefold())
    if isinstance(value, (bytes, bytearray)):
        return Leaf("id", f"x{bytes(value[:64]).hex()}", f"{len(value)}:{bytes(value[:64]).hex()}")
    found = _string(value) if isinstance(value, str) else _string(str(type(value).__name__))
    return (
        replace(found, raw=value.strip()[:SHOWN]) if found is not None and isinstance(value, str) else found
    )


def plain(text: str) -> str:
    """Compatibility forms folded, invisible characters dropped, case folded, blanks single."""
    if text.isascii():
        return " ".join(text.casefold().split())
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(c for c in folded if unicodedata.category(c) != "Cf").split())


def looks_like(a: Leaf, b: Leaf) -> bool:
    """Are these different values that a person reads as the same, letter for letter?"""
    return a.norm != b.norm and a.norm.translate(LOOKALIKE) == b.norm.translate(LOOKALIKE)


def _integer(value: int) -> Leaf:
    if value.bit_length() > 256:  # Python refuses to print very long integers.
        return Leaf("id", f"i{value & (1 << 256) - 1:x}", f"{value.bit_length()}:{value & (1 << 256) - 1:x}")
    return Leaf("number", str(value), str(value), number=Decimal(value))


def _float(value: float) -> Leaf:
    if not math.isfinite(value):
        return Leaf("word", "", "nan" if math.isnan(value) else str(value))
    # What binary fractions add (0.1 + 0.2) is no other amount.
    return _decimal(Decimal(f"{value:.12g}"), "")


def _decimal(value: Decimal, unit: str) -> Leaf:
    if value.is_zero():
        return Leaf("number", "0", "0", unit=unit, number=Decimal(0))
    if abs(value.adjusted()) > 40 or len(value.as_tuple().digits) > 60:
        return Leaf("word", "", str(value))
    value = value.normalize() if len(value.as_tuple().digits) <= 28 else value
    norm = format(value, "f")
    if "." in norm:
        norm = norm.rstrip("0").rstrip(".")
    return Leaf("number", norm, norm, unit=unit, number=value)


def _string(raw: str) -> Leaf | None:
    text = plain(raw[:LONGEST])
    if not text:
        return None
    if len(text) > 60:
        return _worded(text, raw)
    if text in {"true", "false"}:
        return Leaf("flag", "", text)
    if any(c.isdigit() for c in text):
        found = moment(text)
        if found is not None:
            return Leaf("date", found[0], found[1])
        return _amount(text) or _worded(text, raw)
    return _worded(text, raw)


def _amount(text: str) -> Leaf | None:
    match = _AMOUNT.fullmatch(text)
    if match is None:
        return _measured(text)
    units = [UNITS.get(part) for part in (match["pre"], match["post"]) if part]
    if (
        None in units
        or len(set(units)) > 1
        or (match["pre"] and match["pre"].isalpha() and len(match["pre"]) != 3)
    ):
        return None
    number = _notation(match["num"])
    if number is None:
        return None
    return _decimal(-number if match["sign"] else number, units[0] or "" if units else "")


def _measured(text: str) -> Leaf | None:
    """A number and the one word after it, whatever it measures in."""
    head, _, unit = text.partition(" ")
    if not _UNIT.fullmatch(unit):
        return None
    number = _notation(head) if head[:1].isdigit() else None
    return _decimal(number, UNITS.get(unit, unit)) if number is not None else None


def _notation(text: str) -> Decimal | None:
    """A number in any unambiguous grouping; "1,234" is a thousand, "308,82" and "1.5" have decimals."""
    bare = text.strip()
    if bare.lstrip("+-").startswith("0") and bare.lstrip("+-").isdigit() and len(bare) > 1:
        return None  # A leading zero makes it a code, such as a postal code.
    grouped = _GROUPED.fullmatch(bare)
    if grouped is not None and (grouped["sep"] != "." or grouped["dec"] or bare.count(".") > 1):
        if grouped["dec"] == grouped["sep"]:
            return None
        head, _, tail = bare.partition(grouped["dec"]) if grouped["dec"] else (bare, "", "")
        bare = head.replace(grouped["sep"], "") + (f".{tail}" if tail else "")
    elif bare.count(",") == 1 and "." not in bare:
        bare = bare.replace(",", ".")
    try:
        number = Decimal(bare)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _worded(text: str, raw: str) -> Leaf:
    mail = _MAIL.fullmatch(text)
    if mail is not None:
        return Leaf("id", mail[1], mail[1])
    if "@" in text and " " not in text:
        return Leaf("id", text, text)
    if "://" in text and " " not in text:
        return Leaf("id", text.rstrip("/"), text.rstrip("/"))
    words = tuple(_WORD.findall(text))
    with_digits = [w for w in words if any(c.isdigit() for c in w)]
    spaced = text.split(" ")
    if with_digits and len(spaced) <= 8 and _coded(spaced):
        digits = "".join(_DIGITS.findall(text)).lstrip("0") or "0"
        return Leaf("id", digits, "".join(words), tuple(_WORD.findall(text)))
    if len(spaced) == 1 and not with_digits:
        return Leaf("word", "", "".join(words) or text, _shape(raw, words))
    return Leaf("text", "", f"{len(raw)}:{text}" if len(raw) > LONGEST else text, words)


def _coded(spaced: list[str]) -> bool:
    """Is this one identifier, perhaps in groups or behind a short prefix (INV 31045), rather than prose?"""
    alphabetic = [p for p in spaced if len(p) > 1 and not any(c.isdigit() for c in p)]
    if not alphabetic:
        return True
    if len(alphabetic) != 1 or len(alphabetic[0].strip(".:#-")) > 8:
        return False
    rest = [p for p in spaced if p is not alphabetic[0]]
    if len(rest) == 1 and spaced[0] is alphabetic[0] and any(c.isalpha() for c in rest[0]):
        return (
            sum(c.isdigit() for c in rest[0]) >= 4
        )  # "No. 25-CV-0693", "order W1234": a record and what it is.
    return len(alphabetic[0].strip(".:#-")) <= 5 and all(not any(c.isalpha() for c in p) for p in rest)


def _shape(raw: str, words: tuple[str, ...]) -> tuple[str, ...]:
    # Capitals are the only hint that two or three letters stand for a longer word (TX, USA).
    short = raw.strip().rstrip(".")
    return (*words, "^") if short.isupper() and len(short) <= 3 else words


def numbers_in(words: tuple[str, ...]) -> list[str]:
    """The digit groups of a text's words, in order, without leading zeros."""
    return [d.lstrip("0") or "0" for w in words for d in _DIGITS.findall(w)]
