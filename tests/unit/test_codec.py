"""What does the codec keep, what does it refuse, and what does the refusal say?"""

from __future__ import annotations

import dataclasses
import io
import json
import math
import sys
import threading
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from pydantic import BaseModel, SecretStr

from tests.unit.exact import Colour, Frozen, Loose, Model, Plain, Point, registry, same
from tracer import codec
from tracer.errors import IntegrityError, KeyMissing, LimitExceeded, NotStorable, UnknownType
from tracer.items import Items
from tracer.types import NotAvailable, Opaque, Registry, register, register_runtime

KNOWN = registry()


def there_and_back(value: Any, known: Registry = KNOWN) -> Any:
    return codec.lift(codec.decode(codec.encode(codec.lower(value, registry=known))), registry=known)


def nested(depth: int, leaf: Any = None) -> Any:
    value = leaf
    for _ in range(depth):
        value = {"k": value} if value is None or type(value) is list else [value]
    return value


# -- exact ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (2**63, {"$int": "0x8000000000000000"}),
        (-0.0, -0.0),
        (math.inf, {"$float": "inf"}),
        ("half \ud83e", {"$str": ["half ", 0xD83E]}),
        ("NUL \0 and \\u0000", "NUL \0 and \\u0000"),
        (b"\xff", {"$bytes": "/w=="}),
        ((1, (2,)), {"$tuple": [1, {"$tuple": [2]}]}),
        ({3, 1, 2}, {"$set": [1, 2, 3]}),
        ({1: "a", "1": "b"}, {"$pairs": [[1, "a"], ["1", "b"]]}),
        ({"$sealed": "mine", "$$": 1, "a": 2}, {"$$sealed": "mine", "$$$": 1, "a": 2}),
        (Decimal("0.10"), {"$decimal": "0.10"}),
        (Colour.RED, {"$obj": ["tests.unit.exact:Colour", "RED"]}),
        (Point(1, 2), {"$obj": ["tests.unit.exact:Point", {"x": 1, "y": 2}]}),
        (Loose(name="n"), {"$obj": ["tests.unit.exact:Loose", {"name": "n"}]}),
        (
            Model(left=1),
            {"$obj": ["tests.unit.exact:Model", {"left": 1, "right": None}, {"unset": ["right"]}]},
        ),
    ],
)
def test_the_written_form_is_the_documented_one(value: Any, written: Any) -> None:
    plain = codec.lower(value, registry=KNOWN)
    assert same(plain, written)
    assert same(there_and_back(value), value)


def test_a_nan_keeps_its_bits() -> None:
    import struct

    odd = struct.unpack(">d", bytes.fromhex("7ff8000000000abc"))[0]
    assert struct.pack(">d", there_and_back(odd)).hex() == "7ff8000000000abc"


def test_a_fold_and_a_zone_are_kept_and_naive_stays_naive() -> None:
    twice = datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1)
    assert there_and_back(twice).utcoffset() == timedelta(hours=1)
    assert there_and_back(datetime(2026, 1, 1)).tzinfo is None


def test_the_plain_tree_shares_nothing_with_the_value() -> None:
    value = {"a": [1, {"b": [2]}]}
    plain = codec.lower(value)
    value["a"][1]["b"].append(3)
    assert plain == {"a": [1, {"b": [2]}]}


def test_equal_sets_have_equal_bytes_whatever_the_order_of_their_members() -> None:
    def made(*inner: int) -> frozenset[Any]:
        return frozenset([frozenset(inner), frozenset([5]), (1, frozenset(inner)), (1, frozenset([5]))])

    assert list(frozenset([0, 8])) != list(frozenset([8, 0]))
    assert codec.encode(codec.lower(made(0, 8))) == codec.encode(codec.lower(made(8, 0)))


def test_a_list_of_ours_is_a_list_and_is_not_touched_by_looking() -> None:
    items = Items([1, {"a": 2}])
    items.synced()
    assert codec.lower({"x": items}) == {"x": [1, {"a": 2}]}
    assert codec.lower(items) == [1, {"a": 2}]
    assert items.suspects(2) == (0, [0, 1])


