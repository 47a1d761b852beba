"""What is drawn on a timeline? The facts a chart is made from, without its geometry."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.pages.shared import Link


@dataclass(frozen=True, slots=True)
class Step:
    """One checkpoint on the timeline."""

    sequence: int
    """Its number within the branch."""
    name: str
    """The step it was written after."""
    kind: str
    """Kind of the checkpoint: `step`, `pause`, `resume`, …"""
    at_ns: int
    """When, ns since 1970."""
    changed: bool
    """False when the state is that of the checkpoint before."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One tool call on the timeline."""

    call_id: str
    """Id in the ledger."""
    number: int
    """Counts calls within the branch from 1."""
    tool: str
    """Name of the tool."""
    kind: str
    """`read`, `write`, `model`, `handoff` or `internal`."""
    state: str
    """How far it came."""
    after_sequence: int
    """The checkpoint before it; 0 before the first."""
    start_ns: int
    """When it was sent, or planned if it never was."""
    end_ns: int
    """When its outcome was written; equal to *start_ns* where there is none."""
    target: str
    """What it acted on, in a word."""
    flags: tuple[str, ...] = ()
    """`reconciled`, `blocked`, `partial`, …"""


@dataclass(frozen=True, slots=True)
class Wait:
    """Time in which the run waited for somebody."""

    after_sequence: int
    """The checkpoint it waited at."""
    start_ns: int
    """From when."""
    end_ns: int
    """Until when; the present while it still waits."""
    word: str
    """For what."""
    over: bool
    """False while it still waits."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One process life of the run."""

    index: int
    """Counts from 1."""
    epoch: int
    """The fence it wrote under."""
    where: str
    """Host and process id."""
    started_ns: int
    """When it began."""
    ended_ns: int
    """When it ended or was last heard of; the present while it lives."""
    outcome: str
    """`running`, `paused`, `done`, `failed`, `interrupted`, `lost`, …"""
    from_sequence: int
    """The checkpoint it went on from; 0 for the first."""
    who: str
    """Who resumed it; empty for the first segment."""
    verdict: str
    """What the gate said; empty for the first segment."""
    steps: tuple[Step, ...]
    """Its checkpoints, in order."""
    marks: tuple[Mark, ...]
    """Its calls, in order."""
    waits: tuple[Wait, ...]
    """Its waits, in order."""

    @property
    def dead(self) -> bool:
        """True when it stopped without ending."""
        return self.outcome in ("interrupted", "lost")

    @property
    def ghost(self) -> tuple[Mark, ...]:
        """What it did after its last checkpoint, if it is dead."""
        last = self.steps[-1].sequence if self.steps else self.from_sequence
        return tuple(mark for mark in self.marks if self.dead and mark.after_sequence >= last)


@dataclass(frozen=True, slots=True)
class Timeline:
    """All that a timeline is drawn from."""

    run_id: str
    """Which run."""
    base: str
    """Address of the run, to which checkpoints are added."""
    now_ns: int
    """The present, for what is still open."""
    segments: tuple[Segment, ...]
    """In order."""
    selected: int
    """The checkpoint whose detail is open; 0 for none."""
    first: int = 0
    """First checkpoint of the window looked at; 0 for the whole run."""
    last: int = 0
    """Last checkpoint of the window; 0 for the whole run."""


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """One entry of the figure's key."""

    swatch: str
    """Which drawing: `step`, `read`, `write`, `checkpoint`, `wait`, `seam`, `ghost`."""
    word: str
    """What it means."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A finished figure and its numbers."""

    src: str
    """Address of the Plotly JSON; it names the journal entry it was made at, so that a new one is fetched."""
    selected: int
    """The checkpoint whose detail is open; 0 for none."""
    caption: str
    """What it shows, as a sentence: the text for whoever does not see it."""
    axes: tuple[Link, ...]
    """By step and by clock."""
    window: tuple[Link, ...]
    """Ways to look closer or at the whole."""
    note: str
    """What one mark stands for when checkpoints are grouped; empty when each is one."""
    key: tuple[KeyEntry, ...]
    """What the drawings mean."""
    columns: tuple[str, ...]
    """Heads of the table of numbers."""
    rows: tuple[tuple[str, ...], ...]
    """The same as numbers, one row per segment."""
