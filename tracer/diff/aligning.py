"""Which members of one list are which members of the other?"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rapidfuzz.distance import LCSseq

LIMIT: Final = 16_000_000
"""Cells of one bit-parallel alignment (2 MB of bits); larger gaps are split at members that occur once."""


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of the old list and the stretch of the new list that stands in its place."""

    equal: bool
    old_start: int
    old_count: int
    new_start: int
    new_count: int
    moved_from: int | None = None
    """Set when one member (`new_count` 1) came from this place of the old list, out of order."""


def align(old: Sequence[Any], new: Sequence[Any], *, by_identity: bool = False) -> list[Block]:
    """Blocks that cover both lists, in the order of the new one. Marks are hashable.

    With *by_identity* each mark occurs once on a side, and a mark that changed its order is a moved block.
    """
    if by_identity:
        return list(_merged(_identified(old, new)))
    return list(_merged(_content(_numbered(old, new), 0, 0)))


def _numbered(old: Sequence[Any], new: Sequence[Any]) -> tuple[list[int], list[int]]:
    """The same lists with small integers for marks."""
    numbers: dict[Any, int] = {}
    return (
        [numbers.setdefault(m, len(numbers)) for m in old],
        [numbers.setdefault(m, len(numbers)) for m in new],
    )


def _content(sides: tuple[list[int], list[int]], i0: int, j0: int) -> Iterator[Block]:
    old, new = sides
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    if head:
        yield Block(True, i0, head, j0, head)
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    if a and b and len(a) * len(b) > LIMIT:
        yield from _anchored(a, b, i0 + head, j0 + head)
    elif a and b:
        for op in LCSseq.opcodes(a, b):
            size = (op.src_end - op.src_start, op.dest_end - op.dest_start)
            yield Block(
                op.tag == "equal", i0 + head + op.src_start, size[0], j0 + head + op.dest_start, size[1]
            )
    elif a or b:
        yield Block(False, i0 + head, len(a), j0 + head, len(b))
    if tail:
        yield Block(True, i0 + len(old) - tail, tail, j0 + len(new) - tail, tail)


def _anchored(a: list[int], b: list[int], i0: int, j0: int) -> Iterator[Block]:
    """Split at marks that occur once on both sides and keep their order; without any, it is one change."""
    once_a, once_b = Counter(a), Counter(b)
    places = {mark: j for j, mark in enumerate(b) if once_b[mark] == 1}
    pairs = [(i, places[mark]) for i, mark in enumerate(a) if once_a[mark] == 1 and mark in places]
    kept = [pairs[n] for n in longest_increasing([j for _, j in pairs])]
    if not kept:
        yield Block(False, i0, len(a), j0, len(b))
        return
    i, j = 0, 0
    for x, y in (*kept, (len(a), len(b))):
        if i < x or j < y:
            yield from _content((a[i:x], b[j:y]), i0 + i, j0 + j)
        if x < len(a):
            yield Block(True, i0 + x, 1, j0 + y, 1)
        i, j = x + 1, y + 1


def longest_increasing(values: Sequence[int]) -> list[int]:
    """Places of a longest strictly increasing subsequence, in n log n."""
    tops: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for place, value in enumerate(values):
        n = bisect_left(tops, value)
        before.append(ends[n - 1] if n else -1)
        if n == len(tops):
            tops.append(value)
            ends.append(place)
        else:
            tops[n], ends[n] = value, place
    out: list[int] = []
    place = ends[-1] if ends else -1
    while place >= 0:
        out.append(place)
        place = before[place]
    return out[::-1]


def _identified(old: Sequence[Any], new: Sequence[Any]) -> Iterator[Block]:
    places = {mark: i for i, mark in enumerate(old)}
    common = [(places[mark], j) for j, mark in enumerate(new) if mark in places]
    kept = {common[n][1] for n in longest_increasing([i for i, _ in common])}
    still = {mark for mark in new if mark in places}
    i = 0
    for j, mark in enumerate(new):
        if mark not in places:
            yield Block(False, i, 0, j, 1)
        elif j not in kept:
            yield Block(True, places[mark], 1, j, 1, moved_from=places[mark])
        else:
            while i < places[mark]:
                if old[i] not in still:
                    yield Block(False, i, 1, j, 0)
                i += 1
            yield Block(True, i, 1, j, 1)
            i += 1
    for k in range(i, len(old)):
        if old[k] not in still:
            yield Block(False, k, 1, len(new), 0)


def _merged(blocks: Iterator[Block]) -> Iterator[Block]:
    """Neighbours of one kind become one block."""
    held: Block | None = None
    for block in blocks:
        if held is None:
            held = block
        elif held.equal == block.equal and _touch(held, block):
            held = Block(
                held.equal, held.old_start, held.old_count + block.old_count,
                held.new_start, held.new_count + block.new_count,
            )  # fmt: skip
        else:
            yield held
            held = block
    if held is not None:
        yield held


def _touch(held: Block, block: Block) -> bool:
    if held.moved_from is not None or block.moved_from is not None:
        return False
    ends = (held.old_start + held.old_count, held.new_start + held.new_count)
    return ends == (block.old_start, block.new_start)