def test_numpy_scalars_and_arrays_keep_their_data_type_shape_and_order() -> None:
    structured = np.array([(1, 2.5)], dtype=[("a", "<i4"), ("b", ">f8")])
    for value in [
        np.float32(0.1), np.int64(7), np.bool_(True), np.str_("a\0"), np.bytes_(b"x\0"), np.datetime64("NaT", "ns"),
        np.longdouble(1) / 3, structured[0], np.array([1.0, np.nan]), np.zeros((0, 3), "int8"), np.array(5),
        np.asfortranarray(np.arange(6).reshape(2, 3)), structured, np.array(["é", ""]),
    ]:  # fmt: skip
        again = there_and_back([value])[0]
        assert type(again) is type(value)
        assert again.dtype == value.dtype
        assert again.tobytes() == value.tobytes()
        if isinstance(value, np.ndarray):
            assert again.shape == value.shape
            assert again.flags.f_contiguous == value.flags.f_contiguous
            assert again.flags.writeable


@pytest.mark.parametrize(
    "value", [np.array([object()]), np.ma.masked_array([1], [True]), np.recarray((1,), [("a", int)])]
)
def test_a_numpy_value_whose_bytes_do_not_hold_it_is_refused(value: Any) -> None:
    with pytest.raises(NotStorable) as refused:
        codec.lower({"x": value})
    assert refused.value.path == "$.x"


def test_every_tag_is_documented(root: Path) -> None:
    from tracer.codec.lifting import _BINARY, _LOADS

    text = (root / "docs" / "formats.md").read_text()
    assert [
        tag for tag in (*_LOADS, *_BINARY, "$obj", "$sealed", "$deep", "$ref") if f"`{tag}`" not in text
    ] == []


# -- refused --------------------------------------------------------------------------------------------------


class Bare:
    pass


@dataclasses.dataclass
class Unregistered:
    a: int = 1


class Text(str):
    __slots__ = ()


class Zone(tzinfo):
    pass


@pytest.mark.parametrize(
    ("value", "path", "kind", "remedy"),
    [
        (
            {"s": {"plan": [1, {"client": Bare()}]}},
            "$.s.plan[1].client",
            "tests.unit.test_codec.Bare",
            "register_runtime(Bare)",
        ),
        ([Unregistered()], "$[0]", "tests.unit.test_codec.Unregistered", "tracer.register(Unregistered)"),
        ({"a b": (Text("x"),)}, "$['a b'][0]", "tests.unit.test_codec.Text", "`str(value)`"),
        ({"d": defaultdict(list)}, "$.d", "collections.defaultdict", "`dict(value)`"),
        ({1: {"x": Bare}}, "$['1'].x", "type", "no data"),
        ({(1, 2): io.BytesIO()}, "$['tuple']", "_io.BytesIO", "register_runtime"),
        ([Plain(1, [Bare()])], "$[0].b[0]", "tests.unit.test_codec.Bare", "register_runtime"),
        (datetime(2026, 1, 1, tzinfo=Zone()), "$", "datetime.datetime", "tests.unit.test_codec.Zone"),
        ({"m": memoryview(b"x")}, "$.m", "memoryview", "no data"),
    ],
)
def test_a_refusal_names_path_type_and_remedy(value: Any, path: str, kind: str, remedy: str) -> None:
    with pytest.raises(NotStorable) as refused:
        codec.lower(value, registry=KNOWN)
    assert (refused.value.path, refused.value.type) == (path, kind)
    assert remedy in refused.value.why
    assert path in str(refused.value)


def test_a_refusal_does_not_print_a_secret_that_is_a_key() -> None:
    with pytest.raises(NotStorable) as refused:
        codec.lower({"ghp_" + "a1" * 20: Bare(), "x": 1})
    assert "a1a1" not in str(refused.value)


def test_a_value_that_another_thread_changes_meanwhile_is_refused_and_not_half_kept() -> None:
    growing: dict[str, Any] = {"a": "x", "b": 1}

    def meddle(text: str, where: str) -> codec.Plain:
        growing[f"{len(growing)}"] = 1
        return text

    with pytest.raises(NotStorable, match=r"\$\.s is dict: another thread"):
        codec.lower({"s": growing}, seal=meddle)


def test_an_attribute_that_is_no_field_is_refused_rather_than_lost() -> None:
    stray = Plain(1)
    stray.extra = 2  # type: ignore[attr-defined]
    with pytest.raises(NotStorable, match="'extra'"):
        codec.lower([stray], registry=KNOWN)


