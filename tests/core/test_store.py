"""What does the store say when it is missing, older, newer, damaged or not ours; and is it what it is described as?"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from tracer.errors import (
    IntegrityError,
    SchemaTooNew,
    SchemaTooOld,
    StoreError,
    StoreMissing,
    UnknownRun,
    WaypostError,
)
from tracer.recorder import Recorder
from tracer.store import migrate, read
from tracer.store.blobs import FolderBlobs
from tracer.store.engine import Store
from tracer.store.tables import SCHEMA, metadata


def test_a_store_of_this_release_is_exactly_what_the_tables_describe(held: Recorder) -> None:
    assert migrate.drift(held.store) == []
    assert migrate.head() == SCHEMA == held.store.schema()
    assert migrate.pending(held.store) == []


def test_columns_keep_the_order_in_which_they_are_described(held: Recorder) -> None:
    with held.store.reader.connect() as connection:
        for table in metadata.sorted_tables:
            found = [row[1] for row in connection.exec_driver_sql(f"PRAGMA table_info('{table.name}')")]
            assert found == [column.name for column in table.columns], table.name


def test_a_drift_is_seen(held: Recorder, home: Path) -> None:
    connection = sqlite3.connect(home / "waypost.db")
    connection.execute("ALTER TABLE run ADD COLUMN surprise TEXT")
    connection.close()
    assert "surprise" in str(migrate.drift(held.store))


def test_a_missing_store_is_named_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreMissing, match="WAYPOST_STORE") as missing:
        Store.open(tmp_path / "nowhere" / "waypost.db", create=False)
    assert str(tmp_path / "nowhere") in str(missing.value)
    assert list(tmp_path.iterdir()) == []


def stand_at(path: Path, version: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE waypost_schema SET version_num = ?", (version,))
    connection.close()


def test_a_newer_store_is_refused_and_left_alone(home: Path) -> None:
    stand_at(home / "waypost.db", "9999")
    before = (home / "waypost.db").read_bytes()
    with pytest.raises(SchemaTooNew, match="Upgrade waypost") as refused:
        Store.open(home / "waypost.db")
    assert (refused.value.found, refused.value.wanted) == ("9999", SCHEMA)
    assert (home / "waypost.db").read_bytes() == before


def test_an_older_store_names_the_command_when_it_may_not_be_changed(home: Path, tmp_path: Path) -> None:
    stand_at(home / "waypost.db", "0000")
    with pytest.raises(SchemaTooOld, match="waypost db upgrade"):
        Store.open(home / "waypost.db", upgrade=False)
    (tmp_path / "empty.db").touch()
    with pytest.raises(SchemaTooOld):
        Store.open(tmp_path / "empty.db", upgrade=False)


@pytest.mark.parametrize(
    "content", [b"this is a text, not a database" * 200, b"SQLite format 3\x00" + bytes(5_000)]
)
def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(content)
    with pytest.raises(WaypostError, match=r"letter\.txt"):
        Store.open(path)
    assert path.read_bytes() == content


def test_a_folder_in_the_place_of_a_store_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=str(tmp_path)):
        Store.open(tmp_path)


def test_a_reader_meets_our_errors_and_never_the_drivers(held: Recorder, home: Path) -> None:
    connection = sqlite3.connect(home / "waypost.db")
    connection.execute("DROP TABLE entry")
    connection.close()
    with held.store.reader.connect() as reading, pytest.raises(StoreError, match="no such table"):
        read.entries(reading, "r1")


def test_an_unknown_run_is_named_with_its_store(held: Recorder) -> None:
    import tracer

    with pytest.raises(UnknownRun, match="nobody"):
        tracer.preflight("nobody")


def test_readers_cannot_write(held: Recorder) -> None:
    with held.store.reader.connect() as connection, pytest.raises(StoreError, match="readonly"):
        connection.exec_driver_sql("DELETE FROM entry")


# -- blobs -----------------------------------------------------------------------------------------------------


def test_a_blob_comes_back_and_a_second_put_changes_nothing(tmp_path: Path) -> None:
    blobs, key = FolderBlobs(tmp_path), "ab" * 32
    blobs.put(key, b"bytes")
    stamp = os.stat(tmp_path / "ab" / key).st_mtime_ns
    blobs.put(key, b"bytes")
    assert blobs.get(key) == b"bytes"
    assert os.stat(tmp_path / "ab" / key).st_mtime_ns == stamp


@pytest.mark.parametrize("key", ["../../etc/passwd", "AB" * 32, "ab", "", "ab" * 32 + "\n", "/" + "a" * 63])
def test_a_key_that_is_no_digest_never_reaches_the_file_system(tmp_path: Path, key: str) -> None:
    for use in (lambda: FolderBlobs(tmp_path).get(key), lambda: FolderBlobs(tmp_path).put(key, b"")):
        with pytest.raises(IntegrityError, match="64 hex digits"):
            use()
    assert list(tmp_path.iterdir()) == []


def test_a_missing_blob_is_an_integrity_error(tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match="it is not in"):
        FolderBlobs(tmp_path).get("cd" * 32)
