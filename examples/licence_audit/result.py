"""What came out of a demo, as one record that a script can read?"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

_KEYS = (
    "run_id",
    "checkpoints",
    "segments",
    "killed_exit",
    "duplicated_effects",
    "missing_effects",
    "events_exported",
    "events_distinct",
    "store_bytes",
    "verdict",
    "report_equal",
)


@dataclass(frozen=True, slots=True)
class DemoResult:
    """One killed and resumed audit, held against one that was never killed."""

    run_id: str
    checkpoints: int
    """Checkpoints of the run in its store."""
    segments: int
    """Process lives of the run."""
    killed_exit: int
    """Exit code of the killed life: −9."""
    duplicated_effects: int
    """Tickets beyond the first for one (dist, rule), in the service's own database."""
    missing_effects: int
    """Wanted (dist, rule) without a ticket there."""
    events_exported: int
    """Checkpoint events that arrived, every arrival counted."""
    events_distinct: int
    """Different checkpoints among them."""
    store_bytes: int
    """Size of the store, after its write-ahead log was folded in."""
    verdict: str
    """What the gate said of the resume after the kill."""
    report_equal: bool | None
    """The report is byte for byte that of the run never killed; None while it waits for approval."""
    state: str
    """Where the run stands now: `done` or `paused`."""
    store: Path
    report: Path
    complaints: tuple[str, ...] = ()
    """What is wrong, one sentence each; empty for a demo that holds."""
    alert: str = ""
    """What the alert about the resumed life says first; empty when there is none."""
    next_lines: tuple[str, ...] = field(default=())
    """Commands that take the run on, when it waits."""

    @property
    def ok(self) -> bool:
        """Say whether everything that was promised held."""
        return not self.complaints

    def to_json(self) -> str:
        """Return the record as one line of JSON."""
        said = {key: getattr(self, key) for key in _KEYS}
        return json.dumps(said | ({"alert": self.alert} if self.alert else {}))