def test_what_an_object_contains_itself_is_said_with_both_places() -> None:
    planner: dict[str, Any] = {"name": "planner"}
    planner["child"] = {"parent": planner}
    with pytest.raises(LimitExceeded) as refused:
        codec.lower({"scratch": planner})
    assert refused.value.path == "$.scratch.child.parent"
    assert "it is $.scratch again" in refused.value.why


@pytest.mark.parametrize("make", [list, lambda each: Plain(each), lambda each: {0: each}, tuple])
def test_a_cycle_through_any_container_is_found(make: Callable[[Any], Any]) -> None:
    loop: list[Any] = []
    loop.append(make([loop]))
    with pytest.raises(LimitExceeded, match="contains itself"):
        codec.lower(loop, registry=KNOWN)


def test_a_wide_cycle_is_found_soon() -> None:
    wide: list[Any] = list(range(50_000))
    wide.append(wide)
    with pytest.raises(LimitExceeded, match="contains itself"):
        codec.lower(wide)


def test_a_thousand_levels_go_through_and_one_more_is_refused() -> None:
    deep = nested(1000)
    data = codec.encode(codec.lower(deep))
    json.loads(data)
    assert codec.encode(codec.lower(codec.lift(codec.decode(data)))) == data
    with pytest.raises(LimitExceeded, match="1000 containers deep") as refused:
        codec.lower(nested(1001))
    assert refused.value.path.count(".k") + refused.value.path.count("[0]") == 1000


def test_deep_objects_go_through_too() -> None:
    value: Any = None
    for _ in range(450):
        value = Frozen((value,))
    assert there_and_back({"x": [value]})["x"][0].key[0].key[0] is not None


def test_a_caller_near_the_end_of_its_stack_is_served() -> None:
    value = {"a": [1, (2, {3: Plain(nested(900))}, {frozenset({4})})]}

    def descend(frames: int) -> Any:
        return descend(frames - 1) if frames else there_and_back(value)

    depth = 0
    frame: Any = sys._getframe()
    while frame:
        depth, frame = depth + 1, frame.f_back
    assert descend(sys.getrecursionlimit() - depth - 40)["a"][0] == 1


def test_a_tree_that_explodes_by_sharing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracer.codec.lowering.MAX_NODES", 10_000)
    laughs: list[Any] = ["ha"]
    for _ in range(40):
        laughs = [laughs, laughs]
    with pytest.raises(LimitExceeded, match="10000 members"):
        codec.lower({"x": laughs})


def test_bytes_and_text_over_the_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracer.codec.lowering.MAX_BYTES", 1000)
    monkeypatch.setattr("tracer.codec.wire.MAX_BYTES", 1000)
    with pytest.raises(LimitExceeded, match="800 bytes are over") as refused:
        codec.lower({"a": [b"x" * 800]})
    assert refused.value.path == "$.a[0]"
    with pytest.raises(LimitExceeded, match="1100 characters"):
        codec.lower({"a": "x" * 1100})
    with pytest.raises(LimitExceeded, match="limit is 1000"):
        codec.encode(["x" * 400] * 3)


def test_where_loss_is_permitted_every_gap_is_marked_and_reported() -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop
    lost: list[NotStorable] = []
    plain = codec.lower({"ok": 1, "bad": Bare(), "loop": loop, "list": [Bare(), 2]}, lost=lost)
    assert sorted(each.path for each in lost) == ["$.bad", "$.list[0]", "$.loop.self"]
    value = codec.lift(plain)
    assert value["ok"] == 1
    assert value["list"][1] == 2
    assert isinstance(value["bad"], NotAvailable)
    assert isinstance(value["loop"]["self"], NotAvailable)


# -- types that are gone, renamed or changed ------------------------------------------------------------------


def test_an_unknown_type_is_opaque_and_stored_again_as_it_was() -> None:
    data = codec.encode(codec.lower({"f": [Plain(Loose(name="x", more=(1,)), Colour.RED)]}, registry=KNOWN))
    notes: list[str] = []
    value = codec.lift(codec.decode(data), registry=Registry(), notes=notes)
    assert type(value["f"][0]) is Opaque
    assert value["f"][0].type == "tests.unit.exact:Plain"
    assert codec.encode(codec.lower(value, registry=Registry())) == data
    assert notes == ["$.f[0]: tests.unit.exact:Plain was loaded as Opaque: it is not registered."]
    with pytest.raises(UnknownType, match=r"\$\.f\[0\] is tests.unit.exact:Plain"):
        codec.lift(codec.decode(data), registry=Registry(), strict=True)


