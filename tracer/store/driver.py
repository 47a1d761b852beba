"""How does a statement reach the database driver without SQLAlchemy's work for every statement?

Compiled text goes to the driver's cursor, in the transaction that SQLAlchemy began; what the driver raises comes
out as SQLAlchemy would have raised it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.exc import DBAPIError

Rows = Sequence[Sequence[Any]] | Sequence[Mapping[str, Any]]


def run(connection: Connection, text: str, rows: Rows) -> int:
    """Execute *text* once for every row of values; how many rows of the database it touched.

    Raises:
        DBAPIError: the driver refused.
    """
    with _cursor(connection, text) as cursor:
        if len(rows) == 1:
            cursor.execute(text, rows[0])
        else:
            cursor.executemany(text, rows)
        return int(cursor.rowcount)


def fetch(connection: Connection, text: str, values: Sequence[Any] | Mapping[str, Any]) -> Sequence[Any]:
    """The rows that *text* finds, as the driver gives them.

    Raises:
        DBAPIError: the driver refused.
    """
    if not connection.in_transaction():  # so that what is read next is of the same moment
        connection.begin()
    with _cursor(connection, text) as cursor:
        cursor.execute(text, values)
        return cursor.fetchall()


@contextmanager
def _cursor(connection: Connection, text: str) -> Iterator[DBAPICursor]:
    dialect = connection.dialect
    assert dialect.dbapi is not None
    raised: type[Exception] = dialect.dbapi.Error
    try:
        cursor = connection.connection.cursor()
        try:
            yield cursor
        finally:
            cursor.close()
    except raised as error:
        invalid = dialect.is_disconnect(error, connection.connection, None)  # type: ignore[arg-type]
        raise DBAPIError.instance(
            text, None, error, raised, connection_invalidated=invalid, dialect=dialect
        ) from error
