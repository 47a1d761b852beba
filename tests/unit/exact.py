"""What does "exactly the same value" mean, and which values does a test try? Seeded, and faster than a library."""

from __future__ import annotations

import dataclasses
import enum
import math
import random
import struct
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict

from tracer.types import NotAvailable, Opaque, Registry, register


class Colour(enum.Enum):
    RED = "red"
    GREEN = 2


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


class Mood(enum.StrEnum):
    CALM = "calm"
    LOUD = "loud"


class Right(enum.Flag):
    READ = 1
    WRITE = 2


@dataclasses.dataclass
class Plain:
    a: Any
    b: Any = None
    made: str = dataclasses.field(init=False, default="")

    def __post_init__(self) -> None:
        self.made = "by the constructor"


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    key: Any
    value: Any = 0


class Point(NamedTuple):
    x: Any
    y: Any = 0


class Model(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    left: Any
    right: Any = None


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: Any = ""


def registry() -> Registry:
    """A registry that knows the classes above."""
    filled = Registry()
    for cls in (Colour, Size, Mood, Right, Plain, Frozen, Point, Model, Loose):
        register(cls, registry=filled)
    return filled


def same(one: Any, other: Any) -> bool:
    """Equal in value and type, all the way down, order of keys included; NaN by its bits, -0.0 apart from 0.0."""
    todo = [(one, other)]
    while todo:
        a, b = todo.pop()
        if type(a) is not type(b):
            return False
        if isinstance(a, float):
            if struct.pack(">d", a) != struct.pack(">d", b):
                return False
        elif isinstance(a, complex):
            todo += [(a.real, b.real), (a.imag, b.imag)]
        elif isinstance(a, deque):
            if a.maxlen != b.maxlen:
                return False
            todo.append((list(a), list(b)))
        elif isinstance(a, dict):
            if len(a) != len(b):
                return False
            todo += zip(a, b, strict=True)
            todo += zip(a.values(), b.values(), strict=True)
        elif isinstance(a, list | tuple):
            if len(a) != len(b):
                return False
            todo += zip(a, b, strict=True)
        elif isinstance(a, set | frozenset):
            # Members have no order of their own; equal ones of equal type and text stand side by side.
            todo.append((sorted(a, key=_order), sorted(b, key=_order)))
        elif isinstance(a, datetime | time):
            if (a.isoformat(), a.fold, repr(a.tzinfo)) != (b.isoformat(), b.fold, repr(b.tzinfo)):
                return False
        elif isinstance(a, BaseModel):
            todo += [(a.__dict__, b.__dict__), (a.__pydantic_extra__, b.__pydantic_extra__)]
            if a.__pydantic_fields_set__ != b.__pydantic_fields_set__:
                return False
        elif dataclasses.is_dataclass(a):
            todo += [(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a)]
        elif isinstance(a, Decimal):
            if repr(a) != repr(b):
                return False
        elif a != b:
            return False
    return True


def _order(value: Any) -> str:
    """A text that is the same for the same member, however the members of its own sets are ordered."""
    if isinstance(value, frozenset):
        return f"frozenset {sorted(map(_order, value))}"
    if isinstance(value, tuple):
        return f"{type(value).__qualname__} {list(map(_order, value))}"
    if isinstance(value, Frozen):
        return f"Frozen {_order(value.key)} {_order(value.value)}"
    return f"{type(value).__qualname__} {value!r}"


_ZONES = (None, UTC, timezone(timedelta(hours=-3, minutes=-30)), timezone(timedelta(0), "Z"))
_NAMED = tuple(map(ZoneInfo, ("Europe/Berlin", "UTC", "America/New_York")))
_TEXT = (
    "",
    "a",
    "key",
    "$",
    "$set",
    "$$x",
    "\0",
    "é",
    "e\u0301",
    "🚀",
    "\ud83e",
    "\ud83e\udd23",
    "\u202e",
    "\\u0000",
    "ø" * 40,
)
_EDGES = (0, 1, -1, 2**53, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**400)


class Values:
    """A stream of values of every supported kind, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.leaves: tuple[Callable[[], Any], ...] = (
            lambda: None,
            lambda: self.random.random() < 0.5,
            lambda: self.random.choice(_EDGES) + self.random.randrange(-2, 3),
            lambda: self.random.randrange(-1000, 1000),
            self.float,
            self.text,
            self.text,
            lambda: self.random.randbytes(self.random.randrange(9)),
            lambda: bytearray(self.random.randbytes(3)),
            self.moment,
            lambda: date.fromordinal(self.random.randrange(1, 3_652_060)),
            lambda: time(
                self.random.randrange(24), 7, 8, self.random.randrange(10**6), fold=self.random.randrange(2)
            ),
            lambda: time(1, 2, tzinfo=self.random.choice(_ZONES)),
            lambda: timedelta(self.random.randrange(-(10**8), 10**8), 5, self.random.randrange(10**6)),
            lambda: Decimal(
                self.random.choice(("0.10", "-0", "1E+400", "NaN", "sNaN12", "-Infinity", "1" * 60))
            ),
            lambda: Fraction(self.random.randrange(-(10**30), 10**30), self.random.randrange(1, 10**25)),
            lambda: complex(self.float(), self.float()),
            lambda: UUID(int=self.random.getrandbits(128)),
            lambda: self.random.choice((PurePosixPath, PureWindowsPath, Path))(
                "a/" + self.text().replace("\0", "_")
            ),
            lambda: range(
                self.random.randrange(9), self.random.choice(_EDGES), self.random.choice((1, -2, 2**65))
            ),
            lambda: self.random.choice(
                (*Colour, *Size, *Mood, Right.READ, Right.READ | Right.WRITE, Right(0))
            ),
            lambda: self.random.choice((_NAMED[0], UTC)),
            lambda: NotAvailable("a lock", "thread:Lock"),
            lambda: Opaque("gone:Type", {"a": [1, {"$tuple": [2]}]}),
        )
        self.hashables = tuple(
            leaf
            for leaf in self.leaves
            if getattr(leaf(), "__hash__", None) and not isinstance(leaf(), Opaque)
        )

    def value(self, depth: int = 0) -> Any:
        """Any value; containers get rarer with depth."""
        if self.random.random() < 0.25 + 0.18 * depth:
            return self.random.choice(self.leaves)()
        below = depth + 1
        many = self.random.randrange(4)
        kind = self.random.randrange(16)
        if kind < 4:
            return [self.value(below) for _ in range(many)]
        if kind < 8:
            return {self.text(): self.value(below) for _ in range(many)}
        if kind == 8:
            return {self.hashable(below): self.value(below) for _ in range(many)}
        if kind == 9:
            return tuple(self.value(below) for _ in range(many))
        if kind == 10:
            return self.random.choice((set, frozenset))(self.hashable(below) for _ in range(many))
        if kind == 11:
            return self.random.choice((deque, OrderedDict, Counter))([(self.text(), 1)] * (many > 0))
        if kind == 12:
            return Plain(self.value(below), self.value(below))
        if kind == 13:
            return self.random.choice((Frozen, Point))(self.value(below), self.value(below))
        if kind == 14:
            return Model(left=self.value(below)) if many else Model(left=1, right=self.value(below))
        return Loose.model_construct(_fields_set={"more"}, name="n", more=self.value(below))

    def hashable(self, depth: int) -> Any:
        """A value that may be a key or a member of a set."""
        if depth < 3 and self.random.random() < 0.3:
            parts = (self.hashable(depth + 1) for _ in range(2))
            return self.random.choice(
                (tuple, frozenset, lambda each: Frozen(*each), lambda each: Point(*each))
            )(parts)
        while (
            "nan" in repr(leaf := self.random.choice(self.hashables)()).lower()
        ):  # equal to nothing, not to itself
            pass
        return leaf

    def text(self) -> str:
        return "".join(self.random.choice(_TEXT) for _ in range(self.random.randrange(4)))

    def float(self) -> float:
        if self.random.random() < 0.3:
            return self.random.choice(
                (0.0, -0.0, math.nan, -math.nan, math.inf, -math.inf, 5e-324, 1.0, 1e16)
            )
        number: float = struct.unpack(">d", self.random.randbytes(8))[0]
        return number

    def moment(self) -> datetime:
        naive = datetime(self.random.randrange(1, 10000), 10, 25, 2, 30, 1, self.random.randrange(10**6))
        return naive.replace(tzinfo=self.random.choice((*_ZONES, *_NAMED)), fold=self.random.randrange(2))
