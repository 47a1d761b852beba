"""Into which parts is a class of the program's own taken apart, and which of them outlive a process?"""

from __future__ import annotations

import dataclasses
import enum
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel

from .errors import ConfigError

Kind = Literal["enum", "flag", "data", "model", "tuple", "custom"]


@dataclass(frozen=True)
class RuntimeOnly:
    """Marks a field that is not stored: `client: Annotated[Any, RuntimeOnly("reopened by connect()")]`."""

    why: str = "runtime-only"


class Shape:
    """How one registered class is taken apart and built again."""

    __slots__ = ("_runtime", "cls", "dump", "fields", "kind", "load", "name")

    def __init__(
        self,
        cls: type,
        name: str,
        dump: Callable[[Any], Any] | None = None,
        load: Callable[[Any], Any] | None = None,
    ) -> None:
        self.cls, self.name, self.dump, self.load = cls, name, dump, load
        self.kind: Kind = "custom" if dump else kind_of(cls)
        self.fields = fields_of(cls, self.kind)
        self._runtime: dict[str, str] | None = None

    @property
    def runtime(self) -> dict[str, str]:
        """Runtime-only fields and why. Resolved at first use: annotations may name classes defined later."""
        if self._runtime is None:
            self._runtime = dict(_marks(self.cls, self.kind))
        return self._runtime


def type_name(cls: type) -> str:
    """`module:qualname`, under which a class is stored unless it says otherwise.

    A script's `__main__` counts as the module that another process would import: `python agent.py` and
    `waypost resume agent:audit` must mean the same class.
    """
    module = cls.__module__
    if module == "__main__":
        main = sys.modules["__main__"]
        spec = getattr(main, "__spec__", None)
        file = getattr(main, "__file__", None)
        if spec is not None:
            module = spec.name.removesuffix(".__main__")
        elif file:
            module = PurePath(file).stem
    return f"{module}:{cls.__qualname__}"


def label_of(kind: type) -> str:
    """How a class is called in messages."""
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


def is_shaped(cls: type) -> bool:
    """True for a dataclass, enum, pydantic model or NamedTuple."""
    return (
        dataclasses.is_dataclass(cls)
        or issubclass(cls, enum.Enum | BaseModel)
        or (issubclass(cls, tuple) and hasattr(cls, "_fields"))
    )


def kind_of(cls: type) -> Kind:
    """What *cls* is.

    Raises:
        ConfigError: nothing that can be taken apart exactly.
    """
    if issubclass(cls, enum.Enum):
        return "flag" if issubclass(cls, enum.Flag) else "enum"
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return "tuple"
    if not is_shaped(cls):
        raise ConfigError(
            f"{type_name(cls)} is no dataclass, enum, NamedTuple or pydantic model. Register it with `dump=` "
            f"and `load=`, or as runtime-only with `register_runtime`."
        )
    for base in cls.__mro__[:-1]:
        if base.__module__ == "builtins":
            raise ConfigError(
                f"{type_name(cls)} derives from {base.__name__}, whose content its fields do not show. "
                f"Register it with `dump=` and `load=`."
            )
    return "model" if issubclass(cls, BaseModel) else "data"


def fields_of(cls: Any, kind: Kind) -> tuple[str, ...]:
    """Names of the stored parts, in order; none for enums and custom classes."""
    if kind == "data":
        return tuple(each.name for each in dataclasses.fields(cls))
    if kind == "model":
        return tuple(cls.model_fields)
    return tuple(cls._fields) if kind == "tuple" else ()


def hints_of(cls: Any) -> dict[str, Any]:
    """Annotations by field; those that cannot be resolved are left out."""
    if issubclass(cls, enum.Enum):
        return {}
    if issubclass(cls, BaseModel) and cls.__pydantic_complete__:
        return {name: info.annotation for name, info in cls.model_fields.items()}
    try:
        return get_type_hints(cls, include_extras=True)
    except Exception:  # a name that exists for type checkers only, or a class local to a function
        return {name: hint for name, hint in cls.__annotations__.items() if not isinstance(hint, str)}


def remedy_for(kind: type) -> str:
    """What to do about a value of a class that is not stored as it is."""
    label = kind.__qualname__
    if is_shaped(kind):
        return f"register the class, so that it can be loaded again: `tracer.register({label})`."
    for base in kind.__mro__[1:-1]:
        if base in (str, int, float, bytes, list, tuple, dict, set, frozenset):
            name = base.__name__
            return (
                f"a subclass of {name} would come back as another type. Convert it (`{name}(value)`), or "
                f"register the class with `dump=` and `load=`."
            )
    return (
        f"it is no data. Keep what it was made from, or declare it as runtime-only, then it is marked and "
        f"not stored: `tracer.register_runtime({label})`."
    )


def _marks(cls: Any, kind: Kind) -> Iterator[tuple[str, str]]:
    if kind == "model":
        metadata = {name: info.metadata for name, info in cls.model_fields.items()}
    elif kind == "data" or kind == "tuple":
        hints = hints_of(cls)
        metadata = {name: getattr(hints.get(name), "__metadata__", ()) for name in fields_of(cls, kind)}
        for name, hint in getattr(cls, "__annotations__", {}).items():
            if name not in hints and "RuntimeOnly" in str(hint):
                yield name, RuntimeOnly.why
    else:
        return
    for name, marks in metadata.items():
        for mark in marks:
            if mark is RuntimeOnly:
                yield name, RuntimeOnly.why
            elif isinstance(mark, RuntimeOnly):
                yield name, mark.why
