"""In what order do the entries of a segment reach the journal? In that in which they took their places."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from .cut import Cut
from .journal import Append


class Line:
    """The checkpoints that are prepared and wait, and the appends that are on the way to the store.

    Whoever wants to write writes first what waits before it, so nobody depends on a thread that has yet to start.
    """

    def __init__(
        self, memory: threading.RLock, write: Callable[[Cut], None], refuse: Callable[[BaseException], None]
    ) -> None:
        """*memory* is held while a place is taken, *write* makes a cut durable, *refuse* is told of an interrupt."""
        self._memory = memory
        self._write = write
        self._refuse = refuse
        self._turn = threading.Lock()
        self._cuts: deque[Cut] = deque()
        self._flying: dict[int, Append] = {}
        self._landed = threading.Condition(memory)

    def join(self, cut: Cut) -> None:
        """The next place is that of *cut*; the caller holds *memory* since the state was cut."""
        self._cuts.append(cut)

    def through(self, cut: Cut) -> None:
        """Returns when *cut* and all before it are durable or refused; their errors are in them."""
        with self._turn:
            while not cut.done:
                self._first()

    def start(self, made: Callable[[], Append]) -> Append:
        """An append, *made* when nothing waits before it, on its way until `land`."""
        with self._turn:
            while True:
                while self._cuts:
                    self._first()
                with self._memory:
                    if not self._cuts:  # an event loop may have cut another meanwhile
                        append = made()
                        self._flying[id(append)] = append
                        return append

    def land(self, append: Append) -> None:
        """*append* is durable or refused."""
        with self._memory:
            self._flying.pop(id(append), None)
            self._landed.notify_all()

    def _first(self) -> None:
        cut = self._cuts[0]
        if cut.done:  # whoever wrote it was interrupted before it could leave the line
            with self._memory:
                self._cuts.popleft()
            return
        with self._memory:
            # What took its place before the state was cut may be part of what was cut.
            while self._flying:
                self._landed.wait()
        try:
            self._write(cut)
        except Exception as error:
            cut.error = error
        except BaseException as error:  # this thread was interrupted, perhaps at another's work
            self._refuse(error)
            cut.error = error
            raise
        finally:
            cut.done = True
            with self._memory:
                self._cuts.popleft()
