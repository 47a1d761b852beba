"""Which tickets does the service know, and which requests for one has it ever received?

The service's own database, apart from everything the agent stores: whether an effect happened twice is asked
here, not at the party that may have lost its memory.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from examples.licence_audit.errors import KeyUsedForAnother

_SCHEMA = """
CREATE TABLE IF NOT EXISTS ticket (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key    TEXT NOT NULL UNIQUE,
    dist   TEXT NOT NULL,
    rule   TEXT NOT NULL,
    text   TEXT NOT NULL,
    at     INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS request (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key    TEXT NOT NULL,
    dist   TEXT NOT NULL,
    rule   TEXT NOT NULL,
    text   TEXT NOT NULL,
    ticket INTEGER NOT NULL REFERENCES ticket (number),
    fate   TEXT NOT NULL,
    at     INTEGER NOT NULL
);
"""


@dataclass(frozen=True, slots=True)
class Ticket:
    """One ticket, as it was first opened."""

    number: int
    key: str
    dist: str
    rule: str
    text: str
    at: int
    """Nanoseconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request for a ticket that reached the service, whatever became of its answer."""

    number: int
    """Counts from 1 in the order of commits."""
    key: str
    dist: str
    rule: str
    text: str
    ticket: int
    fate: str
    """`answer`, `drop` or `withhold`: what was to happen after the commit."""
    at: int
    """Nanoseconds since the epoch."""


class TicketStore:
    """The database at *path*; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._base = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = FULL")
        self._base.executescript(_SCHEMA)

    def open(
        self, key: str, dist: str, rule: str, text: str, fates: dict[int, str]
    ) -> tuple[Ticket, bool, Request]:
        """Return the ticket of *key*, whether it is new, and the request that was written with it.

        Ticket and request are one synced transaction. *fates* says for a request's number what to write down
        instead of `answer`. Raises KeyUsedForAnother when *key* is known for another (dist, rule); the text
        is free to differ.
        """
        at = time.time_ns()
        with self._lock:
            self._base.execute("BEGIN IMMEDIATE")
            try:
                row = self._base.execute(f"{_TICKET} WHERE key = ?", (key,)).fetchone()
                if row is not None and (row[2], row[3]) != (dist, rule):
                    raise KeyUsedForAnother(key, row[2], row[3])
                if row is None:
                    made = self._base.execute(
                        "INSERT INTO ticket (key, dist, rule, text, at) VALUES (?, ?, ?, ?, ?)",
                        (key, dist, rule, text, at),
                    )
                    ticket = Ticket(int(made.lastrowid or 0), key, dist, rule, text, at)
                else:
                    ticket = Ticket(*row)
                request = self._counted(ticket, text, fates, at)
            except BaseException:
                self._base.execute("ROLLBACK")
                raise
            self._base.execute("COMMIT")
        return ticket, row is None, request

    def _counted(self, ticket: Ticket, text: str, fates: dict[int, str], at: int) -> Request:
        number = 1 + self._base.execute("SELECT COALESCE(MAX(number), 0) FROM request").fetchone()[0]
        fate = fates.get(number, "answer")
        row = (number, ticket.key, ticket.dist, ticket.rule, text, ticket.number, fate, at)
        self._base.execute(
            "INSERT INTO request (number, key, dist, rule, text, ticket, fate, at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
        return Request(*row)

    def tickets(self) -> list[Ticket]:
        """Return every ticket, by number."""
        with self._lock:
            return [Ticket(*row) for row in self._base.execute(f"{_TICKET} ORDER BY number")]

    def requests(self) -> list[Request]:
        """Return every request, by number."""
        with self._lock:
            rows = self._base.execute(
                "SELECT number, key, dist, rule, text, ticket, fate, at FROM request ORDER BY number"
            )
            return [Request(*row) for row in rows]

    def close(self) -> None:
        """Close the database; the store is of no use afterwards."""
        with self._lock:
            self._base.close()


_TICKET = "SELECT number, key, dist, rule, text, at FROM ticket"
