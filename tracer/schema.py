"""Of which fields and types does a state consist? A fingerprint, so that a change without a new version is seen."""

from __future__ import annotations

import enum
import hashlib
from types import UnionType
from typing import Annotated, Any, ForwardRef, Literal, TypeVar, Union, get_args, get_origin

from .shapes import hints_of, is_shaped
from .types import REGISTRY, runtime_fields


def fingerprint(model: type) -> str:
    """SHA-256 (hex) of what a stored value of *model* may hold.

    Names of classes do not count, because a class may be renamed under an alias; names of fields, their types and
    the members of enums do. Defaults and fields that are not stored do not.
    """
    return hashlib.sha256(_class(model, ()).encode()).hexdigest()


def _class(cls: type, around: tuple[type, ...]) -> str:
    if cls in around:  # a class that holds itself
        return f"^{len(around) - around.index(cls)}"
    if issubclass(cls, enum.Enum):
        return f"enum({', '.join(sorted(cls.__members__))})"
    gone = runtime_fields(cls)
    fields = (
        f"{name}: {_hint(hint, (*around, cls))}"
        for name, hint in sorted(hints_of(cls).items())
        if name not in gone
    )
    return f"{{{', '.join(fields)}}}"


def _hint(hint: Any, around: tuple[type, ...]) -> str:
    if hint is None or hint is type(None):
        return "None"
    if isinstance(hint, str | TypeVar | ForwardRef):
        return str(hint)
    if isinstance(hint, list):
        return f"[{', '.join(_hint(one, around) for one in hint)}]"
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _hint(args[0], around)
    if origin is Literal:
        return f"Literal[{', '.join(sorted(map(repr, args)))}]"
    if origin in (Union, UnionType):
        return " | ".join(sorted(_hint(one, around) for one in args))
    if origin is not None:
        return f"{_hint(origin, around)}[{', '.join(_hint(one, around) for one in args)}]"
    if isinstance(hint, type):
        custom = hint in REGISTRY.by_class and REGISTRY.by_class[hint].kind == "custom"
        if not custom and (is_shaped(hint) or hasattr(hint, "__total__")):
            return _class(hint, around)
        return hint.__name__
    return str(getattr(hint, "__name__", hint))
