"""Is this value certainly what it was at the last checkpoint?"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from operator import is_
from typing import Any, Final
from uuid import UUID

from ..items import Items

_ATOMS: Final = frozenset(
    {
        str,
        int,
        float,
        bool,
        type(None),
        bytes,
        complex,
        date,
        datetime,
        time,
        timedelta,
        Decimal,
        Fraction,
        UUID,
    }
)
"""Types whose values never change: the same object is the same value."""
_MUTABLE: Final = object()
DEEPEST: Final = 60
"""Levels that are cut or copied one by one; what lies below is one part."""


def structural_copy(value: Any, depth: int = 0) -> Any:
    """A copy for `unchanged` that shares what cannot change and holds no mutable leaf."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if depth < DEEPEST:
        if kind is dict:
            return {key: structural_copy(item, depth + 1) for key, item in value.items()}
        if kind is list or kind is Items:
            return [structural_copy(item, depth + 1) for item in list.__iter__(value)]
    return value if getattr(kind, "__waypost_atom__", False) else _MUTABLE


def unchanged(value: Any, copy: Any) -> bool:
    """True only when *value* is certainly what it was when *copy* was taken.

    Leaves are compared by identity, never by `==`: 1, 1.0 and True are three values.
    """
    if value is copy:
        return True
    kind = type(value)
    if kind is dict:
        if type(copy) is not dict or len(value) != len(copy) or not all(map(is_, value, copy)):
            return False
        if all(map(is_, value.values(), copy.values())):
            return True
        return all(map(unchanged, value.values(), copy.values()))
    if kind is list or kind is Items:
        if type(copy) is not list or len(value) != len(copy):
            return False
        return all(map(unchanged, list.__iter__(value), copy))
    return False
