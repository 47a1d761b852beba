"""What does the inbox show?"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.pages.shared import Fact, Link, Pill, Shell, Shown, Strip, Text


@dataclass(frozen=True, slots=True)
class InboxLine:
    """One thing that waits, or waited, for a person."""

    href: str
    """Opens it."""
    title: str
    """What is asked for."""
    pill: Pill
    """Until when, or what became of it."""
    what: str
    """What it is about."""
    note: str
    """Run, agent and when; who decided and why."""
    current: bool
    """True for the open one."""


@dataclass(frozen=True, slots=True)
class Request:
    """The open request."""

    approval_id: str
    """Id of the request."""
    title: str
    """Tool and target, or the question."""
    state: Pill
    """Open, approved, denied, expired, used."""
    left: str
    """How long there is to decide; empty without a deadline."""
    until: str
    """The deadline, with zone; empty without one."""
    until_iso: str
    """The same for machines."""
    prompt: Text
    """What the program asks."""
    args: Text | None
    """Exactly what will run, or what a question came with; None for neither."""
    args_title: str
    """Which of the two it is."""
    digest: str
    """What the decision will be bound to."""
    facts: tuple[Fact, ...]
    """Target, agent path, checkpoint, why it is asked."""
    history: tuple[tuple[str, Pill, str], ...]
    """When, what, by whom."""
    action: str
    """Address to which a decision is sent; empty when it is too late."""
    waivable: bool
    """True for a stop of the gate, which is waived and not approved."""
    strips: tuple[Strip, ...]
    """What must be known before deciding."""
    after: str
    """The command that goes on after a decision; empty while it is open."""


@dataclass(frozen=True, slots=True)
class InboxPage:
    """Everything that waits for a person."""

    shell: Shell
    """What surrounds the page."""
    open: tuple[InboxLine, ...]
    """What waits, most urgent first."""
    open_shown: Shown
    """How many of how many."""
    decided: tuple[InboxLine, ...]
    """What was decided, newest first."""
    decided_shown: Shown
    """How many of how many."""
    due: str
    """How much of it is urgent, in words."""
    request: Request | None
    """The open one; None when nothing was ever asked."""
    notice: Strip | None
    """What the last decision did."""
    example: str
    """Lines of code that make a request appear."""
    others: tuple[Link, ...] = ()
    """Runs that wait for a person without a request: unknown effects, gate stops."""
