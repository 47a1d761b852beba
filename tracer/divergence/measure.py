"""Are two measured amounts the same, whatever units they are written in?"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

_SCALES: Final[dict[str, dict[str, str | int]]] = {
    "mass": {"mg": "0.001", "g": 1, "kg": 1000, "t": 1_000_000, "oz": "28.349523125", "lb": "453.59237"},
    "length": {
        "mm": "0.001",
        "cm": "0.01",
        "m": 1,
        "km": 1000,
        "in": "0.0254",
        "ft": "0.3048",
        "mi": "1609.344",
    },
    "volume": {"ml": "0.001", "cl": "0.01", "l": 1},
    "time": {"ms": "0.001", "s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800},
    "data": {"b": 1, "kb": 1024, "mb": 1024**2, "gb": 1024**3, "tb": 1024**4},
    "heat": {"c": 1, "f": 1, "k": 1},
}
_SPOKEN: Final = {
    "gram": "g", "grams": "g", "kilo": "kg", "kilos": "kg", "kgs": "kg", "kilogram": "kg", "kilograms": "kg",
    "milligram": "mg", "milligrams": "mg", "lbs": "lb", "pound": "lb", "pounds": "lb", "ounce": "oz", "ounces": "oz",
    "meter": "m", "meters": "m", "metre": "m", "metres": "m", "kilometer": "km", "kilometers": "km", "miles": "mi",
    "inch": "in", "inches": "in", "feet": "ft", "foot": "ft", "liter": "l", "liters": "l", "litre": "l", "litres": "l",
    "sec": "s", "secs": "s", "second": "s", "seconds": "s", "msec": "ms", "mins": "min", "minute": "min",
    "minutes": "min", "hr": "h", "hrs": "h", "hour": "h", "hours": "h", "day": "d", "days": "d", "wk": "w",
    "wks": "w", "week": "w", "weeks": "w", "°c": "c", "celsius": "c", "degc": "c", "°f": "f", "fahrenheit": "f",
    "degf": "f",
}  # fmt: skip
MEASURES: Final = frozenset({*_SPOKEN, *(unit for scale in _SCALES.values() for unit in scale)})
"""Words and signs that a measured amount may be followed by."""


def same_measure(a: Decimal, unit: str, b: Decimal, other: str) -> bool:
    """Do two amounts with units mean the same? One that bears none may be meant in any unit of the other's kind."""
    if unit == other:
        return a == b
    if not unit or not other:
        measured, named, bare = (a, unit, b) if unit else (b, other, a)
        if measured == bare:
            return True
        scale = _scale(named)
        base = _base(measured, named) if scale else measured
        return any(
            abs(base - _base(bare, one)) <= max(_step(measured, named), _step(bare, one)) / 2 for one in scale
        )
    scale = _scale(unit)
    if not scale or _SPOKEN.get(other, other) not in scale:
        return False
    return abs(_base(a, unit) - _base(b, other)) <= max(_step(a, unit), _step(b, other)) / 2


def kind_of(unit: str) -> str:
    """What a unit measures; the unit itself where it is none of the known kinds."""
    plain = _SPOKEN.get(unit, unit)
    return next((kind for kind, scale in _SCALES.items() if plain in scale), unit)


def scaled(amount: Decimal, unit: str) -> Decimal:
    """An amount in the least unit of its kind, so that parts in different units add up."""
    return _base(amount, unit) if _scale(unit) else amount


def _scale(unit: str) -> dict[str, str | int]:
    plain = _SPOKEN.get(unit, unit)
    return next((scale for scale in _SCALES.values() if plain in scale), {})


def _base(amount: Decimal, unit: str) -> Decimal:
    plain = _SPOKEN.get(unit, unit)
    if plain == "f":
        return (amount - 32) * 5 / 9
    if plain == "k":
        return amount - Decimal("273.15")
    return amount * Decimal(_scale(plain)[plain])


def _step(amount: Decimal, unit: str) -> Decimal:
    """What the last digit of an amount is worth; a whole number is taken to be exact."""
    exponent = amount.as_tuple().exponent
    if not isinstance(exponent, int) or exponent >= 0:
        return Decimal(0)
    return abs(_base(Decimal(1).scaleb(exponent), unit) - _base(Decimal(0), unit))
