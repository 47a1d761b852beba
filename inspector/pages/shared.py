"""Which parts do all pages share?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["info", "ok", "wait", "bad", "odd", "mute"]
Style = Literal["", "plain", "hollow"]


@dataclass(frozen=True, slots=True)
class Pill:
    """A state, as glyph, word and colour together."""

    glyph: str
    """Id of a symbol in `parts/glyphs.html`."""
    word: str
    """What the state is called; never empty, because colour and glyph alone do not speak."""
    tone: Tone
    """Which of the six tones colours it."""
    style: Style = ""
    """`plain` inside tables, `hollow` for kinds, empty for a filled pill."""
    href: str = ""
    """Where it leads; empty when it only tells."""


@dataclass(frozen=True, slots=True)
class Link:
    """Words that lead somewhere."""

    word: str
    """What is read."""
    href: str
    """Where it leads; always a path of this inspector or a configured trace address."""
    glyph: str = ""
    """A glyph in front of the word."""
    key: str = ""
    """The key that presses it."""
    main: bool = False
    """True for the one action that the page is about."""
    current: bool = False
    """True when this is the thing being looked at."""
    count: str = ""
    """A number behind the word, already as text."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and its value in the head of a page."""

    name: str
    """What it is."""
    value: str
    """What it is now."""
    note: str = ""
    """Quiet words behind the value."""
    mono: bool = False
    """True for identifiers."""
    links: tuple[Link, ...] = ()
    """Links instead of, or behind, the value."""


@dataclass(frozen=True, slots=True)
class Strip:
    """What is missing from this page, or must be known before reading it."""

    tone: Tone
    """How much it matters."""
    head: str
    """Two or three words in bold."""
    text: str
    """One sentence."""
    link: Link | None = None
    """Where to look or what to do."""


@dataclass(frozen=True, slots=True)
class Shown:
    """How much of a list is on the page: counts equal the store's."""

    shown: int
    """Rows on the page."""
    total: int
    """Rows in the store that the page speaks of."""
    noun: str
    """What is counted, in the plural."""
    older: str = ""
    """Address of the next rows, or empty at the end."""
    newer: str = ""
    """Address of the rows before, or empty at the start."""


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text from a model, a tool or a user, cut by bytes and never silently."""

    text: str
    """What is shown."""
    note: str = ""
    """`4.1 KB of 312 KB shown`, or empty when it is whole."""
    href: str = ""
    """Where the whole can be had."""


@dataclass(frozen=True, slots=True)
class Live:
    """How the page keeps itself current."""

    href: str
    """The address that answers with the same page as a fragment."""
    every_s: int = 2
    """Seconds between two looks."""
    behind: str = ""
    """How old the data was when the page was made, in words."""


@dataclass(frozen=True, slots=True)
class Shell:
    """What surrounds every page."""

    title: str
    """Title of the window."""
    section: str
    """Which entry of the navigation is current: `runs`, `inbox`, `alerts`, or empty."""
    user: str
    """The name the session was opened under; empty before that."""
    store: str
    """Which store is shown: its kind and short name, never a password."""
    waiting: int = 0
    """Things in the inbox that wait for a person."""
    alerts: int = 0
    """Alerts that nobody has acknowledged."""
    crumbs: tuple[Link, ...] = ()
    """The path to this page, outermost first; the last has no address."""
    keys: tuple[tuple[str, str], ...] = ()
    """Keys of this page and what they do, for the footer."""
    count: str = ""
    """The counts of this page, at the right end of the footer."""
    live: Live | None = None
    """Set while more can come."""
    figure: bool = False
    """True on pages with a Plotly figure, which alone may set styles from a script."""
