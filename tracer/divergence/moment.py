"""Which day or time does a piece of text name?"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Final

MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "jan january",
            "feb february",
            "mar march",
            "apr april",
            "may",
            "jun june",
            "jul july",
            "aug august",
            "sep sept september",
            "oct october",
            "nov november",
            "dec december",
        ),
        1,
    )
    for name in names.split()
}

_ISO = re.compile(
    r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})"
    r"(?:[t ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(z|utc|[+-]\d{2}:?\d{2})?)?"
)
_PARTS = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?:[t ,]+(\d{1,2}):(\d{2})(?::(\d{2}))?)?")
_DAY_FIRST = re.compile(r"(?:[a-z]+,? )?(\d{1,2})(?:st|nd|rd|th)?[ .-]+(?:of )?([a-z]{3,9})\.?[ ,-]+(\d{4})")
_MONTH_FIRST = re.compile(r"(?:[a-z]+,? )?([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})")
_DAY_MONTH = re.compile(r"(?:[a-z]+,? )?(\d{1,2})(?:st|nd|rd|th)?[ .-]+(?:of )?([a-z]{3,9})\.?")
_MONTH_DAY = re.compile(r"(?:[a-z]+,? )?([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?")
YEARLESS: Final = "any"
"""The year of a day that names none."""
_COMPACT = re.compile(r"((?:19|20)\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
_CLOCK = re.compile(r"(\d{1,2})(?::(\d{2}))(?::(\d{2}))?\s*([ap])?\.?(m)?\.?|(\d{1,2})\s*([ap])\.?m\.?")


def moment(text: str) -> tuple[str, str] | None:
    """(coarse key, exact form) of a folded string; None where it names no day and no time of day.

    "03/04/2025" may be two days: its exact form names both, and its key is shared by both.
    """
    for read in (_iso, _parts, _worded, _yearless, _compact, _clock):
        found = read(text)
        if found is not None:
            return found
    return None


def _key(year: int, month: int, day: int) -> str:
    low, high = sorted((month, day))
    return f"t{year}:{low}:{high}"


def _day(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


def _time(hour: str | None, minute: str | None, second: str | None) -> str:
    if not hour or (int(hour), int(minute or 0), int(second or 0)) == (0, 0, 0):
        return ""
    return f"T{int(hour):02d}:{int(minute or 0):02d}:{int(second or 0):02d}"


def _iso(text: str) -> tuple[str, str] | None:
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, zone = match.groups()
    if _day(int(year), int(month), int(day)) is None:
        return None
    if zone and zone not in {"z", "utc"} and hour:
        offset = zone.replace(":", "")
        stamp = f"{int(year):04d}-{int(month):02d}-{int(day):02d}T{int(hour):02d}:{minute}:{second or '00'}{offset}"
        try:
            at = datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%S%z").astimezone(UTC)
        except (ValueError, OverflowError):
            return None
        return _key(at.year, at.month, at.day), at.date().isoformat() + _time(
            str(at.hour), str(at.minute), str(at.second)
        )
    whole = _day(int(year), int(month), int(day))
    return _key(int(year), int(month), int(day)), f"{whole}{_time(hour, minute, second)}"


def _parts(text: str) -> tuple[str, str] | None:
    match = _PARTS.fullmatch(text)
    if match is None:
        return None
    first, second, year = int(match[1]), int(match[2]), int(match[3])
    dotted = "." in text[: match.start(3)]
    days = [_day(year, second, first)]  # day first
    if not dotted:
        days.append(_day(year, first, second))
    known = sorted({d for d in days if d})
    if not known:
        return None
    clock = _time(match[4], match[5], match[6])
    return _key(year, first, second), "|".join(d + clock for d in known)


def _worded(text: str) -> tuple[str, str] | None:
    match = _DAY_FIRST.fullmatch(text)
    if match is not None:
        day, name, year = int(match[1]), match[2], int(match[3])
    else:
        match = _MONTH_FIRST.fullmatch(text)
        if match is None:
            return None
        name, day, year = match[1], int(match[2]), int(match[3])
    month = MONTHS.get(name)
    whole = _day(year, month, day) if month else None
    return (_key(year, month, day), whole) if whole and month else None


def _yearless(text: str) -> tuple[str, str] | None:
    match = _DAY_MONTH.fullmatch(text)
    if match is not None:
        day, name = int(match[1]), match[2]
    else:
        match = _MONTH_DAY.fullmatch(text)
        if match is None:
            return None
        name, day = match[1], int(match[2])
    month = MONTHS.get(name)
    return (
        (f"t{YEARLESS}:{month}:{day}", f"{YEARLESS}-{month:02d}-{day:02d}")
        if month and 1 <= day <= 31
        else None
    )


def _compact(text: str) -> tuple[str, str] | None:
    match = _COMPACT.fullmatch(text)
    whole = _day(int(match[1]), int(match[2]), int(match[3])) if match else None
    return (_key(int(match[1]), int(match[2]), int(match[3])), whole) if match and whole else None


def _clock(text: str) -> tuple[str, str] | None:
    match = _CLOCK.fullmatch(text)
    if match is None or (match[5] and not match[4]):
        return None
    hour = int(match[1] or match[6])
    half = match[4] or match[7]
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    minute, second = int(match[2] or 0), int(match[3] or 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    stamp = f"{hour:02d}:{minute:02d}:{second:02d}"
    return f"h{stamp}", f"h{stamp}"
