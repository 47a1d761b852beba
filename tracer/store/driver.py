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
    dialect = connection.dialect
    assert dialect.dbapi is not None
    raised: type[Exception] = dialect.dbapi.Error
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
    except raised as error:
        invalid = dialect.is_disconnect(error, connection.connection, None)  # type: ignore[arg-type]
        raise DBAPIError.instance(
            text, None, error, raised, connection_invalidated=invalid, dialect=dialect
        ) from error
