"""Where in a value does a part stand?"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from ..seal import mask

Node: TypeAlias = "tuple[Node | None, Any, Any, int]"
"""A container on the way down: the one around it, the step from there, the container, its depth from 1.

A tuple, because one is made for every container of every checkpoint. The step of a root is its path.
"""


INSIDE: Final = object()
"""The step from a value to what it was dumped as: it stands in the same place."""


class Key:
    """A step through a key that is not plain text."""

    __slots__ = ("key",)

    def __init__(self, key: object) -> None:
        self.key = key


def path_of(node: Node | None, step: Any) -> str:
    """`$.scratch.plan[1].client`; other keys stand in brackets, masked and cut at 64 characters."""
    steps = [step]
    while node is not None:
        steps.append(node[1])
        node = node[0]
    return str(steps.pop()) + "".join(map(_written, reversed(steps)))


def loop_in(node: Node) -> tuple[Node, Node] | None:
    """(a container, the same container further up), or None when none occurs twice on the way down."""
    chain = [node]
    while chain[-1][0] is not None:
        chain.append(chain[-1][0])
    seen: dict[int, Node] = {}
    for each in reversed(chain):
        first = seen.setdefault(id(each[2]), each)
        if first is not each:
            return each, first
    return None


def _written(step: Any) -> str:
    if type(step) is int:
        return f"[{step}]"
    if step is INSIDE:
        return ""
    if type(step) is str and step.isidentifier():
        return f".{mask(step)[:64]}"
    text = step if type(step) is str else _shown(step.key)
    text = mask(text)
    return f"[{text[:64]!r}…]" if len(text) > 64 else f"[{text!r}]"


def _shown(key: object) -> str:
    # Only of these is the text form harmless, short and ours; any other class may do anything in its repr.
    return str(key) if type(key) in (int, float, bool, type(None), str) else type(key).__qualname__
