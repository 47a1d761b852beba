"""What does the page of one run show?"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.pages.calls import CallLine
from inspector.pages.checkpoint import Detail
from inspector.pages.figure import Figure
from inspector.pages.shared import Fact, Link, Pill, Shell, Shown, Strip, Tone


@dataclass(frozen=True, slots=True)
class RailItem:
    """One checkpoint in the rail."""

    sequence: int
    """Its number."""
    href: str
    """The run's page with this checkpoint open."""
    detail: str
    """Its own page, fetched beside the rail."""
    name: str
    """The step it was written after."""
    full: bool
    """True when the state changed: a filled dot."""
    glyph: str
    """Something worth a look that happened here; empty for nothing."""
    glyph_word: str
    """The same in a word."""
    tone: Tone | str
    """Tone of the glyph; empty without one."""
    current: bool
    """True when its detail is open."""


@dataclass(frozen=True, slots=True)
class RailSeam:
    """The place where a process died and another went on."""

    outcome: str
    """`killed 01:41:31` and the like."""
    text: str
    """When and from where it was resumed; that it was not, otherwise."""
    link: Link | None
    """Its entry in the resume log."""
    gap: str
    """How long there was no process."""


@dataclass(frozen=True, slots=True)
class Rail:
    """Checkpoints, newest first, a window at a time."""

    items: tuple[RailItem | RailSeam, ...]
    """The window."""
    shown: Shown
    """How many of how many, and the windows around."""


@dataclass(frozen=True, slots=True)
class RailPage:
    """Another window of the rail, fetched into it."""

    rail: Rail
    """The window."""


@dataclass(frozen=True, slots=True)
class LedgerPart:
    """The writes of a run, newest last."""

    lines: tuple[CallLine, ...]
    """At most fifty."""
    shown: Shown
    """How many of how many."""
    summary: str
    """Counts by state."""
    all: Link
    """The page with every call."""


@dataclass(frozen=True, slots=True)
class RunPage:
    """One run: what happened, where it stands, what to press."""

    shell: Shell
    """What surrounds the page."""
    run_id: str
    """Id of the run."""
    title: str
    """Its objective, or its id."""
    state: Pill
    """Where it stands, with since-when."""
    flags: tuple[Pill, ...]
    """Beside the state."""
    actions: tuple[Link, ...]
    """What can be done from here; the main one last."""
    facts: tuple[Fact, ...]
    """Work at risk, plan, segments, identity, start, size, trace."""
    strips: tuple[Strip, ...]
    """What is missing or must be known first."""
    rail: Rail
    """Its checkpoints."""
    figure: Figure | None
    """The timeline; None before the first checkpoint."""
    ledger: LedgerPart
    """Its writes."""
    resumes: tuple[Link, ...]
    """Entries of its resume log."""
    detail: Detail | None
    """The open checkpoint; None before the first."""
