"""Which benchmarks are there? Every figure of the table, its target and the module that measures it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from .line import Line


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table."""

    name: str
    """The names of its lines begin with it."""
    module: str
    """In this package; offers `lines()`. Two figures of one module are measured together."""
    target: str
    what: str

    def lines(self) -> Iterator[Line]:
        """Measure. Progress goes to stderr."""
        found: Iterator[Line] = import_module(f"{__package__}.{self.module}").lines()
        return found


FIGURES: Final = (
    Figure(
        "store-bytes", "store_bytes", "<= 1.5 x", "bytes in the store over those of the different messages"
    ),
    Figure("store-time", "store_time", ">= 2 x", "time of SqliteSaver.put over that of run.checkpoint"),
    Figure(
        "store-flat", "store_flat", "<= 1.5 x", "p50 of the last tenth of 5,000 checkpoints over the first"
    ),
    Figure("store-floor", "store_floor", "<= 4 x", "CPU of a checkpoint over bare sqlite3 writing its rows"),
    Figure("store-fsyncs", "store_fsyncs", "<= 1", "fsyncs of a checkpoint, counted by strace"),
    Figure("history", "history", ">= 50 x", "time of get_state_history over listing and comparing"),
    Figure("history-rss", "history", "<= 0.2 x", "memory of the same, ours over theirs"),
    Figure("span", "span", "<= 2 x", "CPU of a checkpoint's telemetry over a bare SDK span with an event"),
    Figure(
        "divergence-live", "divergence_live", "<= 2 x", "cost of comparing a call at 10,000 over one at 100"
    ),
    Figure("divergence", "divergence", "see docs", "changed continuations found, and false alarms"),
)


def of(name: str) -> Figure | None:
    """The figure of that name, also written with underscores; None when there is none."""
    wanted = name.replace("_", "-")
    return next((figure for figure in FIGURES if figure.name == wanted), None)
