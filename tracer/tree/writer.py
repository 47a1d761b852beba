"""How is a state cut into objects, so that a checkpoint costs what changed?

A value becomes a *plain* tree (see `codec`) in which every large part is replaced by a reference
`{"$#": digest, "n": bytes}`. Long lists and dicts become nodes: chunks whose borders follow from the content (so
an insertion moves only its neighbours), under patches that chain at most `CHAIN` deep. Pure: objects go out
through `put` and come in through `get` (see `TreeReader` in `treeread`).

Node forms, as the plain content of an object:
    {"$l": [ref, …]}                    a chunk of refs
    {"$t": [[digest, count], …]}        a node over chunks or nodes
    {"$p": digest, "o": [[at, remove, [ref, …]], …], "d": depth}    a patch on an older node
A reference to a list node carries `"k": "l"`, to a dict node (refs are [key, part] pairs) `"k": "d"`, both `"c"`,
the number of items; `"s": 1` marks an object that holds references itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .. import codec
from ..items import Items
from .node import (
    CHAIN,
    CHUNK_MASK,
    CHUNK_MAX,
    CLOSE,
    INLINE,
    SECRET_KEY,
    WHOLE,
    Node,
    Plain,
    compact,
    digest_of,
    holds_ref,
    is_ref,
    same_ref,
    size_of,
)
from .sameness import DEEPEST, structural_copy, unchanged

Put = Callable[[bytes, bytes], None]
Seal = Callable[[str, str], Plain]
Splice = tuple[int, int, list[Plain]]
_item_of: Final = list.__getitem__


class TreeWriter:
    """Cuts one value again and again, and remembers what it cut before."""

    def __init__(self, put: Put, *, seal: Seal | None = None) -> None:
        self._put = put
        self._seal = seal
        self._nodes: dict[str, Node] = {}

    def write(self, value: dict[str, Any]) -> dict[str, Plain]:
        """The root of *value*: field name -> plain or reference.

        Raises:
            NotStorable: names the path of the part that cannot be stored; the writer forgets what it knew.
        """
        try:
            root = {key: self._part(item, f"$.{key}") for key, item in value.items()}
        except BaseException:
            self.forget()
            raise
        return root

    def forget(self) -> None:
        """Nothing that was put can be relied on (the append failed): cut the whole value next time."""
        self._nodes.clear()

    def remember(self, path: str, node: Node, value: Any) -> None:
        """Take over a stored node of *value*, so that the next write costs only what changes from now on."""
        if type(value) is Items:
            node.held = list.copy(value)
            node.follows(value)
        self._nodes[path] = node

    def _part(self, value: Any, path: str) -> Plain:
        kind = type(value)
        if kind is list or kind is Items:
            return self._sequence(value, path, "l")
        if kind is dict and value and path.count(".") < DEEPEST and all(map(self._plain_key, value)):
            return self._sequence(value, path, "d")
        return self.whole(codec.lower(value, path=path, seal=self._seal))

    def _plain_key(self, key: Any) -> bool:
        """Whether a dict with this key may be cut by its keys: it is a clean text, no tag of ours and no secret."""
        if type(key) is not str or key.startswith("$") or not (key.isascii() or _encodable(key)):
            return False
        return self._seal is None or len(key) < SECRET_KEY or type(self._seal(key, "")) is str

    def whole(self, plain: Plain) -> Plain:
        """*plain* itself when small, else a reference to it."""
        kind = type(plain)
        if kind is int or kind is float or kind is bool or plain is None:
            return plain
        data = codec.encode(plain)
        if len(data) <= INLINE:
            return plain
        if len(data) <= WHOLE or kind is str:
            return {"$#": self._store(data), "n": len(data)}
        parts = self._split(plain, 0)
        if is_ref(parts):
            return parts
        return {"$#": self._store(codec.encode(parts)), "n": len(data), "s": 1}

    def _split(self, plain: Plain, depth: int) -> Plain:
        """A large plain with its large parts taken out, so that equal ones are stored once."""
        kind = type(plain)
        if depth < DEEPEST and kind is dict:
            return {key: self._within(item, depth) for key, item in plain.items()}
        if depth < DEEPEST and kind is list and len(plain) > 1:
            node = Node("l", [], [self._within(item, depth) for item in plain])
            node.size = sum(map(size_of, node.refs))
            compact(node, self._store)
            return node.ref()
        return plain

    def _within(self, plain: Plain, depth: int) -> Plain:
        kind = type(plain)
        if kind is dict or kind is list:
            size = len(codec.encode(plain))
            if size <= INLINE:
                return plain
            if size > WHOLE:
                parts = self._split(plain, depth + 1)
                if is_ref(parts):
                    return parts
                return {"$#": self._store(codec.encode(parts)), "n": size, "s": 1}
        return self.whole(plain)

    def _sequence(self, value: Any, path: str, kind: str) -> Plain:
        node = self._nodes.get(path)
        if node is None or node.kind != kind:
            refs = self._fresh(list.copy(value) if kind == "l" else list(value.items()), path, 0, kind)
            size = sum(map(size_of, refs))
            if size <= WHOLE // 4 and len(refs) <= CHUNK_MAX:
                return self._small(refs if kind == "l" else dict(refs), size)
            node = Node(kind, _copies(value, kind), refs, size=size)
            if type(value) is Items:
                node.held = list.copy(value)
            compact(node, self._store)
            self._nodes[path] = node
        else:
            self._patch(node, self._changes(value, path, node))
        if type(value) is Items:
            node.follows(value)
        return node.ref()

    def _small(self, plain: Plain, size: int) -> Plain:
        """A short list or dict: inside its parent, or one object of its own."""
        data = codec.encode(plain)
        if len(data) <= INLINE:
            return plain
        ref: dict[str, Plain] = {"$#": self._store(data), "n": max(size, len(data))}
        if holds_ref(plain):
            ref["s"] = 1
        return ref

    def _fresh(self, items: list[Any], path: str, start: int, kind: str) -> list[Plain]:
        if kind == "d":
            return [[key, self._part(item, f"{path}.{key}")] for key, item in items]
        return [
            self.whole(codec.lower(item, path=f"{path}[{place}]", seal=self._seal))
            for place, item in enumerate(items, start)
        ]

    def _changes(self, value: Any, path: str, node: Node) -> list[Splice]:
        """What to do to the node's refs, from front to back; its copies are brought up to date."""
        old = node.copies
        if type(value) is Items:
            hint = value.suspects(len(old)) if node.source is value and node.stamp == value.stamp else None
            if hint is not None and _unmoved(value, node, *hint):
                return self._hinted(value, path, node, *hint)
            node.held = list.copy(value)
        new = list.copy(value) if node.kind == "l" else list(value.items())
        front, back, limit = 0, 0, min(len(new), len(old))
        same = unchanged if node.kind == "l" else _same_pair
        while front < limit and same(new[front], old[front]):
            front += 1
        while back < limit - front and same(new[-1 - back], old[-1 - back]):
            back += 1
        removed = len(old) - front - back
        fresh = new[front : len(new) - back]
        if not fresh and not removed:
            return []
        refs = self._fresh(fresh, path, front, node.kind)
        old[front : front + removed] = _copies(dict(fresh) if node.kind == "d" else fresh, node.kind)
        if len(refs) == removed:  # changes in place, perhaps far apart: patch only the places that differ
            pairs = zip(range(front, front + removed), refs, node.refs[front : front + removed], strict=True)
            return [
                (place, 1, [ref]) for place, ref, was in pairs if ref != was or type(ref) is not type(was)
            ]
        return [(front, removed, refs)]

    def _hinted(
        self, value: Items[Any], path: str, node: Node, dropped: int, places: list[int]
    ) -> list[Splice]:
        splices: list[Splice] = []
        if dropped:
            splices.append((0, dropped, []))
            del node.copies[:dropped]
        for place in _closely(value, node, places):
            item = node.held[place]
            if not unchanged(item, node.copies[place]):
                refs = self._fresh([item], path, place, "l")
                # Some values cannot be told to be as they were until they are encoded; then they can.
                if not same_ref(refs[0], node.refs[dropped + place]):
                    splices.append((place, 1, refs))
                node.copies[place] = structural_copy(item)
        known = len(node.copies)
        if len(value) > known:
            fresh = [_item_of(value, place) for place in range(known, len(value))]
            splices.append((known, 0, self._fresh(fresh, path, known, "l")))
            node.copies.extend(map(structural_copy, fresh))
            node.held.extend(fresh)
        return splices

    def _patch(self, node: Node, splices: list[Splice]) -> None:
        if not splices:
            return
        inserted = 0
        for at, remove, refs in splices:
            node.size += sum(map(size_of, refs)) - sum(map(size_of, node.refs[at : at + remove]))
            node.refs[at : at + remove] = refs
            node.stable = min(node.stable, at)
            inserted += len(refs)
        if node.depth >= CHAIN or inserted > CHUNK_MASK:
            compact(node, self._store)
            return
        node.depth += 1
        patch: Plain = {"$p": node.digest, "o": [list(splice) for splice in splices], "d": node.depth}
        node.digest = self._store(codec.encode(patch))

    def _store(self, data: bytes) -> str:
        digest = digest_of(data)
        self._put(digest, data)
        return digest.hex()


