"""Which single statements does one argument tree make?

A batch is the set of its members: every list becomes one row per member, parallel lists become rows of
their members side by side, nested records are read by path, and text that holds JSON is read as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from .leaf import Leaf, leaf

DEPTH: Final = 24
LEAVES: Final = 4_000
"""Scalars of one call that are compared; what lies beyond is counted as left out."""
JSON_TEXT: Final = 200_000

_NAMES_RECORD: Final = re.compile(
    r"(?:^|[_\-. ])(?:id|ids|uuid|guid|ID|IDs|Id|Ids)$|(?<=[a-z0-9])(?:Id|Ids|ID|IDs|UUID)$"
)

Fields = tuple[tuple[str, Leaf], ...]
"""Paths with their leaves, in path order."""


@dataclass(slots=True)
class Unfolded:
    """One argument tree: what holds for the whole call, and its rows."""

    scalars: list[tuple[str, Leaf]] = field(default_factory=list)
    groups: list[list[Fields]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """How each folded name was written."""
    _count: int = 0
    _open: set[int] = field(default_factory=set)

    def rows(self) -> list[Fields]:
        """One row per list member with the call's own scalars; a call without lists is one row."""
        members = [member for group in self.groups for member in group]
        return [_short([*self.scalars, *member]) for member in members] or [_short(self.scalars)]

    def room(self) -> bool:
        """Count one more scalar; False once there are too many, which is said once."""
        self._count += 1
        if self._count == LEAVES + 1:
            self.left_out.append(f"arguments beyond the first {LEAVES} values")
        return self._count <= LEAVES


def _short(fields: Sequence[tuple[str, Leaf]]) -> Fields:
    """The fields under the last part of their path where that is unique: a batch entry reads like a single call."""
    places: dict[str, set[str]] = {}
    for path, _ in fields:
        places.setdefault(path.rpartition(".")[2], set()).add(path)
    return ordered(
        [(p if len(places[p.rpartition(".")[2]]) > 1 else p.rpartition(".")[2], f) for p, f in fields]
    )


def ordered(fields: Sequence[tuple[str, Leaf]]) -> Fields:
    """The fields in path order."""
    return tuple(sorted(fields, key=lambda f: (f[0], f[1].norm)))


def unfold(args: object) -> Unfolded:
    """Read an argument tree of any shape; cycles, depth and size are cut and said, never raised."""
    out = Unfolded()
    tree = parsed(args) if isinstance(args, str) else args
    _read(tree if isinstance(tree, Mapping) else {"": tree}, "", out, 0)
    return out


def parsed(text: str) -> object:
    """The value of text that holds JSON; the text itself otherwise."""
    bare = text.strip()
    if len(bare) < 2 or len(bare) > JSON_TEXT or bare[0] + bare[-1] not in {"{}", "[]"}:
        return text
    try:
        return json.loads(bare)
    except (ValueError, RecursionError):
        return text


def folded(key: object, out: Unfolded) -> str:
    """The folded name of a key; how it was written is kept for people."""
    name = name_of(key)
    if len(out.names) < LEAVES:
        out.names.setdefault(name, str(key)[:60])
    return name


def name_of(key: object) -> str:
    """invoiceIds, invoice_id and "Invoice ID" are one field."""
    text = "".join(c for c in str(key)[:120].casefold() if c.isalnum())
    return text[:-1] if len(text) > 2 and text.endswith("s") and not text.endswith("ss") else text


def scalar(key: object, value: object) -> Leaf | None:
    """The leaf of a value under its key; one word under a key such as `order_id` is an identifier, too."""
    found = leaf(value)
    if found is not None and found.kind == "word" and isinstance(key, str) and _NAMES_RECORD.search(key):
        return Leaf("id", found.norm, found.norm, tuple(w for w in found.words if w != "^"), raw=found.raw)
    return found


