"""What do the resume log and one resume show?"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.pages.shared import Fact, Link, Pill, Shell, Shown, Strip, Tone


@dataclass(frozen=True, slots=True)
class FindingLine:
    """What the gate found on one clause."""

    icon: str
    """Glyph of the clause."""
    clause: str
    """Title of the clause."""
    ruling: Pill
    """What the gate said of it."""
    what: str
    """What was found."""
    change: tuple[str, str] | None
    """Before and after, where the finding is a change."""
    remedy: str
    """What would mend it."""
    waived: str
    """Who waived it; empty when nobody did."""


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """Something the agent had read, before and now."""

    state: Pill
    """Fresh, changed, gone, or only recorded."""
    source: str
    """Where it is."""
    before: str
    """Digest or version at the checkpoint."""
    before_at: str
    """When it was read."""
    after: str
    """Digest or version at the resume; empty when it was not looked at."""
    note: str
    """Anything else, in words."""


@dataclass(frozen=True, slots=True)
class Became:
    """What happened to calls of the segment before."""

    number: int
    """How many."""
    pill: Pill
    """Skipped, reconciled, sent again, parked."""
    text: str
    """What that means."""
    calls: tuple[Link, ...]
    """Which; at most eight."""
    more: str
    """How many more, in words."""


@dataclass(frozen=True, slots=True)
class IdentityLine:
    """One field of the runtime identity, before and after."""

    name: str
    """Which field or package."""
    before: str
    """At the checkpoint."""
    after: str
    """At the resume; equal to *before* when it did not change."""


@dataclass(frozen=True, slots=True)
class ResumePage:
    """One attempt to go on."""

    shell: Shell
    """What surrounds the page."""
    run_id: str
    """Id of the run."""
    number: int
    """Counts attempts from 1."""
    verdict: Pill
    """What the gate said."""
    glyph: str
    """Glyph of the verdict."""
    tone: Tone
    """Tone of the verdict."""
    sentence: str
    """The whole in one sentence."""
    who: str
    """Who resumed."""
    when: str
    """When, with zone."""
    source: Link
    """From which checkpoint."""
    gap: str
    """How long nothing had run."""
    why: str
    """The reason given; empty for none."""
    actions: tuple[Link, ...]
    """The difference across it, its neighbours."""
    findings: tuple[FindingLine, ...]
    """One per clause."""
    became: tuple[Became, ...]
    """Calls of the segment before."""
    evidence: tuple[EvidenceLine, ...]
    """What the agent had read."""
    evidence_counts: tuple[Pill, ...]
    """Counted by state."""
    evidence_shown: Shown
    """How many of how many."""
    identity: tuple[IdentityLine, ...]
    """The runtime, changed fields first."""
    identity_note: str
    """How many of how many changed."""
    then: tuple[Fact, ...]
    """First action, segment, migrations, decisions, outcome."""
    traces: tuple[Fact, ...]
    """Before, after, and the link between."""
    strips: tuple[Strip, ...]
    """What is not known."""


@dataclass(frozen=True, slots=True)
class ResumeLine:
    """One entry of the resume log."""

    number: int
    """Counts attempts from 1."""
    href: str
    """Its page."""
    verdict: Pill
    """What the gate said."""
    when: str
    """When, UTC."""
    who: str
    """Who resumed."""
    source: str
    """From which checkpoint."""
    strictest: str
    """The finding that decided."""
    effects: str
    """Calls skipped, reconciled, sent again."""


@dataclass(frozen=True, slots=True)
class ResumesPage:
    """The resume log of a run."""

    shell: Shell
    """What surrounds the page."""
    run_id: str
    """Id of the run."""
    lines: tuple[ResumeLine, ...]
    """Newest first."""
    shown: Shown
    """How many of how many."""
    example: str
    """The command that makes an entry."""
