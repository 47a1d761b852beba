"""How do the arguments of two calls differ, field by field, for a person to read?"""

from __future__ import annotations

from typing import Final

from .calls import Call
from .identity import Roles, parents
from .leaf import Leaf
from .reason import FieldDiff, shown
from .sameness import agree

FIELDS: Final = 60
"""Fields that are shown of one pair; members of a list beyond twelve are counted."""
MEMBERS: Final = 12


def field_diffs(before: Call, after: Call, roles: Roles, *, every: bool = True) -> tuple[FieldDiff, ...]:
    """The fields of two calls of one tool beside each other; with *every* False only those that differ somehow."""
    one, two = _by_path(before), _by_path(after)
    keyed = {
        k
        for call in (before, after)
        for p, keys in parents(call).items()
        if (call.tool, p) in roles.maps
        for k in keys
    }
    out: list[FieldDiff] = []
    for path in sorted({*one, *two})[:FIELDS]:
        mine, theirs = one.get(path, []), two.get(path, [])
        kind = _kind(mine, theirs)
        if kind != "equal" or every:
            some = (theirs or mine)[0]
            core, _ = roles.split(after.tool, ((path, some),), keyed)
            out.append(
                FieldDiff(
                    after.path(path) if path in two else before.path(path),
                    kind,
                    _shown(mine),
                    _shown(theirs),
                    bool(core),
                )
            )
    return tuple(out)


def _by_path(call: Call) -> dict[str, list[Leaf]]:
    out: dict[str, list[Leaf]] = {}
    own = {(p.rpartition(".")[2], f.norm) for p, f in call.scalars}
    for number, row in enumerate(call.rows[:200]):
        for path, found in row:
            if number and (path.rpartition(".")[2], found.norm) in own:
                continue  # What holds for the whole call is in every row of it.
            out.setdefault(path, []).append(found)
    return out


def _kind(before: list[Leaf], after: list[Leaf]) -> str:
    if not before:
        return "added"
    if not after:
        return "removed"
    if [f.norm for f in before] == [f.norm for f in after]:
        return "equal" if [f.raw for f in before] == [f.raw for f in after] else "notation"
    if len(before) == len(after):
        if sorted(f.norm for f in before) == sorted(f.norm for f in after):
            return "order"
        if all(agree(a, b) for a, b in zip(before, after, strict=True)):
            return "notation"
    return "changed"


def _shown(values: list[Leaf]) -> str:
    text = ", ".join(shown(f) for f in values[:MEMBERS])
    return f"{text} and {len(values) - MEMBERS} more" if len(values) > MEMBERS else text
