"""How does an entry become durable, in order, and only if the writer still holds the run?

Appending is one compare-and-set on the branch head, in the transaction that also writes the entries, the objects
they name and the readings of them. Whoever holds the lock commits the work of everybody who waits.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from . import codec, faults, readings
from .cleartext import COLUMNS, Shown
from .errors import AlreadyResumed, Fenced, ForkedRun, IntegrityError, StoreError, UnknownRun, WaypostError
from .ids import new_id
from .integrity import Record, Tagger, genesis
from .signing import Signing, unfit
from .store import objects, read, write
from .store.blobs import Blobs
from .store.engine import Store, translate, translated
from .store.tables import NONE

TRIES: Final = 64
"""How often an append without an epoch looks for a head that keeps moving."""


@dataclass(slots=True)
class Draft:
    """An entry before it has a number."""

    kind: str
    body: Mapping[str, Any]
    mark: str = ""
    subject: str = ""
    checkpoint: bool = False
    changed: bool = False
    size: int = 0
    """Bytes of the state behind a checkpoint; else of the body."""
    at: int = 0
    span: bytes = b""
    export: int = NONE
    id: bytes = field(default_factory=new_id)


@dataclass(slots=True)
class Append:
    """What one caller wants to be durable together."""

    run_id: str
    branch: str
    drafts: list[Draft]
    segment: int = 0
    epoch: int | None = None
    """None: a person's decision or a refusal, which needs no lease."""
    changes: dict[str, Any] = field(default_factory=dict)
    """Columns of the branch to set, or to add to (`write.DELTAS`)."""
    guards: dict[str, Any] = field(default_factory=dict)
    """Further columns of the branch that must be as given; else `Fenced`."""
    objects: dict[bytes, bytes] = field(default_factory=dict)
    sealed: dict[bytes, bytes] = field(default_factory=dict)
    rows: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """(statement name of `store.write`, values), in order."""
    creates: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """The same, before the head is moved: the run and branch rows of a new run."""


@dataclass(frozen=True, slots=True)
class Appended:
    """Where the entries went."""

    entry: int
    """Number of the last entry."""
    sequence: int
    """Number of the last checkpoint of the branch."""
    tag: bytes
    """Tag of the last entry, 32 bytes."""


@dataclass(slots=True)
class _Waiter:
    append: Append
    bodies: list[tuple[bytes, bytes]]
    """Per draft its canonical bytes, and as a row holds them."""
    parts: list[dict[str, Any]]
    """Object rows."""
    done: bool = False
    result: Appended | None = None
    error: BaseException | None = None


@dataclass(slots=True)
class _Head:
    entry: int
    sequence: int
    tag: bytes


