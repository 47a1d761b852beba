"""Does every checkpoint rebuild exactly, whatever was edited between them, and at a cost that does not grow?"""

from __future__ import annotations

import copy
import heapq
import random
from collections.abc import Callable, Iterable
from statistics import median
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.exact import same
from tracer import codec
from tracer.errors import IntegrityError, NotStorable
from tracer.items import LOOKED, RECENT, Items
from tracer.tree import CHAIN, TreeReader, TreeWriter, is_ref


class Store:
    """Objects in memory, and how often they were asked for."""

    def __init__(self) -> None:
        self.objects: dict[bytes, bytes] = {}
        self.new = 0
        self.reads = 0

    def put(self, digest: bytes, data: bytes) -> None:
        if digest not in self.objects:
            self.new += len(data)
        self.objects[digest] = data

    def get(self, digests: Iterable[bytes]) -> dict[bytes, bytes]:
        self.reads += 1
        return {digest: self.objects[digest] for digest in digests}


def rebuilt(store: Store, root: dict[str, Any]) -> dict[str, Any]:
    """The value behind a root, as a process that has only the store sees it."""
    return {name: codec.lift(part) for name, part in TreeReader(store.get).load(root).items()}


def plain_copy(value: Any) -> Any:
    """A deep copy in which lists of ours are ordinary lists."""
    if isinstance(value, dict):
        return {key: plain_copy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain_copy(item) for item in list.__iter__(value)]
    return copy.deepcopy(value)


leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.text(max_size=12),
    st.sampled_from(["x" * 200, "y" * 5_000, "$#", "$p", b"bytes", b"b" * 600, (1, 2), frozenset({1})]),
)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["k", "$#", "n", "ü", "a.b", "long" * 9]), inner, max_size=3)
    ),
    max_leaves=8,
)


def _append(state: dict[str, Any], at: int, value: Any) -> None:
    state["items"].append(value)


def _extend(state: dict[str, Any], at: int, value: Any) -> None:
    state["items"].extend({"n": n, "value": value} for n in range(at % 90))


def _insert(state: dict[str, Any], at: int, value: Any) -> None:
    state["items"].insert(at, value)


def _replace(state: dict[str, Any], at: int, value: Any) -> None:
    if state["items"]:
        state["items"][at % len(state["items"])] = value


def _delete(state: dict[str, Any], at: int, value: Any) -> None:
    del state["items"][at : at + 7]


def _take(state: dict[str, Any], at: int, value: Any) -> None:
    for _ in range(min(at % 5, len(state["items"]))):
        state["items"].pop(0)


def _pop(state: dict[str, Any], at: int, value: Any) -> None:
    if state["items"]:
        state["items"].pop()


def _edit(state: dict[str, Any], at: int, value: Any) -> None:
    for item in state["items"][at : at + 3]:
        if isinstance(item, dict):
            item["edited"] = value


def _swap(state: dict[str, Any], at: int, value: Any) -> None:
    items = state["items"]
    if len(items) > 1:
        items[at % len(items)], items[0] = items[0], items[at % len(items)]


def _reverse(state: dict[str, Any], at: int, value: Any) -> None:
    state["items"].reverse()


def _set_key(state: dict[str, Any], at: int, value: Any) -> None:
    state["map"][f"key{at % 200}"] = value


def _drop_key(state: dict[str, Any], at: int, value: Any) -> None:
    state["map"].pop(f"key{at % 200}", None)


def _many_keys(state: dict[str, Any], at: int, value: Any) -> None:
    state["map"].update((f"key{n}", [value, n]) for n in range(at, at + 60))


def _reorder_keys(state: dict[str, Any], at: int, value: Any) -> None:
    for key in list(state["map"])[: at % 3]:
        state["map"][key] = state["map"].pop(key)


def _deep(state: dict[str, Any], at: int, value: Any) -> None:
    state["deep"]["a"]["list"].append([value] * (at % 40))


def _deep_edit(state: dict[str, Any], at: int, value: Any) -> None:
    if state["deep"]["a"]["list"]:
        state["deep"]["a"]["list"][-1].append(value)


