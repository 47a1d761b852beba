"""Which classes come back, under which names, and what is said when two want the same one?"""

from __future__ import annotations

import dataclasses
import enum
import pickle
import runpy
import sys
import threading
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pytest
from pydantic import BaseModel, SecretStr
from typing_extensions import TypedDict

from tracer import codec
from tracer.errors import ConfigError, NotStorable
from tracer.seal import Secret
from tracer.types import (
    REGISTRY,
    NotAvailable,
    Opaque,
    Registry,
    RuntimeOnly,
    register,
    register_from_annotations,
    register_runtime,
    runtime_fields,
    runtime_only,
    type_name,
)


class Level(enum.Enum):
    LOW = 1


class Pair(NamedTuple):
    left: Level
    right: int = 0


@dataclasses.dataclass
class Leaf:
    pair: Pair
    handle: Annotated[Any, RuntimeOnly("reopened by connect()")] = None


class Shape(TypedDict):
    leaves: list[Leaf]


class Inner(BaseModel):
    shape: Shape | None = None
    client: Annotated[Any, RuntimeOnly] = None


class Outer(BaseModel):
    inner: dict[str, list[Inner | None]] = {}
    raw: Annotated[bytes, "a note"] = b""


@pytest.fixture
def known() -> Registry:
    return Registry()


def test_annotations_are_followed_however_deep(known: Registry) -> None:
    found = register_from_annotations(Outer, registry=known)
    assert set(found) == {Outer, Inner, Shape, Leaf, Pair, Level}
    assert set(known.by_class) == {Outer, Inner, Leaf, Pair, Level}
    state = Outer(inner={"a": [Inner(shape={"leaves": [Leaf(Pair(Level.LOW, 2))]}), None]}, raw=b"\xff")
    assert codec.lift(codec.lower(state, registry=known), registry=known, strict=True) == state


def test_a_class_is_stored_under_module_and_qualified_name(known: Registry) -> None:
    assert register(Level, registry=known) is Level
    assert known.by_class[Level].name == type_name(Level) == f"{Level.__module__}:Level"


def test_register_is_a_decorator_with_and_without_arguments(known: Registry) -> None:
    @register(name="named", aliases=["older", "oldest"], registry=known)
    @dataclasses.dataclass
    class Named:
        a: int = 1

    assert {name for name, shape in known.by_name.items() if shape.cls is Named} == {
        "named",
        "older",
        "oldest",
    }
    assert codec.lift({"$obj": ["oldest", {"a": 5}]}, registry=known) == Named(5)


def test_registering_twice_is_harmless_and_keeps_the_first_name(known: Registry) -> None:
    register(Leaf, name="leaf", registry=known)
    register_from_annotations(Leaf, registry=known)
    assert known.by_class[Leaf].name == "leaf"


def test_two_classes_under_one_name_are_an_error_that_names_both(known: Registry) -> None:
    register(Level, name="x", registry=known)
    with pytest.raises(ConfigError, match=r"'x' stands for .*Level.* so .*Pair.* cannot have it"):
        register(Pair, name="x", registry=known)
    with pytest.raises(ConfigError, match="two"):
        register(Pair, aliases=["x"], registry=known)
    assert Pair not in known.by_class


def test_a_class_that_hides_content_from_its_fields_is_refused_at_once(known: Registry) -> None:
    @dataclasses.dataclass
    class Hidden(dict):  # type: ignore[type-arg]
        a: int = 1

    with pytest.raises(ConfigError, match="derives from dict"):
        register(Hidden, registry=known)
    with pytest.raises(ConfigError, match="no dataclass"):
        register(threading.Thread, registry=known)
    with pytest.raises(ConfigError, match="come together"):
        register(threading.Thread, dump=str, registry=known)


