"""May two canonical values mean the same thing?"""

from __future__ import annotations

import unicodedata

from rapidfuzz.distance import Indel

from .leaf import Leaf, numbers_in
from .measure import same_measure
from .moment import YEARLESS


def agree(a: Leaf, b: Leaf) -> bool:
    """Do two leaves of one argument mean the same, notation and abbreviation aside?"""
    if a.norm == b.norm and a.kind == b.kind:
        return not (a.unit and b.unit and a.unit != b.unit)
    kinds = {a.kind, b.kind}
    if "born" in kinds:
        # An identifier that was handed out during the run is known by what made it.
        if a.kind != b.kind:
            return False
        vague = "/" not in a.norm or "/" not in b.norm
        return a.norm.partition("/")[0] == b.norm.partition("/")[0] if vague else a.norm == b.norm
    if kinds == {"number"}:
        return (
            a.number is not None and b.number is not None and same_measure(a.number, a.unit, b.number, b.unit)
        )
    if kinds == {"date"}:
        return _same_day(a.norm, b.norm)
    if kinds <= {"number", "id"}:
        return a.key == b.key and _same_id(a, b)
    if kinds <= {"text", "word", "id"}:
        return _same_words(a, b)
    if kinds == {"date", "number"}:
        clock, plain = (a, b) if a.kind == "date" else (b, a)
        return clock.norm.startswith("h") and clock.norm[1:].replace(":", "")[:4] == plain.norm.zfill(4)
    if kinds == {"flag", "number"} or kinds == {"flag", "word"}:
        truth = {
            "1": "true",
            "0": "false",
            "yes": "true",
            "no": "false",
            "on": "true",
            "off": "false",
            "y": "true",
            "n": "false",
        }
        return truth.get(a.norm, a.norm) == truth.get(b.norm, b.norm)
    return False


def _same_day(a: str, b: str) -> bool:
    if YEARLESS in a or YEARLESS in b:
        return a.partition("-")[2].partition("T")[0] == b.partition("-")[2].partition("T")[0]
    return not set(a.split("|")).isdisjoint(b.split("|"))


def _same_id(a: Leaf, b: Leaf) -> bool:
    """Digits are known to be equal; prefixes may be left out or spelt apart, never exchanged."""
    long, short = (a, b) if len(a.norm) >= len(b.norm) else (b, a)
    if long.norm == short.norm or short.norm.lstrip("0").isdigit() or not short.norm:
        return True
    if "@" in long.norm or "://" in long.norm:
        return False
    if _unpadded(long) == _unpadded(short):
        return True
    if long.norm.endswith(short.norm) and "".join(long.words[-len(short.words) :]) == short.norm:
        return True
    return len(long.words) == len(short.words) and all(
        _short_for(x, y) for x, y in zip(long.words, short.words, strict=True)
    )


def _unpadded(leaf: Leaf) -> str:
    out, digits = [], ""
    for c in leaf.norm + "\0":
        if c.isdigit():
            digits += c
            continue
        if digits:
            out.append(digits.lstrip("0") or "0")
            digits = ""
        out.append(c)
    return "".join(out)


def _same_words(a: Leaf, b: Leaf) -> bool:
    one, two = _bare(a), _bare(b)
    if numbers_in(one) != numbers_in(two):
        return False
    if {a.kind, b.kind} == {"text", "id"}:
        # "order W123" for W123: one identifier with a word or two around it.
        text, name = (a, b) if a.kind == "text" else (b, a)
        marked = [w for w in text.words if any(c.isdigit() for c in w)]
        return len(text.words) <= 3 and "".join(marked) in name.norm
    if "".join(one) == "".join(two) or _unaccented("".join(one)) == _unaccented("".join(two)):
        return True
    if "word" in {a.kind, b.kind}:
        return _initials(a, b) or _initials(b, a)
    if len(one) == len(two) and all(
        _short_for(x, y) or _short_for(y, x) for x, y in zip(one, two, strict=True)
    ):
        return True
    return wording(a, b) >= 0.6


def _unaccented(text: str) -> str:
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")


def wording(a: Leaf, b: Leaf) -> float:
    """How much of two wordings is the same, 0 to 1, word by word and without regard to order."""
    one, two = sorted(w for w in _bare(a) if w.isalpha()), sorted(w for w in _bare(b) if w.isalpha())
    if not one and not two:
        return 1.0
    return Indel.normalized_similarity(one[:200], two[:200])


def _bare(leaf: Leaf) -> tuple[str, ...]:
    return tuple(w for w in leaf.words if w != "^") or (leaf.norm,)


def _initials(short: Leaf, long: Leaf) -> bool:
    """TX for Texas, USA for United States of America, prod for production."""
    letters = "".join(_bare(short))
    words = [w for w in _bare(long) if w not in {"of", "the", "and"}]
    if len(words) > 1:
        return letters == "".join(w[0] for w in words) or (
            letters[:-1] == "".join(w[0] for w in words) and len(letters) > 2
        )
    whole = words[0] if words else ""
    if "^" in short.words and "^" not in long.words:
        return len(letters) > 1 and _subsequence(letters, whole)
    return len(letters) >= 3 and whole.startswith(letters) and len(letters) <= 0.6 * len(whole)


def _short_for(long: str, short: str) -> bool:
    """Is one word the other, or the shorter one an abbreviation of it (st, ave, blvd)?"""
    if long == short:
        return True
    if not (long.isalpha() and short.isalpha() and 2 <= len(short) < len(long)):
        return False
    return len(long) > 3 and _subsequence(short, long)


def _subsequence(short: str, long: str) -> bool:
    if not short or not long or short[0] != long[0]:
        return False
    rest = iter(long)
    return all(c in rest for c in short)
