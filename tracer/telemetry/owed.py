"""Which spans does the store owe? Rows that are `pending`, each built into the span that it is."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from sqlalchemy import Connection

from ..errors import ConfigError
from ..store import objects, read
from ..store.engine import Store, translated
from ..store.rows import EntryRow, SegmentRow
from . import roots, spans
from .recovery import Dead, died
from .wiretext import Wording

KEPT: Final = 256
"""Runs and resources remembered between batches."""
LOOK_S: Final = 30.0
"""Between looks for processes that died: it costs a look at every live segment."""
STRIDE: Final = 8
PAUSE_S: Final = 0.0001
"""While the agent writes, the thread sleeps this long after every few spans: a whole batch in one go would hold
up each of the agent's statements by the 5 ms after which the interpreter lock is taken from a busy thread."""
T = TypeVar("T")
Row = EntryRow | SegmentRow
Pace = Callable[[], bool]
"""Whether the agent is at work just now."""
MaskKey = Callable[[], bytes]
"""The fingerprint key of the store; may raise ConfigError."""


def never() -> bool:
    """Nobody else has anything to do."""
    return False


def give_way(number: int, pace: Pace) -> None:
    """After every few spans, let the agent run if *pace* says that it is at work."""
    if number % STRIDE == STRIDE - 1 and pace():
        time.sleep(PAUSE_S)


def name_of(row: Row) -> str:
    """A row, for people."""
    if isinstance(row, SegmentRow):
        return f"{row.run_id} ({row.branch}), segment {row.segment}"
    return f"{row.run_id} ({row.branch}), entry {row.entry}"


@dataclass(frozen=True, slots=True)
class Owed:
    """One span that is to be sent, and the row that owes it."""

    row: Row
    span: ReadableSpan


@dataclass(slots=True)
class Batch:
    """What is owed now, oldest first."""

    owed: list[Owed] = field(default_factory=list)
    broken: list[tuple[Row, str]] = field(default_factory=list)
    """Rows of which no span can be made, and why."""
    more: bool = False
    """There is probably another batch."""


class Source:
    """Reads batches from one store; remembers what their rows have in common. Belongs to one thread."""

    def __init__(
        self,
        store: Store,
        *,
        draft: bool = False,
        dead: Dead | None = None,
        pace: Pace = never,
        mask_key: MaskKey | None = None,
    ) -> None:
        self._store = store
        self._draft = draft
        self._dead = dead
        self._pace = pace
        self._mask_key = mask_key
        self._wording: Wording | None = None
        self._next_look = 0.0
        self._runs: OrderedDict[tuple[str, str], spans.RunFacts] = OrderedDict()
        self._resources: OrderedDict[tuple[str, str, int], Resource] = OrderedDict()
        self._same: dict[bytes, Resource] = {}

    def batch(self, size: int) -> Batch:
        """At most *size* spans; entries first, then ended segments.

        Raises:
            StoreError: the store cannot be read.
        """
        self._words().forget()
        batch = Batch()
        with translated(self._store.url), self._store.reader.connect() as connection:
            entries = read.pending_entries(connection, size)
            for number, (entry, body) in enumerate(entries):
                give_way(number, self._pace)
                self._add(batch, entry, lambda: self._entry_span(connection, entry, body))  # noqa: B023
            room = size - len(entries)
            ended = read.pending_segments(connection, room) if room else []
            if self._dead is not None and len(ended) < room and time.monotonic() >= self._next_look:
                ended += died(connection, self._dead, room - len(ended))
                if len(ended) < room:
                    self._next_look = time.monotonic() + LOOK_S
            for root in ended:
                self._add(batch, root, lambda: self._root_span(connection, root))  # noqa: B023
        batch.more = not room or len(ended) == room
        return batch

    def _words(self) -> Wording:
        if self._wording is None:
            try:
                key = None if self._mask_key is None else self._mask_key()
            except ConfigError:  # the key file is not here; nothing is shown that it would have hidden
                key = None
            self._wording = Wording(key)
        return self._wording

    def _add(self, batch: Batch, row: Row, make: Callable[[], ReadableSpan]) -> None:
        try:
            batch.owed.append(Owed(row, make()))
        except Exception as error:
            batch.broken.append((row, f"{type(error).__name__}: {error}"))

    def _entry_span(self, connection: Connection, row: EntryRow, packed: bytes) -> ReadableSpan:
        body = objects.unpack_record(packed, f"{row.run_id} ({row.branch}), entry {row.entry}")
        run = self._run(connection, row.run_id, row.branch)
        resource = self._resource(connection, row.run_id, row.branch, row.segment)
        if row.kind == "checkpoint":
            return spans.checkpoint_span(row, body, run, resource, draft=self._draft, words=self._words())
        return spans.call_span(row, body, run, resource, words=self._words())

    def _root_span(self, connection: Connection, row: SegmentRow) -> ReadableSpan:
        where = f"{row.run_id} ({row.branch}), segment {row.segment}"
        events = read.segment_entries(connection, row.run_id, row.branch, row.segment, roots.KINDS)
        return roots.segment_span(
            row,
            self._run(connection, row.run_id, row.branch),
            self._resource(connection, row.run_id, row.branch, row.segment),
            link=None if row.link is None else objects.unpack_record(row.link, where),
            events=[(entry, objects.unpack_record(body, where)) for entry, body in events],
            last=read.last_checkpoint_of(connection, row.run_id, row.branch, row.segment),
            draft=self._draft,
            words=self._words(),
        )

    def _run(self, connection: Connection, run_id: str, branch: str) -> spans.RunFacts:
        return _remembered(
            self._runs, (run_id, branch), lambda: _there(read.run_by_id(connection, run_id, branch))
        )

    def _resource(self, connection: Connection, run_id: str, branch: str, segment: int) -> Resource:
        def make() -> Resource:
            row = _there(read.segment_at(connection, run_id, branch, segment))
            if row.resource not in self._same:
                if len(self._same) >= KEPT:
                    self._same.clear()
                where = f"{run_id} ({branch}), segment {segment}"
                self._same[row.resource] = spans.resource_of(objects.unpack_record(row.resource, where))
            return self._same[row.resource]

        return _remembered(self._resources, (run_id, branch, segment), make)


def _remembered(held: OrderedDict[Any, T], key: Any, make: Callable[[], T]) -> T:
    found = held.get(key)
    if found is None:
        if len(held) >= KEPT:
            held.popitem(last=False)
        found = held[key] = make()
    return found


def _there(found: T | None) -> T:
    if found is None:
        raise LookupError("the row it belongs to is not in the store")
    return found
