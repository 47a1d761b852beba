"""What does one checkpoint show, on its own page and beside the rail?"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.pages.calls import CallLine
from inspector.pages.shared import Fact, Link, Pill, Shell, Shown, Text, Tone


@dataclass(frozen=True, slots=True)
class ClauseCard:
    """One clause of the contract as it stood."""

    icon: str
    """Glyph of the clause."""
    name: str
    """Title of the clause."""
    note: str
    """A word at the right, such as a version; empty when there is a pill."""
    pill: Pill | None
    """How it stands; None when there is nothing to say in one word."""
    tone: Tone
    """Tone of its glyph."""
    lines: tuple[str, ...]
    """What was declared; `undeclared` is said, never left out."""
    rows: tuple[tuple[str, str], ...] = ()
    """Names and values too many for a sentence."""
    more: str = ""
    """How many rows were left out, in words."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One of the five layers of the state."""

    name: str
    """Title of the layer."""
    what: str
    """What is in it, in words."""
    size: str
    """Bytes in the plain form, for people; empty where nothing is."""
    href: str
    """Its place in the state tree; empty where nothing is."""


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One value of the state."""

    path: str
    """JSON pointer."""
    depth: int
    """Levels below the path looked at, from 0."""
    key: str
    """Its own name or place."""
    kind: str
    """`object`, `list`, `text`, `number`, `true/false`, `null`, `sealed`, or a registered type."""
    what: str
    """Its members as a count, or the head of its text, one line."""
    size: str
    """Bytes in the plain form, for people."""
    href: str
    """Looks closer; empty for small leaves."""


@dataclass(frozen=True, slots=True)
class StateTree:
    """A part of the state, level by level."""

    path: str
    """JSON pointer of the root of this part."""
    crumbs: tuple[Link, ...]
    """The way down to it."""
    rows: tuple[TreeRow, ...]
    """What lies in it."""
    shown: Shown
    """How many of how many."""
    text: Text | None
    """The value itself when it is a leaf."""
    blame: Link | None
    """The checkpoint that last wrote it, and with which calls; or the way to ask. None at the root."""


@dataclass(frozen=True, slots=True)
class Detail:
    """One checkpoint."""

    sequence: int
    """Its number within the branch."""
    ref: str
    """How the command line names it: `R@17`."""
    href: str
    """Its own page."""
    name: str
    """The step it was written after."""
    badge: Pill
    """What its integrity check said."""
    facts: tuple[str, ...]
    """When, in which segment, why it matters: short words."""
    tabs: tuple[Link, ...]
    """Contract, state, calls, trace, raw."""
    tab: str
    """Which of them is open."""
    clauses: tuple[ClauseCard, ...]
    """The seven clauses."""
    layers: tuple[Layer, ...]
    """The five layers."""
    user_state: str
    """Name and version of the user's own state."""
    tree: StateTree | None
    """Open on the state tab."""
    calls: tuple[CallLine, ...]
    """Calls between the checkpoint before and this one, on the calls tab."""
    trace: tuple[Fact, ...]
    """Ids, export state, links, on the trace tab."""
    raw: Text | None
    """The journal record, on the raw tab."""
    diff: Link | None
    """The difference to the checkpoint before; None for the first."""
    download: Link
    """The state as a file."""


@dataclass(frozen=True, slots=True)
class CheckpointPage:
    """A checkpoint on a page of its own."""

    shell: Shell
    """What surrounds the page."""
    run_id: str
    """Id of the run."""
    run_href: str
    """Its page."""
    detail: Detail
    """The checkpoint."""
    previous: Link | None
    """The one before."""
    next: Link | None
    """The one after."""
