"""What do look-ups say now, and which value of a write came from them?

A write that says something else than the baselines follows the world when its value comes from the same look-up as
theirs, and that look-up does not offer theirs any more.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from .calls import Call
from .leaf import Leaf
from .lexicon import words
from .rows import Fields
from .verbs import noun

ANSWERS: Final = 300
UNDONE: Final = words("failed rejected cancelled canceled declined pending draft error voided reversed")
"""States in which something is not done."""
KEPT: Final = 4
"""Look-ups remembered per value."""

Source = tuple[str, str]
"""(what the look-up is about, last part of the path in its result)"""


@dataclass(slots=True)
class Heard:
    """The answers of one run's look-ups, or of those of all baselines together."""

    now: Counter[str] = field(default_factory=Counter)
    """How often each value stands in the last answers."""
    sources: dict[str, set[Source]] = field(default_factory=lambda: defaultdict(set))
    asked: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Tool -> the records that its look-ups named."""
    told: set[str] = field(default_factory=set)
    """Records that any answer named."""
    guessed: set[tuple[str, str]] = field(default_factory=set)
    """(tool, record) of look-ups of a record that no answer had named before."""
    answers: deque[tuple[str, frozenset[str], frozenset[str]]] = field(
        default_factory=lambda: deque(maxlen=ANSWERS)
    )
    """(what about, values asked with, values told) of the last look-ups."""
    by_noun: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """What a look-up is about -> every value it told."""
    _places: set[Source] = field(default_factory=set)
    """Every place of an answer that was read."""
    _last: dict[str, list[str]] = field(default_factory=dict)

    def hear(self, call: Call) -> None:
        """Take in the answer of a look-up; the same look-up before counts no more."""
        self.guessed.update((noun(call.tool), name) for name in call.mentions - self.told)
        self.told |= call.heard
        if call.kind != "read" or call.outcome != "done":
            return
        self.asked[noun(call.tool)] |= call.mentions
        self.now.subtract(self._last.get(call.shape, ()))
        values: list[str] = []
        for fact in call.told:
            value = valued(fact.leaf)
            self._places.add((noun(call.tool), fact.path.rpartition(".")[2]))
            if value:
                values.append(value)
                if len(self.sources[value]) < KEPT:
                    self.sources[value].add((noun(call.tool), fact.path.rpartition(".")[2]))
        asked = frozenset(valued(f) for _, f in call.scalars)
        self.answers.append((noun(call.tool), asked, frozenset(values)))
        self.by_noun[noun(call.tool)].update(values)
        self._last[call.shape] = values
        self.now.update(values)

    def follows(self, before: Leaf | None, after: Leaf | None, baselines: Heard) -> bool:
        """Does *after* come from the look-up that *before* came from in the baselines, which says it no more?"""
        old, new = valued(before), valued(after)
        if not old or not new or self.now[old] > 0 or self.now[new] <= 0:
            return False
        return any(
            all(
                name in baselines.asked.get(tool, ()) or self._own(tool, name, baselines)
                for name in self.asked[tool]
            )
            for tool, _ in self.sources.get(new, set()) & baselines.sources.get(old, set())
        )

    def fresh(self, found: Leaf, fed: Collection[Source], baselines: Heard) -> bool:
        """Does a value come from where the baselines have theirs, which never said it to them?"""
        value = valued(found)
        return bool(value) and value not in baselines.sources and not self.feeds(value).isdisjoint(fed)

    def gone(self, value: str, baselines: Heard) -> bool:
        """Did the same look-ups not say any more what they said to the baselines?"""
        told = baselines.sources.get(value)
        return bool(told) and self.now[value] <= 0 and any(source in self._places for source in told or ())

    def feeds(self, value: str) -> set[Source]:
        """The places of answers that say a value now."""
        return self.sources.get(value, set()) if self.now[value] > 0 else set()

    def _own(self, tool: str, name: str, baselines: Heard) -> bool:
        """Is this a record that answers told this run, and no baseline?"""
        return name in self.told and name not in baselines.told and (tool, name) not in self.guessed


def shows(told: frozenset[str], asked: frozenset[str], effect: frozenset[str]) -> bool:
    """Does an answer show an effect: everything that it says and that the question did not?"""
    rest = effect - asked
    return len(effect) > 1 and bool(rest) and rest <= told and told.isdisjoint(UNDONE)


def said_of(fields: Fields) -> frozenset[str]:
    """The values of an effect by which an answer would show it."""
    return frozenset(valued(found) for _, found in fields) - {""}


def valued(found: Leaf | None) -> str:
    """What a value is known by; "" for one that many share."""
    if found is None or found.kind in {"text", "flag", "born"}:
        return ""
    if found.kind == "number":
        return found.norm if len(found.norm.lstrip("-")) >= 2 else ""
    return found.norm if len(found.norm) >= 3 else ""
