"""Which parts of a checkpoint does a page open? Only those it shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from inspector.source import Source
from tracer import codec
from tracer.errors import UnknownCheckpoint
from tracer.store import read
from tracer.store.rows import EntryRow
from tracer.tree import is_ref


@dataclass(frozen=True, slots=True)
class Slice:
    """Some members of a list or mapping."""

    members: tuple[tuple[str | int, Any], ...]
    """(key or place, plain value or unopened reference)."""
    total: int
    """Members in all."""


class Stored:
    """Opens the parts of one store over one connection."""

    def __init__(self, source: Source, connection: Connection) -> None:
        self.source = source
        self.connection = connection
        self.reader = source.tree(connection)

    def body(self, row: EntryRow) -> dict[str, Any]:
        """The body of an entry, its references unopened."""
        where = f"{row.run_id} entry {row.entry}"
        stored = read.body(self.connection, row.run_id, row.branch, row.entry)
        if stored is None:
            raise UnknownCheckpoint(where)
        found: dict[str, Any] = self.source.opened(stored, where)
        return found

    def clauses(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Clause -> part, unopened."""
        ref = body.get("contract")
        if not is_ref(ref):
            return dict(ref or {})
        assert isinstance(ref, dict)
        digest = bytes.fromhex(ref["$#"])
        found = codec.decode(self.source.objects(self.connection, (digest,))[digest])
        return dict(found) if isinstance(found, dict) else {}

    def value(self, part: Any) -> Any:
        """The whole plain value of a part."""
        return self.reader.load(part)

    def slice(self, part: Any, start: int, stop: int) -> Slice:
        """Members *start* to *stop* of a container; only those are opened, one level deep."""
        if is_ref(part) and "k" in part:
            refs, _ = self.reader.refs(part)
            pairs = list(enumerate(refs)) if part["k"] == "l" else [(key, ref) for key, ref in refs]
        else:
            value = self.opened(part)
            if isinstance(value, dict):
                pairs = list(value.items())
            elif isinstance(value, list):
                pairs = list(enumerate(value))
            else:
                return Slice((), 0)
        return Slice(tuple(pairs[start:stop]), len(pairs))

    def opened(self, part: Any) -> Any:
        """A part with its own reference resolved, references inside it left alone."""
        while is_ref(part) and "k" not in part:
            digest = bytes.fromhex(part["$#"])
            part = codec.decode(self.source.objects(self.connection, (digest,))[digest])
        return part

    def down(self, root: Mapping[str, Any], path: tuple[str, ...]) -> Any:
        """The part at *path* below *root*; KeyError when there is none."""
        part: Any = dict(root)
        for step in path:
            if is_ref(part) and "k" in part:
                refs, _ = self.reader.refs(part)
                part = refs[_place(step, len(refs))] if part["k"] == "l" else dict(refs)[step]
                continue
            part = self.opened(part)
            if isinstance(part, dict):
                part = part[step]
            elif isinstance(part, list):
                part = part[_place(step, len(part))]
            else:
                raise KeyError(step)
        return part


def _place(step: str, count: int) -> int:
    if not step.isdigit() or int(step) >= count:
        raise KeyError(step)
    return int(step)


def weight(part: Any) -> int:
    """Bytes of the plain form of a part, without opening it."""
    return int(part["n"]) if is_ref(part) else len(codec.encode(part))


def members(part: Any) -> int | None:
    """How many members a container has, without opening it; None for leaves and what must be opened."""
    if is_ref(part):
        return int(part["c"]) if "c" in part else None
    return len(part) if isinstance(part, list | dict) else None
