"""What must hold for any two values that are compared?"""

from __future__ import annotations

import math
import time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tracer.diff import ABSENT, NOTHING, TIMESTAMPS, Diff, Entry, Ignore, Op, diff, words

leaves = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from(["", "a", "b c", "b d", "€"])
    | st.floats(width=16)
)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=25,
)
members = st.builds(lambda i, v: {"id": i, "v": v}, st.integers(0, 8), values)
identified = st.lists(members, max_size=7, unique_by=lambda m: m["id"])


def rebuilt(old: Any, entries: list[Entry], depth: int) -> Any:
    """The new value, made from the old one and the entries alone."""
    whole = [e for e in entries if len(e.path) == depth and e.op is Op.CHANGED]
    if whole:
        return whole[0].new
    below: dict[Any, list[Entry]] = {}
    for entry in entries:
        below.setdefault(entry.path[depth], []).append(entry)
    if isinstance(old, dict):
        out = dict(old)
        for key, group in below.items():
            head = group[0]
            if len(head.path) == depth + 1 and head.op is Op.ADDED:
                out[key] = head.new
            elif len(head.path) == depth + 1 and head.op is Op.REMOVED:
                del out[key]
            else:
                out[key] = rebuilt(old[key], group, depth + 1)
        return out
    return rebuilt_list(old, entries, depth)


def rebuilt_list(old: list[Any], entries: list[Entry], depth: int) -> list[Any]:
    """Every place of the new list is named by one entry, or by the pair that entries below it share."""
    if not entries:
        return old
    places: dict[int, Any] = {}
    inner: dict[int, list[Entry]] = {}
    source: dict[int, int] = {}
    for e in entries:
        if len(e.path) > depth + 1:
            inner.setdefault(e.path[depth], []).append(e)
        elif e.op is Op.SAME:
            places.update({e.new_place + n: old[e.old_place + n] for n in range(e.count)})
        elif e.op in (Op.ADDED, Op.CHANGED):
            places[e.new_place] = e.new
        elif e.op is Op.MOVED:
            places[e.new_place] = old[e.old_place]
            source[e.new_place] = e.old_place
    used = {
        e.old_place
        for e in entries
        if len(e.path) == depth + 1 and e.op is not Op.SAME and e.old_place is not None
    }
    for e in entries:
        if len(e.path) == depth + 1 and e.op is Op.SAME:
            used.update(range(e.old_place, e.old_place + e.count))
    free = sorted(set(range(len(old))) - used)
    for place, group in sorted(inner.items()):
        at = source[place] if place in source else free.pop(0)
        places[place] = rebuilt(old[at], group, depth + 1)
    assert not free
    return [places[n] for n in range(len(places))]


def shape(found: Diff) -> list[tuple[Any, ...]]:
    return [(e.path, str(e.op)) for e in found.entries]


@given(values)
def test_a_value_does_not_differ_from_itself(value: Any) -> None:
    assert diff(value, value).changes == ()


@given(st.lists(values, max_size=6), st.lists(values, max_size=6))
def test_the_new_list_can_be_rebuilt_from_the_old_one_and_the_entries(old: Any, new: Any) -> None:
    found = diff(old, new)
    assert diff(rebuilt(old, list(found.entries), 0), new).changes == ()


@given(st.dictionaries(st.sampled_from("abcd"), values), st.dictionaries(st.sampled_from("abcd"), values))
def test_the_new_mapping_can_be_rebuilt_from_the_old_one_and_the_entries(old: Any, new: Any) -> None:
    found = diff(old, new)
    assert diff(rebuilt(old, list(found.entries), 0), new).changes == ()


@given(identified, identified)
def test_members_with_an_id_are_aligned_by_it_and_never_paired_across_ids(old: Any, new: Any) -> None:
    found = diff(old, new)
    assert diff(rebuilt(old, list(found.entries), 0), new).changes == ()
    gone = {m["id"] for m in old} - {m["id"] for m in new}
    come = {m["id"] for m in new} - {m["id"] for m in old}
    if old and new:
        assert {e.old["id"] for e in found.entries if len(e.path) == 1 and e.op is Op.REMOVED} == gone
        assert {e.new["id"] for e in found.entries if len(e.path) == 1 and e.op is Op.ADDED} == come


