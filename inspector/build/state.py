"""What lies in the state, level by level, without opening what is not shown?"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from inspector import plain, text
from inspector.pages.checkpoint import StateTree, TreeRow
from inspector.pages.shared import Link, Shown, Text
from inspector.stored import Stored, members, weight
from tracer import codec
from tracer.errors import UnknownCheckpoint
from tracer.tree import is_ref

PAGE: Final = 200
PREVIEW: Final = 256 * 1024
CLOSE: Final = 160
"""Bytes up to which a leaf is shown whole in its row."""


def split(path: str) -> tuple[str, ...]:
    """A JSON pointer as its steps."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]) if path else ()


def join(steps: tuple[str, ...]) -> str:
    """The inverse of `split`."""
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)


def state_tree(
    stored: Stored, root: dict[str, Any], path: str, after: int, base: str, blame: Link | None
) -> StateTree:
    """The members at *path* below *root*; *base* is the address to which `&path=` is added.

    Raises:
        UnknownCheckpoint: nothing lies at *path*.
    """
    steps = split(path)
    try:
        part = stored.down(root, steps)
    except KeyError:
        raise UnknownCheckpoint(f"nothing lies at {path} in this state") from None
    part = part if is_ref(part) and "k" in part else stored.opened(part)
    container = isinstance(part, dict | list) and not _tagged(part)
    crumbs = tuple(
        Link(steps[n - 1] if n else "state", f"{base}&path={quote(join(steps[:n]))}", current=n == len(steps))
        for n in range(len(steps) + 1)
    )
    if not container:
        shown, note = text.clip(plain.pretty(stored.value(part)), PREVIEW)
        return StateTree(path or "/", crumbs, (), Shown(1, 1, "values"), Text(shown, note), blame)
    found = stored.slice(part, after, after + PAGE)
    values = _open_leaves(stored, [member for _, member in found.members])
    rows = tuple(
        _row(steps, str(key), raw, value, base)
        for (key, raw), value in zip(found.members, values, strict=True)
    )
    here = f"{base}&path={quote(path)}"
    older = f"{here}&after={after + PAGE}" if after + PAGE < found.total else ""
    newer = f"{here}&after={max(0, after - PAGE)}" if after else ""
    return StateTree(
        path or "/", crumbs, rows, Shown(len(rows), found.total, "values", older, newer), None, blame
    )


def _open_leaves(stored: Stored, parts: list[Any]) -> list[Any]:
    """Small leaves are opened together in one read; large ones and containers stay closed."""
    wanted = {
        bytes.fromhex(part["$#"])
        for part in parts
        if is_ref(part) and "k" not in part and int(part["n"]) <= 64 * 1024
    }
    rows = stored.source.objects(stored.connection, wanted)
    decoded = {digest: codec.decode(data) for digest, data in rows.items()}
    return [decoded.get(bytes.fromhex(p["$#"]), p) if is_ref(p) and "k" not in p else p for p in parts]


def _row(steps: tuple[str, ...], key: str, raw: Any, value: Any, base: str) -> TreeRow:
    path = join((*steps, key))
    href = f"{base}&path={quote(path)}"
    size = text.size(weight(raw))
    count = members(value)
    if is_ref(value):
        kind = {"l": "list", "d": "object"}.get(value.get("k", ""), "value")
        what = f"{value['c']:,} members" if "c" in value else "not opened, it is large"
        return TreeRow(path, 0, key, kind, what, size, href)
    kind = plain.kind_of(value)
    if count is not None and not _tagged(value):
        what = text.line(f"{text.count(count, 'member')}: {plain.one_line(value, 200)}", CLOSE)
        return TreeRow(path, 0, key, kind, what if count else "empty", size, href if count else "")
    line = plain.one_line(value, CLOSE)
    return TreeRow(path, 0, key, kind, line, size, href if weight(raw) > CLOSE else "")


def _tagged(value: Any) -> bool:
    """True for a typed leaf such as `{"$datetime": …}`."""
    if not isinstance(value, dict) or len(value) != 1:
        return False
    tag = next(iter(value))
    return isinstance(tag, str) and tag.startswith("$") and not tag.startswith("$$")
