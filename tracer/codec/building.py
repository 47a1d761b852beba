"""How is an object of a registered class built from its parts, without running its constructor?

A constructor coerces, computes and refuses; what comes back must be what was stored. Where the class has
other fields than the stored object, nothing is guessed: defaults fill what is new, all else is a `Misfit`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final

from pydantic_core import PydanticUndefined

from ..shapes import Shape
from .odd import int_of


class Misfit(Exception):
    """Why a stored object does not fit the class of its name."""


class _Unset:
    """A field that had no value when the object was stored."""


UNSET: Final = _Unset()

Note = Callable[[str], None]


def member(shape: Shape, content: Any) -> Any:
    """The enum member of this name, or the flags of this value."""
    cls: Any = shape.cls
    if shape.kind == "flag":
        number = int_of(content["$int"]) if type(content) is dict else content
        if type(number) is not int:
            raise TypeError("flags are a number")
        try:
            return cls(number)
        except ValueError:
            raise Misfit(f"it has no flags {number:#x}.") from None
    try:
        return cls[content]
    except KeyError:
        raise Misfit(f"it has no member {content!r}, only {', '.join(list(cls.__members__)[:8])}.") from None


def build(shape: Shape, content: Any, meta: Any, note: Note) -> Any:
    """The object of these lifted parts.

    Raises:
        Misfit: the class has changed in a way that only a migration can answer.
    """
    if shape.load is not None:
        try:
            return shape.load(content)
        except Exception as error:
            raise Misfit(f"its `load` failed with {type(error).__name__}.") from error
    if type(content) is not dict:
        raise TypeError("fields are a dict")
    extra = [name for name in content if name not in shape.fields]
    if extra:
        raise Misfit(f"it has no field {extra[0]!r} any more; write a migration.")
    for name in shape.fields:
        if name not in content:
            content[name] = _default(shape, name)
            note(f"the new field {name!r} has its default")
    if shape.kind == "tuple":
        made: Any = tuple.__new__(shape.cls, (content[name] for name in shape.fields))
        return made
    made = object.__new__(shape.cls)
    if shape.kind == "model":
        return _model(made, shape, content, meta or {})
    for name in shape.fields:
        if content[name] is not UNSET:
            object.__setattr__(made, name, content[name])
    return made


def _model(made: Any, shape: Shape, content: dict[str, Any], meta: dict[str, Any]) -> Any:
    cls: Any = shape.cls
    extra = meta.get("extra")
    if extra is None and cls.model_config.get("extra") == "allow":
        extra = {}
    values = {name: content[name] for name in shape.fields if content[name] is not UNSET}
    named = {*values, *(extra or ())}.difference(meta.get("unset", ()))
    private = cls.__private_attributes__
    object.__setattr__(made, "__dict__", values)
    object.__setattr__(made, "__pydantic_extra__", extra)
    object.__setattr__(made, "__pydantic_fields_set__", named)
    # Private attributes are the class's own business and are not stored: they begin as in a new object.
    defaults = {name: attribute.get_default() for name, attribute in private.items()}
    kept = {name: value for name, value in defaults.items() if value is not PydanticUndefined}
    object.__setattr__(made, "__pydantic_private__", kept if private else None)
    return made


def _default(shape: Shape, name: str) -> Any:
    cls: Any = shape.cls
    if shape.kind == "model":
        field = cls.model_fields[name]
        if not field.is_required():
            return field.get_default(call_default_factory=True)
    elif shape.kind == "tuple":
        if name in cls._field_defaults:
            return cls._field_defaults[name]
    else:
        each = next(each for each in dataclasses.fields(cls) if each.name == name)
        if each.default is not dataclasses.MISSING:
            return each.default
        if each.default_factory is not dataclasses.MISSING:
            return each.default_factory()
    raise Misfit(f"it has a field {name!r} without a default, which was not stored; write a migration.")
