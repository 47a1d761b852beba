"""Does a write say what the last look-up of its record said?

From runs that ended well it is learnt which argument is always the value that a look-up gave for the same
record. A later write that breaks such a rule acts on a remembered value, not on the fresh one; a write that
keeps it follows the world, even where the world changed since the baselines.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

from .calls import SPOKEN, Call, token
from .effects import is_amount
from .leaf import Leaf
from .rows import Fields

PATHS: Final = 48
"""Facts kept per record."""
RECORDS: Final = 6
"""Records of one write that are looked up."""

Source = tuple[str, str]
"""(tool, path of its result)"""


@dataclass(slots=True)
class Support:
    """How often a source gave exactly what a write then said."""

    tries: int = 0
    hits: int = 0
    values: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Memory:
    """What one run was told about each record, latest answer first in mind."""

    looked: set[str] = field(default_factory=set)
    """Records that a look-up named, or told several things about."""
    about: dict[str, dict[Source, tuple[Leaf, int]]] = field(default_factory=lambda: defaultdict(dict))

    def hear(self, call: Call) -> None:
        """Take in the answer of a look-up."""
        if call.kind != "read" or call.outcome != "done":
            return
        self.looked |= call.mentions
        self.looked.update(fact.about for fact in call.told if fact.about and token(fact.leaf) != fact.about)
        own = list(call.mentions)[:3] if len(call.mentions) <= 3 else []
        for fact in call.told:
            if fact.path == SPOKEN:
                continue
            for record in [fact.about] if fact.about else own:
                facts = self.about[record]
                source = (call.tool, fact.path)
                if source in facts or len(facts) < PATHS:
                    facts[source] = (fact.leaf, call.index)

    def sources(self, row: Fields, found: Leaf) -> list[tuple[Source, Leaf, int]]:
        """What was said about the records of this row that could be the source of one of its values."""
        out: list[tuple[Source, Leaf, int]] = []
        mine = token(found)
        records = [t for t in dict.fromkeys(token(f) for _, f in row if f.hard) if t and t != mine]
        for record in records[:RECORDS]:
            for source, (leaf, when) in self.about.get(record, {}).items():
                if leaf.kind == found.kind:
                    out.append((source, leaf, when))
        return out


@dataclass(slots=True)
class Rules:
    """Which argument follows which look-up, learnt from runs that ended well."""

    support: dict[tuple[str, str, Source], Support] = field(default_factory=lambda: defaultdict(Support))
    by_field: dict[tuple[str, str], set[Source]] = field(default_factory=lambda: defaultdict(set))

    def learn(self, tool: str, row: Fields, memory: Memory) -> None:
        """Count one write that is taken to be right."""
        for path, found in row:
            if not follows(path, found):
                continue
            for source, told, _ in memory.sources(row, found):
                support = self.support[tool, path, source]
                support.tries += 1
                if told.norm == found.norm:
                    support.hits += 1
                    if len(support.values) < 4:
                        support.values.add(found.norm)
                    self.by_field[tool, path].add(source)

    def holds(self, tool: str, path: str, source: Source, least: int) -> bool:
        """Is this a rule: seen at least *least* times, with several values, and (almost) never broken?"""
        support = self.support.get((tool, path, source))
        if support is None or support.hits < least or len(support.values) < 2:
            return False
        return support.hits == support.tries or (support.hits >= 8 and support.hits >= 0.95 * support.tries)

    def expected(
        self, tool: str, path: str, row: Fields, found: Leaf, memory: Memory, least: int
    ) -> tuple[Leaf, Source, int] | None:
        """The freshest value that this argument should have; None where no rule speaks."""
        if not self.by_field.get((tool, path)):
            return None
        ruled = [s for s in memory.sources(row, found) if self.holds(tool, path, s[0], least)]
        if not ruled:
            return None
        source, told, when = max(ruled, key=lambda s: s[2])
        return told, source, when


def follows(path: str, found: Leaf) -> bool:
    """Can this argument be copied from a look-up in a way that chance does not explain?"""
    return (is_amount(path, found) and len(found.norm) >= 2) or found.kind == "word"
