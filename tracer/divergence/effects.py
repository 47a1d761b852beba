"""Which effect is this, among all that were seen?

Every single effect gets a small number; two effects share it when they may mean the same. The look-up goes
by exact form, then by the digits of its identifiers, amounts and dates, so that it never compares every
effect with every other.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from .leaf import Leaf
from .measure import kind_of, scaled
from .rows import Fields
from .sameness import agree

CANDIDATES: Final = 32
"""Effects with the same digits that are compared word by word; beyond them only exact forms are found."""

_NAMES: Final = (
    "id",
    "no",
    "number",
    "ref",
    "key",
    "code",
    "num",
    "reference",
    "year",
    "zip",
    "page",
    "version",
)


@dataclass(frozen=True, slots=True)
class Effect:
    """One single effect: the tool and the fields that matter."""

    tool: str
    fields: Fields


def is_amount(path: str, found: Leaf) -> bool:
    """Can parts of this number add up to it?"""
    return found.number is not None and not path.rpartition(".")[2].endswith(_NAMES)


def amounts(fields: Fields) -> dict[str, Decimal]:
    """The amounts among the fields, by path; several under one path are added."""
    out: dict[str, Decimal] = {}
    for path, found in fields:
        if found.number is not None and is_amount(path, found):
            kind = kind_of(found.unit)
            place = f"{path} ({kind})" if kind else path
            out[place] = out.get(place, Decimal(0)) + scaled(found.number, found.unit)
    return out


def without_amounts(fields: Fields) -> Fields:
    """What is left of an effect when it may be done in parts."""
    return tuple((p, f) for p, f in fields if not is_amount(p, f))


@dataclass(slots=True)
class Registry:
    """Effects by number. Interning is linear in the number of fields, whatever was interned before."""

    effects: list[Effect] = field(default_factory=list)
    _exact: dict[tuple[object, ...], int] = field(default_factory=dict)
    _digits: dict[tuple[object, ...], list[int]] = field(default_factory=lambda: defaultdict(list))
    crowded: int = 0
    """Effects that were compared by exact form only, because too many shared their digits."""

    def intern(self, tool: str, fields: Fields) -> int:
        """The number of this effect; a new one if nothing like it was seen."""
        exact = (tool, *((p, f.kind, f.norm, f.unit) for p, f in fields))
        known = self._exact.get(exact)
        if known is not None:
            return known
        # An abbreviation keeps the first letter of its word; flags may be written as words or numbers.
        digits = (
            tool,
            *((p, f.key or f.norm[:1]) for p, f in fields if f.hard or f.kind in {"word", "text"}),
        )
        bucket = self._digits[digits]
        for number in bucket[:CANDIDATES]:
            if same(self.effects[number].fields, fields):
                self._exact[exact] = number
                return number
        if len(bucket) >= CANDIDATES:
            self.crowded += 1
        number = len(self.effects)
        self.effects.append(Effect(tool, fields))
        bucket.append(number)
        self._exact[exact] = number
        return number


def same(a: Fields, b: Fields) -> bool:
    """Do two field lists mean the same, path by path?"""
    if len(a) != len(b):
        return False
    return all(p == q and agree(f, g) for (p, f), (q, g) in zip(a, b, strict=True))
