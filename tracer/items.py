"""Which part of a long list may have changed since the last checkpoint?

A `State` holds its lists as `Items`. An append costs nothing to notice; whatever was handed out to the program
is looked at again. All of it is looked at by every checkpoint while it is shorter than `LOOKED`, by every
(length / `LOOKED`)-th when it is longer, and by the last one of a run, so that a change through an old alias is
recorded late rather than never.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, SupportsIndex, TypeVar, overload

T = TypeVar("T")

RECENT: Final = 64
"""Items younger than this many places from the end are always compared: their maker may still hold them."""
LOOKED: Final = 512
"""Items that looking at the whole list may cost each checkpoint, on average: a tenth of a millisecond."""


class Items(list[T]):
    """A list that remembers how much of it can be as it was."""

    __slots__ = ("_dropped", "_rewritten", "_seen", "_seen_all", "_syncs", "_unlooked")

    def __init__(self, values: Iterable[T] = ()) -> None:
        super().__init__(values)
        self._rewritten = True
        self._dropped = 0
        self._seen: set[int] = set()
        self._seen_all = False
        self._syncs = 0
        self._unlooked = 0

    def suspects(self, known: int) -> tuple[int, list[int]] | None:
        """(items dropped from the front, places to compare), given *known* items at the last checkpoint.

        Places count in today's list. None: anything may have changed, compare all.
        """
        kept = known - self._dropped
        if self._rewritten or self._seen_all or kept < 0 or len(self) < kept:
            return None
        if self._unlooked >= kept // LOOKED:
            self._unlooked = -1
            return self._dropped, list(range(kept))
        places = {place for place in self._seen if place < kept}
        places.update(range(max(0, kept - RECENT), kept))
        return self._dropped, sorted(places)

    def look(self) -> None:
        """The next checkpoint looks at the whole list."""
        self._seen_all = True

    @property
    def touched(self) -> bool:
        """Whether an item that the last checkpoint recorded may have been changed or replaced since."""
        return self._rewritten or self._seen_all or bool(self._seen)

    @property
    def handed_out(self) -> set[int]:
        """Places whose items the program was given since the last checkpoint."""
        return self._seen

    @property
    def stamp(self) -> int:
        """How many checkpoints have recorded this list: tells two of its readers apart."""
        return self._syncs

    def synced(self) -> None:
        """A checkpoint has recorded the list as it stands."""
        self._rewritten = self._seen_all = False
        self._dropped = 0
        self._seen.clear()
        self._syncs += 1
        self._unlooked += 1

    def take_front(self) -> T:
        """Remove and return the first item; the rest is known to be as it was."""
        first = list.__getitem__(self, 0)
        list.__delitem__(self, 0)
        self._dropped += 1
        self._seen = {place - 1 for place in self._seen if place > 0}
        return first

    def first(self) -> T:
        """The first item, which the caller may change."""
        self._seen.add(0)
        return list.__getitem__(self, 0)

    def __iter__(self) -> Iterator[T]:
        self._seen_all = True
        return super().__iter__()

    def __reversed__(self) -> Iterator[T]:
        self._seen_all = True
        return super().__reversed__()

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> T: ...
    @overload
    def __getitem__(self, index: slice, /) -> list[T]: ...
    def __getitem__(self, index: Any, /) -> Any:
        value = super().__getitem__(index)
        if isinstance(index, slice):
            self._seen.update(range(*index.indices(len(self))))
        else:
            place = index.__index__()
            self._seen.add(place if place >= 0 else len(self) + place)
        return value

    def __setitem__(self, index: Any, value: Any, /) -> None:
        if isinstance(index, slice):
            self._rewritten = True
        else:
            place = index.__index__()
            self._seen.add(place if place >= 0 else len(self) + place)
        super().__setitem__(index, value)

    def __delitem__(self, index: Any, /) -> None:
        self._rewritten = True
        super().__delitem__(index)

    def __add__(self, other: Any, /) -> Any:
        self._seen_all = True
        return super().__add__(other)

    def __mul__(self, times: SupportsIndex, /) -> list[T]:
        self._seen_all = True
        return super().__mul__(times)

    __rmul__ = __mul__

    def __imul__(self, times: SupportsIndex, /) -> Items[T]:
        self._rewritten = True
        super().__imul__(times)
        return self

    def __iadd__(self, values: Iterable[T], /) -> Items[T]:  # type: ignore[override, misc]
        super().extend(values)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (Items, (list(self),))

    def __copy__(self) -> Items[T]:
        return Items(self)

    def copy(self) -> list[T]:
        """A plain list; the program may change the items through it."""
        self._seen_all = True
        return super().copy()

    def insert(self, index: SupportsIndex, value: T, /) -> None:
        """As of a list; the next checkpoint compares all of it."""
        self._rewritten = True
        super().insert(index, value)

    def pop(self, index: SupportsIndex = -1, /) -> T:
        """As of a list; popping at the front is followed exactly."""
        place = index.__index__()
        if place == 0 and self:
            return self.take_front()
        self._rewritten = True
        return super().pop(index)

    def remove(self, value: T, /) -> None:
        """As of a list; the next checkpoint compares all of it."""
        self._rewritten = True
        super().remove(value)

    def clear(self) -> None:
        """As of a list."""
        self._rewritten = True
        super().clear()

    def sort(self, **how: Any) -> None:
        """As of a list."""
        self._rewritten = True
        super().sort(**how)

    def reverse(self) -> None:
        """As of a list."""
        self._rewritten = True
        super().reverse()
