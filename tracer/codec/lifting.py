"""How does a plain tree become the value again, exactly, or which part of it cannot?

One loop over a stack, as in `_lower`. What is immutable is built last and from the inside: first every part
is collected, then tuples, sets and objects are built in the reverse order of their discovery.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pydantic import SecretBytes, SecretStr

from ..errors import IntegrityError, KeyMissing, LimitExceeded, UnknownType
from ..seal import Secret
from ..types import NotAvailable, Opaque, Plain, Registry
from . import arrays
from .building import UNSET, Misfit, build, member
from .leaves import LEAVES, Unavailable, bytes_of, load_pairs, load_set
from .lowering import MAX_DEPTH
from .odd import float_of, int_of, str_of
from .paths import Node, path_of

PLAIN_DEPTH: Final = 4 * MAX_DEPTH
"""Levels of plain; an object takes three."""

Open = Callable[[str], str]
"""Fingerprint -> secret."""


def _tuple_of(parts: Any) -> tuple[Any, ...]:
    if type(parts) is not list:
        raise TypeError("no list")
    return tuple(parts)


_LOADS: Final[dict[str, Callable[[Any], Any]]] = {
    **{leaf.tag: leaf.load for leaf in LEAVES.values()},
    "$int": int_of,
    "$float": float_of,
    "$str": str_of,
    "$text": "".join,
    "$tuple": _tuple_of,
    "$set": load_set(set),
    "$frozenset": load_set(frozenset),
    "$pairs": load_pairs,
    "$secret": Secret,
    "$secretstr": SecretStr,
    "$secretbytes": lambda text: SecretBytes(text.encode("latin-1")),
    "$gone": lambda fields: NotAvailable(why=fields["why"], type=fields["type"]),
    "$unset": lambda _: UNSET,
    arrays.SCALAR: lambda parts: arrays.load(arrays.SCALAR, *parts),
    arrays.ARRAY: lambda parts: arrays.load(arrays.ARRAY, *parts),
}
"""Tag -> how to build the value of its lifted payload."""
_BINARY: Final[dict[str, Callable[[bytes], Any]]] = {"$bytes": bytes, "$bytearray": bytearray}


class Lifting:
    """One plain tree on its way back into a value."""

    def __init__(
        self,
        open: Open | None,
        registry: Registry,
        *,
        notes: list[str] | None = None,
        strict: bool = False,
        unknown: list[UnknownType] | None = None,
    ) -> None:
        self.open = open
        self.names = registry.by_name
        self.notes = notes
        self.strict = strict
        self.unknown = unknown
        self.stack: list[tuple[Any, Any, Node]] = []
        """(container of plain, what it becomes, where it stands)."""
        self.builds: list[tuple[Any, Any, Callable[[Any], Any], list[Any], str, Any, Node]] = []
        """(container, place in it, how, [lifted payload], tag, payload, where); outer before inner."""

    def run(self, plain: Plain, path: str) -> Any:
        """The value of *plain*.

        Raises:
            IntegrityError: a tag whose content is none that was ever written.
            UnknownType: strict, and a type is not known here or no longer fits.
            KeyMissing: something is sealed, and nothing was given to open it.
            LimitExceeded: deeper than anything that was ever written.
        """
        box: list[Any] = [None]
        self.place(plain, box, 0, (None, path, None, 0))
        stack = self.stack
        while stack:
            source, target, node = stack.pop()
            below = node[3] + 1
            if below > PLAIN_DEPTH:
                raise LimitExceeded(self.where(node), "plain data", f"it is nested over {PLAIN_DEPTH} deep.")
            if type(source) is dict:
                for key, item in source.items():
                    if key[:1] == "$":
                        key = self.user_key(key, node)
                    kind = type(item)
                    if kind is dict or kind is list:
                        self.place(item, target, key, (node, key, None, below))
                    else:
                        target[key] = item
            else:
                for place, item in enumerate(source):
                    kind = type(item)
                    if kind is dict or kind is list:
                        self.place(item, target, place, (node, place, None, below))
                    else:
                        target[place] = item
        for target, place, how, lifted, tag, payload, node in reversed(self.builds):
            target[place] = self.built(how, lifted[0], tag, payload, node)
        return box[0]

    def place(self, item: Any, target: Any, key: Any, node: Node) -> None:
        """Put the value of *item* into *target*, now, or when its parts are there."""
        kind = type(item)
        if kind is list:
            child: Any = [None] * len(item)
            self.stack.append((item, child, node))
        elif kind is not dict:
            child = item
        elif len(item) == 1 and (tag := next(iter(item)))[:1] == "$" and tag[:2] != "$$":
            target[key] = None  # keeps the order of a dict until the value is built
            self.tagged(tag, item[tag], target, key, node)
            return
        else:
            child = {}
            self.stack.append((item, child, node))
        target[key] = child

    def tagged(self, tag: str, payload: Any, target: Any, key: Any, node: Node) -> None:
        """Put the value of `{tag: payload}` into *target*."""
        if tag == "$obj":
            self.object(payload, target, key, node)
        elif tag == "$sealed":
            target[key] = self.opened(payload, node)
        elif tag in _BINARY:
            kind = _BINARY[tag]
            if type(payload) is str:
                target[key] = self.built(lambda text: kind(bytes_of(text)), payload, tag, payload, node)
            else:
                self.later(lambda text: kind(text.encode("latin-1")), payload, tag, target, key, node)
        elif tag in _LOADS:
            self.later(_LOADS[tag], payload, tag, target, key, node)
        else:
            target[key] = self.opaque(tag, payload, None, node, "no such form is known here.")

    def later(self, how: Any, payload: Any, tag: str, target: Any, key: Any, node: Node) -> None:
        """Lift *payload* first, then build the value of it."""
        lifted: list[Any] = [None]
        self.builds.append((target, key, how, lifted, tag, payload, node))
        self.place(payload, lifted, 0, (node[0], node[1], None, node[3] + 1))

    def object(self, payload: Any, target: Any, key: Any, node: Node) -> None:
        """Put an object of a registered class, or an `Opaque`, into *target*."""
        if type(payload) is not list or len(payload) not in (2, 3) or type(payload[0]) is not str:
            raise IntegrityError(self.where(node), "$obj has a name, content, and perhaps more.")
        name, content, *rest = payload
        shape = self.names.get(name)
        if shape is None:
            target[key] = self.opaque(name, content, rest[0] if rest else None, node, "")
            return
        if name != shape.name:
            self.note(node, f"{name} was loaded as {shape.name}")
        if shape.kind == "custom" and self.unknown is not None:  # only looking: its `load` is not asked
            self.place(content, [None], 0, (node[0], node[1], None, node[3] + 1))
            return
        if shape.kind == "enum" or shape.kind == "flag":
            target[key] = self.built(lambda each: member(shape, each), content, "$obj", payload, node)
            return

        parts: list[Any] = [None, None]

        def how(_: Any) -> Any:
            return build(shape, parts[0], parts[1], lambda text: self.note(node, f"{shape.name}: {text}"))

        self.builds.append((target, key, how, parts, "$obj", payload, node))
        inside: Node = (node[0], node[1], None, node[3] + 1)
        self.place(content, parts, 0, inside)
        if rest:
            self.place(rest[0], parts, 1, inside)

    def built(self, how: Callable[[Any], Any], lifted: Any, tag: str, payload: Any, node: Node) -> Any:
        """The value of a tag, or what stands for it when it cannot be built here."""
        try:
            return how(lifted)
        except Misfit as error:
            name, content, *rest = payload
            return self.opaque(name, content, rest[0] if rest else None, node, str(error))
        except Unavailable as error:
            return self.opaque(tag, payload, None, node, str(error))
        except Exception as error:  # whatever the content is, a loader must not fail in a way of its own
            why = f"{tag} has content that was never written ({type(error).__name__})."
            raise IntegrityError(self.where(node), why) from error

    def opened(self, fingerprint: Any, node: Node) -> str:
        if type(fingerprint) is not str:
            raise IntegrityError(self.where(node), "a sealed part has no fingerprint.")
        if self.open is None:
            raise KeyMissing(self.where(node), "a sealed part, and no vault was given to open it.")
        return self.open(fingerprint)

    def opaque(self, name: str, content: Any, meta: Any, node: Node, why: str) -> Opaque:
        refusal = UnknownType(self.where(node), name, why)
        if self.strict:
            raise refusal
        if self.unknown is not None:
            self.unknown.append(refusal)
        self.note(node, f"{name} was loaded as Opaque: {why or 'it is not registered.'}")
        return Opaque(name, content, meta)

    def user_key(self, key: str, node: Node) -> str:
        if key[:2] != "$$":
            raise IntegrityError(
                self.where(node), f"the key {key[:40]!r} is reserved, and stands beside others."
            )
        return key[1:]

    def note(self, node: Node, text: str) -> None:
        if self.notes is not None:
            self.notes.append(f"{self.where(node)}: {text}")

    @staticmethod
    def where(node: Node) -> str:
        return path_of(node[0], node[1])