def _unmoved(value: Items[Any], node: Node, dropped: int, places: list[int]) -> bool:
    """Whether every item that *value* does not name as suspect is where it was; brings `held` up to date."""
    held = node.held
    del held[:dropped]
    if places and len(places) == places[-1] + 1 - places[0]:
        held[places[0] : places[-1] + 1] = list.__getitem__(value, slice(places[0], places[-1] + 1))
    else:
        for place in places:
            held[place] = _item_of(value, place)
    try:
        # Compares pointers first, in C: microseconds for thousands of items that are where they were.
        return list.__getitem__(value, slice(len(held))) == held
    except Exception:  # a program's own `==` may do anything
        return False


def _closely(value: Items[Any], node: Node, places: list[int]) -> list[int]:
    """Those of *places* that are to be compared leaf by leaf; `held` is up to date.

    A change through an alias nearly always makes an item unequal, which `==` finds in C at a tenth of the cost. What
    it cannot see, 1 for True or another order of keys, is looked for in what was handed out, and in a part of the
    rest that goes round.
    """
    if len(places) <= CLOSE:
        return places
    first, end = places[0], places[-1] + 1
    try:
        if node.held[first:end] != node.copies[first:end]:
            return places
    except Exception:  # a program's own `==` may do anything
        return places
    turn = value.stamp % -(-len(places) // CLOSE)
    part = places[turn * CLOSE : (turn + 1) * CLOSE]
    handed = value.handed_out
    return sorted(handed.intersection(places).union(part)) if handed else part


def _encodable(key: str) -> bool:
    try:
        key.encode()
    except UnicodeEncodeError:
        return False
    return True


def _same_pair(pair: tuple[Any, Any], copy: tuple[Any, Any]) -> bool:
    return pair[0] is copy[0] and unchanged(pair[1], copy[1])


def _copies(value: Any, kind: str) -> list[Any]:
    if kind == "l":
        return [structural_copy(item) for item in list.__iter__(value)]
    return [(key, structural_copy(item)) for key, item in value.items()]
