"""From where do the pages get their rows, and how does a decision reach the journal?

The pages only read: a read-only engine, one connection a request. The one writer is a decision of a person.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection

from tracer import codec, standing
from tracer.config import Settings
from tracer.journal import Journal
from tracer.signing import Signing
from tracer.store import objects, read
from tracer.store.blobs import FolderBlobs
from tracer.store.engine import Store, translated
from tracer.store.rows import RunRow
from tracer.tree import TreeReader


class Source:
    """One store, as the inspector uses it."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self.settings = settings
        self.store = store
        self.blobs = FolderBlobs(settings.home_path / "blobs")
        signing = Signing(settings.chain_key_bytes(), settings.chain_key_name)
        self.journal = Journal(store, blobs=self.blobs, signing=signing)

    @classmethod
    def open(cls, settings: Settings) -> Source:
        """The store that *settings* name; it is never made here.

        Raises:
            StoreMissing, SchemaTooOld, SchemaTooNew, StoreError: see `Store.open`.
        """
        return cls(settings, Store.open(settings.store_url, create=False))

    def close(self) -> None:
        """Give every connection back."""
        self.journal.close()
        self.store.close()

    @property
    def name(self) -> str:
        """Which store it is, for the head of the page; never a password."""
        if self.store.path is not None:
            return f"{self.store.path.parent.name}/{self.store.path.name}"
        return self.store.url.render_as_string(hide_password=True)

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A read-only connection; the database's errors come out as ours."""
        with translated(self.store.url), self.store.reader.connect() as connection:
            yield connection

    def tree(self, connection: Connection) -> TreeReader:
        """Rebuilds stored values over *connection*."""

        return TreeReader(lambda digests: self.objects(connection, digests))

    def objects(self, connection: Connection, digests: Iterable[bytes]) -> dict[bytes, bytes]:
        """Digest -> bytes, each checked; IntegrityError when one is missing or damaged."""
        wanted = list(digests)
        return objects.from_rows(wanted, read.objects(connection, wanted) if wanted else {}, self.blobs)

    def opened(self, stored: bytes, where: str) -> Any:
        """The plain tree of stored (packed) bytes; references are left as they are.

        Raises:
            IntegrityError: the bytes are damaged (*where* names the row).
        """
        return codec.decode(objects.unpack(stored, where))

    def standing(self, row: RunRow) -> str:
        """The state to show: a running run whose owner is dead is `interrupted`, a silent one `lost`."""
        return str(standing.state_of(row, time.time_ns()))
