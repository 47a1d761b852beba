"""Does a write come at another place than in every baseline?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from .calls import Call, token
from .order import Touched, records_of
from .pattern import Pattern
from .reading import Reading, Row
from .reason import Finding, say

Early = tuple[str, int, int]


@dataclass(slots=True)
class Places:
    """Which writes touched which record first, and which writes came before their look-up."""

    touched: Touched = field(default_factory=Touched)
    kept: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often this run itself had one tool before another on one record."""
    unseen: dict[str, tuple[Finding, float]] = field(default_factory=dict)

    def touch(self, call: Call, pattern: Pattern) -> None:
        """Note a write that was executed."""
        for record in records_of(call, pattern.common):
            self.kept.update((first, call.tool) for first in self.touched.before(record, call.tool))
            self.touched.touch(record, call.tool)

    def early(self, call: Call, pattern: Pattern, versus: str) -> list[Finding]:
        """Would this write come after one that always follows it? Nothing is noted."""
        found: Early | None = None
        for record in records_of(call, pattern.common):
            earlier = self.touched.before(record, call.tool)
            found = found or pattern.order.broken_by(call.tool, earlier)
        if found is None:
            return []
        other, kept, records = found
        # A run that keeps the order on its other records breaks it here; one that never does has another way.
        elsewhere = kept > 1 and records >= 4 and self.kept[call.tool, other] > 0
        strength = 0.65 if elsewhere else pattern.order.strength(kept, records)
        first = pattern.names.get(other, other)
        said = f"{call.name} came after {first} on one record; every baseline has it before."
        return [say("write.out_of_order", strength, said, call, versus)]

    def judge(
        self, call: Call, rows: Sequence[Row], pattern: Pattern, reading: Reading, versus: str
    ) -> list[Finding]:
        """What the place of an executed write says."""
        new = self.early(call, pattern, versus)
        self.touch(call, pattern)
        unseen: dict[str, int] = {}
        for row in rows:
            for path, found in row.fields:
                name = token(found) if found.hard else ""
                given, known = pattern.prepared.get((row.tool, path), (0, 0))
                if name and given and given == known and name not in reading.memory.looked:
                    unseen[name] = max(given, unseen.get(name, 0))
        if unseen:
            # One reason for all members of a batch: their order says nothing.
            named = ", ".join(sorted(unseen)[:3])
            said = f"{call.name} acts on {named} without the look-up that comes first in the baselines."
            new.append(say("write.before_lookup", 0.15, said, call, versus))
            strength = 0.35 if max(unseen.values()) > 1 else 0.25
            self.unseen.update(dict.fromkeys(unseen, (new[-1], strength)))
        return new

    def look(self, call: Call) -> None:
        """A look-up of a record that was already written: it came too late, and was not merely left out."""
        if self.unseen and call.kind == "read":
            for name in call.mentions & self.unseen.keys():
                found, strength = self.unseen.pop(name)
                if found.reason.strength < strength:
                    said = f"{found.reason.sentence} It came after the write."
                    found.reason = replace(found.reason, strength=strength, sentence=said)
