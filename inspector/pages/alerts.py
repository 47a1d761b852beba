"""What does the list of alerts show?"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.pages.divergence import MuteLine
from inspector.pages.shared import Link, Pill, Shell, Shown, Strip


@dataclass(frozen=True, slots=True)
class AlertLine:
    """One alert."""

    href: str
    """Opens it."""
    state: Pill
    """Open, acknowledged, expected, muted, withdrawn."""
    sentence: str
    """Its first reason."""
    run_id: str
    """Of which run."""
    run_href: str
    """That run's page."""
    agent: str
    """Of which agent."""
    where: str
    """After which resume, compared with what."""
    score: str
    """0.00 to 1.00."""
    when: str
    """When it was raised."""
    when_iso: str
    """The same for machines."""
    said: str
    """Who decided it and what they noted."""


@dataclass(frozen=True, slots=True)
class AlertsPage:
    """Every alert of the store."""

    shell: Shell
    """What surrounds the page."""
    states: tuple[Link, ...]
    """Filters by state, with counts."""
    lines: tuple[AlertLine, ...]
    """Newest first."""
    shown: Shown
    """How many of how many."""
    open: int
    """How many wait for a person."""
    total: int
    """How many there are."""
    mutes: tuple[MuteLine, ...]
    """What raises no alert."""
    notice: Strip | None
    """What was just done."""
    example: str
    """Code that makes an alert hold a run."""
