"""Which values of the standard library are stored, and how is each written down exactly?

A leaf is written as `{tag: payload}`. A payload is itself a value: text, or a list of simple values, lowered
and lifted like any other.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from pathlib import PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import Any, Final, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


class Unfit(Exception):
    """Why a value of a known type still cannot be written down."""


class Unavailable(Exception):
    """Why a stored form cannot be built here, although it is sound (no time zone data, no numpy, …)."""


class Leaf(NamedTuple):
    """One built-in form."""

    tag: str
    dump: Callable[[Any], Any]
    load: Callable[[Any], Any]


_PATHS: Final[dict[str, type[PurePath]]] = {
    each.__name__: each for each in (PurePosixPath, PureWindowsPath, PosixPath, WindowsPath)
}


def base64_of(data: bytes) -> str:
    """*data* as text."""
    return b64encode(data).decode("ascii")


def bytes_of(text: str) -> bytes:
    """Undo `base64_of`; anything else in the text is an error."""
    return b64decode(text, validate=True)


def _dump_zone(zone: tzinfo | None) -> Any:
    """None; a zone's key; an offset in µs; or [offset in µs, name]."""
    kind = type(zone)
    if zone is None:
        return None
    if isinstance(zone, ZoneInfo) and kind is ZoneInfo:
        if zone.key is None:
            raise Unfit("its time zone was read from a file and has no key.")
        return zone.key
    if kind is timezone:
        arguments = zone.__getinitargs__()  # type: ignore[attr-defined]
        offset = arguments[0] // timedelta(microseconds=1)
        return offset if len(arguments) == 1 else [offset, arguments[1]]
    raise Unfit(
        f"its time zone is a {kind.__module__}.{kind.__qualname__}, not a ZoneInfo or a fixed offset."
    )


def _load_zone(plain: Any) -> tzinfo | None:
    if plain is None:
        return None
    if type(plain) is str:
        try:
            return ZoneInfo(plain)
        except ZoneInfoNotFoundError as error:
            raise Unavailable(str(error)) from None
    if type(plain) is int:
        return timezone(timedelta(microseconds=plain))
    offset, name = plain
    return timezone(timedelta(microseconds=offset), name)


def _dump_moment(value: datetime | time) -> Any:
    if value.tzinfo is None and not value.fold:
        return value.isoformat()
    return [value.replace(tzinfo=None, fold=0).isoformat(), _dump_zone(value.tzinfo), value.fold]


def _load_moment(kind: Any) -> Callable[[Any], Any]:
    def load(plain: Any) -> Any:
        if type(plain) is str:
            return kind.fromisoformat(plain)
        text, zone, fold = plain
        return kind.fromisoformat(text).replace(tzinfo=_load_zone(zone), fold=fold)

    return load


def _dump_path(value: PurePath) -> list[str]:
    return [type(value).__name__, str(value)]


def _load_path(plain: list[str]) -> PurePath:
    kind, text = plain
    try:
        return _PATHS[kind](text)
    except NotImplementedError as error:
        raise Unavailable(str(error)) from None


def _load_complex(plain: list[float]) -> complex:
    real, imag = plain
    return complex(real, imag)


def _dump_pairs(value: dict[Any, Any]) -> list[Any]:
    return [[key, item] for key, item in value.items()]


def load_pairs(plain: Any, kind: Callable[[], Any] = dict) -> Any:
    """A mapping of the pairs, which may have any keys, each once."""
    mapping = kind()
    for key, item in plain:
        mapping[key] = item
    if len(mapping) != len(plain):
        raise ValueError("a key occurs twice")
    return mapping


def load_set(kind: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """How to build a set of its members, each once."""

    def load(plain: Any) -> Any:
        members = kind(plain)
        if len(members) != len(plain):
            raise ValueError("a member occurs twice")
        return members

    return load


LEAVES: Final[dict[type, Leaf]] = {
    datetime: Leaf("$datetime", _dump_moment, _load_moment(datetime)),
    date: Leaf("$date", date.isoformat, date.fromisoformat),
    time: Leaf("$time", _dump_moment, _load_moment(time)),
    timedelta: Leaf(
        "$timedelta",
        lambda v: [v.days, v.seconds, v.microseconds],
        lambda plain: timedelta(*map(_exact_int, plain)),
    ),
    timezone: Leaf("$zone", _dump_zone, _load_zone),
    ZoneInfo: Leaf("$zone", _dump_zone, _load_zone),
    Decimal: Leaf("$decimal", str, lambda plain: Decimal(_exact_str(plain))),
    Fraction: Leaf("$fraction", lambda v: [v.numerator, v.denominator], lambda plain: Fraction(*plain)),
    complex: Leaf("$complex", lambda v: [v.real, v.imag], _load_complex),
    UUID: Leaf("$uuid", str, UUID),
    range: Leaf("$range", lambda v: [v.start, v.stop, v.step], lambda plain: range(*plain)),
    OrderedDict: Leaf("$ordered", _dump_pairs, lambda plain: load_pairs(plain, OrderedDict)),
    Counter: Leaf("$counter", _dump_pairs, lambda plain: load_pairs(plain, Counter)),
    deque: Leaf("$deque", lambda v: [list(v), v.maxlen], lambda plain: deque(*plain)),
    **{kind: Leaf("$path", _dump_path, _load_path) for kind in _PATHS.values()},
}
"""By exact type. `bytes`, `tuple`, sets and odd numbers and texts are written by the codec itself."""


def _exact_int(plain: Any) -> int:
    if type(plain) is not int:
        raise TypeError(f"{plain!r} is no whole number")
    return plain


def _exact_str(plain: Any) -> str:
    if type(plain) is not str:
        raise TypeError(f"{plain!r} is no text")
    return plain
