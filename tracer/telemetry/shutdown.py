"""What does a process do when it is told to end? Say where it stopped, send what it can in 3 s, and die as told.

SIGTERM is only taken where nobody else has: the handler is the system's default and this is the main thread. The
exit status stays that of the signal (143 in a shell).
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Final

LIMIT_S: Final = 3.0
"""Seconds for everything; the SDK's own exporters ignore theirs."""
_HOLDING: Final = frozenset(
    {"tracer.journal", "tracer.keys", "tracer.lease", "tracer.recorder", "tracer.segment"}
)
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
        self._leaving = False

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
        if os.getpid() != self._pid or self._leaving:
            _die()
        first = not self._until
        self._until = self._until or time.monotonic() + self._limit_s
        holding = _outermost(frame)
        if holding is None or time.monotonic() >= self._until:
            self._leave()
        elif first:
            self._leave_after(holding)

    def _leave_after(self, frame: FrameType) -> None:
        """This thread holds a lock of ours: leave where it has given it back, or when the time is over."""

        def left(_frame: FrameType, event: str, _arg: object) -> object:
            if event == "return":
                sys.settrace(None)
                self._leave()
            return left

        frame.f_trace = left
        sys.settrace(lambda *_event: None)
        late = threading.Timer(self._limit_s, os.kill, (self._pid, signal.SIGTERM))
        late.daemon = True
        late.start()

    def _leave(self) -> None:
        self._leaving = True
        worker = threading.Thread(target=self._say, name="waypost-farewell", daemon=True)
        worker.start()
        worker.join(max(0.0, self._until - time.monotonic()))
        _die()

    def _say(self) -> None:
        try:
            self._mark()
        finally:
            self._flush(max(0.0, self._until - time.monotonic()))


def _outermost(frame: FrameType | None) -> FrameType | None:
    """The outermost frame of those that may hold a lock; None when the signal came between two of our steps."""
    found = None
    while frame is not None:
        if frame.f_globals.get("__name__") in _HOLDING:
            found = frame
        frame = frame.f_back
    return found


def _die() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTERM)
