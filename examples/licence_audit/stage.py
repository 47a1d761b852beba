"""Where does one run of the audit play: its folder, its store, its ticket service, its exporter?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from examples.licence_audit.astray import Slip
from examples.licence_audit.life import Life


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything that the lives of one run have in common."""

    run_id: str
    home: Path
    """WAYPOST_HOME of the run: its store is `waypost.db` in there."""
    folder: Path
    """Holds the ticket service's database and the report."""
    seed: int
    python: str = ""
    only: tuple[str, ...] = ()
    limit: int = 0
    export: Mapping[str, str] = field(default_factory=dict)
    """OTEL_ variables of the exporter."""
    report_at: Path | None = None
    """Where the run publishes, if not in *folder*."""

    @property
    def store(self) -> Path:
        """The store of the run."""
        return self.home / "waypost.db"

    @property
    def report(self) -> Path:
        """Where the run publishes."""
        return self.report_at or self.folder / "report.md"

    @property
    def tickets(self) -> Path:
        """The ticket service's own database."""
        return self.folder / "tickets.db"

    def life(self, url: str, slip: Slip | None = None) -> Life:
        """Describe a life of the run, with its ticket service at *url*; with a *slip* it makes a mistake."""
        return Life(
            run_id=self.run_id,
            report=str(self.report),
            seed=self.seed,
            python=self.python,
            only=self.only,
            limit=self.limit,
            environment={
                "WAYPOST_HOME": str(self.home),
                "WAYPOST_STORE": str(self.store),
                "LICENCE_AUDIT_TICKETS": url,
                **self.export,
                **(slip.environment if slip is not None else {}),
            },
        )
