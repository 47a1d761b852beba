"""Which classes may come back from stored data, and under which names?

Data never names a class to import. A program registers the classes of its state, and only those are built
again; any other stored type becomes an explicit `Opaque`, and what cannot outlive a process an explicit
`NotAvailable`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeAlias, TypeVar, get_args, overload

from pydantic import BaseModel

from .errors import ConfigError
from .shapes import RuntimeOnly, Shape, hints_of, is_shaped, type_name

__all__ = [
    "REGISTRY",
    "NotAvailable",
    "Opaque",
    "Plain",
    "Registry",
    "RuntimeOnly",
    "register",
    "register_from_annotations",
    "register_runtime",
    "runtime_fields",
    "runtime_only",
    "type_name",
]

Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"
"""What strict JSON can hold: ints within 64 bits, finite floats, text without lone surrogates."""

C = TypeVar("C", bound=type)


@dataclass(frozen=True, slots=True)
class Opaque:
    """A stored value whose type this program does not know. Storing it again gives the same bytes."""

    type: str
    """The stored name, or the tag (`$…`) of a built-in form that is not available here."""
    raw: Any
    """Its plain content, as stored."""
    meta: Any = None
    """What a model keeps besides its fields: `{"unset": [names], "extra": {…}}`."""

    def __hash__(self) -> int:
        # Raw content is mostly a dict, and an Opaque may stand in a set.
        return hash(self.type)


@dataclass(frozen=True, slots=True)
class NotAvailable:
    """What stands where a runtime-only value (a lock, a client, a stream) stood before it was stored."""

    why: str
    type: str
    __waypost_atom__: ClassVar[bool] = True

    def __getattr__(self, name: str) -> Any:
        if name in ("why", "type"):  # not yet set, while being unpickled
            raise AttributeError(name)
        raise AttributeError(f"there is no {name!r}: {self.type} was not stored ({self.why}); make it anew")


class Registry:
    """The classes one program can load. Most programs use the default one through `register`."""

    def __init__(self) -> None:
        self.by_class: dict[type, Shape] = {}
        self.by_name: dict[str, Shape] = {}
        self.runtime: dict[type, str] = {}

    def add(
        self,
        cls: type,
        *,
        name: str | None = None,
        aliases: Iterable[str] = (),
        dump: Callable[[Any], Any] | None = None,
        load: Callable[[Any], Any] | None = None,
    ) -> None:
        """Make *cls* storable under *name*, loadable also under *aliases*.

        Raises:
            ConfigError: the class cannot be taken apart exactly, or a name stands for another class.
        """
        if (dump is None) != (load is None):
            raise ConfigError(f"{type_name(cls)}: `dump` and `load` come together.")
        shape = self.by_class.get(cls)
        if shape is None or dump is not None or (name and name != shape.name):
            shape = Shape(cls, name or type_name(cls), dump, load)
        names = (shape.name, *aliases)
        for known in names:
            other = self.by_name.get(known)
            if other is not None and other.cls is not cls and not _redefined(other.cls, cls):
                raise ConfigError(
                    f"The name {known!r} stands for {other.cls!r}, so {cls!r} cannot have it: they are two "
                    f"classes. Give one of them a name of its own: `register(cls, name=…)`."
                )
        self.by_class[cls] = shape
        self.by_name.update(dict.fromkeys(names, shape))

    def add_runtime(self, cls: type, why: str) -> None:
        """Values of *cls* and of its subclasses are never stored, only marked.

        Raises:
            ConfigError: *cls* holds plain data.
        """
        if cls in (object, str, bytes, int, float, bool, list, dict, tuple, set, type(None)):
            raise ConfigError(f"{cls.__name__} holds data; declare a narrower class as runtime-only.")
        self.runtime[cls] = why

    def runtime_reason(self, cls: type) -> str | None:
        """Why values of *cls* are not stored, or None. Abstract classes count as bases of what they cover."""
        for base in (*cls.__mro__, *self.runtime):
            if base in self.runtime and issubclass(cls, base):
                return self.runtime[base]
        return None


REGISTRY: Final = Registry()
"""What `register` fills. Filled while modules are imported, only read while runs go on."""


@overload
def register(
    cls: C,
    *,
    name: str | None = None,
    aliases: Iterable[str] = (),
    registry: Registry = REGISTRY,
    dump: Callable[[Any], Any] | None = None,
    load: Callable[[Any], Any] | None = None,
) -> C: ...
@overload
def register(
    cls: None = None,
    *,
    name: str | None = None,
    aliases: Iterable[str] = (),
    registry: Registry = REGISTRY,
    dump: Callable[[Any], Any] | None = None,
    load: Callable[[Any], Any] | None = None,
) -> Callable[[C], C]: ...
def register(cls: Any = None, *, registry: Registry = REGISTRY, **how: Any) -> Any:
    """Make a dataclass, enum, NamedTuple or pydantic model storable; usable as a decorator.

    *aliases* are names under which older releases stored it. Any other class needs `dump=` (value -> storable
    value) and `load=` (its inverse).

    Raises:
        ConfigError: see `Registry.add`.
    """
    if cls is None:
        return functools.partial(register, registry=registry, **how)
    registry.add(cls, **how)
    return cls


def register_runtime(cls: type, why: str = RuntimeOnly.why, *, registry: Registry = REGISTRY) -> None:
    """Declare that values of *cls* cannot outlive a process: stored as a marker, loaded as `NotAvailable`.

    Raises:
        ConfigError: *cls* holds plain data.
    """
    registry.add_runtime(cls, why)


def runtime_only(cls: type, *names: str, why: str = RuntimeOnly.why, registry: Registry = REGISTRY) -> None:
    """Declare fields of *cls* as runtime-only where its annotations cannot be edited.

    Raises:
        ConfigError: the class has no such field.
    """
    registry.add(cls)
    shape = registry.by_class[cls]
    for name in names:
        if name not in shape.fields:
            raise ConfigError(f"{shape.name} has no field {name!r}, only {', '.join(shape.fields)}.")
        shape.runtime[name] = why


def runtime_fields(cls: type, registry: Registry = REGISTRY) -> dict[str, str]:
    """Fields of a registered class that are not stored, and why; for who takes an object apart himself."""
    shape = registry.by_class.get(cls)
    return {} if shape is None else dict(shape.runtime)


def register_from_annotations(model: type, *, registry: Registry = REGISTRY) -> list[type]:
    """Register *model* and every storable class its annotations name, however deep; returns those found.

    An annotation that cannot be resolved is left out: a value of its class is then refused with the remedy.

    Raises:
        ConfigError: see `Registry.add`.
    """
    found: dict[type, None] = {}
    todo: list[Any] = [model]
    while todo:
        hint = todo.pop()
        todo.extend(get_args(hint))
        if not isinstance(hint, type) or hint in found or hint is BaseModel or get_args(hint):
            continue
        shaped = is_shaped(hint)
        if shaped or hasattr(hint, "__total__"):  # a TypedDict is a plain dict, but may name others
            found[hint] = None
            if shaped:
                registry.add(hint)
            todo.extend(hints_of(hint).values())
    return list(found)


def _redefined(old: type, new: type) -> bool:
    # A notebook cell that runs again defines its classes again; a script may be imported beside its __main__.
    return "__main__" in (old.__module__, new.__module__) and old.__qualname__ == new.__qualname__
