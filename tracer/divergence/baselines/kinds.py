"""Does a tool that nobody declared read or write?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..lexicon import words
from ..verbs import family

LOOKS: Final = words(
    "get list search find read fetch check lookup look describe query count view show status inspect browse "
    "retrieve verify validate compare preview estimate quote is has"
)
"""First words of the names of look-ups."""

THINKS: Final = words("think reason reflect plan calculate compute note scratch")
"""First words of the names of tools that touch nothing outside."""

HANDS_OVER: Final = words("transfer_to handoff hand_off escalate handover")


def kind_of(name: str, kinds: Mapping[str, str] | None) -> tuple[str, bool]:
    """(kind, was it declared). Undeclared tools whose name says nothing are writes."""
    if kinds and name in kinds:
        return kinds[name], True
    plain = family(name)
    parts = plain.split("_")
    if any(plain.startswith(word) for word in HANDS_OVER):
        return "handoff", False
    if parts[0] in LOOKS or parts[-1] in {"lookup", "statu", "search"}:
        return "read", False
    if parts[0] in THINKS:
        return "internal", False
    return "write", False


def said(guessed: set[str], kinds: Mapping[str, str] | None) -> list[str]:
    """What to say about tools whose kind was guessed by their name."""
    looks = sorted(name for name in guessed if kind_of(name, kinds)[0] != "write")
    return [f"taken for look-ups or inner calls by name: {', '.join(looks[:12])}"] if looks else []
