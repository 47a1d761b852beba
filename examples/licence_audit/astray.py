"""How does a resumed agent lose its place, when somebody wants to see that it is noticed?

Stands in for a model that thinks differently after a resume: it opens one ticket for the wrong distribution. The
harness draws from its seed which; the agent reads it from its environment, and by default from nowhere.
"""

from __future__ import annotations

import os
import random
from collections.abc import Collection
from dataclasses import dataclass

from examples.licence_audit.errors import NothingToMistake
from examples.licence_audit.tally import Effect

ASTRAY = "LICENCE_AUDIT_ASTRAY"
"""Environment variable `RIGHT=WRONG`: tickets about RIGHT are opened for WRONG. Empty: the agent keeps its place."""


@dataclass(frozen=True, slots=True)
class Slip:
    """One distribution taken for another."""

    right: str
    wrong: str

    @classmethod
    def of(cls, seed: int, wanted: Collection[Effect], innocent: Collection[str], after: str) -> Slip:
        """Draw which distribution behind *after*, in the order of the audit, is taken for an *innocent* one.

        The same seed draws the same slip. Where none is innocent, one is taken that has none of the same problems.
        Raises NothingToMistake.
        """
        dice = random.Random(f"licence-audit slip {seed}")
        rules: dict[str, set[str]] = {dist: set() for dist in innocent}
        for dist, rule in wanted:
            rules.setdefault(dist, set()).add(rule)
        behind = sorted(dist for dist, own in rules.items() if own and dist > after)
        dice.shuffle(behind)
        for right in behind:
            others = sorted(dist for dist, own in rules.items() if dist != right and not own & rules[right])
            clean = [dist for dist in others if not rules[dist]]
            if others:
                return cls(right, dice.choice(clean or others))
        raise NothingToMistake(after)

    @property
    def environment(self) -> dict[str, str]:
        """What a life has to be told to make this slip."""
        return {ASTRAY: f"{self.right}={self.wrong}"}

    def instead(self, wanted: Collection[Effect]) -> frozenset[Effect]:
        """Return the effects that there are once it was made."""
        return frozenset((self.wrong if dist == self.right else dist, rule) for dist, rule in wanted)


def subject(dist: str) -> str:
    """Return the distribution a ticket about *dist* is opened for: itself, unless the environment says otherwise."""
    right, _, wrong = os.environ.get(ASTRAY, "").partition("=")
    return wrong if wrong and right == dist else dist
