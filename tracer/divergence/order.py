"""Did two writes on one record, or a write and its look-up, change places?

A rule needs two baselines that keep it and none that breaks it; one run proves nothing about order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from .calls import Call, token

TOOLS: Final = 12
"""Different write tools of one record whose order is followed."""

SPOKEN: Final = "~"


@dataclass(slots=True)
class Touched:
    """Which write tools have touched which record, in order of their first touch, within one run."""

    tools: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def touch(self, record: str, tool: str) -> None:
        """Note a touch."""
        seen = self.tools[record]
        if tool not in seen and len(seen) < TOOLS:
            seen.append(tool)

    def before(self, record: str, tool: str) -> list[str]:
        """The other tools that have touched this record so far."""
        return [t for t in self.tools.get(record, ()) if t != tool]


@dataclass(slots=True)
class OrderRules:
    """Pairs (first, then) of write tools on one record, and how many baselines and records keep them."""

    keeps: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))

    steady: float = 1.0
    """Share of the pairs on which all baselines agree; where it is low, agreement is chance."""

    def strength(self, kept: int, records: int) -> float:
        """How much a broken rule says that *kept* baselines keep, on so many *records* together.

        Two runs that agree on one record each agree by chance half the time, and of many pairs some always do: said,
        but no alarm.
        """
        if kept < 2:
            return 0.12
        if self.steady < {2: 0.95, 3: 0.8}.get(kept, 0.5):
            return 0.15
        return 0.65 if kept > 4 or (kept > 1 and records >= 6) else 0.4

    def broken_by(self, tool: str, earlier: Sequence[str]) -> tuple[str, int, int] | None:
        """(the tool that came too early, baselines, records) when *tool* may not come after *earlier*."""
        for other in earlier:
            kept = self.keeps.get((tool, other))
            if kept is not None and kept[0] and (other, tool) not in self.keeps:
                return other, kept[0], kept[1]
        return None


def records_of(call: Call, common: frozenset[str]) -> list[str]:
    """The records that a write touches, without those that most writes of the run share."""
    named = {token(f) for row in call.rows for _, f in row if f.hard}
    return [t for t in named if t and t not in common][:200]


def spoken_of(call: Call) -> list[str]:
    """Words that a write names; they found no rule, and only tell how freely the agent orders its writes."""
    return [
        SPOKEN + f.norm for row in call.rows[:50] for _, f in row if f.kind == "word" and len(f.norm) >= 4
    ]


def common_records(run: Sequence[Call]) -> frozenset[str]:
    """Records that most writes of a run mention, such as the customer; their order says nothing."""
    writes = [c for c in run if c.effective]
    if len(writes) < 4:
        return frozenset()
    counted = Counter(t for c in writes for t in c.mentions)
    return frozenset(t for t, n in counted.items() if n > 0.5 * len(writes))


def learn_order(baselines: Sequence[Sequence[Call]], common: frozenset[str]) -> OrderRules:
    """Read the order rules out of the baselines; linear in their length."""
    rules = OrderRules()
    both: set[tuple[str, str]] = set()
    loose: dict[tuple[str, str], set[bool]] = defaultdict(set)
    for run in baselines:
        first: dict[str, dict[str, int]] = defaultdict(dict)
        last: dict[str, dict[str, int]] = defaultdict(dict)
        for call in run:
            if call.effective:
                for record in [*records_of(call, common), *spoken_of(call)]:
                    if call.tool in first[record] or len(first[record]) < TOOLS:
                        first[record].setdefault(call.tool, call.index)
                        last[record][call.tool] = call.index
        here: Counter[tuple[str, str]] = Counter()
        broken: set[tuple[str, str]] = set()
        for record, tools in first.items():
            if record.startswith(SPOKEN):
                for one in tools:
                    for two in tools:
                        if one < two:
                            loose[one, two].add(last[record][one] < first[record][two])
                continue
            for one in tools:
                for two in tools:
                    if one != two:
                        if last[record][one] < first[record][two]:
                            here[one, two] += 1
                        else:
                            broken.add((one, two))
        for pair, count in here.items():
            if pair not in broken:
                rules.keeps[pair][0] += 1
                rules.keeps[pair][1] += count
        for pair in broken:
            # The reverse mark keeps a pair that any baseline breaks from ever becoming a rule.
            rules.keeps[pair[1], pair[0]][0] += 0
    for one, two in list(rules.keeps):
        both.add((min(one, two), max(one, two)))
    apart = sum(1 for one, two in both if (one, two) in rules.keeps and (two, one) in rules.keeps)
    apart += sum(1 for pair, ways in loose.items() if pair not in both and len(ways) > 1)
    total = len(both) + sum(1 for pair in loose if pair not in both)
    rules.steady = (total - apart + 2) / (total + 2)
    return rules
