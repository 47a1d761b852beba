"""How much processor time does a checkpoint take over what SQLite itself needs for the same rows?

Our run comes first; then its very rows go through the bare `sqlite3` module into a database with the same tables:
the objects, the entry and the branch head of every checkpoint, in one transaction, with the same settings.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from . import corpus, ours
from .line import Line, line
from .measure import CPU, interleaved, quiet, ratio

N: Final = 1_000
ROUNDS: Final = 5
TARGET: Final = 4.0
SETTINGS: Final = ("journal_mode", "synchronous", "wal_autocheckpoint", "page_size")
HEAD: Final = ("head_entry", "head_sequence", "head_tag", "step", "checkpoint_at", "position", "updated_at")


@dataclass(frozen=True, slots=True)
class Written:
    """What a run left in its store: the tables, and per checkpoint its rows."""

    schema: list[str]
    version: int
    branch: dict[str, Any]
    entry_columns: list[str]
    steps: list[tuple[list[tuple[bytes, bytes]], tuple[Any, ...]]]


def lines() -> Iterator[Line]:
    """CPU of our checkpoints over that of the bare rows."""
    words = corpus.words(N)
    kept: list[Written] = []

    def ours_once() -> float:
        with ours.scratch("floor") as folder:
            with ours.home(folder) as path, quiet():
                spent = sum(ours.chat(words.messages, CPU))
            kept[:] = [read_back(path)]
        return spent

    def bare_once() -> float:
        with ours.scratch("floor") as folder, quiet():
            return sum(write_bare(folder / "bare.db", kept[0]))

    ours_once()
    mine, bare = interleaved(ROUNDS, ours_once, bare_once)
    detail = {
        **words.said(),
        "rounds": ROUNDS,
        "ours_us": [round(spent / N * 1e6) for spent in mine],
        "sqlite_us": [round(spent / N * 1e6) for spent in bare],
    }
    yield line("store-floor", ratio(mine, bare), TARGET, "at most", detail)


def read_back(path: Path) -> Written:
    """The rows of every checkpoint after the first, in the order in which they were written."""
    with sqlite3.connect(path) as connection:
        schema = [
            sql
            for (sql,) in connection.execute(
                "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid"
            )
        ]
        rows = connection.execute("SELECT * FROM entry WHERE sequence IS NOT NULL ORDER BY entry")
        columns = [name for name, *_ in rows.description]
        entries = rows.fetchall()
        objects = connection.execute("SELECT digest, data FROM object ORDER BY rowid").fetchall()
        head = connection.execute("SELECT * FROM branch")
        branch = dict(zip((name for name, *_ in head.description), head.fetchone(), strict=True))
        version = connection.execute("PRAGMA user_version").fetchone()[0]
    connection.close()
    entries = [entry for entry in entries if entry[columns.index("mark")] == "step"][1:]
    return Written(
        schema, version, branch, columns, list(zip(_shared(objects, len(entries)), entries, strict=True))
    )


def write_bare(path: Path, written: Written) -> list[float]:
    """The same rows, by hand; what each transaction took of the processor, in seconds."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    for statement in written.schema:
        connection.execute(statement)
    names = list(written.branch)
    connection.execute(_insert("branch", names), list(written.branch.values()))
    add = _insert("entry", written.entry_columns)
    move = (
        f"UPDATE branch SET {', '.join(f'{name}=?' for name in HEAD)}, size=size+? "
        "WHERE run_id=? AND branch=? AND epoch=?"
    )
    where = (written.branch["run_id"], written.branch["branch"], written.branch["epoch"])
    place = {name: number for number, name in enumerate(written.entry_columns)}
    wanted = [place[name] for name in ("entry", "sequence", "tag", "subject", "at", "sequence", "at")]
    laps: list[float] = []
    for objects, entry in written.steps:
        began = CPU()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(move, (*(entry[at] for at in wanted), entry[place["size"]], *where))
        connection.executemany(
            "INSERT INTO object (digest, data) VALUES (?, ?) ON CONFLICT DO NOTHING", objects
        )
        connection.execute(add, entry)
        connection.execute("COMMIT")
        laps.append(CPU() - began)
    connection.close()
    return laps


def _insert(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def _shared(objects: Sequence[tuple[bytes, bytes]], parts: int) -> Iterator[list[tuple[bytes, bytes]]]:
    """The objects dealt out evenly, in their order: which checkpoint wrote which is not kept in a store."""
    borders = [len(objects) * number // parts for number in range(parts + 1)]
    for start, end in pairwise(borders):
        yield list(objects[start:end])
