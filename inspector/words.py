"""Which glyph, word and tone does each state have? Always all three."""

from __future__ import annotations

from typing import Final

from inspector.pages.shared import Pill, Style, Tone

STATES: Final[dict[str, tuple[str, str, Tone]]] = {
    # runs
    "running": ("running", "running", "info"),
    "paused": ("paused", "paused", "mute"),
    "awaiting": ("awaiting", "awaiting approval", "wait"),
    "interrupted": ("interrupted", "interrupted", "bad"),
    "lost": ("lost", "lost", "bad"),
    "degraded": ("degraded", "degraded", "wait"),
    "diverged": ("diverged", "diverged", "odd"),
    "pruned": ("minus", "pruned", "mute"),
    "done": ("done", "done", "ok"),
    "failed": ("failed", "failed", "bad"),
    "aborted": ("abort", "aborted", "bad"),
    "superseded": ("moved", "superseded", "mute"),
    "quarantined": ("blocked", "quarantined", "odd"),
    "partially_compensated": ("compensated", "partly compensated", "odd"),
    # calls
    "planned": ("planned", "planned", "mute"),
    "sent": ("sent", "sent", "info"),
    "committed": ("committed", "committed", "ok"),
    "unknown": ("unknown", "unknown", "odd"),
    "suspended": ("awaiting", "suspended", "wait"),
    "reconciled": ("reconciled", "reconciled", "odd"),
    "compensated": ("compensated", "compensated", "mute"),
    "blocked": ("blocked", "blocked", "odd"),
    "partial": ("partial", "partial", "mute"),
    # approvals
    "pending": ("awaiting", "awaiting approval", "wait"),
    "approved": ("done", "approved", "ok"),
    "denied": ("failed", "denied", "bad"),
    "waived": ("policy", "waived", "wait"),
    "edited": ("changed", "edited", "wait"),
    "expired": ("expired", "expired", "mute"),
    "used": ("done", "used", "mute"),
    "withdrawn": ("minus", "withdrawn", "mute"),
    # evidence
    "fresh": ("fresh", "fresh", "ok"),
    "changed": ("changed", "changed", "wait"),
    "gone": ("gone", "gone", "bad"),
    "recorded": ("evidence", "recorded", "mute"),
    # verdicts
    "continue": ("continue", "continue", "ok"),
    "revalidate": ("revalidate", "revalidate", "wait"),
    "reapprove": ("reapprove", "reapprove", "odd"),
    "abort": ("abort", "abort", "bad"),
    "not judged": ("planned", "not judged", "mute"),
    "undeclared": ("planned", "undeclared", "mute"),
    # alerts
    "open": ("diverged", "open", "odd"),
    "acknowledged": ("done", "acknowledged", "ok"),
    "expected": ("same", "expected", "mute"),
    "muted": ("minus", "muted", "mute"),
    # differences
    "arguments": ("changed", "arguments", "wait"),
    "same": ("same", "same", "mute"),
    "new": ("plus", "new", "ok"),
    "missing": ("minus", "missing", "bad"),
    "reordered": ("moved", "reordered", "info"),
}

CLAUSES: Final[dict[str, tuple[str, str]]] = {
    "integrity": ("link", "Integrity"),
    "lease": ("policy", "Lease"),
    "state version": ("fold", "State version"),
    "plan and objective": ("plan", "Objective and plan"),
    "topology": ("diverged", "Topology"),
    "runtime identity": ("identity", "Runtime identity"),
    "side effects": ("effects", "Side effects"),
    "evidence": ("evidence", "Evidence"),
    "permissions": ("perm", "Permissions"),
    "resources": ("link", "Resources"),
    "context size": ("fold", "Context size"),
    "resume policy": ("policy", "Resume policy"),
    "trace": ("trace", "Trace"),
}
"""Clause -> glyph and title."""


def pill(state: str, word: str = "", style: Style = "", *, href: str = "", tone: Tone | None = None) -> Pill:
    """The pill of *state*. A state that this release does not know keeps its own word and an honest glyph."""
    glyph, default, known = STATES.get(state, ("unknown", state, "odd"))
    return Pill(glyph, word or default, tone or known, style, href)


def run_state(state: str, reason: str) -> str:
    """The word under which a run is shown: a pause that waits for a person is its own state."""
    return "awaiting" if state == "paused" and reason.startswith(("approval", "ask", "divergence")) else state


def tone_of(state: str) -> Tone:
    """The tone alone, for ticks and marks."""
    return STATES.get(state, ("unknown", state, "odd"))[2]
