"""How does a value become a plain tree, exactly, or which part of it cannot?

One loop over a stack of containers, so that neither a deep value nor a deep caller meets the recursion limit.
Types are told apart by `type(v)`, never by `isinstance`: a subclass is another type, and comes back as itself
or not at all. Tags are the only keys that begin with one `$`; such keys of a user get a second one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from pydantic import SecretBytes, SecretStr

from ..errors import LimitExceeded, NotStorable
from ..items import Items
from ..seal import Secret
from ..seal.assignments import LONGEST_NAME, sensitive
from ..shapes import Shape, label_of, remedy_for, type_name
from ..types import NotAvailable, Opaque, Plain, Registry
from . import arrays
from .leaves import LEAVES, Leaf, Unfit, base64_of
from .odd import INT64, float_plain, int_plain, mended, str_plain
from .paths import INSIDE, Key, Node, loop_in, path_of
from .wire import MAX_BYTES, encode, encode_sorted

MAX_DEPTH: Final = 1000
"""Containers inside containers."""
MAX_NODES: Final = 1 << 24
"""Members of all containers of one value."""
KEY_SEALS: Final = 12
"""Keys shorter than this hold nothing that a pattern would find."""

Seal = Callable[[str, str], Plain]
"""(text, the nearest dict key or the path above it) -> the text itself, or a tree with sealed parts."""


class _Inside(tuple[Any]):
    """What a value was dumped as; it stands where the value stood."""

    __slots__ = ()


class _Raw:
    """Plain already."""

    __slots__ = ("plain",)

    def __init__(self, plain: Plain) -> None:
        self.plain = plain


_OURS: Final = frozenset({Secret, NotAvailable, Opaque, SecretStr, SecretBytes})
_UNSET: Final = _Raw({"$unset": True})


class Lowering:
    """One value on its way into a plain tree."""

    def __init__(
        self,
        seal: Seal | None,
        registry: Registry,
        *,
        lost: list[NotStorable] | None = None,
        digest_only: bool = False,
    ) -> None:
        self.seal = seal
        self.registry = registry
        self.lost = lost
        self.digest_only = digest_only
        """The bytes are only hashed under a key: order is dropped, and a `SecretStr` stands as itself."""
        self.stack: list[tuple[Any, Any, Node, str]] = []
        """(container, what it becomes, where it stands, the name above its text)."""
        self.sorts: list[list[Plain]] = []
        self.count = 0

    def run(self, value: Any, name: str, path: str) -> Plain:
        """The plain tree of *value*, which stands at *path* and, for the eyes of `seal`, under *name*.

        Raises:
            NotStorable: naming the path and type of the first part found that cannot be kept.
            LimitExceeded: too deep, too many, too large.
        """
        root = self.one(value, None, path, name)
        stack = self.stack
        while stack:
            source, target, node, name = stack.pop()
            depth = node[3]
            self.count += len(source)
            if depth > MAX_DEPTH or not depth & 15 or self.count > MAX_NODES or self.lost is not None:
                marker = self.over(node)
                if marker is not None:
                    target.update(marker) if type(target) is dict else target.append(marker)
                    continue
            try:
                if type(target) is dict:
                    self.fields(source, target, node, name)
                elif type(source) is _Inside:
                    target.append(self.one(source[0], node, INSIDE, name))
                else:
                    self.members(source, target, node, name)
            except RuntimeError as error:
                if "during iteration" not in str(error):
                    raise
                why = "another thread changed it while it was read. Checkpoint where nobody writes to the state."
                raise NotStorable(path_of(node[0], node[1]), label_of(type(node[2])), why) from error
        for members in reversed(self.sorts):
            members.sort(key=encode_sorted if self.digest_only else encode)
        return root

    # -- the two hot loops ------------------------------------------------------------------------------

    def fields(self, source: dict[Any, Any], target: dict[str, Plain], node: Node, name: str) -> None:
        """Lower a dict with text keys; one with any other key becomes a list of pairs."""
        seal, stack, mark, below = self.seal, self.stack, len(self.stack), node[3] + 1
        hot = seal is not None and sensitive(name)
        for key, item in source.items():
            if type(key) is not str or (
                seal is not None and len(key) >= KEY_SEALS and type(seal(key, "")) is not str
            ):
                return self.to_pairs(source, target, node, name, mark)
            if not key.isascii() and type(str_plain(key)) is not str:
                return self.to_pairs(source, target, node, name, mark)
            above = name if hot else key
            if key[:1] == "$":
                key = "$" + key
            kind = type(item)
            if kind is str:
                if seal is not None:
                    item = seal(item, above)
                    if type(item) is not str:
                        target[key] = mended(item)
                        continue
                target[key] = (
                    item if item.isascii() and len(item) <= MAX_BYTES else self.text(item, node, key)
                )
            elif kind is dict or kind is list:
                child: Any = {} if kind is dict else []
                target[key] = child
                stack.append((item, child, (node, key, item, below), above))
            elif kind is int and -INT64 <= item < INT64:
                target[key] = item
            else:
                target[key] = self.one(item, node, key, above)
        return None

    def members(self, source: Any, target: list[Plain], node: Node, name: str) -> None:
        """Lower the members of a sequence."""
        if self.seal is not None and len(source) == 2 and _named_pair(source):
            target.append(self.one(source[0], node, 0, name))
            target.append(self.one(source[1], node, 1, source[0]))
            return
        seal, stack, add, below = self.seal, self.stack, target.append, node[3] + 1
        for item in source:
            kind = type(item)
            if kind is str:
                if seal is not None:
                    item = seal(item, name)
                    if type(item) is not str:
                        add(mended(item))
                        continue
                short = item.isascii() and len(item) <= MAX_BYTES
                add(item if short else self.text(item, node, len(target)))
            elif kind is dict or kind is list:
                child: Any = {} if kind is dict else []
                stack.append((item, child, (node, len(target), item, below), name))
                add(child)
            elif kind is int and -INT64 <= item < INT64:
                add(item)
            else:
                add(self.one(item, node, len(target), name))

    # -- everything else --------------------------------------------------------------------------------

    def one(self, item: Any, node: Node | None, step: Any, name: str) -> Plain:
        """The plain of one value of any type; what it contains follows from the stack."""
        kind = type(item)
        if item is None or kind is bool:
            return item  # type: ignore[no-any-return]
        if kind is str:
            plain = item if self.seal is None else self.seal(item, name)
            return self.text(plain, node, step) if type(plain) is str else mended(plain)
        if kind is int:
            return int_plain(item)
        if kind is float:
            return float_plain(item)
        if kind is dict or kind is list:
            return self.push(item, item, {} if kind is dict else [], node, step, name)
        if kind is tuple or kind is Items:
            plain = self.push(item, list.copy(item) if kind is Items else item, [], node, step, name)
            return plain if kind is Items else {"$tuple": plain}
        if kind is set or kind is frozenset:
            members: list[Plain] = []
            self.sorts.append(members)
            return {f"${kind.__name__}": self.push(item, item, members, node, step, name)}
        if kind is bytes or kind is bytearray:
            return {f"${kind.__name__}": self.binary(item, node, step, name)}
        if kind is _Raw:
            return item.plain  # type: ignore[no-any-return]
        if kind in _OURS:
            return self.ours(kind, item, node, step)
        leaf = LEAVES.get(kind)
        if leaf is not None:
            return self.leaf(leaf, item, node, step, name)
        shape = self.registry.by_class.get(kind)
        if shape is not None:
            return self.shaped(shape, item, node, step, name)
        return self.rare(kind, item, node, step, name)

    def push(self, item: Any, source: Any, target: Any, node: Node | None, step: Any, name: str) -> Plain:
        """Leave a container for later; *target* is filled then."""
        here: Node = (node, step, item, 1 if node is None else node[3] + 1)
        self.stack.append((source, target, here, name))
        return target  # type: ignore[no-any-return]

    def to_pairs(self, source: Any, target: dict[str, Plain], node: Node, name: str, mark: int) -> None:
        """Begin this dict again, as pairs: `{"$pairs": [[key, value], …]}`."""
        del self.stack[mark:]
        target.clear()
        pairs: list[Plain] = []
        target["$pairs"] = pairs
        if self.digest_only:
            self.sorts.append(pairs)
        self.pairs(source, pairs, node, name)

    def pairs(self, source: dict[Any, Any], target: list[Plain], node: Node, name: str) -> None:
        """Lower pairs, each value under its own key."""
        hot = self.seal is not None and sensitive(name)
        for key, item in source.items():
            under = key if type(key) is str and not hot else name
            target.append([self.one(key, node, Key(key), ""), self.one(item, node, Key(key), under)])

    def text(self, item: str, node: Node | None, step: Any) -> Plain:
        """Text that is not simply short and ASCII."""
        if len(item) <= MAX_BYTES:
            return str_plain(item)
        why = (
            f"{len(item)} characters are over the limit of {MAX_BYTES} bytes; keep a file, and its name here."
        )
        return self.refuse(node, step, str, why, LimitExceeded)

    def binary(self, item: bytes | bytearray, node: Node | None, step: Any, name: str) -> Plain:
        """Base64, or text of the same characters where part of it is sealed."""
        if len(item) > MAX_BYTES // 4 * 3:
            why = f"{len(item)} bytes are over the limit of {MAX_BYTES}; keep a file, and its name here."
            return self.refuse(node, step, type(item), why, LimitExceeded)
        if self.seal is not None:
            plain = self.seal(item.decode("latin-1"), name)
            if type(plain) is not str:
                return plain
        return base64_of(bytes(item))

    def leaf(self, leaf: Leaf, item: Any, node: Node | None, step: Any, name: str) -> Plain:
        try:
            payload = leaf.dump(item)
        except Unfit as error:
            return self.refuse(node, step, type(item), str(error))
        if type(payload) is list:
            return {leaf.tag: self.push(item, payload, [], node, step, name)}
        return {leaf.tag: payload if type(payload) is str else self.one(payload, node, step, name)}

    def shaped(self, shape: Shape, item: Any, node: Node | None, step: Any, name: str) -> Plain:
        """`{"$obj": [name, content]}`, for a model perhaps with what it keeps besides its fields."""
        kind = shape.kind
        if kind == "enum":
            return {"$obj": [shape.name, item._name_]}
        if kind == "flag":
            return {"$obj": [shape.name, int_plain(item._value_)]}
        if kind == "custom":
            try:
                dumped = _Inside((shape.dump(item),))  # type: ignore[misc]  # a custom shape has one
            except Exception as error:
                return self.refuse(node, step, shape.cls, f"its `dump` failed with {type(error).__name__}.")
            return {"$obj": self.push(item, dumped, [shape.name], node, step, name)}
        values = getattr(item, "__dict__", {})
        strays = [each for each in values if each not in shape.fields and not _cached(shape.cls, each)]
        if strays:
            why = f"it carries the attribute {strays[0]!r}, which is none of its fields and would be lost."
            return self.refuse(node, step, shape.cls, why)
        content: dict[str, Any] = {}
        for field in shape.fields:
            value = values[field] if field in values else getattr(item, field, _UNSET)
            if field in shape.runtime and value is not None and value is not _UNSET:
                value = NotAvailable(shape.runtime[field], type_name(type(value)))
            content[field] = value
        parts: list[Plain] = [shape.name, self.push(item, content, {}, node, step, name)]
        if kind == "model":
            extra = item.__pydantic_extra__
            unset = [
                each for each in (*shape.fields, *(extra or ())) if each not in item.__pydantic_fields_set__
            ]
            meta = {**({"unset": unset} if unset else {}), **({"extra": extra} if extra else {})}
            if meta:
                parts.append(self.push(item, meta, {}, node, step, name))
        return {"$obj": parts}

    def ours(self, kind: type, item: Any, node: Node | None, step: Any) -> Plain:
        """Values that stand for others. Before the registry: they are dataclasses, and may be annotated fields."""
        if kind is Secret:
            return {"$secret": item.reference}
        if kind is NotAvailable:
            return {"$gone": {"type": item.type, "why": item.why}}
        if kind is Opaque:
            if item.type[:1] == "$":
                return {item.type: item.raw}
            return {"$obj": [item.type, item.raw] if item.meta is None else [item.type, item.raw, item.meta]}
        return self.wrapped(kind, item.get_secret_value(), node, step)

    def rare(self, kind: type, item: Any, node: Node | None, step: Any, name: str) -> Plain:
        """A type that is declared as runtime-only, of numpy, or refused."""
        why = self.registry.runtime_reason(kind)
        if why is not None:
            return {"$gone": {"type": type_name(kind), "why": why}}
        if arrays.is_numpy(kind):
            try:
                tag, description, data = arrays.dump(item)
            except Unfit as error:
                return self.refuse(node, step, kind, str(error))
            return {tag: [self.one(description, node, step, name), data]}
        return self.refuse(node, step, kind, remedy_for(kind))

    def wrapped(self, kind: type, content: str | bytes, node: Node | None, step: Any) -> Plain:
        """A secret of pydantic's: sealed whole, whatever it looks like."""
        tag = "$secretstr" if kind is SecretStr else "$secretbytes"
        if self.digest_only:
            return {tag: self.one(content, node, step, "")}
        if self.seal is None:
            return self.refuse(node, step, kind, "there is no key to seal it with.")
        return {tag: self.seal(content if isinstance(content, str) else content.decode("latin-1"), "secret")}

    # -- refusing ---------------------------------------------------------------------------------------

    def over(self, node: Node) -> dict[str, Plain] | None:
        """None, or as `refuse` when this container is too deep, one too many, or contains itself."""
        loop = loop_in(node)
        if loop is not None:
            node, above = loop
            why = f"it contains itself; it is {path_of(above[0], above[1])} again."
        elif node[3] > MAX_DEPTH:
            why = f"it is nested more than {MAX_DEPTH} containers deep."
        elif self.count > MAX_NODES:
            why = f"the whole value has more than {MAX_NODES} members; keep mass data in a file or an array."
        else:
            return None
        return self.refuse(node[0], node[1], type(node[2]), why, LimitExceeded)

    def refuse(
        self, node: Node | None, step: Any, kind: type, why: str, error: type[NotStorable] = NotStorable
    ) -> dict[str, Plain]:
        """Raise, or where loss is permitted note it and return the marker that stands for the value."""
        refusal = error(path_of(node, step), label_of(kind), why)
        if self.lost is None:
            raise refusal
        self.lost.append(refusal)
        return {"$gone": {"type": type_name(kind), "why": refusal.why}}


def _named_pair(source: Any) -> bool:
    """True for `("Authorization", "…")`: headers and options are often kept as pairs."""
    if type(source) is not list and type(source) is not tuple:
        return False
    name = source[0]
    return type(name) is str and len(name) < LONGEST_NAME and sensitive(name)


def _cached(cls: type, name: str) -> bool:
    return isinstance(getattr(cls, name, None), functools.cached_property)
