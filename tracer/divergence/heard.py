"""What do look-ups say now, and which value of a write came from them?

A write that says something else than the baselines follows the world when its value comes from the same look-up as
theirs, and that look-up does not offer theirs any more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Final

from .calls import Call
from .leaf import Leaf

KEPT: Final = 4
"""Look-ups remembered per value."""

Source = tuple[str, str]
"""(tool, last part of the path in its result)"""


@dataclass(slots=True)
class Heard:
    """The answers of one run's look-ups, or of those of all baselines together."""

    now: Counter[str] = field(default_factory=Counter)
    """How often each value stands in the last answers."""
    sources: dict[str, set[Source]] = field(default_factory=lambda: defaultdict(set))
    asked: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Tool -> the records that its look-ups named."""
    _last: dict[str, list[str]] = field(default_factory=dict)

    def hear(self, call: Call) -> None:
        """Take in the answer of a look-up; the same look-up before counts no more."""
        if call.kind != "read" or call.outcome != "done":
            return
        self.asked[call.tool] |= call.mentions
        self.now.subtract(self._last.get(call.shape, ()))
        values: list[str] = []
        for fact in call.told:
            value = valued(fact.leaf)
            if value:
                values.append(value)
                if len(self.sources[value]) < KEPT:
                    self.sources[value].add((call.tool, fact.path.rpartition(".")[2]))
        self._last[call.shape] = values
        self.now.update(values)

    def follows(self, before: Leaf | None, after: Leaf | None, baselines: Heard) -> bool:
        """Does *after* come from the look-up that *before* came from in the baselines, which says it no more?"""
        old, new = valued(before), valued(after)
        if not old or not new or self.now[old] > 0 or self.now[new] <= 0:
            return False
        return any(
            self.asked[tool] <= baselines.asked.get(tool, set()) | self._own(baselines)
            for tool, _ in self.sources.get(new, set()) & baselines.sources.get(old, set())
        )

    def _own(self, baselines: Heard) -> set[str]:
        """Records that the look-ups of this run alone know."""
        return {t for some in self.asked.values() for t in some if t in self.sources and t not in baselines.sources}


def valued(found: Leaf | None) -> str:
    """What a value is known by; "" for one that many share."""
    if found is None or found.kind in {"text", "flag", "born"}:
        return ""
    if found.kind == "number":
        return found.norm if len(found.norm.lstrip("-")) >= 2 else ""
    return found.key if found.kind in {"id", "date"} else found.norm if len(found.norm) >= 3 else ""
