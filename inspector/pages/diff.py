"""What does the difference of two checkpoints show?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from inspector.pages.shared import Link, Pill, Shell, Tone

Kind = Literal["", "add", "del", "none"]


@dataclass(frozen=True, slots=True)
class Word:
    """A stretch of text inside a cell."""

    op: Literal["=", "+", "−"]
    """On both sides, only here, only there."""
    text: str
    """The stretch."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One side of a row."""

    kind: Kind
    """Added, removed, equal, or without a partner."""
    number: str = ""
    """Place in its list, from 1, or a key."""
    who: str = ""
    """Who said it, for messages."""
    words: tuple[Word, ...] = ()
    """What it says."""
    note: str = ""
    """What was cut, in words."""


@dataclass(frozen=True, slots=True)
class Row:
    """Two cells that belong together."""

    left: Cell
    """Before."""
    right: Cell
    """After."""
    moved: str = ""
    """`moved from 7` for members in another order."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Rows that did not change, or too many to show."""

    text: str
    """How many, and what."""
    href: str = ""
    """Opens them."""


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the state that changed."""

    anchor: str
    """Id within the page."""
    path: str
    """JSON pointer."""
    sign: str
    """`+`, `−` or `~`."""
    tone: Tone
    """Tone of the sign."""
    summary: str
    """Counts and how it was aligned."""
    rows: tuple[Row | Fold, ...]
    """What changed, in order."""
    blame: str
    """Address that says who wrote it."""


@dataclass(frozen=True, slots=True)
class PathLine:
    """One path in the tree beside the sections."""

    path: str
    """JSON pointer, or a place."""
    depth: int
    """0 or 1."""
    sign: str
    """What became of it; empty for equal."""
    tone: Tone
    """Tone of the sign."""
    note: str
    """Number of changes, `words`, or `same`."""
    href: str
    """Where it is on the page; empty for equal ones."""


@dataclass(frozen=True, slots=True)
class DiffPage:
    """Two checkpoints side by side."""

    shell: Shell
    """What surrounds the page."""
    run_id: str
    """Id of the run."""
    before: Link
    """The first checkpoint."""
    after: Link
    """The second one."""
    from_choices: tuple[Link, ...]
    """Other firsts."""
    to_choices: tuple[Link, ...]
    """Other seconds."""
    crosses: Pill | None
    """Set when a resume lies between them."""
    layout: tuple[Link, ...]
    """Unified and split."""
    unified: bool
    """Which of them is shown."""
    head: str
    """`12 changes in 5 paths`, or that there is none."""
    summary: tuple[Link, ...]
    """The changes by what they are about."""
    ignored: tuple[Link, ...]
    """Ignore rules, on and off, with what they hide."""
    paths: tuple[PathLine, ...]
    """Every top path, equal ones too."""
    skipped: str
    """What was not read because digests agree."""
    sections: tuple[Section, ...]
    """What changed."""
    changes: int
    """Differences in all, shown or folded."""
