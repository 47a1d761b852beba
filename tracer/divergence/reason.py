"""Why does this look like another course, how strongly, and compared with what?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Final

from .calls import Call
from .leaf import Leaf

ALARM: Final = 0.5
"""The shipped alarm level: a score at or above it is an alarm."""

CODES: Final = {
    "write.repeated": "a write that was already done was done again",
    "message.again": "another message where the baselines send fewer",
    "write.key_executed_again": "a committed idempotency key was executed again",
    "write.blind_reissue": "a write without a known outcome was sent again without its key and without a look",
    "write.outside_grant": "a call that the grant does not cover",
    "write.outside_plan": "a write tool that neither plan nor baselines use",
    "write.extra": "a write that no baseline makes",
    "write.follows_read": "a write that no baseline makes, on a record that look-ups named only now",
    "write.oscillates": "the same change was made and taken back again and again",
    "write.undone": "a change was made and taken back",
    "write.gave_up": "a write failed and was never done",
    "write.out_of_order": "a write came after one that always follows it",
    "write.before_lookup": "a write on a record that nothing had mentioned yet",
    "argument.changed": "a write of the baselines with another argument",
    "argument.lookalike": "an argument that only looks like the one of the baselines",
    "argument.stale": "an argument that contradicts the last look-up of its record",
    "argument.follows_read": "another argument than in the baselines, as the last look-up says",
    "argument.added": "an argument that no baseline gives",
    "argument.left_out": "an argument of the baselines is not given",
    "argument.wording": "only the wording differs",
    "effect.missing": "an effect of every baseline did not come",
    "effect.partial": "parts that do not add up to what the baselines do",
    "handoff.unexpected": "a hand-over that no baseline makes",
    "run.turns_in_circles": "the same calls with the same answers again and again",
    "replay.differs": "the replayed prefix is not what was recorded",
    "run.other_records": "every record the run names is one that nobody mentioned",
    "read.unheard_record": "a look-up of a record that nobody mentioned",
    "key.resent": "a write sent again under its own key",
}
"""Every reason code with its short meaning."""

HARD: Final = frozenset(
    {
        "write.repeated",
        "write.key_executed_again",
        "write.blind_reissue",
        "write.outside_grant",
        "write.oscillates",
        "run.turns_in_circles",
        "replay.differs",
    }
)
"""Codes that need no baseline."""


@dataclass(frozen=True, slots=True)
class FieldDiff:
    """One argument of two calls beside each other. `kind`: equal, notation, changed, order, added, removed, ignored."""

    path: str
    kind: str
    before: str
    after: str
    identity: bool
    """Does this argument say what the effect is?"""


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason. `strength` 0 to 1; `call` is the index among the calls after the resume, None for the end."""

    code: str
    strength: float
    sentence: str
    call: int | None
    tool: str
    compared_with: str
    fields: tuple[FieldDiff, ...] = ()

    @property
    def hard(self) -> bool:
        """Does this reason stand without any baseline?"""
        return self.code in HARD


@dataclass(slots=True)
class Finding:
    """A reason while the run goes on: it falls when what it saw turns out to net to nothing."""

    reason: Reason
    alive: bool = True
    effect: int | None = None
    group: int | None = None
    partner: int | None = None
    stranger: bool = False
    """Is it about an address that neither this run nor a baseline had mentioned?"""
    family: str = ""
    """The tool without its notation: what one name for many tools (an HTTP client) hides."""


def say(
    code: str,
    strength: float,
    sentence: str,
    call: Call | None,
    versus: str,
    fields: tuple[FieldDiff, ...] = (),
) -> Finding:
    """A finding about a call; None for the end of the run."""
    index, name = (call.index, call.name) if call is not None else (None, "")
    family = call.tool if call is not None else ""
    return Finding(Reason(code, strength, sentence, index, name, versus, fields), family=family)


def combined(reasons: Iterable[Reason]) -> float:
    """1 − ∏(1 − strength). Of reasons below the alarm level only the strongest of each code counts, and hints
    alone stay below it, however many they are.
    """
    hints: dict[str, float] = {}
    strong: list[float] = []
    for reason in reasons:
        if reason.strength < ALARM:
            hints[reason.code] = max(hints.get(reason.code, 0.0), reason.strength)
        else:
            strong.append(reason.strength)
    score = 1.0 - prod(1.0 - s for s in [*strong[:64], *hints.values()])
    return score if strong else min(score, ALARM - 0.01)


def shown(found: Leaf) -> str:
    """A leaf for people, cut to a line."""
    text = " ".join((found.raw or found.norm).split())
    return text if len(text) <= 80 else f"{text[:79]}…"
