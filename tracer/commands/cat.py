"""What does one checkpoint hold?"""

from __future__ import annotations

from typing import Any

import click

from ..quantities import moment, size
from ..refs import Ref, parse, parse_path
from . import shapes
from .opened import Opened, masked, reading
from .output import console, emit, json_option, pairs, say
from .values import down, pretty

FOLD_OVER = 16
"""Entries of a table in the contract (the installed packages) beyond which the view folds it."""


@click.command(name="cat", short_help="what one checkpoint holds")
@click.argument("checkpoint")
@click.option(
    "--path",
    metavar="PATH",
    help="Only this part of the state, such as `$.plan[0].title`; the rest is not opened.",
)
@click.option(
    "--contract", "only_contract", is_flag=True, help="Only the contract; with --path a part of it."
)
@click.option("--raw", is_flag=True, help="As stored, without masking. Sealed secrets stay sealed.")
@json_option
def command(checkpoint: str, path: str | None, only_contract: bool, raw: bool, as_json: bool) -> None:
    """Show the state and the contract of a CHECKPOINT, `RUN@17` or `RUN@BRANCH:17`; a bare RUN means its last one.

    Secrets are masked. A masked view is lossy, and is never read back.
    """
    ref, steps = parse(checkpoint), parse_path(path) if path is not None else None
    with reading() as store, store.connect() as connection:
        opened = store.checkpoint(connection, ref)
        tree = store.tree(connection)
        shown: dict[str, Any] = {}
        if steps is not None and path is not None:
            source = tree.load(opened.contract) if only_contract else _first(opened, steps, tree)
            shown["value"] = down(source, steps, path)
        else:
            if not only_contract:
                shown["state"] = tree.load(opened.root)
            shown["contract"] = tree.load(opened.contract)
    if not raw:
        shown = masked(shown)
    at = Ref(ref.run_id, ref.branch, opened.entry.sequence)
    if as_json:
        about = {"checkpoint": str(at), **shapes.checkpoint(opened.entry), "raw": raw}
        emit({**about, "type": opened.type_name, "version": opened.version, "parent": opened.parent, **shown})
        return
    if raw:
        emit(shown.get("value", shown))
        return
    if "value" in shown:
        _print(shown["value"])
        return
    say(_header(at, opened))
    for name, value in shown.items():
        console().print(f"\n{name}", style="bold")
        _print(_for_people(value, "$") if name == "contract" else value)


def _first(opened: Opened, steps: tuple[str | int, ...], tree: Any) -> dict[str, Any]:
    """The state as far as *steps* needs it: one field, so that a long history beside it is not opened."""
    wanted = {name: part for name, part in opened.root.items() if not steps or name == steps[0]}
    loaded: dict[str, Any] = tree.load(wanted)
    return loaded or dict.fromkeys(opened.root)


def _header(at: Ref, opened: Opened) -> Any:
    entry = opened.entry
    return pairs(
        [
            ("checkpoint", at),
            ("step", f"{entry.subject} ({entry.mark})"),
            ("at", f"{moment(entry.at)}, in process life {entry.segment}"),
            ("type", f"{opened.type_name} version {opened.version}"),
            ("state", f"{size(entry.size)}, {'changed' if entry.changed else 'as before'}"),
            ("parent", opened.parent or "none"),
            ("tag", entry.tag.hex()),
        ]
    )


def _for_people(value: Any, path: str) -> Any:
    """A contract for people: null means that nobody declared anything, and a long table is one line."""
    if isinstance(value, dict) and len(value) > FOLD_OVER and path != "$.policy":
        return f"{len(value)} entries; --contract --path '{path}' shows them"
    if isinstance(value, dict):
        return {key: _for_people(item, f"{path}.{key}") for key, item in value.items()}
    return "undeclared" if value is None else value


def _print(value: Any) -> None:
    console().print(pretty(value), soft_wrap=True)