def _read(tree: Mapping[object, object], path: str, out: Unfolded, depth: int) -> None:
    if not _enter(tree, path, out, depth):
        return
    columns: dict[int, list[list[Fields]]] = {}
    for key, raw in list(tree.items()):
        here = f"{path}.{folded(key, out)}" if path else folded(key, out)
        value = parsed(raw) if isinstance(raw, str) else raw
        measured = _measured(value) if isinstance(value, Mapping) else None
        if measured is not None:
            value = measured
        if isinstance(value, Mapping):
            _read(value, here, out, depth + 1)
        elif isinstance(value, (list, tuple, set, frozenset)):
            members = _members(value, here, out, depth + 1, key)
            if members:
                flat = all(not isinstance(v, (Mapping, list, tuple)) for v in value)
                columns.setdefault(len(members) if flat and len(members) > 1 else 0, []).append(members)
        else:
            listed = _listed(value)
            if listed is not None:
                columns.setdefault(0, []).append([((here, found),) for found in listed])
                continue
            found = scalar(key, value) if out.room() else None
            if found is not None:
                out.scalars.append((here, found))
    for length, lists in columns.items():
        if length and len(lists) > 1:
            out.groups.append([tuple(f for part in row for f in part) for row in zip(*lists, strict=True)])
        else:
            out.groups.extend(lists)
    out._open.discard(id(tree))


_AMOUNTS: Final = frozenset({"value", "amount", "quantity", "number", "magnitude"})
_UNITS: Final = frozenset({"unit", "currency", "currencycode", "uom", "code"})


def _measured(value: Mapping[object, object]) -> str | None:
    """An amount and its unit in a record of their own, as one text."""
    if len(value) != 2:
        return None
    names = {name_of(key): inner for key, inner in value.items()}
    amount = next((v for k, v in names.items() if k in _AMOUNTS and isinstance(v, (int, float, str))), None)
    unit = next((v for k, v in names.items() if k in _UNITS and isinstance(v, str)), None)
    text = f"{amount} {unit}" if amount is not None and unit else ""
    found = leaf(text)
    return text if found is not None and found.kind == "number" else None


def _members(
    value: Sequence[object] | set[object] | frozenset[object],
    path: str,
    out: Unfolded,
    depth: int,
    key: object,
) -> list[Fields]:
    if not _enter(value, path, out, depth):
        return []
    members: list[Fields] = []
    for item in value:
        row = ordered(list(_flat(item, path, out, depth, key)))
        if row:
            members.append(row)
    out._open.discard(id(value))
    return members


def _flat(item: object, path: str, out: Unfolded, depth: int, key: object) -> Iterator[tuple[str, Leaf]]:
    value = parsed(item) if isinstance(item, str) else item
    if isinstance(value, Mapping):
        value = _measured(value) or value
    if isinstance(value, Mapping):
        if _enter(value, path, out, depth):
            for inner_key, inner in list(value.items()):
                yield from _flat(inner, f"{path}.{folded(inner_key, out)}", out, depth + 1, inner_key)
            out._open.discard(id(value))
    elif isinstance(value, (list, tuple, set, frozenset)):
        if _enter(value, path, out, depth):
            for inner in value:
                yield from _flat(inner, path, out, depth + 1, key)
            out._open.discard(id(value))
    else:
        found = scalar(key, value) if out.room() else None
        if found is not None:
            yield path, found


def _listed(value: object) -> list[Leaf] | None:
    """ "A-1, A-2" is a list when every part is an identifier."""
    if not isinstance(value, str) or len(value) > 2_000 or not ("," in value or ";" in value):
        return None
    parts = [leaf(part) for part in value.replace(";", ",").split(",")]
    found = [p for p in parts if p is not None and p.kind == "id" and " " not in p.norm]
    whole = leaf(value)
    if len(found) < 2 or len(found) != len(parts) or (whole is not None and whole.kind in {"number", "date"}):
        return None
    return found


def _enter(value: object, path: str, out: Unfolded, depth: int) -> bool:
    if id(value) in out._open:
        out.left_out.append(f"a cycle at {path or 'the top'}")
        return False
    if depth > DEPTH:
        out.left_out.append(f"what lies deeper than {DEPTH} levels at {path[:80]}")
        return False
    out._open.add(id(value))
    return True
