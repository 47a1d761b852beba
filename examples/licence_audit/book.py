"""What does the store say about a run, and how is its question answered?"""

from __future__ import annotations

import getpass
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from examples.licence_audit.errors import NothingAsked
from tracer import approvals, config
from tracer.contract import DecisionKind
from tracer.errors import UnknownRun
from tracer.journal import Journal
from tracer.signing import Signing
from tracer.store import read
from tracer.store.engine import Store
from tracer.store.tables import ACKED


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a run has come, as its store says."""

    state: str
    checkpoints: int
    segments: int
    verdict: str
    """Of the first resume, the one after the kill; empty when there was none."""
    acknowledged: int
    """Checkpoint spans that a collector took."""
    store_bytes: int
    """The SQLite file after its write-ahead log was folded in, and the blobs beside it."""


class Book:
    """The store of a demo; a context manager."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the store at *path*. Raises StoreMissing."""
        return cls(Store.open(path, create=False))

    def of(self, run_id: str) -> Standing:
        """Say how *run_id* stands. Raises UnknownRun."""
        size = self._folded()
        with self._store.reader.connect() as connection:
            row = read.run_by_id(connection, run_id)
            if row is None:
                raise UnknownRun(run_id, str(self._store.path))
            resumes = [entry for entry in read.entries(connection, run_id) if entry.kind == "resume"]
            sent = [entry for entry in read.checkpoints(connection, run_id) if entry.export == ACKED]
        return Standing(
            state=row.state,
            checkpoints=row.head_sequence,
            segments=row.segment,
            verdict=resumes[0].mark if resumes else "",
            acknowledged=len(sent),
            store_bytes=size,
        )

    def alert(self, run_id: str) -> str:
        """Return what the newest open alert of *run_id* says first; empty when there is none."""
        with self._store.reader.connect() as connection:
            found = read.alerts(connection, run_id=run_id, states=["open"], limit=1)
        return found[0].sentence if found else ""

    def approve(self, run_id: str) -> None:
        """Answer the open question of *run_id* with yes, as the user of this machine. Raises NothingAsked."""
        with self._store.reader.connect() as connection:
            asked = read.approvals(connection, run_id=run_id, states=[approvals.PENDING])
        if not asked:
            raise NothingAsked(run_id)
        journal = Journal(self._store, signing=Signing(config.load().chain_key_bytes()))
        try:
            approvals.decide(
                journal,
                asked[0].approval_id,
                DecisionKind.APPROVE,
                who=getpass.getuser(),
                why="--approve",
                how="local, unauthenticated",
            )
        finally:
            journal.close()

    def _folded(self) -> int:
        path = self._store.path
        assert path is not None
        # Not through the store's writer, which begins a transaction, and a checkpoint cannot run in one.
        base = sqlite3.connect(path, timeout=10)
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        base.close()
        return sum(
            file.stat().st_size for file in (path, *(path.parent / "blobs").rglob("*")) if file.is_file()
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._store.close()


def approve_question(store: Path, run_id: str) -> None:
    """Answer the open question of a run in the store at *store* with yes. Raises NothingAsked."""
    with Book.open(store) as book:
        book.approve(run_id)
