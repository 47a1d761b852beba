"""What do the ledger of a run and one call of it show?"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.pages.shared import Fact, Link, Pill, Shell, Shown, Strip, Text


@dataclass(frozen=True, slots=True)
class CallLine:
    """One call of the ledger."""

    number: int
    """Counts calls within the branch from 1."""
    href: str
    """Its page."""
    state: Pill
    """How far it came."""
    flags: tuple[Pill, ...]
    """Reconciled, blocked, partial and the like."""
    kind: str
    """`read`, `write`, `model`, …"""
    tool: str
    """Name of the tool."""
    position: str
    """Between which checkpoints: `after c12`."""
    target: str
    """What it acts on, in a word."""
    happened: str
    """What became of it, in words."""
    key: str
    """The idempotency key that went out; empty for none."""
    sent: str
    """When it was sent; `never` otherwise."""
    took: str
    """How long it took; empty without an outcome."""
    segment: int
    """Which process life sent it."""


@dataclass(frozen=True, slots=True)
class CallsPage:
    """Every call of a run."""

    shell: Shell
    """What surrounds the page."""
    run_id: str
    """Id of the run."""
    run_href: str
    """Its page."""
    kinds: tuple[Link, ...]
    """Filters by kind, each with its count."""
    states: tuple[Link, ...]
    """Filters by state, each with its count."""
    lines: tuple[CallLine, ...]
    """The calls on this page, oldest first."""
    shown: Shown
    """How many of how many."""
    example: str
    """Lines of code that make a call appear."""


@dataclass(frozen=True, slots=True)
class CallPage:
    """One call: what went out, what came back, who may have allowed it."""

    shell: Shell
    """What surrounds the page."""
    run_id: str
    """Id of the run."""
    title: str
    """Tool and target."""
    state: Pill
    """How far it came."""
    flags: tuple[Pill, ...]
    """Beside the state."""
    strips: tuple[Strip, ...]
    """What must be known before believing it."""
    facts: tuple[Fact, ...]
    """Identity, key, times, attempts, segment."""
    args: Text
    """Its canonical arguments, masked."""
    result: Text | None
    """What came back, masked; None when nothing did."""
    error: Text | None
    """What it raised."""
    history: tuple[tuple[str, Pill, str], ...]
    """Its transitions: when, what, by whom or why."""
    links: tuple[Link, ...]
    """The call it took over, the approval that allowed it, the checkpoints around."""
