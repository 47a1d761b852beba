"""When are spans sent? As soon as they may be, from a thread of ours that never holds the agent up.

The store is the queue: memory holds one batch, and what a dead process owed is sent by the next one.
"""

from __future__ import annotations

import logging
import os
import random
import threading
import time
from typing import Final

from ..errors import WaypostError
from ..journal import Journal
from ..store import read
from ..store.engine import Store, translated
from . import names
from .claim import claim
from .drain import BATCH, Drain, Round
from .export import BUSY_S, ExportReport, export_pending
from .owed import MaskKey
from .provider import Tracing
from .recovery import Dead
from .wire import Sent

__all__ = ["ExportReport", "Outbox", "export_pending"]

LINGER_S: Final = 2.0
"""How long a first row waits for company (a request costs 3 ms of CPU, a span 0.1); `OTEL_BSP_SCHEDULE_DELAY` (ms)
sets it. Whoever watches live reads the store, not the collector."""
AT_WORK_S: Final = 0.05
"""Since its last step the agent counts as at work for so long."""
PROBE: Final = 16
"""Spans in a try while the collector is down: building more for nothing would only disturb the agent."""
FIRST_S, MOST_S = 1.0, 60.0
"""Waiting after the first failure and the longest one; a fifth more or less, so that processes do not march in step."""
_log: Final = logging.getLogger(names.LOGGER)


class Outbox:
    """Sends the spans of one store in the background. Without an endpoint it sends nothing and they wait."""

    def __init__(
        self,
        store: Store,
        journal: Journal,
        tracing: Tracing,
        *,
        linger_s: float | None = None,
        batch: int = BATCH,
        dead: Dead | None = None,
        mask_key: MaskKey | None = None,
    ) -> None:
        """Set up; nothing is started before the first row.

        Args:
            linger_s: seconds that a first row waits for company.
            batch: spans in one request, at most 512.
            dead: says of a segment's owner whether it is proven dead; then its root is sent for it.
            mask_key: the fingerprint key of the store, so that equal secrets look equal in all its spans.
        """
        size = _number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", batch)
        self._store = store
        self._drain = Drain(
            store, journal, tracing, batch=size, dead=dead, pace=self._agent_works, mask_key=mask_key
        )
        delay = _number("OTEL_BSP_SCHEDULE_DELAY", LINGER_S * 1000) / 1000
        self._linger_s = delay if linger_s is None else linger_s
        self._works = tracing.enabled and tracing.endpoint is not None
        self._where = tracing.endpoint or ""
        self._pid = os.getpid()
        self._wake = threading.Event()
        self._hurry = threading.Event()
        self._changed = threading.Condition()
        self._asked = self._served = 0
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()
        self._down = False
        self._failures = 0
        self._written = 0.0
        self.refused = 0
        """Rows put aside so far, because the collector took others and never these."""

    @property
    def down(self) -> bool:
        """Whether the last try failed."""
        return self._down

    def notify(self) -> None:
        """There is something to send. Costs the caller next to nothing."""
        # The pid first: a lock that another thread held when this process was forked is never released.
        if not self._works or self._pid != os.getpid():
            return
        self._written = time.monotonic()
        if self._wake.is_set():
            return
        if self._thread is None:
            self._start()
        self._wake.set()

    def flush(self, timeout_s: float) -> int:
        """Try to send all there is, for at most *timeout_s* seconds; how many rows are still owed.

        Returns early when the collector does not answer.
        """
        if self._pid != os.getpid():
            return 0
        if self._works and not self._closed.is_set() and self._start():
            with self._changed:
                self._asked += 1
                mine = self._asked
                self._hurry.set()
                self._wake.set()
                self._changed.wait_for(
                    lambda: self._served >= mine or self._closed.is_set(), max(0.0, timeout_s)
                )
        return self._owed()

    def close(self, timeout_s: float) -> int:
        """Flush, end the thread and close the connection; how many rows are still owed. May be called twice."""
        if self._pid != os.getpid() or self._closed.is_set():
            return 0
        until = time.monotonic() + timeout_s
        # Whoever only looked at the store has nothing to send.
        left = self.flush(timeout_s) if self._thread is not None else 0
        self._closed.set()
        thread, wire = self._thread, self._drain.wire
        self._hurry.set()
        self._wake.set()
        if wire is not None:
            wire.close()
        if thread is not None:
            thread.join(max(0.2, until - time.monotonic()))
        return left

    def _agent_works(self) -> bool:
        return time.monotonic() - self._written < AT_WORK_S and not self._hurry.is_set()

    # -- the thread -------------------------------------------------------------------------------------------

    def _start(self) -> bool:
        with self._changed:
            if self._thread is None and not self._closed.is_set():
                thread = threading.Thread(target=self._work, name="waypost-export", daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # the interpreter is ending: the next process will send
                    return False
                self._thread = thread
            return self._thread is not None

    def _work(self) -> None:
        while True:
            self._wake.wait()
            if not self._closed.is_set():
                self._hurry.wait(self._linger_s)
            if self._closed.is_set():
                return
            with self._changed:
                asked = self._asked
                self._hurry.clear()
                self._wake.clear()
            pause = self._empty()
            with self._changed:
                if pause is None or self._down:
                    self._served = max(self._served, asked)
                self._changed.notify_all()
            if pause is not None:
                # Not the wake-up event: the agent sets it at every step.
                self._hurry.wait(pause)
                self._wake.set()

    def _empty(self) -> float | None:
        """Send until nothing is left: None; or how many seconds to wait before the next try."""
        while not self._closed.is_set():
            try:
                with claim(self._store) as mine:
                    if not mine:
                        return BUSY_S if self._owed() else None
                    done = self._drain.round(PROBE if self._down else BATCH)
            except Exception as error:
                if self._closed.is_set():
                    return None
                done = Round(trouble=Sent(False, f"{type(error).__name__}: {error}"))
            self.refused += len(done.refused)
            if done.trouble is not None:
                return self._failed(done.trouble)
            if done.sent:
                self._works_again()
            if not done.more:
                return None
        return None

    def _failed(self, trouble: Sent) -> float:
        if self._closed.is_set():
            return 0.0
        self._failures += 1
        if not self._down:
            self._down = True
            _log.warning(
                "spans do not reach %s (%s); they stay in the store and are sent when they do",
                self._where,
                trouble.reason,
            )
        wait = min(MOST_S, FIRST_S * 2.0 ** min(self._failures - 1, 10)) * random.uniform(0.8, 1.2)
        return max(wait, trouble.wait_s)

    def _works_again(self) -> None:
        self._failures = 0
        if self._down:
            self._down = False
            _log.warning("spans reach %s again", self._where)

    def _owed(self) -> int:
        try:
            with translated(self._store.url), self._store.reader.connect() as connection:
                return read.count_pending(connection)
        except WaypostError:
            return 0


def _number(name: str, otherwise: float) -> int:
    try:
        return max(1, int(os.environ.get(name, "") or otherwise))
    except ValueError:
        return int(otherwise)
