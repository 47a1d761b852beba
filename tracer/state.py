"""What does an agent know? Its typed state, versioned from day one, in five layers.

Layers are read off field names: `messages`, `scratch`, `resources`, `position`; every other field is a value of
the program's own. The fifth layer, the graph of tool calls, is the ledger's.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import GenericAlias
from typing import Any, ClassVar, Final, cast

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from .errors import NotStorable
from .items import Items
from .shapes import type_name
from .types import NotAvailable, register_from_annotations, runtime_fields

LAYERS: Final = ("messages", "scratch", "resources", "position")
LAYER_OF: Final[Mapping[str, str]] = {
    "messages": "messages",
    "history": "messages",
    "scratch": "scratch",
    "scratchpad": "scratch",
    "resources": "resources",
    "position": "position",
}
"""Field name -> layer; a field that is not here is in the layer `values`."""


class State(BaseModel):
    """The base of an agent's state: `class Audit(State, version=1)`.

    What is in the state is the position: a resume calls the body again with the state of the last checkpoint.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, validate_assignment=False, extra="forbid")
    __waypost_version__: ClassVar[int] = 0

    def __init_subclass__(cls, *, version: int = 0, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__waypost_version__ = version

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**{k: v for k, v in kwargs.items() if k != "version"})
        register_from_annotations(cls)

    def model_post_init(self, _context: Any, /) -> None:
        """Lists become `Items`, which notice an append without looking at the rest."""
        for name, value in self.__dict__.items():
            if type(value) is list:
                self.__dict__[name] = Items(value)


class TypedState:
    """A `State` as the segment stores it."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.type_name = type(state).__name__
        self.version = type(state).__waypost_version__
        self._checked: dict[str, int] = {}
        self.runtime = runtime_fields(type(state))

    def fields(self) -> dict[str, Any]:
        """Field name -> live value; a field that is declared to live only here is said to be gone."""
        fields = dict(self.state.__dict__)
        for name, why in self.runtime.items():
            if fields.get(name) is not None and type(fields[name]) is not NotAvailable:
                fields[name] = NotAvailable(why, type_name(type(fields[name])))
        return fields

    def check(self, changed: Mapping[str, Any]) -> None:
        """Refuse what the declared types forbid, before it is written and unreadable.

        A list is checked where it has grown, and whole when its older items were handed out.

        Raises:
            NotStorable: names the field and what was expected.
        """
        for name, value in changed.items():
            if type(value) is not NotAvailable:
                self._check_field(name, value)

    def _check_field(self, name: str, value: Any) -> None:
        field = type(self.state).model_fields.get(name)
        if field is None:
            raise NotStorable(f"$.{name}", type(value).__name__, "the state declares no such field.")
        if type(value) is Items:
            known = self._checked.get(name, 0)
            start = known if known <= len(value) and not value.touched else 0
            fresh = [list.__getitem__(value, place) for place in range(start, len(value))]
            if not fresh:
                self._checked[name] = len(value)
                return
            value = fresh
            self._checked[name] = start + len(fresh)
        try:
            _adapter(type(self.state), name).validate_python([value], strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"][1:])
            self._checked.pop(name, None)
            raise NotStorable(f"$.{name}{where}", type(first["input"]).__name__, first["msg"] + ".") from None

    def load(self, fields: Mapping[str, Any]) -> State:
        """A state of the same class from stored values, exactly as they were written."""
        return load_state(type(self.state), fields)


class FreeState:
    """A plain dict as the segment stores it (`run(...)` in a notebook)."""

    type_name = "dict"
    version = 0

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values
        self.runtime: dict[str, str] = {}

    def fields(self) -> dict[str, Any]:
        """The dict itself."""
        return self.values

    def check(self, changed: Mapping[str, Any]) -> None:
        """A plain dict declares no types; its keys must be texts."""
        for key in changed:
            if type(key) is not str:
                raise NotStorable(f"$[{key!r}]", type(key).__name__, "the keys of a state are texts.")


def load_state(model: type[State], fields: Mapping[str, Any]) -> State:
    """Build *model* without coercion (7 does not become "7"); lists become `Items`."""
    values = {name: Items(value) if type(value) is list else value for name, value in fields.items()}
    state = model.model_construct(None, **values)
    for name, value in state.__dict__.items():
        if type(value) is list:
            state.__dict__[name] = Items(value)
    return state


_adapters: dict[tuple[type[State], str], TypeAdapter[Any]] = {}


def _adapter(model: type[State], name: str) -> TypeAdapter[Any]:
    """Checks a list of values of one field. In a list, because pydantic takes no configuration for a class that may
    have its own (a dataclass, a TypedDict), though that class may hold what only the configuration allows."""
    found = _adapters.get((model, name))
    if found is None:
        listed = cast("type[Any]", GenericAlias(list, (model.model_fields[name].annotation,)))
        config = ConfigDict(arbitrary_types_allowed=True)
        found = _adapters[model, name] = TypeAdapter(listed, config=config)
    return found
