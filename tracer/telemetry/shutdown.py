"""What does a process do when it is told to end? Say where it stopped, send what it can in 3 s, and die as told.

SIGTERM is only taken where nobody else has: the handler is the system's default and this is the main thread. The
exit status stays that of the signal (143 in a shell).
"""

from __future__ import annotations

import atexit
import os
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Final

LIMIT_S: Final = 3.0
"""Seconds for everything; the SDK's own exporters ignore theirs."""
AGAIN_S: Final = 0.01
_WRITING: Final = frozenset({"tracer.journal", "tracer.segment"})
"""Modules whose locks the farewell needs, and which the signal may have interrupted."""


class Farewell:
    """What one process does at its end. Works once, and not at all in a forked child."""

    def __init__(
        self, mark: Callable[[], object], flush: Callable[[float], object], *, limit_s: float = LIMIT_S
    ) -> None:
        """*mark* ends the live segments as interrupted (only after a signal), *flush* sends for so many seconds."""
        self._mark = mark
        self._flush = flush
        self._limit_s = limit_s
        self._pid = os.getpid()
        self._until = 0.0
        self._handles = False

    def install(self) -> bool:
        """Take part in the end of this process; whether SIGTERM was free to be taken."""
        atexit.register(self._at_exit)
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._on_signal)
            self._handles = True
        return self._handles

    def remove(self) -> None:
        """Take no part any more; somebody else's handler stays."""
        atexit.unregister(self._at_exit)
        if self._handles and signal.getsignal(signal.SIGTERM) == self._on_signal:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._handles = False

    def _at_exit(self) -> None:
        if os.getpid() == self._pid:
            self._flush(self._limit_s)

    def _on_signal(self, _number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if os.getpid() != self._pid:
            _die()
        self._until = self._until or now + self._limit_s
        if _writing(frame) and now < self._until:
            # This thread holds the journal's lock. It goes on until it does not, and is asked again.
            again = threading.Timer(AGAIN_S, os.kill, (self._pid, signal.SIGTERM))
            again.daemon = True
            again.start()
            return
        worker = threading.Thread(target=self._say, name="waypost-farewell", daemon=True)
        worker.start()
        worker.join(max(0.0, self._until - time.monotonic()))
        _die()

    def _say(self) -> None:
        try:
            self._mark()
        finally:
            self._flush(max(0.0, self._until - time.monotonic()))


def _writing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__") in _WRITING:
            return True
        frame = frame.f_back
    return False


def _die() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTERM)
