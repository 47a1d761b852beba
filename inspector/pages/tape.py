"""What does a pair of tool tapes show?"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.pages.diff import Word
from inspector.pages.shared import Link, Pill, Shown, Tone


@dataclass(frozen=True, slots=True)
class CallCell:
    """One call on a tape."""

    tool: str
    """Its name."""
    note: str
    """What it is about, where it stands."""
    href: str
    """Its page."""
    glyph: str
    """What became of it."""
    word: str
    """The same in a word."""
    tone: Tone
    """Tone of the glyph."""
    write: bool
    """True for a heavy left edge: it may change the world."""
    ghost: bool
    """True for a dashed frame: done by a process that died, after its last checkpoint."""


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One argument of two calls."""

    path: str
    """Its name."""
    pill: Pill
    """Equal, notation, changed, order, added, removed."""
    before: tuple[Word, ...]
    """What it was; empty where it was not given."""
    after: tuple[Word, ...]
    """What it is."""
    same: bool
    """True when one cell says both."""
    identity: str
    """Whether it says what the effect is."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A reason beside the call that it names."""

    word: str
    """Its code."""
    strength: str
    """0.00 to 1.00."""
    sentence: str
    """What it saw."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two calls that stand beside each other; one of them may be missing."""

    key: str
    """Names it in an address: `a22` for call 22 after, `b7` for one that is only before."""
    href: str
    """The same page with this pair selected."""
    before: CallCell | None
    """None where there is no partner."""
    verdict: Pill
    """Same, arguments, reordered, new, missing."""
    hint: str
    """The difference in a few words; empty for none."""
    after: CallCell | None
    """None where there is no partner."""
    marks: tuple[Mark, ...]
    """Reasons that name the call after."""
    fields: tuple[FieldRow, ...]
    """All arguments beside each other; empty where there is nothing to compare."""
    counts: str
    """`2 differ, 3 equal`."""
    differs: bool
    """True for anything but the same."""
    current: bool
    """True for the selected pair."""


@dataclass(frozen=True, slots=True)
class TapePart:
    """A window of two aligned tapes."""

    before: str
    """Whose calls the upper tape holds."""
    before_note: str
    """What they are."""
    after: str
    """Whose the lower."""
    after_note: str
    """What they are."""
    pairs: tuple[Pair, ...]
    """The window."""
    shown: Shown
    """How many pairs of how many, and the windows around."""
    counts: tuple[Pill, ...]
    """How many of each kind, in this window."""
    choices: tuple[Link, ...]
    """With what else it can be compared."""
    next: Link | None
    """The next difference outside this window."""
    glyphs: tuple[Pill, ...]
    """The states that occur, for the key."""
