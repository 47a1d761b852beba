"""What may a person say to an alert from a page?"""

from __future__ import annotations

from typing import Final

from werkzeug.exceptions import BadRequest

from inspector.actions import HOW, LONGEST
from inspector.source import Source
from inspector.text import has_hidden
from tracer import alerts

SHAPE: Final = 4000
"""Characters of a shape that is muted."""


def acknowledge(source: Source, alert_id: str, note: str, judgement: str, who: str) -> str:
    """Acknowledge an alert; what became of it, in a word.

    Raises:
        BadRequest: the note is missing or too long, or there is no such judgement.
        UnknownRun, Denied: see `alerts.acknowledge`.
    """
    if judgement not in ("true", "expected"):
        raise BadRequest("An alert was true, or what it saw was expected.")
    expected = judgement == "expected"
    alerts.acknowledge(source.journal, alert_id, who=who, note=_note(note), how=HOW, expected=expected)
    return "expected" if expected else "acknowledged"


def mute(source: Source, alert_id: str, shape: str, note: str, who: str) -> str:
    """Mute the reasons of one shape; see `alerts.mute`.

    Raises:
        BadRequest: shape or note are missing or too long.
        UnknownRun: there is no such alert.
    """
    if not shape or len(shape) > SHAPE:
        raise BadRequest(f"The shape of a reason has 1 to {SHAPE:,} characters.")
    alerts.mute(source.journal, alert_id, shape, who=who, note=_note(note), how=HOW)
    return "muted"


def unmute(source: Source, agent: str, plan: str, shape: str, who: str) -> str:
    """Let reasons of one shape raise alerts again.

    Raises:
        UnknownRun: this is not muted.
    """
    alerts.unmute(source.journal, agent, plan, shape, who=who, how=HOW)
    return "unmuted"


def _note(note: str) -> str:
    kept = note.strip()
    if not kept:
        raise BadRequest("A note is needed: it is kept with the alert.")
    if len(kept) > LONGEST:
        raise BadRequest(f"The note has {len(kept):,} characters; {LONGEST:,} are kept.")
    if has_hidden(kept.replace("\r\n", "\n")):
        raise BadRequest("The note holds characters that cannot be seen.")
    return kept
