"""How much do runs that ended well differ among themselves?

Every baseline is compared with the others as if it were a resumed run. What is found then is how this agent goes
about this task, and says little when it is found again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from .calls import Call
from .reason import ALARM, Finding, Reason

WORK: Final = 6_000
"""Effects and calls that are read for this at most (about two seconds); beyond them nothing is learnt."""
USUAL: Final = 0.4
"""What is left of a reason's strength where the baselines differ in just this way."""
OFTEN: Final = 0.12
"""Share of effects with a reason of one code above which the code says little altogether."""
LITTLE: Final = 0.55

Shape = tuple[str, str, str]
"""(code, tool, first argument that differs)"""
Compare = Callable[[Sequence[Sequence[Call]], Sequence[Call], bool], tuple[Sequence[Finding], int]]
"""(baselines, run, whole?) -> what stands against it and the number of its effects."""


@dataclass(slots=True)
class Noise:
    """What was found where nothing was wrong."""

    shapes: Counter[Shape] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    effects: int = 0

    def take(self, findings: Sequence[Finding], effects: int) -> None:
        """Take in what stands against a run that ended well."""
        self.effects += effects
        for finding in findings:
            if finding.reason.strength >= ALARM and not finding.reason.hard:
                self.shapes[shape(finding)] += 1
                self.codes[finding.reason.code] += 1

    def tempered(self, finding: Finding) -> Reason:
        """The reason with what is left of its strength."""
        reason = finding.reason
        if reason.strength < ALARM or reason.hard or not self.effects:
            return reason
        if finding.stranger:
            return reason
        if self.shapes[shape(finding)]:
            return replace(reason, strength=USUAL * reason.strength)
        if self.codes[reason.code] >= max(2, OFTEN * self.effects):
            return replace(reason, strength=LITTLE * reason.strength)
        return reason


def shape(finding: Finding) -> Shape:
    """What makes two findings alike."""
    reason = finding.reason
    return reason.code, finding.family or reason.tool, reason.fields[0].path if reason.fields else ""


def learn_noise(runs: Sequence[Sequence[Call]], before: Sequence[Call], compare: Compare) -> Noise:
    """Compare every baseline with the others, and with all of them what the run had done up to its checkpoint."""
    noise = Noise()
    runs = [run for run in runs if run]
    if len(runs) * sum(len(call.rows) + 1 for run in runs for call in run) > WORK:
        return noise
    if len(runs) > 1:
        for place, run in enumerate(runs):
            noise.take(*compare([*runs[:place], *runs[place + 1 :]], run, True))
    if runs and before:
        noise.take(*compare(runs, before, False))
    return noise