def _field(state: dict[str, Any], at: int, value: Any) -> None:
    state["field"] = value


def _other_list(state: dict[str, Any], at: int, value: Any) -> None:
    state["items"] = Items([value] * (at % 70))


EDITS: list[Callable[[dict[str, Any], int, Any], None]] = [
    _append,
    _extend,
    _insert,
    _replace,
    _delete,
    _take,
    _pop,
    _edit,
    _swap,
    _reverse,
    _set_key,
    _drop_key,
    _many_keys,
    _reorder_keys,
    _deep,
    _deep_edit,
    _field,
    _other_list,
]

edits = st.lists(
    st.lists(st.tuples(st.sampled_from(EDITS), st.integers(0, 150), values), max_size=3),
    min_size=1,
    max_size=9,
)


def fresh() -> dict[str, Any]:
    return {"items": Items(), "map": {}, "deep": {"a": {"list": []}}, "field": None}


@settings(max_examples=50)
@given(edits)
def test_every_checkpoint_of_any_sequence_of_edits_rebuilds_in_value_and_type(steps: Any) -> None:
    store, state = Store(), fresh()
    writer = TreeWriter(store.put)
    roots = []
    for step in steps:
        for edit, at, value in step:
            edit(state, at, copy.deepcopy(value))
        roots.append((writer.write(state), plain_copy(state)))
    for root, was in roots:
        assert same(rebuilt(store, root), was)


@settings(max_examples=20)
@given(edits, edits)
def test_a_writer_that_takes_over_a_stored_state_goes_on_exactly(before: Any, after: Any) -> None:
    store, state = Store(), fresh()
    writer = TreeWriter(store.put)
    for step in before:
        for edit, at, value in step:
            edit(state, at, copy.deepcopy(value))
        root = writer.write(state)
    loaded = rebuilt(store, root)
    loaded["items"] = Items(loaded["items"])
    second, reader = TreeWriter(store.put), TreeReader(store.get)
    for name, part in root.items():
        if is_ref(part) and "k" in part:
            node = reader.node(part, loaded[name])
            assert node is not None
            second.remember(f"$.{name}", node, loaded[name])
    for step in after:
        for edit, at, value in step:
            edit(loaded, at, copy.deepcopy(value))
        root = second.write(loaded)
        assert same(rebuilt(store, root), plain_copy(loaded))


def test_an_unchanged_state_costs_nothing_after_a_resume() -> None:
    store, state = (
        Store(),
        {"items": Items(message(n) for n in range(300)), "map": {f"k{n}": [n] for n in range(300)}},
    )
    root = TreeWriter(store.put).write(state)
    loaded = rebuilt(store, root)
    loaded["items"] = Items(loaded["items"])
    second, reader = TreeWriter(store.put), TreeReader(store.get)
    for name in root:
        node = reader.node(root[name], loaded[name])
        assert node is not None
        second.remember(f"$.{name}", node, loaded[name])
    store.new = 0
    assert second.write(loaded) == root
    loaded["items"].append(message(999))
    second.write(loaded)
    assert store.new < 2_500


@pytest.mark.parametrize("pair", [(1, True), (1, 1.0), (0.0, -0.0), (0, False), ("1", 1), ([1], (1,))])
def test_an_equal_value_of_another_type_in_a_long_list_is_a_change(pair: tuple[Any, Any]) -> None:
    one, other = pair
    store, state = Store(), {"items": Items([{"v": one, "n": n} for n in range(400)])}
    writer = TreeWriter(store.put)
    writer.write(state)
    state["items"][7]["v"] = other
    state["items"][9] = {"v": other, "n": 9}
    assert same(rebuilt(store, writer.write(state)), plain_copy(state))


def test_the_order_of_keys_is_part_of_the_value() -> None:
    store, state = Store(), {"map": {f"key{n}": n for n in range(500)}}
    writer = TreeWriter(store.put)
    writer.write(state)
    state["map"]["key3"] = state["map"].pop("key3")
    assert same(rebuilt(store, writer.write(state)), plain_copy(state))


