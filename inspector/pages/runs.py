"""What does the list of runs show?"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.pages.shared import Link, Pill, Shell, Shown, Tone


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run of the list. No payload was opened for it."""

    run_id: str
    """Id of the run."""
    href: str
    """Its page."""
    title: str
    """Its objective; the run id where none was declared."""
    agent: str
    """Which agent runs it."""
    note: str
    """Branch and labels worth a word; empty for the main branch."""
    state: Pill
    """Where it stands."""
    flags: tuple[Pill, ...]
    """Degraded, diverged, pruned: beside the state, never instead of it."""
    since: str
    """For how long it has been in that state."""
    next: Link | None
    """What a person can do now; None when nothing waits."""
    next_note: str
    """The line that does the same at a terminal; empty where there is none."""
    risk: str
    """Work at risk: time since the last durable checkpoint, while somebody works."""
    risk_share: int
    """The same as percent of three minutes, at most 100; 0 draws no bar."""
    risk_tone: Tone
    """How much that matters."""
    checkpoints: int
    """Checkpoints of the branch."""
    resumes: int
    """Admitted resumes."""
    alerts: int
    """Open alerts."""
    alerts_href: str
    """Where they are read."""
    stored: str
    """Bytes that the run has written, packed, for people."""
    started: str
    """When it began, UTC."""
    started_iso: str
    """The same for machines."""


@dataclass(frozen=True, slots=True)
class RunGroup:
    """Runs that ask for the same kind of attention."""

    title: str
    """`Needs a person`, `Moving`, `Settled`, or a conversation."""
    lines: tuple[RunLine, ...]
    """The runs on this page that belong to it."""


@dataclass(frozen=True, slots=True)
class FilterProblem:
    """Why a filter cannot be read, and the nearest one that can."""

    word: str
    """What was typed."""
    text: str
    """What is wrong with it."""
    suggestion: Link | None
    """The filter as it was probably meant."""
    known: str
    """All that would be accepted in this place."""


@dataclass(frozen=True, slots=True)
class Filter:
    """The filter line and what helps to type it."""

    value: str
    """What was typed, to be shown again as it was."""
    completions: tuple[Link, ...]
    """Ways to finish the last word."""
    saved: tuple[Link, ...]
    """Ready-made filters, each with its count in the store."""
    problem: FilterProblem | None
    """Set when the filter cannot be read; then no run is listed."""


@dataclass(frozen=True, slots=True)
class RunsPage:
    """Every run of the store, newest trouble first."""

    shell: Shell
    """What surrounds the page."""
    total: int
    """Runs in the store."""
    needs: int
    """Runs in the store that wait for a person."""
    filter: Filter
    """The filter line."""
    groups: tuple[RunGroup, ...]
    """The runs on this page."""
    shown: Shown
    """How many of how many."""
    checks: tuple[tuple[Pill, str], ...]
    """What was looked at, for an empty store."""
    example: str
    """Lines of code that make the first run appear."""
