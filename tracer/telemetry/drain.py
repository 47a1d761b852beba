"""How does one batch get from the store to the collector? Read what is owed, build, send, acknowledge.

A row is acknowledged only after SUCCESS. A batch that the collector objects to is halved until the culprit stands
alone; it is put aside only if others passed, for a collector that refuses everything is a collector's fault.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, overload

import orjson
from opentelemetry.sdk.trace import ReadableSpan

from .. import faults
from ..journal import Journal
from ..store.engine import Store
from ..store.rows import EntryRow, SegmentRow
from ..store.tables import ACKED, REFUSED
from . import logs, names
from .owed import MaskKey, Owed, Pace, Row, Source, give_way, name_of, never
from .provider import Tracing
from .recovery import Dead
from .wire import Sent, Wire

BATCH: Final = 512
HOPELESS: Final = 8
"""Rows in a row that are refused alone, with none accepted, after which the collector is blamed."""
_log: Final = logging.getLogger(names.LOGGER)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A row that the collector would not take, or of which no span could be made."""

    where: str
    reason: str


@dataclass(slots=True)
class Round:
    """What one batch came to."""

    sent: int = 0
    refused: list[Refusal] = field(default_factory=list)
    more: bool = False
    """There is probably another batch."""
    trouble: Sent | None = None
    """Why it stopped: the collector could not be reached or wants to be left alone."""


class Courteous(Sequence[ReadableSpan]):
    """The spans of a batch; whoever goes through them lets other threads work in between."""

    def __init__(self, owed: Sequence[Owed], pace: Pace) -> None:
        self._owed = owed
        self._pace = pace

    def __iter__(self) -> Iterator[ReadableSpan]:
        for number, owed in enumerate(self._owed):
            give_way(number, self._pace)
            yield owed.span

    def __len__(self) -> int:
        return len(self._owed)

    @overload
    def __getitem__(self, index: int) -> ReadableSpan: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[ReadableSpan]: ...
    def __getitem__(self, index: int | slice) -> ReadableSpan | Sequence[ReadableSpan]:
        if isinstance(index, slice):
            return Courteous(self._owed[index], self._pace)
        return self._owed[index].span


class Drain:
    """Sends what a store owes; belongs to one thread."""

    def __init__(
        self,
        store: Store,
        journal: Journal,
        tracing: Tracing,
        *,
        batch: int = BATCH,
        dead: Dead | None = None,
        pace: Pace = never,
        mask_key: MaskKey | None = None,
    ) -> None:
        self.store = store
        self.journal = journal
        self.tracing = tracing
        self.batch = max(1, min(batch, BATCH))
        self.wire: Wire | None = None
        self._source = Source(store, draft=tracing.setting.draft, dead=dead, pace=pace, mask_key=mask_key)
        self._pace = pace

    def round(self, most: int = BATCH) -> Round:
        """Send one batch of at most *most* spans.

        Raises:
            StoreError: the store could not be read, or not be written (then the batch is sent again, same ids).
        """
        done = Round()
        batch = self._source.batch(min(self.batch, most))
        done.more = batch.more
        self._put_aside(batch.broken, done)
        if self.wire is None:
            self.wire = Wire(self.tracing)
        suspects: list[tuple[Row, str]] = []
        self._send(self.wire, batch.owed, done, suspects)
        if done.sent:
            # Others passed, so it is these rows and not the collector.
            self._put_aside(suspects, done)
        elif suspects and done.trouble is None:
            done.trouble = Sent(False, suspects[0][1])
        return done

    # -- sending ----------------------------------------------------------------------------------------------

    def _send(self, wire: Wire, owed: Sequence[Owed], done: Round, suspects: list[tuple[Row, str]]) -> None:
        if not owed or done.trouble is not None:
            return
        sent = wire.send(Courteous(owed, self._pace))
        if sent.ok:
            if sent.dropped:
                _log.warning("the collector threw away %d of %d spans", sent.dropped, len(owed))
            faults.point("export.sent")
            self._mark([one.row for one in owed], ACKED)
            faults.point("export.acknowledged")
            done.sent += len(owed)
            if self.tracing.setting.logs:
                self._tell_logs(owed)
        elif not sent.blame_data:
            done.trouble = sent
        elif len(owed) == 1:
            suspects.append((owed[0].row, sent.reason))
            if not done.sent and len(suspects) >= HOPELESS:
                done.trouble = sent
        else:
            half = len(owed) // 2
            self._send(wire, owed[:half], done, suspects)
            self._send(wire, owed[half:], done, suspects)

    def _tell_logs(self, owed: Sequence[Owed]) -> None:
        try:
            logs.emit(one.span for one in owed)
        except Exception:  # the program's own log pipeline; the spans have arrived
            _log.debug("events were not emitted as log records", exc_info=True)

    def _put_aside(self, rows: Sequence[tuple[Row, str]], done: Round) -> None:
        self._mark([row for row, _ in rows], REFUSED)
        for row, reason in rows:
            _log.warning("the span of %s is put aside: %s", name_of(row), reason)
            done.refused.append(Refusal(name_of(row), reason))

    def _mark(self, rows: Sequence[Row], state: int) -> None:
        now = time.time_ns()
        keys = [(row.run_id, row.branch, row.entry) for row in rows if isinstance(row, EntryRow)]
        if keys:
            values = {"keys": orjson.dumps(keys).decode(), "export": state, "exported_at": now}
            self.journal.execute("ack batch", [values])
        segments = [
            {
                "at_run_id": row.run_id,
                "at_branch": row.branch,
                "at_segment": row.segment,
                "export": state,
                "exported_at": now,
            }
            for row in rows
            if isinstance(row, SegmentRow)
        ]
        if segments:
            self.journal.execute("ack segments", segments)
