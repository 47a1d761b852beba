"""What does a page show that cannot be shown?"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.pages.shared import Link, Shell, Tone


@dataclass(frozen=True, slots=True)
class ProblemPage:
    """Why, and what to do about it."""

    shell: Shell
    """What surrounds the page."""
    status: int
    """HTTP status."""
    glyph: str
    """Glyph of the problem."""
    tone: Tone
    """Tone of the problem."""
    head: str
    """What happened, in one line."""
    text: str
    """Where it happened."""
    remedy: str
    """What to do."""
    command: str
    """A line to type, where one helps."""
    links: tuple[Link, ...]
    """Where to go from here."""


@dataclass(frozen=True, slots=True)
class LaunchPage:
    """The one question before the first page: who are you?"""

    shell: Shell
    """What surrounds the page."""
    action: str
    """Address to which the name is sent."""
    suggestion: str
    """A name to start from."""
    problem: str
    """What was wrong with the name; empty the first time."""
