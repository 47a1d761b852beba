"""Are two values equal in type and content, without comparing them twice?"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

_SIZE: Final = 16
_CYCLE: Final = b"a container in itself"[:_SIZE]


class Digests:
    """Digests of values, each container looked at once.

    Containers are remembered by object identity: the values must stay alive and unchanged while this object
    is used. Mappings are compared without regard to the order of their keys; keys in *ignored* do not count.
    """

    __slots__ = ("_ignored", "_known")

    def __init__(self, ignored: frozenset[str] = frozenset()) -> None:
        self._ignored = ignored
        self._known: dict[int, bytes] = {}

    def equal(self, left: Any, right: Any) -> bool:
        """True when type and content are the same."""
        return left is right or self.of(left) == self.of(right)

    def of(self, value: Any) -> bytes:
        """16 bytes that stand for *value*."""
        if not isinstance(value, Mapping | list | tuple):
            return _leaf(value)
        stack = [value]
        open_: set[int] = set()
        while stack:
            top = stack[-1]
            if id(top) in self._known:
                stack.pop()
                continue
            parts = list(top.values()) if isinstance(top, Mapping) else top
            waiting = [p for p in parts if isinstance(p, Mapping | list | tuple) and id(p) not in self._known]
            if waiting and id(top) not in open_:
                open_.add(id(top))
                stack.extend(waiting)
                continue
            self._known[id(top)] = self._container(top)
            stack.pop()
        return self._known[id(value)]

    def _part(self, value: Any) -> bytes:
        if not isinstance(value, Mapping | list | tuple):
            return _leaf(value)
        return self._known.get(id(value), _CYCLE)

    def _container(self, value: Any) -> bytes:
        if isinstance(value, Mapping):
            pairs = (
                _leaf(key) + self._part(part)
                for key, part in value.items()
                if not (isinstance(key, str) and key in self._ignored)
            )
            return _digest(b"m", b"".join(sorted(pairs)))
        return _digest(b"l" if isinstance(value, list) else b"t", b"".join(map(self._part, value)))


def _leaf(value: Any) -> bytes:
    if isinstance(value, str):
        return _digest(b"s", value.encode("utf-8", "surrogatepass"))
    if isinstance(value, bytes | bytearray):
        return _digest(b"b", bytes(value))
    name = type(value)
    return _digest(b"v", f"{name.__module__}.{name.__qualname__}:{value!r}".encode("utf-8", "surrogatepass"))


def _digest(tag: bytes, data: bytes) -> bytes:
    return hashlib.blake2b(tag + data, digest_size=_SIZE).digest()
