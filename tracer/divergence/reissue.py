"""Was a write sent again that may have arrived already?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from . import outcome as outcomes
from .calls import Call, is_identifier, token
from .heard import said_of, shows, valued
from .reading import Reading, Row
from .reason import Finding, say
from .verbs import noun

ATTEMPT: Final = "the interrupted attempt"


@dataclass(slots=True)
class Reissues:
    """Idempotency keys that were used, and writes that nobody knows the outcome of."""

    keys: dict[str, Call] = field(default_factory=dict)
    in_flight: dict[int, Call] = field(default_factory=dict)
    flying: dict[str, list[int]] = field(default_factory=dict)
    """Identifiers of writes in flight, and the effects that name them."""
    redo: Counter[str] = field(default_factory=Counter)
    """Look-ups that were lost; doing them again is no look at what became of a write."""
    looked: set[int] = field(default_factory=set)
    arrived: set[int] = field(default_factory=set)
    """Writes in flight that a look-up after the resume showed to be done."""
    _said: dict[int, frozenset[str]] = field(default_factory=dict)

    def before(self, calls: Sequence[Call]) -> None:
        """Note the look-ups that were lost."""
        self.redo.update(call.shape for call in calls if call.phase == "lost" and call.kind == "read")

    def past(self, call: Call, rows: Sequence[Row]) -> None:
        """Note one call before the resume."""
        if call.key and call.outcome in {outcomes.DONE, outcomes.UNKNOWN}:
            self.keys[call.key] = call
        if call.outcome == outcomes.UNKNOWN:
            for row in rows:
                self.in_flight[row.effect] = call
                self._said[row.effect] = said_of(row.fields)
                for name in {*call.mentions, *(valued(f) for _, f in row.fields)} - {""}:
                    self.flying.setdefault(name, []).append(row.effect)

    def look(self, call: Call, orders: Collection[str] = ()) -> None:
        """A look-up after the resume may be the look at what became of a write."""
        if not self.flying or call.kind != "read" or call.outcome != outcomes.DONE:
            return
        if self.redo[call.shape] > 0:
            self.redo[call.shape] -= 1
            return
        said = {*call.mentions, *call.heard, *(valued(f) for _, f in call.scalars)}
        for name in (said | {valued(fact.leaf) for fact in call.told}) & self.flying.keys():
            self.looked.update(self.flying[name])
        told = frozenset(valued(fact.leaf) for fact in call.told)
        asked = frozenset(valued(f) for _, f in call.scalars)
        if noun(call.tool) not in orders:
            self.arrived.update(e for e, effect in self._said.items() if shows(told, asked, effect))

    def key_again(self, call: Call, rows: Sequence[Row], reading: Reading) -> list[Finding] | None:
        """What an executed call under a key says; None for a key that is new (or none)."""
        earlier = self.keys.get(call.key) if call.key else None
        if earlier is None:
            if call.key:
                self.keys[call.key] = call
            return None
        if earlier.tool != call.tool or {r.effect for r in reading.rows(earlier)} != {r.effect for r in rows}:
            said = f"The key of call {earlier.index} ({earlier.name}) came back with other arguments."
            return [say("replay.differs", 0.7, said, call, ATTEMPT)]
        fresh, known = _given(call), _given(earlier)
        if fresh and known and not fresh & known:
            said = f"{call.name} was executed again under a key already used; the answer names a new record."
            return [say("write.key_executed_again", 0.95, said, call, ATTEMPT)]
        return [say("key.resent", 0.02, f"{call.name} was sent again under its own key.", call, ATTEMPT)]

    def blind(self, call: Call, row: Row) -> list[Finding] | None:
        """What the reissue of a write in flight says; None for any other write."""
        first = self.in_flight.get(row.effect)
        if first is None:
            return None
        if row.effect in self.arrived:
            said = (
                f"{call.name} was sent again, though a look-up had shown that call {first.index} had arrived."
            )
            return [say("write.blind_reissue", 0.9, said, call, ATTEMPT)]
        if row.effect in self.looked:
            return []  # Somebody looked whether it had arrived; doing it once more was a decision.
        said = f"{call.name} was sent again; nobody knew whether call {first.index} before the resume had arrived."
        return [say("write.blind_reissue", 0.9, said, call, ATTEMPT)]

    def executed(self, row: Row) -> None:
        """The write was sent again and answered; whether it had arrived before is no question any more."""
        self.in_flight.pop(row.effect, None)


def _given(call: Call) -> set[str]:
    """Identifiers that the answer of a call handed out."""
    return {token(f.leaf) for f in call.told if is_identifier(f.path, f.leaf)} - call.mentions - {""}
