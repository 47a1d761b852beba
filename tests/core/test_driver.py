"""Does what the driver refuses come out as SQLAlchemy would have raised it?"""

import sqlite3

import pytest
from sqlalchemy import create_engine
from sqlalchemy.exc import IntegrityError, OperationalError

from tracer.errors import StoreLocked
from tracer.store import driver, engine
from tracer.store.engine import Store, translated


@pytest.fixture
def connection(tmp_path):
    made = create_engine(f"sqlite:///{tmp_path / 'x.db'}")
    with made.connect() as opened:
        opened.exec_driver_sql("CREATE TABLE part (name TEXT PRIMARY KEY)")
        yield opened
    made.dispose()


def test_every_row_of_values_is_executed_and_counted(connection):
    assert driver.run(connection, "INSERT INTO part VALUES (?)", [("a",), ("b",)]) == 2
    assert driver.run(connection, "UPDATE part SET name = name || ?", [("!",)]) == 2
    assert driver.fetch(connection, "SELECT name FROM part WHERE name > ?", ("a",)) == [("a!",), ("b!",)]


def test_a_broken_rule_of_the_table_is_an_integrity_error_with_its_statement(connection):
    with pytest.raises(IntegrityError, match="INSERT INTO part") as caught:
        driver.run(connection, "INSERT INTO part VALUES (?)", [("a",), ("a",)])
    assert isinstance(caught.value.orig, sqlite3.IntegrityError)


def test_a_question_that_is_none_is_an_operational_error(connection):
    with pytest.raises(OperationalError, match="no such table: nobody"):
        driver.fetch(connection, "SELECT name FROM nobody", ())


def test_a_writer_that_waits_too_long_is_told_that_the_store_is_locked(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "BUSY_S", 0.05)
    with (
        Store.open(tmp_path / "waypost.db") as one,
        Store.open(tmp_path / "waypost.db") as two,
        one.writer.begin(),
        pytest.raises(StoreLocked),
        translated(two.url),
        two.writer.begin(),
    ):
        pass
