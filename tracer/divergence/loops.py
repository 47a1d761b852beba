"""Is the run turning in a circle?

A turn is a call whose arguments and answer were both seen since the last write that changed anything.
Calls that failed for a passing reason are no turns; waiting for a job that says so is given more time.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from .calls import Call
from .outcome import FAILED

TURNS: Final = 5
"""So many turns in a row of one and the same call are a circle."""
ROUNDS: Final = 4
"""… of several calls in turn, or of one that is refused for good, which nobody does to wait."""
POLLS: Final = 20
"""… while the answer says that something is still under way."""
ATTEMPTS: Final = 12
"""… while the answer is a failure that may pass."""


@dataclass(slots=True)
class Turns:
    """The turns since the last progress."""

    seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    streak: int = 0
    longest: int = 0
    weight: float = 0.0
    first: int = 0
    last: str = ""

    def step(self, call: Call) -> float:
        """Take one call in; how complete the circle is, 1.0 and more for a whole one."""
        if call.kind == "internal":
            return 0.0
        if call.kind != "read" and call.outcome in {"done", "replayed", "unknown"}:
            self.reset()
            return 0.0
        mark = (call.shape, call.answer)
        self.seen[mark] += 1
        if self.seen[mark] == 1:
            if call.passing:
                return 0.0  # It brings nothing new; it neither is a turn nor ends a circle.
            # Something new does not end a circle at once: other reads may come in between.
            self.streak, self.weight = (0, 0.0) if self.weight < 0.5 else (self.streak, 0.5 * self.weight)
            return 0.0
        if self.streak == 0:
            self.first, self.last = call.index, ""
        self.streak += 1
        self.longest = max(self.longest, self.streak)
        alone = self.last in {"", call.shape} and call.outcome != FAILED
        limit = ATTEMPTS if call.passing else POLLS if call.waiting else TURNS if alone else ROUNDS
        self.last = call.shape
        self.weight += 1.0 / limit
        return self.weight

    def reset(self) -> None:
        """Something changed: what was seen before may be asked again."""
        self.seen.clear()
        self.streak, self.weight = 0, 0.0
