"""What does the page of a divergence show, and that of two runs beside each other?"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.pages.shared import Fact, Link, Pill, Shell, Shown, Strip, Tone
from inspector.pages.tape import TapePart


@dataclass(frozen=True, slots=True)
class ReasonLine:
    """One reason of an alert."""

    code: str
    """The rule."""
    kind: Pill
    """Whether it stands without a baseline."""
    sentence: str
    """What it saw."""
    about: str
    """Tool and target of the call that it names; empty for the end of a run."""
    href: str
    """The pair of that call on the tape; empty for none."""
    strength: str
    """0.00 to 1.00."""
    versus: str
    """What it was compared with."""
    shape: str
    """What is muted when this is muted."""
    muted: str
    """By whom and why; empty when it is not."""
    mute: str
    """Address that mutes the shape; empty where nothing can be."""
    current: bool
    """True when its call is the selected one."""


@dataclass(frozen=True, slots=True)
class MuteLine:
    """A shape of reasons that raises no alert."""

    agent: str
    """For which agent."""
    plan: str
    """For which plan version, in words."""
    plan_value: str
    """The same as stored."""
    shape: str
    """Which reasons."""
    said: str
    """By whom, when and why."""


@dataclass(frozen=True, slots=True)
class Acknowledge:
    """What a person may say to an alert."""

    action: str
    """Address of the form; empty when it has been said."""
    waits: bool
    """True when the run waits for it."""
    sends: bool
    """True when it lets a held call be sent."""
    said: str
    """By whom and when it was said."""
    note: str
    """What was said."""
    state: Pill | None
    """What it was said to be."""


@dataclass(frozen=True, slots=True)
class DivergencePage:
    """One comparison: the tapes, the reasons, what to say to it."""

    shell: Shell
    """What surrounds the page."""
    title: str
    """The first reason, or that it is quiet."""
    pills: tuple[Pill, ...]
    """Diverged, acknowledged, waiting."""
    lead: str
    """One sentence: where it was raised, what became of it."""
    actions: tuple[Link, ...]
    """Run, resume, checkpoint."""
    strips: tuple[Strip, ...]
    """What must be known before reading."""
    segments: tuple[Link, ...]
    """Other process lives that can be looked at."""
    tape: TapePart | None
    """None when no call was made on either side."""
    reasons: tuple[ReasonLine, ...]
    """Strongest first."""
    reasons_shown: Shown
    """How many of how many."""
    formula: str
    """How the score comes about."""
    score: str
    """0.00 to 1.00; empty when it was not reckoned here."""
    score_tone: Tone
    """Its tone."""
    verdict: str
    """Alarm, quiet, not enough evidence."""
    facts: tuple[Fact, ...]
    """When, compared with what, what was left out."""
    acknowledge: Acknowledge | None
    """None where there is no alert."""
    mutes: tuple[MuteLine, ...]
    """What is muted for this agent and plan version."""
    command: str
    """The line that says the same at a terminal."""