@given(values, values)
def test_added_and_removed_change_places_when_the_sides_do(old: Any, new: Any) -> None:
    there, back = diff(old, new), diff(new, old)
    assert bool(there.changes) == bool(back.changes)


@given(st.text("ab \nπ", max_size=60), st.text("ab \nπ", max_size=60))
def test_words_give_both_texts_back(old: str, new: str) -> None:
    found = words(old, new)
    assert "".join(w.text for w in found if w.op != "+") == old
    assert "".join(w.text for w in found if w.op != "−") == new


@given(st.dictionaries(st.sampled_from(["at", "v"]), st.integers(0, 2)), st.integers(0, 2))
def test_ignored_differences_are_counted_not_lost(value: dict[str, int], at: int) -> None:
    other = {**value, "at": at}
    found = diff({"a": value}, {"a": other}, ignore=Ignore(TIMESTAMPS))
    assert found.changes == ()
    assert found.ignored == len(diff({"a": value}, {"a": other}).changes)


def test_numbers_of_other_types_are_changes_and_nan_is_not() -> None:
    assert shape(diff({"n": 1}, {"n": True})) == [(("n",), "~")]
    assert shape(diff({"n": 1}, {"n": 1.0})) == [(("n",), "~")]
    assert diff({"n": math.nan}, {"n": math.nan}).entries == ()
    assert shape(diff({"n": 0.0}, {"n": -0.0})) == [(("n",), "~")]


def test_an_insertion_in_front_is_one_entry_and_one_run() -> None:
    found = diff(["b", "c"], ["a", "b", "c"])
    assert shape(found) == [((0,), "+"), ((1,), "=")]
    assert found.entries[1].count == 2


def test_a_rewritten_message_is_a_change_of_its_content_and_a_replaced_one_is_two_entries() -> None:
    old = [{"role": "user", "content": "go"}, {"role": "tool", "content": "3 found"}]
    rewritten = [old[0], {"role": "tool", "content": "4 found"}]
    replaced = [old[0], {"role": "assistant", "content": "done"}]
    assert shape(diff(old, rewritten)) == [((0,), "="), ((1, "content"), "~")]
    assert shape(diff(old, replaced)) == [((0,), "="), ((1,), "−"), ((1,), "+")]


def test_a_member_in_another_order_is_moved_and_not_rewritten() -> None:
    old = [{"id": n, "v": n} for n in range(4)]
    found = diff(old, [old[3], *old[:3]])
    assert [(e.op, e.old_place, e.new_place) for e in found.changes] == [(Op.MOVED, 3, 0)]


def test_lists_and_tuples_and_missing_values_are_told_apart() -> None:
    assert [e.op for e in diff({"a": (1,)}, {"a": [1]}).entries] == [Op.CHANGED]
    assert diff({}, {"a": None}).entries[0].old is ABSENT


def test_depth_does_not_meet_the_stack_of_the_interpreter() -> None:
    old: Any = 1
    new: Any = 2
    for _ in range(5_000):
        old, new = [old], [new]
    assert len(diff(old, new).entries[0].path) == 5_000


def test_a_container_in_itself_ends() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    assert diff({"a": 1, "l": loop}, {"a": 2, "l": loop}).changes[0].path == ("a",)


def test_equal_subtrees_are_counted_and_not_entered() -> None:
    found = diff({"same": {"x": [1, 2]}, "n": 1}, {"same": {"x": [1, 2]}, "n": 2}, ignore=NOTHING)
    assert found.skipped == 1
    assert found.lists == {}


def test_work_grows_with_the_size_and_not_with_its_square() -> None:
    def cost(n: int) -> float:
        old = [{"role": "tool", "content": f"line {i} of {n}"} for i in range(n)]
        new = [*old[: n // 3], {"role": "tool", "content": "new"}, *reversed(old[n // 3 :])]
        start = time.process_time()
        diff(old, new)
        return time.process_time() - start

    small = min(cost(1_000) for _ in range(3))
    assert cost(8_000) < 40 * small, "8 times the members must not cost 64 times the work"