def message(n: int) -> dict[str, Any]:
    return {"role": "assistant", "content": random.Random(n).randbytes(512).hex()}


def grown(steps: int, writer: TreeWriter, store: Store) -> tuple[list[dict[str, Any]], list[int]]:
    """(root, bytes of new objects) of every step that appends one message."""
    state: dict[str, Any] = {"messages": Items(), "step": 0}
    roots, cost = [], []
    for n in range(steps):
        state["messages"].append(message(n))
        state["step"] = n
        store.new = 0
        roots.append(writer.write(state))
        cost.append(store.new)
    return roots, cost


def test_a_step_costs_what_changed_in_it_however_long_the_history() -> None:
    store = Store()
    roots, cost = grown(1_200, TreeWriter(store.put), store)
    assert median(cost[-120:]) <= 1.5 * median(cost[60:180])
    assert max(cost) < 40 * median(cost), (
        "a step that writes the node whole costs a few chunks, not the history"
    )
    payload = sum(len(codec.encode(codec.lower(message(n)))) for n in range(1_200))
    assert sum(map(len, store.objects.values())) < 1.5 * payload
    for n in (0, 31, 32, 600, 1_199):
        store.reads = 0
        assert rebuilt(store, roots[n])["messages"] == [message(k) for k in range(n + 1)]
        assert store.reads <= 100


def test_patches_chain_at_most_32_deep() -> None:
    store = Store()
    roots, _ = grown(150, TreeWriter(store.put), store)
    deepest = 0
    for root in roots:
        depth, content = 0, {"$p": root["messages"]["$#"]} if is_ref(root["messages"]) else {}
        while "$p" in content:
            content = codec.decode(store.objects[bytes.fromhex(content["$p"])])
            depth += "$p" in content
        deepest = max(deepest, depth)
    assert deepest == CHAIN == 32


def test_an_insertion_at_the_front_moves_only_its_neighbours() -> None:
    store = Store()
    writer = TreeWriter(store.put)
    state = {"messages": Items(message(n) for n in range(600))}
    writer.write(state)
    whole = store.new
    state["messages"].insert(0, message(9_999))
    store.new = 0
    writer.write(state)
    assert store.new < whole / 50


def test_equal_parts_are_stored_once() -> None:
    store = Store()
    writer = TreeWriter(store.put)
    writer.write({"a": ["z" * 5_000] * 50, "b": {"c": "z" * 5_000}})
    assert sum(map(len, store.objects.values())) < 15_000


def test_a_value_that_cannot_be_stored_names_its_path_and_the_next_write_is_exact() -> None:
    store = Store()
    state: dict[str, Any] = {"plan": Items({"n": n} for n in range(300)), "scratch": {}}
    writer = TreeWriter(store.put)
    writer.write(state)
    state["plan"][5]["client"] = object()
    with pytest.raises(NotStorable) as refused:
        writer.write(state)
    assert refused.value.path == "$.plan[5].client"
    state["plan"][5]["client"] = "mended"
    assert same(rebuilt(store, writer.write(state)), plain_copy(state))


def test_a_cycle_and_a_deep_nest_are_refused_with_their_path() -> None:
    cycle: dict[str, Any] = {}
    cycle["self"] = [cycle]
    nest: list[Any] = []
    for _ in range(3_000):
        nest = [nest]
    for name, value in (("cycle", cycle), ("nest", nest)):
        with pytest.raises(NotStorable) as refused:
            TreeWriter(Store().put).write({name: value})
        assert refused.value.path.startswith(f"$.{name}")


def test_a_missing_object_is_an_integrity_error_or_a_loud_miss() -> None:
    store = Store()
    root = TreeWriter(store.put).write({"messages": [message(n) for n in range(40)]})

    def get(digests: Iterable[bytes]) -> dict[bytes, bytes]:
        raise IntegrityError("object", "it is not in the store")

    with pytest.raises(IntegrityError):
        TreeReader(get).load(root)