class Journal:
    """Appends entries to the runs of one store, for all threads of this process."""

    def __init__(
        self,
        store: Store,
        *,
        blobs: Blobs | None = None,
        signing: Signing | None = None,
        shown: Shown | None = None,
    ) -> None:
        self.store = store
        self.blobs = blobs
        self.signing = signing or Signing()
        self._shown = shown or Shown()
        self._queue: list[_Waiter] = []
        self._queueing = threading.Lock()
        self._committing = threading.Lock()
        self._heads: dict[tuple[str, str], _Head] = {}
        self._taggers: dict[tuple[str, str], Tagger] = {}
        """How each branch is tagged; one that is here was seen to end with an entry that our keys made."""
        self._connection: Connection | None = None
        self._pid = os.getpid()
        self.ambiguous = 0
        """Commits that ended with an error, so that the store had to be asked whether they happened."""

    def append(self, append: Append) -> Appended:
        """Make *append* durable; returns after COMMIT.

        Raises:
            Fenced: the epoch is no longer the branch's, or a guard did not hold; nothing was written.
            StoreGone: the store was deleted under us; what was written since is lost.
            StoreError: the database refused; nothing was written.
            KeyMissing, ChainKeyMissing: the run was written with other keys; nothing was written.
            IntegrityError: the newest entry is not what was written; nothing was written after it.
            ForkedRun: this process was forked from the one that opened the journal.
        """
        if os.getpid() != self._pid:
            raise ForkedRun(append.run_id, self._pid, os.getpid())
        waiter = self._packed(append)
        with self._queueing:
            self._queue.append(waiter)
        with self._committing:
            if not waiter.done:
                with self._queueing:
                    batch, self._queue = self._queue, []
                self._commit_all(batch, waiter)
        if waiter.error is not None:
            raise waiter.error
        # After the commit, so that nothing is acknowledged that lies in a deleted file.
        self.store.require_present()
        assert waiter.result is not None
        return waiter.result

    def execute(self, name: str, rows: list[dict[str, Any]]) -> int:
        """One statement outside the chain (heartbeats, acknowledgements), in a transaction of its own."""
        if os.getpid() != self._pid:
            raise ForkedRun("", self._pid, os.getpid())
        rows = [self._shown.columns(row, COLUMNS.get(name, ())) for row in rows]
        with self._committing:
            try:
                with self._connected().begin():
                    return write.execute(self._connected(), name, rows)
            except DBAPIError as error:
                self._drop()
                raise translate(error, self.store.url) from error

    def close(self) -> None:
        """Give back the connection."""
        with self._committing:
            self._drop()

    # -- the transaction ------------------------------------------------------------------------------------

    def _packed(self, append: Append) -> _Waiter:
        """All that can be done before the lock is taken, by the thread whose work it is."""
        self._shown.clean(append)
        rows = readings.bound(append.rows, append.creates, append.changes)
        bodies = [codec.encode({**draft.body}) for draft in append.drafts]
        if rows:
            bodies[0] = codec.encode({**append.drafts[0].body, readings.KEY: rows})
        return _Waiter(
            append,
            [(body, objects.pack(body)) for body in bodies],
            [
                {"digest": digest, "data": objects.to_row(digest, data, self.blobs)}
                for digest, data in append.objects.items()
            ],
        )

    def _commit_all(self, batch: list[_Waiter], mine: _Waiter) -> None:
        try:
            if len(batch) > 1:
                try:
                    self._commit(batch)
                except Exception:
                    # One bad entry must not take the others down, nor be told success.
                    for waiter in batch:
                        waiter.result = None
                else:
                    for waiter in batch:
                        waiter.done = True
            for waiter in batch:
                if not waiter.done:
                    try:
                        self._commit([waiter])
                    except Exception as error:
                        waiter.error = error
                    waiter.done = True
        except BaseException:
            # Interrupted in the middle of other threads' work: what did not land goes back to those who wait.
            for waiter in batch:
                if waiter is mine or waiter.done:
                    continue
                if self._all_landed([waiter]):
                    waiter.done = True
                else:
                    waiter.result = None
                    with self._queueing:
                        self._queue.append(waiter)
            raise

    def _commit(self, batch: list[_Waiter]) -> None:
        connection = self._connected()
        committing = False
        try:
            transaction = connection.begin()
            try:
                self._write(connection, batch)
                faults.point("journal.before_commit")
                committing = True
                transaction.commit()
                faults.point("journal.after_commit")
            except BaseException:
                transaction.close()
                raise
        except Exception as error:
            if isinstance(error, DBAPIError):
                self._drop()
            if committing:
                self.ambiguous += 1
                if self._all_landed(batch):
                    return
            self._forget(batch)
            if isinstance(error, DBAPIError):
                raise translate(error, self.store.url) from error
            raise
        except BaseException:
            self._forget(batch)
            raise

    def _write(self, connection: Connection, batch: list[_Waiter]) -> None:
        entries: list[dict[str, Any]] = []
        parts: list[dict[str, Any]] = []
        secrets: dict[bytes, bytes] = {}
        rows: dict[str, list[dict[str, Any]]] = {}
        for waiter in batch:
            append = waiter.append
            parts += waiter.parts
            secrets.update(append.sealed)
            for name, values in append.rows:
                rows.setdefault(name, []).append(values)
            for name, values in append.creates:
                write.execute(connection, name, [values])
            entries += self._move(connection, waiter)
        if secrets:
            write.execute(
                connection, "insert sealed", [{"fingerprint": k, "data": v} for k, v in secrets.items()]
            )
        if parts:
            write.execute(connection, "insert object", parts)
        faults.point("journal.objects_written")
        write.execute(connection, "insert entry", entries)
        for name, values_list in rows.items():
            touched = write.execute(connection, name, values_list)
            if name in write.STRICT and touched != len(values_list):
                raise StoreError(f"{name}: somebody else was first; look again, nothing was written.")

    def _move(self, connection: Connection, waiter: _Waiter) -> list[dict[str, Any]]:
        append = waiter.append
        where = (append.run_id, append.branch)
        guards = list(append.guards.items())
        if append.epoch is not None and "epoch" not in append.guards:
            guards.append(("epoch", append.epoch))
        written = sum(len(packed) for _, packed in waiter.bodies) + sum(
            len(part["data"]) for part in waiter.parts
        )
        for _ in range(TRIES):
            head = self._heads.get(where)
            if head is None:
                head = self._heads[where] = self._read_head(connection, append)
            moved = _Head(head.entry, head.sequence, head.tag)
            entries = [
                self._seal(append, draft, body, packed, moved)
                for draft, (body, packed) in zip(append.drafts, waiter.bodies, strict=True)
            ]
            changes = {
                **append.changes,
                "head_entry": moved.entry,
                "head_sequence": moved.sequence,
                "head_tag": moved.tag,
                "updated_at": append.drafts[-1].at,
                "size": written,
            }
            if write.move_head(connection, *where, head.entry, changes, guards):
                self._heads[where] = moved
                waiter.result = Appended(moved.entry, moved.sequence, moved.tag)
                return entries
            del self._heads[where]
            self._check_guards(connection, append, guards)
        raise StoreError(
            f"the head of {append.run_id} moved {TRIES} times while one entry was appended; try again."
        )

    def _seal(self, append: Append, draft: Draft, body: bytes, packed: bytes, head: _Head) -> dict[str, Any]:
        head.entry += 1
        if draft.checkpoint:
            head.sequence += 1
        if not draft.at:
            draft.at = time.time_ns()
        record = Record(
            run_id=append.run_id,
            branch=append.branch,
            entry=head.entry,
            sequence=head.sequence if draft.checkpoint else 0,
            kind=draft.kind,
            mark=draft.mark,
            id=draft.id,
            segment=append.segment,
            epoch=append.epoch or 0,
            at=draft.at,
            subject=draft.subject,
            body=body,
            span=draft.span,
        )
        head.tag = self._taggers[append.run_id, append.branch](head.tag, record.to_bytes())
        return {
            "run_id": append.run_id,
            "branch": append.branch,
            "entry": head.entry,
            "sequence": head.sequence if draft.checkpoint else None,
            "kind": draft.kind,
            "mark": draft.mark,
            "id": draft.id,
            "segment": append.segment,
            "epoch": append.epoch or 0,
            "at": draft.at,
            "subject": draft.subject,
            "changed": int(draft.changed),
            "body": packed,
            "size": draft.size or len(body),
            "tag": head.tag,
            "span": draft.span or None,
            "export": draft.export,
            "exported_at": None,
        }

    def _read_head(self, connection: Connection, append: Append) -> _Head:
        found = read.head(connection, append.run_id, append.branch)
        if found is None:
            raise UnknownRun(append.run_id, str(self.store.url.database))
        if found.head_entry == 0:
            self._taggers[append.run_id, append.branch] = self.signing.tag
            return _Head(0, 0, genesis(append.run_id, append.branch))
        if (append.run_id, append.branch) not in self._taggers:
            self._trust(connection, append, found.head_entry)
        return _Head(found.head_entry, found.head_sequence, found.head_tag)

    def _trust(self, connection: Connection, append: Append, head_entry: int) -> None:
        """One tag under a wrong key would make the whole run unreadable, so the newest one is computed again."""
        run_id, branch = append.run_id, append.branch
        stored = read.body(connection, run_id, read.MAIN, 1)
        start = objects.unpack_record(stored, f"{run_id} entry 1") if stored is not None else {}
        judged = self.signing.judge(run_id, start)
        if judged.error is not None:
            raise judged.error
        last = read.entries_with_bodies(connection, run_id, branch, after=head_entry - 2)
        if why := unfit(run_id, branch, judged, last):
            raise IntegrityError(f"{run_id} entry {head_entry}", f"{why}; nothing was written after it.")
        self._taggers[run_id, branch] = judged.tag

    def _check_guards(self, connection: Connection, append: Append, guards: list[tuple[str, Any]]) -> None:
        found = read.head(connection, append.run_id, append.branch)
        if found is None:
            raise UnknownRun(append.run_id, str(self.store.url.database))
        for column, value in guards:
            seen = getattr(found, column)
            if seen != value:
                if append.guards:
                    raise AlreadyResumed(append.run_id, found.owner or "nobody", found.epoch)
                raise Fenced(append.run_id, append.epoch or 0, found.epoch)

    # -- after a commit whose answer was lost -----------------------------------------------------------------

    def _all_landed(self, batch: list[_Waiter]) -> bool:
        """After an error: did the commit happen all the same? The tag of our last entry tells."""
        try:
            with self.store.reader.connect() as connection:
                return all(
                    waiter.result is not None
                    and waiter.result.tag
                    == read.tag_at(
                        connection, waiter.append.run_id, waiter.append.branch, waiter.result.entry
                    )
                    for waiter in batch
                )
        except (DBAPIError, WaypostError):
            return False

    def _forget(self, batch: list[_Waiter]) -> None:
        for waiter in batch:
            self._heads.pop((waiter.append.run_id, waiter.append.branch), None)

    def _connected(self) -> Connection:
        if self._connection is None:
            with translated(self.store.url):
                self._connection = self.store.writer.connect()
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.invalidate()
            self._connection.close()
            self._connection = None
