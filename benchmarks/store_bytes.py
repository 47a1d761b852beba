"""How many bytes does a conversation take in the store, over the bytes of its different messages?

Everything is counted: the database with its WAL folded back, the key file, contract, trace context, indexes and
the empty pages of tables that the run did not need.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from . import corpus, ours
from .corpus import Corpus
from .line import Line, line
from .measure import say

N: Final = 2_000
TARGET: Final = 1.5


def lines() -> Iterator[Line]:
    """Bytes in the store for each corpus."""
    for made in (corpus.words(N), corpus.licences(N)):
        say(f"  {made.name}: {len(made.messages)} messages")
        yield _figure(made)


def _figure(made: Corpus) -> Line:
    with ours.scratch("bytes") as folder:
        with ours.home(folder) as path:
            ours.chat(made.messages)
        total = ours.stored_bytes(path)
        rows, payload = _rows(path)
    unique = made.unique_bytes
    detail = {**made.said(), "stored_bytes": total, "rows": rows, "row_bytes": payload}
    return line(f"store-bytes {made.name}", total / unique, TARGET, "at most", detail)


def _rows(path: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Table -> rows, and where the bytes that are no page overhead lie: table -> bytes of its large columns."""
    large = {"object": "length(data) + length(digest)", "entry": "length(body) + length(span) + length(tag)"}
    with sqlite3.connect(path) as connection:
        rows = {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("entry", "object")
        }
        payload = {
            table: connection.execute(f"SELECT coalesce(sum({column}), 0) FROM {table}").fetchone()[0]
            for table, column in large.items()
        }
    connection.close()
    return rows, payload
