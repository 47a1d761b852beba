"""How are the numbers and texts written that strict JSON cannot hold?"""

from __future__ import annotations

import re
import struct
from typing import Any, Final

from ..types import Plain

INT64: Final = 1 << 63
_INF: Final = float("inf")
_NAN: Final = struct.pack(">d", float("nan")).hex()
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def int_plain(value: int) -> Plain:
    """The number itself within 64 bits, else `{"$int": hex}` (decimal is limited, and slow)."""
    return value if -INT64 <= value < INT64 else {"$int": hex(value)}


def int_of(text: str) -> int:
    """Undo `int_plain`."""
    return int(text, 16)


def float_plain(value: float) -> Plain:
    """The number itself when finite, -0.0 included; else `{"$float": "inf", "-inf", "nan" or hex bits}`."""
    if value - value == 0.0:
        return value
    if value in (_INF, -_INF):
        return {"$float": repr(value)}
    bits = struct.pack(">d", value).hex()
    return {"$float": "nan" if bits == _NAN else bits}


def float_of(text: str) -> float:
    """Undo `float_plain`."""
    if text in ("inf", "-inf", "nan"):
        return float(text)
    value: float = struct.unpack(">d", bytes.fromhex(text))[0]
    return value


def str_plain(value: str) -> Plain:
    """The text itself, or `{"$str": [text, 0xd83e, text, …]}` where it holds halves of a surrogate pair."""
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        pass
    else:
        return value
    parts: list[Plain] = []
    end = 0
    for match in _SURROGATES.finditer(value):
        if match.start() > end:
            parts.append(value[end : match.start()])
        parts.append(ord(match.group()))
        end = match.end()
    if end < len(value):
        parts.append(value[end:])
    return {"$str": parts}


def str_of(parts: list[str | int]) -> str:
    """Undo `str_plain`."""
    return "".join(part if type(part) is str else chr(part) for part in parts)  # type: ignore[arg-type]


def mended(plain: Any) -> Plain:
    """Text with sealed parts, whose clear parts may still hold what JSON cannot."""
    if "$text" in plain:
        plain["$text"] = [str_plain(part) if type(part) is str else part for part in plain["$text"]]
    return plain  # type: ignore[no-any-return]
