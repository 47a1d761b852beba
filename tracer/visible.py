"""How is a text shown so that it cannot mislead a reader? Whatever hides, reorders or controls is spelt out."""

from __future__ import annotations

import re
from typing import Final

_BLANK: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0d\uffa0\U000e0100-\U000e01ef]"
    "|(?<=[\ufe0e\ufe0f])[\ufe0e\ufe0f]"
)
"""What counts as printable and yet shows nothing; a single variation selector (✔︎, ✔️) is honest."""


def visible(text: str, keep: str = "\n\t\u00a0") -> str:
    """*text* with control, format and blank characters spelt out: `␛`, `‹U+202E›`; those in *keep* stay.

    A terminal then obeys no escape sequence in it, and a bidi override cannot reorder what a person reads.
    Lone surrogates become U+FFFD, so that the result can always be encoded.
    """
    if not text.isprintable():
        text = "".join(char if char.isprintable() or char in keep else _spelt(char) for char in text)
    return _BLANK.sub(lambda found: _spelt(found.group()), text)


def one_line(text: str) -> str:
    """`visible` for a cell or a message: line ends and tabs are spelt out too."""
    return visible(text, "\u00a0")


def _spelt(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"‹U+{code:04X}›"