def test_lists_that_change_places_are_told_apart() -> None:
    store = Store()
    writer = TreeWriter(store.put)
    state = {"a": Items([{"a": n} for n in range(300)]), "b": Items([{"b": n} for n in range(300)])}
    writer.write(state)
    state["a"], state["b"] = state["b"], state["a"]
    assert same(rebuilt(store, writer.write(state)), plain_copy(state))
    state["a"] = state["b"]
    assert same(rebuilt(store, writer.write(state)), plain_copy(state))
    state["a"][3]["a"] = "seen through either name"
    assert same(rebuilt(store, writer.write(state)), plain_copy(state))


def test_a_step_with_values_that_must_be_encoded_to_be_compared_stores_them_once() -> None:
    store = Store()
    writer = TreeWriter(store.put)
    state = {"items": Items([{"tags": {"x", "y"}, "n": n} for n in range(400)])}
    writer.write(state)
    store.new = 0
    writer.write(state)
    assert store.new == 0


# -- what Items promises ---------------------------------------------------------------------------------------


def long_list(count: int = 1_000) -> tuple[Store, TreeWriter, dict[str, Any]]:
    store = Store()
    writer, state = TreeWriter(store.put), {"items": Items([{"n": n} for n in range(count)])}
    writer.write(state)
    return store, writer, state


def test_an_item_handed_out_since_the_last_checkpoint_is_followed() -> None:
    store, writer, state = long_list()
    held = state["items"][3]
    held["n"] = "edited"
    for item in state["items"][5:7]:
        item["n"] = "edited too"
    assert same(rebuilt(store, writer.write(state)), plain_copy(state))
    for item in state["items"]:
        item["n"] = "all"
    assert same(rebuilt(store, writer.write(state)), plain_copy(state))


def test_a_young_item_is_followed_through_any_reference_without_being_handed_out() -> None:
    store, writer, state = long_list(10)
    young = {"n": "young"}
    state["items"].append(young)
    writer.write(state)
    for n in range(RECENT - 1):
        state["items"].append({"n": n})
        writer.write(state)
    young["n"] = "edited through the reference of its maker"
    assert same(rebuilt(store, writer.write(state)), plain_copy(state))


def test_an_edit_of_an_old_item_through_an_old_reference_is_recorded_late_and_never_lost() -> None:
    every = 5
    store, writer, state = long_list(every * LOOKED)
    held = state["items"][3]
    for _ in range(every):
        writer.write(state)
        held["n"] = f"{held['n']}, edited through a reference from before the last checkpoint"
    kept = [same(rebuilt(store, writer.write(state)), plain_copy(state)) for _ in range(every + 1)]
    assert kept[-1]
    assert False in kept, "looking at all of a long list at every checkpoint would cost too much"


def test_a_list_shorter_than_what_a_checkpoint_may_look_at_is_followed_through_any_reference() -> None:
    store, writer, state = long_list(LOOKED - 1)
    held = state["items"][3]
    for n in range(5):
        writer.write(state)
        held["n"] = f"edited {n}"
        assert same(rebuilt(store, writer.write(state)), plain_copy(state))


def test_a_heap_is_kept_exactly_although_the_library_moves_its_items_unseen() -> None:
    store, state = Store(), {"queue": Items()}
    writer, source = TreeWriter(store.put), random.Random(5)
    for n in range(400):
        heapq.heappush(state["queue"], (source.randrange(1_000), n))
        if n % 3 == 2:
            heapq.heappop(state["queue"])
        if n % 5 == 0:
            assert same(rebuilt(store, writer.write(state)), plain_copy(state))


def test_lists_that_share_items_with_a_state_through_plus_and_times_are_seen() -> None:
    store, writer, state = long_list()
    joined = state["items"] + [{"n": "other"}]
    joined[2]["n"] = "edited through a sum"
    assert same(rebuilt(store, writer.write(state)), plain_copy(state))
    twice = state["items"] * 2
    twice[4]["n"] = "edited through a product"
    assert same(rebuilt(store, writer.write(state)), plain_copy(state))
