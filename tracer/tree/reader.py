"""What does a root stand for? Rebuilds values from objects, many objects a read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from .. import codec
from .node import CHAIN, Node, Plain
from .sameness import DEEPEST, structural_copy

KEPT: Final = 8
"""Whole lists of references that a reader keeps, and chains of patches on them."""

Get = Callable[[Iterable[bytes]], dict[bytes, bytes]]


class TreeReader:
    """Reads what a `TreeWriter` wrote; *get* returns every object asked for or raises IntegrityError."""

    def __init__(self, get: Get) -> None:
        self._get = get
        self._nodes: dict[str, Plain] = {}
        self._whole: dict[str, list[Plain]] = {}

    def load(self, root: Plain) -> Plain:
        """*root* with every reference replaced by what it stands for.

        Raises:
            IntegrityError: an object is missing or is not what its digest says.
        """
        return self._resolve([root])[0]

    def refs(self, ref: Plain) -> tuple[list[Plain], int]:
        """(the refs of a list node or the [key, part] pairs of a dict node, patches deep); no item is loaded."""
        patches: list[Any] = []
        digest: str = ref["$#"]
        content = self._one(digest)
        depth = int(content.get("d", 0))
        while "$p" in content:
            patches.append(content["o"])
            digest = content["$p"]
            content = self._one(digest)
        if digest not in self._whole:
            if len(self._whole) >= KEPT:
                self._whole.clear()
            self._whole[digest] = self._chunks([content])
        refs = self._whole[digest].copy()
        for splices in reversed(patches):
            for at, remove, fresh in splices:
                refs[at : at + remove] = fresh
        return refs, depth

    def node(self, ref: Plain, value: Any) -> Node | None:
        """What a `TreeWriter` may remember of a stored node whose value is *value*; None when they disagree."""
        refs, depth = self.refs(ref)
        kind = ref["k"]
        if len(refs) != len(value):
            return None
        if kind == "l":
            copies = [structural_copy(item) for item in list.__iter__(value)]
        else:
            copies = [(key, structural_copy(item)) for key, item in value.items()]
        return Node(kind, copies, refs, digest=ref["$#"], depth=depth, size=int(ref["n"]))

    def _one(self, digest: str) -> Plain:
        """A list node. Neighbouring checkpoints share most of theirs, so the last ones are kept."""
        found = self._nodes.get(digest)
        if found is None:
            if len(self._nodes) >= KEPT * CHAIN:
                self._nodes.clear()
            key = bytes.fromhex(digest)
            found = self._nodes[digest] = codec.decode(self._get((key,))[key], own=True)
        return found

    def _chunks(self, contents: list[Plain]) -> list[Plain]:
        while any("$t" in content for content in contents):
            wanted = [bytes.fromhex(digest) for content in contents for digest, _ in content.get("$t", ())]
            objects = self._get(wanted)
            level: list[Plain] = []
            for content in contents:
                if "$t" in content:
                    level.extend(
                        codec.decode(objects[bytes.fromhex(digest)], own=True) for digest, _ in content["$t"]
                    )
                else:
                    level.append(content)
            contents = level
        return [ref for content in contents for ref in content["$l"]]

    def _resolve(self, plains: list[Plain]) -> list[Plain]:
        """The plains with their references filled in, all objects of one depth in one read."""
        found: list[dict[str, Any]] = []
        for plain in plains:
            _collect(plain, found, 0)
        if not found:
            return plains
        values: dict[str, Plain] = {}
        nodes: dict[str, Plain] = {}
        for ref in found:
            if "k" in ref:
                refs, _ = self.refs(ref)
                nodes[ref["k"] + ref["$#"]] = refs if ref["k"] == "l" else dict(refs)
            else:
                values[ref["$#"]] = None
        objects = self._get([bytes.fromhex(digest) for digest in values])
        holders: list[str] = []
        for ref in found:
            if "k" not in ref and values[ref["$#"]] is None:
                values[ref["$#"]] = codec.decode(objects[bytes.fromhex(ref["$#"])], own=True)
                if "s" in ref:
                    holders.append(ref["$#"])
        values.update(zip(holders, self._resolve([values[digest] for digest in holders]), strict=True))
        values.update(zip(nodes, self._resolve(list(nodes.values())), strict=True))
        return [_fill(plain, values, 0) for plain in plains]


def _collect(plain: Plain, found: list[dict[str, Any]], depth: int) -> None:
    kind = type(plain)
    if kind is dict:
        if "$#" in plain:
            found.append(plain)
        elif depth <= DEEPEST:
            for item in plain.values():
                _collect(item, found, depth + 1)
    elif kind is list and depth <= DEEPEST:
        for item in plain:
            _collect(item, found, depth + 1)


def _fill(plain: Plain, values: dict[str, Plain], depth: int) -> Plain:
    kind = type(plain)
    if kind is dict:
        if "$#" in plain:
            return values[plain.get("k", "") + plain["$#"]]
        if depth <= DEEPEST:
            return {key: _fill(item, values, depth + 1) for key, item in plain.items()}
    elif kind is list and depth <= DEEPEST:
        return [_fill(item, values, depth + 1) for item in plain]
    return plain
