"""How is a value shown so that it cannot mislead a reader?

Text from a model or a tool may hide characters that reorder or vanish. Everything a template prints passes
through `visible`, so that no page can forget it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Final

from markupsafe import Markup

from tracer import visible as core

_TICKED: Final = re.compile(r"`([^`]+)`")
_NS: Final = 1_000_000_000
_LAST: Final = 253_402_300_799 * _NS
"""The last second of the year 9999; later times are shown as numbers."""


def visible(value: Any) -> Any:
    """The same text with every character that hides or reorders spelt out, as in `‹U+202E›`.

    Kept are newline, tab, no-break space and single emoji selectors. Control characters below U+0020 use
    their pictures (␛), lone surrogates become U+FFFD. Values that are not text, and our own markup, pass.
    """
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return core.visible(value)


def has_hidden(value: str) -> bool:
    """True when `visible` would change *value*."""
    return core.visible(value) != value


def clip(value: str, limit: int) -> tuple[str, str]:
    """(the head of *value* within *limit* UTF-8 bytes, a note "n of m shown" or "").

    A character is never cut in two. *limit* is in bytes.
    """
    data = value.encode("utf-8", "replace")
    if len(data) <= limit:
        return value, ""
    head = data[:limit].decode("utf-8", "ignore")
    return head, f"{size(len(head.encode('utf-8')))} of {size(len(data))} shown"


def line(value: str, limit: int = 120) -> str:
    """One line of at most *limit* characters; what was cut is marked with an ellipsis."""
    flat = " ".join(value.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def size(count: int) -> str:
    """Bytes for people: `812 B`, `4.2 KB`, `3.1 MB`."""
    if count < 1_000:
        return f"{count} B"
    value = float(count)
    for unit in ("KB", "MB", "GB", "TB"):
        value /= 1_000
        if value < 999.5 or unit == "TB":
            return f"{value:.1f} {unit}" if value < 9.95 else f"{value:.0f} {unit}"
    raise AssertionError("unreachable")


def duration(ns: int) -> str:
    """Nanoseconds for people: `84 ms`, `3.1 s`, `39 s`, `32 m 38 s`, `1 h 20 m`, `3 d 4 h`."""
    if ns < 0:
        return f"−{duration(-ns)}"
    if ns < 1_000_000:
        return f"{ns / 1_000:.0f} µs" if ns else "0 s"
    if ns < 999_500_000:
        return f"{ns / 1_000_000:.0f} ms"
    if ns < 9.95 * _NS:
        return f"{ns / _NS:.1f} s"
    total = round(ns / _NS)
    if total < 60:
        return f"{total} s"
    minutes, seconds = divmod(total, 60)
    if minutes < 60:
        return f"{minutes} m {seconds:02d} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes:02d} m"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h"


def rough(ns: int) -> str:
    """`duration` without its second part: `32 m`, `1 h`; for tables."""
    return duration(ns) if ns < 60 * _NS else " ".join(duration(ns).split()[:2])


def clock(ns: int) -> str:
    """The time of day, UTC, of *ns* since 1970: `02:14:09`."""
    return _utc(ns, "%H:%M:%S")


def moment(ns: int) -> str:
    """Date and time with zone: `2026-11-30 02:14:09 UTC`."""
    return _utc(ns, "%Y-%m-%d %H:%M:%S UTC")


def when(ns: int, now_ns: int) -> str:
    """The time of day, with the date in front unless it is the day of *now_ns*."""
    if not 0 <= ns <= _LAST:
        return clock(ns)
    same_day = ns // (86_400 * _NS) == now_ns // (86_400 * _NS)
    return clock(ns) if same_day else _utc(ns, "%d %b %H:%M")


def iso(ns: int) -> str:
    """For the `datetime` attribute of `<time>`; empty outside the years 1970 to 9999."""
    return _utc(ns, "%Y-%m-%dT%H:%M:%SZ") if 0 <= ns <= _LAST else ""


def _utc(ns: int, form: str) -> str:
    if not 0 <= ns <= _LAST:
        return f"{ns} ns"
    return datetime.fromtimestamp(ns // _NS, UTC).strftime(form)


def ticked(value: str) -> Markup:
    """*value* with what stands between backticks as code; everything in it is escaped."""
    pieces = _TICKED.split(str(visible(value)))
    return Markup().join(
        Markup("<code>{}</code>").format(piece) if place % 2 else Markup("{}").format(piece)
        for place, piece in enumerate(pieces)
    )


def short(digest: str, head: int = 8, tail: int = 6) -> str:
    """The two ends of a long identifier: `4bf92f35…0e4736`."""
    return digest if len(digest) <= head + tail + 1 else f"{digest[:head]}…{digest[-tail:]}"


def count(number: int, one: str, many: str = "") -> str:
    """A number and its noun: `1 call`, `26 calls`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def score(value: float) -> str:
    """A score from 0 to 1 with two digits; certainty is only said where it is reached."""
    return "0.99" if 0.99 < value < 0.9995 else f"{value:.2f}"
