"""What does a view need from the request?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from flask import request

from inspector import security
from inspector.build.context import Context
from inspector.respond import source
from tracer.store import read
from tracer.store.rows import RunRow


@contextmanager
def reading() -> Iterator[Context]:
    """A context over one read-only connection."""
    found = source()
    with found.connect() as connection:
        yield Context(found, connection, security.who(), time.time_ns())


def branch_run(context: Context, run_id: str) -> RunRow:
    """The run of the address, on the branch it asks for."""
    return context.run(run_id, request.args.get("branch", read.MAIN))


def number(name: str, default: int = 0) -> int:
    """A whole number of the query string; *default* when it is none."""
    value = request.args.get(name, "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 19 else default


def word(name: str, most: int = 400) -> str:
    """A text of the query string."""
    return request.args.get(name, "")[:most]
