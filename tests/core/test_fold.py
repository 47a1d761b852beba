"""Does the WAL go back into the database without anybody waiting for it?"""

import sqlite3

from sqlalchemy import insert

from tracer.store.engine import Store
from tracer.store.tables import sealed


def in_the_file_itself(path):
    """Rows that a reader sees who knows of no WAL."""
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    try:
        return connection.execute("SELECT count(*) FROM sealed").fetchone()[0]
    finally:
        connection.close()


def write(store, number):
    with store.writer.begin() as connection:
        connection.execute(insert(sealed).values(fingerprint=bytes([number]), data=b"ciphertext"))


def test_what_was_committed_is_in_the_database_file_after_a_fold(tmp_path):
    with Store.open(tmp_path / "waypost.db") as store:
        store.fold()
        write(store, 1)
        assert in_the_file_itself(tmp_path / "waypost.db") == 0
        store.fold()
        assert in_the_file_itself(tmp_path / "waypost.db") == 1


def test_a_fold_neither_waits_for_a_writer_nor_stops_one(tmp_path):
    with Store.open(tmp_path / "waypost.db") as store:
        write(store, 1)
        with store.writer.begin() as connection:
            connection.execute(insert(sealed).values(fingerprint=b"2", data=b"ciphertext"))
            store.fold()
        assert in_the_file_itself(tmp_path / "waypost.db") == 1


def test_the_wal_begins_anew_after_a_fold_so_that_it_stays_short(tmp_path):
    wal = tmp_path / "waypost.db-wal"
    with Store.open(tmp_path / "waypost.db") as store:
        for number in range(20):
            write(store, number)
        before = wal.stat().st_size
        for number in range(20, 200):
            write(store, number)
            store.fold()
        assert wal.stat().st_size < before + 10 * 4096
