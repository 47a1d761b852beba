"""What is the root span of a process that was killed? Told once, from stored rows, by whoever sends next.

Nothing of the run is changed: the row gets its end from the next resume, under a lease. The span has the ids it
was given at the start, and ends at the last sign of life.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from sqlalchemy import Connection

from ..store import read
from ..store.rows import SegmentRow

Dead = Callable[[str], bool]
"""Owner of a segment, as stored -> whether that process is proven dead. Never a matter of a clock."""

INTERRUPTED: Final = "interrupted"
LOOKED_AT: Final = 1000
"""Segments without an end that are asked about at once."""


def died(connection: Connection, dead: Dead, limit: int) -> list[SegmentRow]:
    """Segments whose owner is dead and whose root is still owed, as they ended: at most *limit*."""
    found: list[SegmentRow] = []
    for row in read.open_pending_segments(connection, LOOKED_AT):
        if len(found) == limit:
            break
        if dead(row.owner):
            at = last_sign_of_life(connection, row)
            found.append(replace(row, ended_at=at, outcome=INTERRUPTED))
    return found


def last_sign_of_life(connection: Connection, row: SegmentRow) -> int:
    """When a segment was last known to live, ns since 1970: its last entry, or its last heartbeat if that is later."""
    head = read.head(connection, row.run_id, row.branch)
    beat = head.beat_at if head is not None and head.epoch == row.epoch else 0
    return max(read.last_entry_at(connection, row.run_id, row.branch, row.segment), beat, row.started_at)