def test_a_gate_sees_every_unknown_type_without_opening_a_secret() -> None:
    plain: Any = {
        "a": codec.lower([Colour.RED, Plain(1)], registry=KNOWN),
        "b": {"$sealed": "00"},
        "c": {"$later": 1},
    }
    known = Registry()
    register(Plain, registry=known)
    assert [(each.path, each.type) for each in codec.unknown_types(plain, registry=known)] == [
        ("$.a[0]", "tests.unit.exact:Colour"),
        ("$.c", "$later"),
    ]


def test_a_renamed_class_is_loaded_through_its_alias_and_the_log_says_so() -> None:
    old = Registry()
    register(Plain, name="old.module:Finding", registry=old)
    data = codec.encode(codec.lower({"x": Plain(1)}, registry=old))
    new = Registry()
    register(Plain, name="new.module:Evidence", aliases=["old.module:Finding"], registry=new)
    notes: list[str] = []
    assert codec.lift(codec.decode(data), registry=new, notes=notes, strict=True) == {"x": Plain(1)}
    assert notes == ["$.x: old.module:Finding was loaded as new.module:Evidence"]


def changed(cls: type, content: dict[str, Any], **how: Any) -> Any:
    known = Registry()
    register(cls, name="the:Class", registry=known)
    return codec.lift({"$obj": ["the:Class", content]}, registry=known, **how)


def test_a_new_field_gets_its_default_and_the_log_says_so() -> None:
    notes: list[str] = []
    assert changed(Plain, {"a": 1, "made": "x"}, notes=notes).b is None
    assert notes == ["$: the:Class: the new field 'b' has its default"]
    assert changed(Point, {"x": 1}) == Point(1, 0)
    assert changed(Model, {"left": 1}).right is None


@pytest.mark.parametrize("cls", [Plain, Model, Point])
def test_a_class_that_no_longer_fits_is_not_guessed_at(cls: type) -> None:
    for content in ({}, {"a": 1, "left": 1, "x": 1, "gone": 2}):
        assert type(changed(cls, content)) is Opaque
        with pytest.raises(UnknownType, match="migration"):
            changed(cls, content, strict=True)


def test_an_enum_member_that_is_gone_is_opaque() -> None:
    known = Registry()
    register(Colour, name="c", registry=known)
    assert codec.lift({"$obj": ["c", "BLUE"]}, registry=known) == Opaque("c", "BLUE")
    with pytest.raises(UnknownType, match="no member 'BLUE', only RED, GREEN"):
        codec.lift({"$obj": ["c", "BLUE"]}, registry=known, strict=True)


def test_loading_runs_no_constructor_and_no_validator() -> None:
    class Picky(BaseModel):
        number: int
        _cache: dict[str, int] = {}

        def model_post_init(self, context: Any) -> None:
            super().model_post_init(context)
            self.number += 1

    known = registry()
    register(Picky, registry=known)
    picky = Picky(number=1)
    picky._cache["x"] = 1
    again = there_and_back(picky, known)
    assert (again.number, again._cache) == (2, {})
    plain = Plain(1)
    plain.made = "by hand"
    assert there_and_back(plain).made == "by hand"


def test_a_field_that_was_never_set_is_not_set_again() -> None:
    @dataclasses.dataclass
    class Late:
        when: int = dataclasses.field(init=False)

    known = Registry()
    register(Late, registry=known)
    assert not hasattr(there_and_back(Late(), known), "when")


def test_a_custom_class_goes_through_its_dump_and_load() -> None:
    known = Registry()
    for dump, load in [
        (lambda text: {"is": str(text)}, lambda parts: Text(parts["is"])),
        (lambda text: (str(text), b"x"), lambda parts: Text(parts[0])),
        (lambda text: Frozen((str(text),)), lambda parts: Text(parts.key[0])),
    ]:
        register(Text, dump=dump, load=load, registry=known)
        register(Frozen, registry=known)
        again = there_and_back({"x": [Text("hello")]}, known)["x"][0]
        assert type(again) is Text
        assert again == "hello"


def test_a_dump_that_fails_is_a_refusal_with_the_path() -> None:
    known = Registry()
    register(Bare, dump=lambda bare: bare.nothing, load=lambda plain: plain, registry=known)
    with pytest.raises(NotStorable, match=r"\$\.x is .*Bare: its `dump` failed with AttributeError"):
        codec.lower({"x": Bare()}, registry=known)


