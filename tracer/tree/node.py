"""How is a long list or dict held as a node, so that a change moves only its neighbours?"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final
from zlib import crc32

from .. import codec
from ..items import Items

CHAIN: Final = 32
"""Patches between two whole nodes; with three levels under them a list of 30,000 items is < 100 reads deep."""
INLINE: Final = 96
"""Bytes up to which a part stays inside its parent."""
WHOLE: Final = 4096
"""Bytes up to which a container is stored in one piece."""
CHUNK_MASK: Final = 31
CHUNK_MAX: Final = 128
SECRET_KEY: Final = 12
"""Characters from which a key of a dict may itself be a secret."""
CLOSE: Final = 64
"""Items of a list that one checkpoint compares leaf by leaf, beyond those that were handed out."""

Plain = Any
Store = Callable[[bytes], str]
"""Takes an encoded object, answers with its digest in hex."""


def digest_of(data: bytes) -> bytes:
    """SHA-256 of an encoded object, 32 bytes."""
    return hashlib.sha256(data).digest()


def is_ref(plain: Plain) -> bool:
    """True for a reference to another object."""
    return type(plain) is dict and "$#" in plain


@dataclass(slots=True)
class Node:
    """What the writer remembers of one cut list or dict."""

    kind: str
    copies: list[Any]
    refs: list[Plain]
    digest: str = ""
    depth: int = 0
    stable: int = 0
    """Refs from the front that are as they were when the chunks were made."""
    chunks: list[tuple[str, int]] = field(default_factory=list)
    size: int = 0
    source: Items[Any] | None = None
    """The list whose own word on what changed may be trusted, as of its *stamp*: not one that has taken its
    place, nor the same one after another field has recorded it."""
    stamp: int = 0
    held: list[Any] = field(default_factory=list)
    """The items of *source* themselves: `heapq` and the like move them without a word."""

    def follows(self, value: Items[Any]) -> None:
        """*value* is what was recorded, and tells from now on what may have changed."""
        value.synced()
        self.source, self.stamp = value, value.stamp

    def ref(self) -> dict[str, Plain]:
        """The reference that stands in the parent."""
        return {"$#": self.digest, "k": self.kind, "c": len(self.refs), "n": self.size}


def compact(node: Node, store: Store) -> None:
    """Write the node whole again; chunks before the first change are taken over."""
    chunks: list[tuple[str, int]] = []
    start = 0
    for digest, count in node.chunks[:-1]:
        if start + count > node.stable:
            break
        chunks.append((digest, count))
        start += count
    refs = node.refs
    while start < len(refs):
        end = start + 1
        while end < len(refs) and end - start < CHUNK_MAX and not _border(refs[end - 1]):
            end += 1
        chunks.append((store(codec.encode({"$l": refs[start:end]})), end - start))
        start = end
    node.chunks, node.stable, node.depth = chunks, len(refs), 0
    level = chunks
    while len(level) > 1:
        level = _level(level, store)
    node.digest = level[0][0] if level else store(codec.encode({"$l": []}))


def _level(level: list[tuple[str, int]], store: Store) -> list[tuple[str, int]]:
    out: list[tuple[str, int]] = []
    group: list[tuple[str, int]] = []
    for digest, count in level:
        group.append((digest, count))
        if len(group) >= CHUNK_MAX or (len(group) > 1 and int(digest[:2], 16) & CHUNK_MASK == 0):
            out.append(_over(group, store))
            group = []
    if group:
        out.append(_over(group, store))
    return out


def _over(group: list[tuple[str, int]], store: Store) -> tuple[str, int]:
    if len(group) == 1:
        return group[0]
    content: Plain = {"$t": [[digest, count] for digest, count in group]}
    return store(codec.encode(content)), sum(count for _, count in group)


def same_ref(ref: Plain, was: Plain) -> bool:
    """Whether two refs stand for the same bytes; `==` would take 1 for True and 0.0 for -0.0."""
    if is_ref(ref) or is_ref(was):
        return bool(ref == was)
    return codec.encode(ref) == codec.encode(was)


def holds_ref(plain: Plain) -> bool:
    if type(plain) is dict:
        return "$#" in plain or any(map(holds_ref, plain.values()))
    return type(plain) is list and any(map(holds_ref, plain))


def size_of(ref: Plain) -> int:
    """Bytes that a ref stands for; small inline parts count as their printed length."""
    kind = type(ref)
    if kind is dict and "$#" in ref:
        return int(ref["n"])
    if kind is list and len(ref) == 2 and type(ref[0]) is str:
        return len(ref[0]) + 3 + size_of(ref[1])
    if kind is str:
        return len(ref) + 2
    if kind is dict or kind is list:
        return len(codec.encode(ref))
    return 4


def _border(ref: Plain) -> bool:
    """Whether a chunk ends after this ref: one of 32 does, by content, so that equal runs share chunks."""
    data = ref["$#"].encode() if is_ref(ref) else codec.encode(ref)
    return crc32(data) & CHUNK_MASK == 0
