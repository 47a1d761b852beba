"""How is the store opened, and is it one that this release can use?"""

from __future__ import annotations

import os
import re
import sqlite3
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from sqlalchemy import Engine, create_engine, event, make_url
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import ExceptionContext
from sqlalchemy.exc import ArgumentError, DBAPIError

from ..errors import (
    ConfigError,
    IntegrityError,
    SchemaTooNew,
    SchemaTooOld,
    StoreError,
    StoreFull,
    StoreGone,
    StoreLocked,
    StoreMissing,
    WaypostError,
)
from . import driver, read
from .tables import SCHEMA

BUSY_S: Final = 30.0
"""Seconds a writer waits for another one."""
WAL_PAGES: Final = 10_000
"""Pages (40 MB) of WAL from which a commit folds it back itself. SQLite's own 1,000 would make one checkpoint in
a hundred wait for three fsyncs instead of one; `Store.fold` keeps the WAL of an agent that thinks far below this."""
BEGIN_WRITE: Final = "BEGIN IMMEDIATE"
"""A writer that begins as a reader and finds out too late that another one was there cannot wait: it fails."""


class Store:
    """One open database: an engine that writes (each transaction takes the lock first) and one that only reads."""

    def __init__(self, url: URL) -> None:
        self.url = url
        self.path = Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None
        self.writer = _engine(url, write=True)
        self.reader = _engine(url, write=False)
        self._file: Path | None = None
        """Where the file lies, whatever the process's working folder is later."""
        self._seen: tuple[int, int] | None = None
        event.listen(self.reader, "handle_error", self._read_failed)

    @classmethod
    def open(cls, where: str | Path, *, create: bool = True, upgrade: bool = True) -> Store:
        """The store at a path or SQLAlchemy URL; a SQLite store is made and brought up to date on the way.

        Raises:
            StoreMissing: there is none and *create* is false.
            SchemaTooOld, SchemaTooNew: it stands at another migration.
            StoreError: it cannot be opened (the message names the file).
        """
        url = parsed_url(where)
        path = Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None
        if path is not None and not path.exists():
            if not create:
                raise StoreMissing(str(path))
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        store = cls(url)
        try:
            store._check(upgrade=upgrade and path is not None)
            if path is not None and path.exists():
                store._file = path.absolute()
                store._seen = _inode(store._file)
        except BaseException:
            store.close()
            raise
        return store

    def _check(self, *, upgrade: bool) -> None:
        with translated(self.url):
            found = self.schema()
            if found == SCHEMA:
                return
            if upgrade and (found is None or found < SCHEMA):
                from . import migrate

                migrate.upgrade(self)
                return
        if found is None or found < SCHEMA:
            raise SchemaTooOld(found or "none", SCHEMA)
        raise SchemaTooNew(found, SCHEMA)

    def schema(self) -> str | None:
        """The migration the store stands at; None for an empty one."""
        with self.reader.connect() as connection:
            return read.schema(connection)

    def require_present(self) -> None:
        """Raise when the file that this store is has gone: SQLite itself writes on into the deleted one.

        Raises:
            StoreGone: the file was deleted, or another one stands in its place.
        """
        if self._file is None:
            return
        try:
            found = _inode(self._file)
        except FileNotFoundError:
            raise StoreGone(str(self._file), "no such file any more") from None
        except OSError as error:
            raise StoreGone(str(self._file), f"it cannot be looked at: {error.strerror}") from error
        if found != self._seen:
            raise StoreGone(str(self._file), "another file stands in its place")

    def fold(self) -> None:
        """Write the WAL back into the database, as far as nobody needs it any more. No writer waits for it.

        Raises:
            StoreError: the database refused.
        """
        if self.path is None:
            return
        with translated(self.url):
            connection = self.reader.raw_connection()  # outside a transaction, where SQLite permits it
            try:
                cursor = connection.cursor()
                # It only learns at its first look that the database has a WAL.
                cursor.execute("PRAGMA schema_version")
                cursor.fetchall()
                cursor.execute("PRAGMA wal_checkpoint(PASSIVE)")
                cursor.close()
            finally:
                connection.close()

    def _read_failed(self, context: ExceptionContext) -> None:
        """Whoever reads gets our errors, also where he did not ask for them."""
        error = context.original_exception
        if isinstance(error, sqlite3.Error | UnicodeError):
            raise _by_message(str(error), self.url) from error

    def close(self) -> None:
        """Give back every connection."""
        self.writer.dispose()
        self.reader.dispose()

    def abandon(self) -> None:
        """After a fork: forget the parent's connections without touching them."""
        self.writer.dispose(close=False)
        self.reader.dispose(close=False)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _inode(file: Path) -> tuple[int, int]:
    seen = os.stat(file)
    return seen.st_dev, seen.st_ino


class translated:
    """Turns the database's own errors into ours, with the remedy."""

    def __init__(self, url: URL) -> None:
        self._url = url

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, DBAPIError):
            raise translate(error, self._url) from error
        if isinstance(error, sqlite3.Error):
            raise _by_message(str(error), self._url) from error


def translate(error: DBAPIError, url: URL) -> WaypostError:
    """Our error for the driver's."""
    return _by_message(str(error.orig), url)


def _by_message(message: str, url: URL) -> WaypostError:
    where = url.render_as_string(hide_password=True)
    if "disk is full" in message or "No space left" in message or "disk I/O error" in message:
        return StoreFull(where, message)
    if "locked" in message or "busy" in message:
        return StoreLocked(where, BUSY_S)
    if "malformed" in message or "decode" in message:
        return IntegrityError(where, f"the database itself is damaged: {message}")
    return StoreError(f"{where}: {message}")


def parsed_url(where: str | Path) -> URL:
    """The SQLAlchemy URL that a path or URL means.

    Raises:
        ConfigError: it is no URL, or the driver for it is not installed.
    """
    if isinstance(where, str) and "://" in where:
        try:
            url = make_url(where)
            if url.drivername in ("postgresql", "postgres"):
                url = url.set(drivername="postgresql+psycopg")
            url.get_dialect().import_dbapi()
        except (ArgumentError, ImportError) as error:
            shown = re.sub(r"//[^@/]*@", "//…@", where)
            raise ConfigError(
                f"The store is {shown!r}, and {error}. Use the path of a SQLite file, or postgresql://…"
            ) from error
        return url
    return URL.create("sqlite", database=os.fspath(where))


def _engine(url: URL, *, write: bool) -> Engine:
    if url.get_backend_name() != "sqlite":
        options: dict[str, Any] = {"pool_pre_ping": True}
        return create_engine(url, **options)
    engine = create_engine(url, connect_args={"timeout": BUSY_S, "check_same_thread": False})

    def connect(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout={int(BUSY_S * 1000)}")
        if write:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute(f"PRAGMA wal_autocheckpoint={WAL_PAGES}")
        else:
            connection.execute("PRAGMA query_only=ON")

    def begin(connection: Any) -> None:
        driver.run(connection, BEGIN_WRITE if write else "BEGIN", ((),))

    event.listen(engine, "connect", connect)
    event.listen(engine, "begin", begin)
    return engine
