"""What is different between two checkpoints?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import click
from rich.text import Text

from ..diff import ABSENT, IDS, TIMESTAMPS, Diff, Entry, Ignore, Op, diff
from ..quantities import counted
from ..refs import Path, Ref, parse, path_text
from .opened import masked, reading
from .output import clean, emit, json_option, say, say_lines
from .values import short

STYLES: Final = {Op.ADDED: "green", Op.REMOVED: "red", Op.CHANGED: "yellow", Op.MOVED: "cyan"}
NAMES: Final = {
    Op.ADDED: "added",
    Op.REMOVED: "removed",
    Op.CHANGED: "changed",
    Op.MOVED: "moved",
    Op.SAME: "same",
}


@click.command(name="diff", short_help="what differs between two checkpoints")
@click.argument("old")
@click.argument("new")
@click.option("--ignore-times", is_flag=True, help="Do not look at keys that hold times.")
@click.option("--ignore-ids", is_flag=True, help="Do not look at keys that hold ids.")
@click.option("--state-only", is_flag=True, help="Leave the contract out.")
@json_option
def command(
    old: str, new: str, ignore_times: bool, ignore_ids: bool, state_only: bool, as_json: bool
) -> None:
    """Compare the checkpoints OLD and NEW, such as `RUN@12` and `RUN@17`, path by path.

    `+` added, `−` removed, `~` changed, `⇄` moved within its list. Places in lists count in NEW, unless removed.
    """
    keys = (TIMESTAMPS if ignore_times else frozenset()) | (IDS if ignore_ids else frozenset())
    refs = parse(old), parse(new)
    with reading() as store, store.connect() as connection:
        tree = store.tree(connection)
        sides, names = [], []
        for ref in refs:
            opened = store.checkpoint(connection, ref)
            names.append(str(Ref(ref.run_id, ref.branch, opened.entry.sequence)))
            side = {"state": tree.load(opened.root)}
            sides.append(side if state_only else {**side, "contract": tree.load(opened.contract)})
    found = diff(masked(sides[0]), masked(sides[1]), ignore=Ignore(keys))
    if as_json:
        emit(
            {
                "old": names[0],
                "new": names[1],
                "changes": [_shape(entry) for entry in found.changes],
                "lists": {_where(path): note.by for path, note in found.lists.items()},
                "ignored": found.ignored,
            }
        )
        return
    say(Text(f"{names[0]} → {names[1]}: ", style="bold").append(_summary(found)))
    say_lines(_lines(found))


def _summary(found: Diff) -> str:
    counts = Counter(entry.op for entry in found.changes)
    said = [f"{counts[op]} {NAMES[op]}" for op in NAMES if counts[op]]
    hidden = f"; {counted(found.ignored, 'difference')} not looked at" if found.ignored else ""
    return (", ".join(said) or "no difference") + hidden + "."


def _lines(found: Diff) -> Iterator[Text]:
    for entry in found.changes:
        head = Text(f"{entry.op.value} {clean(_where(entry.path))}", style=STYLES[entry.op])
        if entry.op is Op.MOVED:
            yield head.append(f"  from place {entry.old_place} to {entry.new_place}", style="default")
        elif entry.op is Op.CHANGED:
            old, new = short(entry.old), short(entry.new)
            if len(old) + len(new) > 40:
                yield head
                yield Text(f"    was {old}", style="default")
                yield Text(f"    is  {new}", style="default")
            else:
                yield head.append(f"  {old} → {new}", style="default")
        else:
            yield head.append(f"  {short(entry.new if entry.op is Op.ADDED else entry.old)}", style="default")


def _where(path: Path) -> str:
    """A path in the state as `$.plan[0]`, one in the contract as `contract.plan.version`."""
    if path[:1] == ("contract",):
        return f"contract{path_text(path[1:])[1:]}"
    return path_text(path[1:])


def _shape(entry: Entry) -> dict[str, Any]:
    made: dict[str, Any] = {"op": NAMES[entry.op], "path": _where(entry.path)}
    if entry.old is not ABSENT:
        made["old"] = entry.old
    if entry.new is not ABSENT:
        made["new"] = entry.new
    if entry.op is Op.MOVED:
        made |= {"old_place": entry.old_place, "new_place": entry.new_place}
    return made
