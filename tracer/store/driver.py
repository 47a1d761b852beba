"""How does a statement reach the database driver without SQLAlchemy's work for every statement?

Compiled text goes to the driver's cursor, in the transaction that SQLAlchemy began; what the driver raises comes
out as SQLAlchemy would have raised it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

Rows = Sequence[Sequence[Any]] | Sequence[Mapping[str, Any]]


def run(connection: Connection, text: str, rows: Rows) -> int:
    """Execute *text* once for every row of values; how many rows of the database it touched.

    Raises:
        DBAPIError: the driver refused.
    """
    try:
        cursor = connection.connection.cursor()
        try:
            if len(rows) == 1:
                cursor.execute(text, rows[0])
            else:
                cursor.executemany(text, rows)
            return int(cursor.rowcount)
        finally:
            cursor.close()
    except _errors(connection) as error:
        raise _wrapped(connection, text, error) from error


def fetch(connection: Connection, text: str, values: Sequence[Any] | Mapping[str, Any]) -> Sequence[Any]:
    """The rows that *text* finds, as the driver gives them.

    Raises:
        DBAPIError: the driver refused.
    """
    if not connection.in_transaction():  # so that what is read next is of the same moment
        connection.begin()
    try:
        cursor = connection.connection.cursor()
        try:
            cursor.execute(text, values)
            return cursor.fetchall()
        finally:
            cursor.close()
    except _errors(connection) as error:
        raise _wrapped(connection, text, error) from error


def _errors(connection: Connection) -> type[Exception]:
    assert connection.dialect.dbapi is not None
    return connection.dialect.dbapi.Error


def _wrapped(connection: Connection, text: str, error: Exception) -> DBAPIError:
    dialect = connection.dialect
    invalid = dialect.is_disconnect(error, connection.connection, None)  # type: ignore[arg-type]
    found = DBAPIError.instance(
        text, None, error, _errors(connection), connection_invalidated=invalid, dialect=dialect
    )
    assert isinstance(found, DBAPIError)
    return found