def test_runtime_only_fields_are_marked_whatever_they_hold_and_none_stays_none(known: Registry) -> None:
    register_from_annotations(Outer, registry=known)
    state = Outer(inner={"a": [Inner(client=threading.Lock())]})
    again = codec.lift(codec.lower(state, registry=known), registry=known)
    assert again.inner["a"][0].client == NotAvailable("runtime-only", "_thread:lock")
    leaf = codec.lift(codec.lower(Leaf(Pair(Level.LOW), handle=object()), registry=known), registry=known)
    assert leaf.handle == NotAvailable("reopened by connect()", "builtins:object")
    assert runtime_fields(Leaf, known) == {"handle": "reopened by connect()"}
    assert runtime_fields(Level, known) == runtime_fields(int, known) == {}
    assert codec.lift(codec.lower(Inner(), registry=known), registry=known).client is None


def test_a_mark_is_seen_on_a_class_whose_annotations_cannot_be_resolved(known: Registry) -> None:
    @dataclasses.dataclass
    class Local:
        handle: Annotated[Any, RuntimeOnly]
        other: NoSuchName  # type: ignore[name-defined]  # noqa: F821

    register(Local, registry=known)
    plain: Any = codec.lower(Local(object(), 1), registry=known)
    assert "$gone" in plain["$obj"][1]["handle"]


def test_fields_of_a_foreign_class_are_declared_by_name(known: Registry) -> None:
    runtime_only(Pair, "right", why="counts this process", registry=known)
    assert codec.lift(codec.lower(Pair(1, 2), registry=known), registry=known) == Pair(
        1, NotAvailable("counts this process", "builtins:int")
    )
    with pytest.raises(ConfigError, match="no field 'middle', only left, right"):
        runtime_only(Pair, "middle", registry=known)


def test_a_runtime_only_type_covers_its_subclasses_and_never_plain_data(known: Registry) -> None:
    class Client:
        pass

    class Special(Client):
        pass

    register_runtime(Client, registry=known)
    assert codec.lift(codec.lower([Special()], registry=known), registry=known)[0].why == "runtime-only"
    with pytest.raises(ConfigError, match="dict holds data"):
        register_runtime(dict, registry=known)


def test_an_unregistered_class_is_refused_with_the_line_to_write(known: Registry) -> None:
    with pytest.raises(NotStorable, match=r"tracer\.register\(Leaf\)"):
        codec.lower({"x": Leaf(Pair(Level.LOW))}, registry=known)


def test_values_that_stand_for_others_keep_their_form_as_annotated_fields(known: Registry) -> None:
    class Holder(BaseModel):
        key: Secret
        word: SecretStr | None = None
        old: Opaque | NotAvailable | None = None

    register_from_annotations(Holder, registry=known)
    holder = Holder(key=Secret("env:KEY"), old=NotAvailable("w", "t"))
    plain: Any = codec.lower(holder, registry=known)
    assert plain["$obj"][1] == {
        "key": {"$secret": "env:KEY"},
        "word": None,
        "old": {"$gone": {"type": "t", "why": "w"}},
    }
    assert codec.lift(plain, registry=known, strict=True) == holder


def test_opaque_and_not_available_are_values_like_any_other() -> None:
    for value in (Opaque("a:B", {"x": 1}), NotAvailable("gone", "a:Lock")):
        assert pickle.loads(pickle.dumps(value)) == value
        assert {value: 1}[value] == 1
    assert Opaque("a:B", 1) != Opaque("a:C", 1)


def test_a_script_and_its_import_mean_the_same_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "my_agent.py"
    script.write_text(
        "import dataclasses\n"
        "from tracer import codec, types\n"
        "@types.register\n@dataclasses.dataclass\nclass Finding:\n    a: int = 1\n"
        "if __name__ == '__main__':\n"
        "    import my_agent\n"
        "    plain = codec.lower(Finding())\n"
        "    print(plain, type(codec.lift(plain)).__module__)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(REGISTRY.by_name, "my_agent:Finding", None)  # and taken back after the test
    del REGISTRY.by_name["my_agent:Finding"]
    runpy.run_path(str(script), run_name="__main__")
    del sys.modules["my_agent"]
    assert capsys.readouterr().out == "{'$obj': ['my_agent:Finding', {'a': 1}]} my_agent\n"
