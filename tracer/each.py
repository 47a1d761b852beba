"""How does a run consume a list of the state, so that what is left of it is the position?"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Generic, Protocol, TypeVar

from .errors import AgentError, StateChanged
from .items import Items

T = TypeVar("T")
Path = tuple[str, ...]

SCOPE: ContextVar[Path] = ContextVar("waypost_scope", default=())
"""The items of the `each` loops around this code, outermost first."""


class Looped(Protocol):
    """What a loop needs of its run."""

    @property
    def id(self) -> str:
        """The run's id."""

    def _field_of(self, items: Any) -> str:
        """Name of the field of the state that *items* is."""

    def _holds(self, name: str, items: Any) -> bool:
        """Whether that field is still this very list."""

    def _changed(self) -> str | None:
        """Path of what differs from the last checkpoint."""

    def _numbered(self, path: Path) -> int:
        """How many loops began before at this place."""

    def _label(self, item: Any) -> str:
        """A short name of an item, the same in every process."""

    def _entered(self, path: Path) -> None:
        """Work on an item begins."""

    def _left(self, path: Path) -> None:
        """Work on an item is over, finished or not."""

    def _finished(self, step: str, loop: Path) -> int:
        """Checkpoint after an item of *loop*."""

    async def _afinished(self, step: str, loop: Path) -> int:
        """The same; the state is that of the call, before anything is awaited."""


class Loop(Generic[T]):
    """One loop over a list of the state: an item is removed when its body is through, then a checkpoint follows."""

    def __init__(self, run: Looped, items: list[T], step: str | Callable[[T], str]) -> None:
        self._run, self._items, self._step = run, items, step
        self._name = ""
        self._outer: Path = ()
        self._loop: Path = ()
        self._item: T
        self._path: Path | None = None
        self._over = False

    def close(self) -> None:
        """The loop was left; the item being worked on stays in the list."""
        self._over = True
        path, self._path = self._path, None
        if path is not None:
            if SCOPE.get() == path:
                SCOPE.set(self._outer)
            self._run._left(path)

    def __del__(self) -> None:
        if not self._over:  # `break` drops the loop without a word
            self.close()

    def _begin(self) -> None:
        self._name = self._run._field_of(self._items)
        changed = self._run._changed()
        if changed is not None:
            raise StateChanged(
                changed,
                "An `each` starts from a checkpoint: set it up in the initial state, or call"
                " `run.checkpoint(…)` before this loop.",
            )
        self._outer = SCOPE.get()
        self._loop = (*self._outer, f"{self._name}{self._run._numbered(self._outer)}")

    def _take(self) -> bool:
        """Enter the first item; False when there is none."""
        if self._over:
            return False
        if not self._loop:
            self._begin()
        if not self._items:
            self._over = True
            return False
        items = self._items
        self._item = items.first() if isinstance(items, Items) else items[0]
        self._path = (*self._outer, f"{self._loop[-1]}/{self._run._label(self._item)}")
        SCOPE.set(self._path)
        self._run._entered(self._path)
        return True

    def _drop(self) -> str | None:
        """Leave the item whose body is through and remove it; the step to checkpoint, or None."""
        if self._path is None:
            return None
        self.close()
        if not self._run._holds(self._name, self._items):
            raise AgentError(
                self._run.id,
                f"the body put another list in place of `{self._name}` while `each` works on it, so what is left"
                f" cannot be told; change that list itself: `state.{self._name}[1:] = […]`.",
            )
        if not self._items or list.__getitem__(self._items, 0) is not self._item:
            raise AgentError(
                self._run.id,
                f"the body changed the front of `{self._name}` while `each` works on it; change another list.",
            )
        self._items.pop(0)
        self._over = False
        return self._step(self._item) if callable(self._step) else self._step or self._name


class Each(Loop[T]):
    """As `for item in run.each(…)` sees it."""

    def __iter__(self) -> Each[T]:
        return self

    def __next__(self) -> T:
        try:
            step = self._drop()
            if step is not None:
                self._run._finished(step, self._loop)
            if self._take():
                return self._item
        except BaseException:
            self._over = True
            raise
        raise StopIteration


class AsyncEach(Loop[T]):
    """As `async for item in run.aeach(…)` sees it; its checkpoints do not hold up the event loop."""

    def __aiter__(self) -> AsyncEach[T]:
        return self

    async def __anext__(self) -> T:
        try:
            step = self._drop()
            if step is not None:
                await self._run._afinished(step, self._loop)
            if self._take():
                return self._item
        except BaseException:
            self._over = True
            raise
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """As of an async generator."""
        self.close()
