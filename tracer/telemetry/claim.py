"""Who sends the spans of this store right now? One process at a time, or each would send what all of them wrote."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..store.engine import Store

_held: set[int] = set()


@contextmanager
def claim(store: Store) -> Iterator[bool]:
    """Whether this block may send; false while another process or outbox does. Ends with the process, however.

    Only SQLite stores are claimed: elsewhere two senders at once cost duplicates with the same ids, no more.
    """
    if store.path is None:
        yield True
        return
    try:
        handle = os.open(f"{store.path}-export", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:  # a folder that cannot be written to: the acknowledgement will say so
        yield True
        return
    _held.add(handle)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
            fcntl.flock(handle, fcntl.LOCK_UN)
    finally:
        _held.discard(handle)
        os.close(handle)


def _forget() -> None:
    # A forked child shares the lock and would hold it after its parent's death.
    for handle in _held:
        os.close(handle)
    _held.clear()


os.register_at_fork(after_in_child=_forget)
