"""How does a command look at the store without changing it?

Nothing is made, upgraded or exported by looking; only `approve`, `resume`, `export --pending` and `db upgrade`
write.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click
from sqlalchemy import Connection

from .. import codec
from ..config import Settings
from ..errors import UnknownCheckpoint, UnknownRun
from ..recorder import Recorder, settings
from ..refs import Ref
from ..seal import mask_plain
from ..store import objects, read
from ..store.blobs import FolderBlobs
from ..store.engine import Store, translated
from ..store.rows import EntryRow, RunRow
from ..tree import TreeReader


@dataclass(frozen=True, slots=True)
class Opened:
    """One checkpoint: its row, and the parts of it as references that nobody has followed yet."""

    entry: EntryRow
    root: dict[str, Any]
    """Field of the state -> part."""
    type_name: str
    version: int
    contract: Any
    parent: str | None


class Reading:
    """One store, to be read."""

    def __init__(self, held: Settings, store: Store) -> None:
        self.settings = held
        self.store = store
        self._blobs = FolderBlobs(held.home_path / "blobs")

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A read-only connection; the database's errors come out as ours."""
        with translated(self.store.url), self.store.reader.connect() as connection:
            yield connection

    def run(self, connection: Connection, run_id: str, branch: str = read.MAIN) -> RunRow:
        """The run.

        Raises:
            UnknownRun: there is none of that id.
        """
        row = read.run_by_id(connection, run_id, branch)
        if row is None:
            raise UnknownRun(run_id, where(self.store))
        return row

    def checkpoint(self, connection: Connection, ref: Ref) -> Opened:
        """The checkpoint that *ref* names; the last one when it names only a run.

        Raises:
            UnknownRun, UnknownCheckpoint: there is none.
            IntegrityError: its entry is damaged.
        """
        row = self.run(connection, ref.run_id, ref.branch)
        sequence = row.head_sequence if ref.sequence is None else ref.sequence
        named = Ref(ref.run_id, ref.branch, sequence or None)
        entry = read.checkpoint(connection, ref.run_id, ref.branch, sequence)
        if entry is None:
            last = Ref(ref.run_id, ref.branch, row.head_sequence or None)
            raise UnknownCheckpoint(str(named), str(last) if row.head_sequence else "")
        stored = read.body(connection, ref.run_id, ref.branch, entry.entry)
        body = objects.unpack_record(stored or b"", str(named))
        return Opened(
            entry, body["root"], str(body["type"]), int(body["version"]), body["contract"], body.get("parent")
        )

    def tree(self, connection: Connection) -> TreeReader:
        """Follows the references of a checkpoint."""

        def get(digests: Iterable[bytes]) -> dict[bytes, bytes]:
            wanted = list(digests)
            return objects.from_rows(wanted, read.objects(connection, wanted) if wanted else {}, self._blobs)

        return TreeReader(get)


@contextmanager
def reading() -> Iterator[Reading]:
    """The configured store, to be read.

    Raises:
        StoreMissing, SchemaTooOld, SchemaTooNew, StoreError: see `Store.open`.
    """
    held = settings()
    store = Store.open(held.store_url, create=False, upgrade=False)
    try:
        yield Reading(held, store)
    finally:
        store.close()


@contextmanager
def recording() -> Iterator[Recorder]:
    """The configured store, to be judged or written; unlike an agent's recorder it sends no spans at the end.

    Raises:
        StoreMissing, SchemaTooOld, SchemaTooNew, StoreError: see `Store.open`.
    """
    held = settings()
    recorder = Recorder(held, Store.open(held.store_url, create=False, upgrade=False))
    try:
        yield recorder
    finally:
        recorder.heart.close()
        recorder.journal.close()
        recorder.store.close()


def where(store: Store) -> str:
    """Which store it is, without a password."""
    return str(store.path) if store.path is not None else store.url.render_as_string(hide_password=True)


def masked(plain: Any) -> Any:
    """A stored value for people: same shape, secrets as placeholders."""
    return mask_plain(plain)


def record(stored: bytes, name: str) -> dict[str, Any]:
    """The body of an entry, references unfollowed."""
    return objects.unpack_record(stored, name)


def plain_of(stored: bytes, name: str) -> Any:
    """The plain value of packed bytes."""
    return codec.decode(objects.unpack(stored, name))


def program() -> str:
    """How this command line was called, so that a printed line works as it stands."""
    store = click.get_current_context().find_root().params.get("store")
    return f"waypost --store {shlex.quote(store)}" if store else "waypost"
