"""How are times, sizes and counts said to a person, and how does a person say a time?"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

NS: Final = 1_000_000_000
_LAST: Final = 253_402_300_799 * NS
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SPAN: Final = re.compile(r"([0-9]{1,9})\s*([smhdw])")


def size(count: int) -> str:
    """Bytes: `812 B`, `4.2 KB`, `3.1 MB`."""
    if count < 1000:
        return f"{count} B"
    value, units = count / 1000, ["TB", "GB", "MB", "KB"]
    while value >= 999.5 and len(units) > 1:
        value /= 1000
        units.pop()
    return f"{value:.1f} {units[-1]}" if value < 9.95 else f"{value:.0f} {units[-1]}"


def span(ns: int) -> str:
    """A length of time in its two largest units: `84 ms`, `3.1 s`, `32 m 38 s`, `3 d 4 h`."""
    if ns < 0:
        return f"−{span(-ns)}"
    if ns < 999_500_000:
        return f"{round(ns / 1e6)} ms"
    seconds = round(ns / NS)
    if ns < 10 * NS:
        return f"{ns / NS:.1f} s"
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} m {seconds % 60:02d} s"
    if seconds < 86_400:
        return f"{seconds // 3600} h {seconds % 3600 // 60:02d} m"
    return f"{seconds // 86_400} d {seconds % 86_400 // 3600} h"


def ago(at_ns: int, now_ns: int) -> str:
    """`32 m ago`, in the largest unit only; clocks that disagree say `just now`."""
    past = now_ns - at_ns
    if past < NS:
        return "just now"
    return f"{' '.join(span(past).split()[:2])} ago"


def moment(ns: int) -> str:
    """Date, time and zone: `2026-11-30 02:14:09 UTC`; outside the years 1970 to 9999 the number itself."""
    if not 0 <= ns <= _LAST:
        return f"{ns} ns"
    return datetime.fromtimestamp(ns // NS, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def iso(ns: int | None) -> str | None:
    """ISO 8601 in UTC with microseconds, for machines; None stays None."""
    if ns is None or not 0 <= ns <= _LAST:
        return None if ns is None else f"{ns} ns"
    whole = datetime.fromtimestamp(ns // NS, UTC)
    return (
        whole.replace(microsecond=ns % NS // 1000).isoformat(timespec="microseconds").replace("+00:00", "Z")
    )


def counted(number: int, one: str, many: str = "") -> str:
    """A number and its noun: `1 call`, `26 calls`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def since(text: str, now_ns: int) -> int:
    """The moment that a person means by `24h`, `30m`, `7d` or `2026-11-30[T02:14]` (UTC unless it has a zone).

    Raises:
        ValueError: it is neither.
    """
    found = _SPAN.fullmatch(text.strip())
    if found is not None:
        return max(0, now_ns - int(found[1]) * _UNITS[found[2]] * NS)
    at = datetime.fromisoformat(text.strip())
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    return int(at.timestamp() * 1_000_000) * 1000