def test_a_custom_class_that_dumps_itself_is_refused() -> None:
    known = Registry()
    register(Bare, dump=lambda bare: bare, load=lambda plain: plain, registry=known)
    with pytest.raises(LimitExceeded, match="contains itself"):
        codec.lower({"x": Bare()}, registry=known)


# -- runtime-only ---------------------------------------------------------------------------------------------


def test_a_runtime_only_value_is_marked_and_comes_back_as_not_available() -> None:
    known = Registry()
    register_runtime(type(threading.Lock()), "locks are made anew", registry=known)
    plain = codec.lower({"lock": threading.Lock(), "n": 1}, registry=known)
    assert plain == {"lock": {"$gone": {"type": "_thread:lock", "why": "locks are made anew"}}, "n": 1}
    gone = codec.lift(plain, registry=known)["lock"]
    assert gone == NotAvailable("locks are made anew", "_thread:lock")
    assert codec.lower({"lock": gone, "n": 1}, registry=known) == plain
    with pytest.raises(AttributeError, match="_thread:lock was not stored"):
        gone.acquire()


# -- sealed ---------------------------------------------------------------------------------------------------


def test_the_sealer_hears_the_nearest_name() -> None:
    heard: list[tuple[str, str]] = []

    def listen(text: str, where: str) -> codec.Plain:
        heard.append((text, where))
        return text

    codec.lower({"a": ["x", {"b": "y"}], "c": ("z",), 4: "q"}, path="$.top[3].s", seal=listen)
    codec.lower("root", path="$.top[3].s", seal=listen)
    assert set(heard) == {("x", "a"), ("y", "b"), ("z", "c"), ("q", "$.top.s"), ("root", "$.top.s")} | {
        ("a", ""),
        ("c", ""),
    }


def test_a_secret_of_pydantics_is_refused_without_a_sealer_and_digested_in_clear() -> None:
    with pytest.raises(NotStorable, match="no key to seal"):
        codec.lower({"x": SecretStr("hunter2")})
    assert codec.canonical({"x": SecretStr("hunter2")}) != codec.canonical({"x": SecretStr("hunter3")})


def test_a_sealed_part_is_not_lifted_without_a_vault() -> None:
    with pytest.raises(KeyMissing, match=r"\$\.a"):
        codec.lift({"a": {"$sealed": "00"}})


# -- digests --------------------------------------------------------------------------------------------------


def test_canonical_bytes_tell_apart_what_python_calls_equal() -> None:
    values = [
        1,
        1.0,
        True,
        "1",
        [1],
        (1,),
        {1},
        frozenset({1}),
        {"a": 1},
        {"a": 1.0},
        {1: 1},
        {"1": 1},
        -0.0,
        0.0,
        0,
        None,
    ]
    assert len({codec.canonical(value) for value in values}) == len(values)


def test_canonical_bytes_of_deep_values_do_not_depend_on_the_order_of_keys() -> None:
    one, other = {"z": nested(400), "a": nested(500)}, {"a": nested(500), "z": nested(400)}
    assert codec.canonical(one) == codec.canonical(other)
    assert codec.encode(codec.lower(one)) != codec.encode(codec.lower(other))


# -- damaged --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "plain",
    [
        {"$decimal": 5}, {"$datetime": "yesterday"}, {"$set": [1, 1]}, {"$set": [[1]]}, {"$pairs": [[1, 2], [1, 3]]},
        {"$bytes": "no base64"}, {"$obj": "x"}, {"$obj": [1, 2]}, {"$obj": ["tests.unit.exact:Colour", [1]]},
        {"$obj": ["tests.unit.exact:Plain", [1]]}, {"$a": 1, "b": 2}, {"$ndarray": [["|O", [1], "C"], "AAAA"]},
        {"$ndarray": [["<f8", [10**12], "C"], ""]}, {"$sealed": 5}, {"$timedelta": [1.5, 0, 0]}, {"$secret": "clear"},
    ],
)  # fmt: skip
def test_content_that_was_never_written_is_an_integrity_finding_with_its_path(plain: Any) -> None:
    with pytest.raises(IntegrityError, match=r"\$\.x\[0\]"):
        codec.lift({"x": [plain]}, registry=KNOWN, open=lambda _: "")
