"""Does the run turn to records that nobody mentioned?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from .calls import Call, token
from .pattern import Pattern
from .reading import Reading
from .reason import Finding, say

UNHEARD: Final = (0.2, 0.25, 0.28, 0.29)
"""What look-ups of one, two, … such records say. A read never alarms by itself."""


@dataclass(slots=True)
class Strangers:
    """Calls that named a record the run or a baseline knew (`familiar`), and the others (`stray`)."""

    names: set[str] = field(default_factory=set)
    familiar: int = 0
    stray: int = 0

    def step(self, call: Call, pattern: Pattern, reading: Reading, versus: str) -> list[Finding]:
        """Take one call in before its own mentions become known."""
        if not pattern.count or not pattern.reads:
            return []
        named = named_by(call, pattern)
        strange = [t for t in named if t not in reading.known and t not in pattern.tokens]
        if not strange:
            self.familiar += bool(named)
            return []
        self.stray += 1
        if call.kind != "read":
            return []
        self.names.update(strange[:50])
        strength = UNHEARD[min(len(self.names), len(UNHEARD)) - 1]
        said = f"{call.name} looks up {strange[0]}, which neither this run nor a baseline had mentioned."
        return [say("read.unheard_record", strength, said, call, versus)]

    def at_the_end(self, versus: str) -> list[Finding]:
        """Was it mostly about other records?"""
        if not self.stray or (self.familiar and self.stray < max(3, self.familiar)):
            return []
        strength = 0.5 if self.familiar else 0.7 if self.stray > 1 else 0.55
        all_ = self.stray + self.familiar
        said = f"{self.stray} of {all_} calls that name a record name one that nobody had mentioned."
        return [say("run.other_records", strength, said, None, versus)]


def named_by(call: Call, pattern: Pattern) -> set[str]:
    """The records that a call names itself, without what is new in every run by design."""
    if call.kind == "internal":
        return set()
    return {token(f) for p, f in call.scalars if f.hard and not pattern.roles.is_volatile(call.tool, p)} - {
        ""
    }
