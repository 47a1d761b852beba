"""How does what is recorded get out: as JSON lines, or as the spans that are still owed?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import click
from sqlalchemy import Connection

from ..quantities import counted, iso
from ..recorder import owner_is_dead
from ..refs import parse_run
from ..store import read
from ..store.rows import EntryRow, RunRow
from ..telemetry.outbox import export_pending
from ..tree import TreeReader
from . import shapes
from .exits import Exit
from .opened import masked, program, reading, record, recording
from .output import cell, emit, emit_line, json_option, progress, say, table

FORMAT = 1
"""Of the JSON lines; a later one that means something else has a higher number."""


@click.command(name="export", short_help="a run as JSON lines, or the spans still owed")
@click.argument("run", required=False)
@click.option("--pending", is_flag=True, help="Send the spans that no collector has acknowledged yet.")
@click.option(
    "--states", is_flag=True, help="With RUN: also the whole state and contract of every checkpoint."
)
@click.option(
    "--wait",
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    type=click.FloatRange(0, 3600),
    help="With --pending: how long to wait for another process that is sending.",
)
@json_option
@click.pass_context
def command(
    ctx: click.Context, run: str | None, pending: bool, states: bool, wait: float, as_json: bool
) -> None:
    """Write RUN as JSON lines, its entries in order and masked; or send pending spans with --pending.

    An export is a view: secrets are masked, and nothing reads it back.
    """
    if (run is None) == (not pending):
        raise click.UsageError(
            "Name a RUN, or say --pending."
            if run is None
            else "--pending takes no RUN: it sends what all runs owe."
        )
    if run is None:
        ctx.exit(_send(wait, as_json))
    with reading() as store, store.connect() as connection:
        row = store.run(connection, parse_run(run))
        total = read.count_entries(connection, row.run_id, row.branch)
        with progress(f"export {row.run_id}") as step:
            emit_line({"record": "run", "format": FORMAT, **shapes.run(row, time.time_ns(), program())})
            tree = store.tree(connection) if states else None
            for number, line in enumerate(_lines(connection, row, tree), 1):
                emit_line(line)
                step(number, total)


def _lines(connection: Connection, row: RunRow, tree: TreeReader | None) -> Iterator[dict[str, Any]]:
    for entry, stored in read.entries_with_bodies(connection, row.run_id, row.branch):
        body = record(stored, f"{row.run_id} entry {entry.entry}")
        line = _entry(entry, body)
        if tree is not None and entry.sequence is not None:
            line |= {
                "state": masked(tree.load(body["root"])),
                "contract": masked(tree.load(body["contract"])),
            }
        yield line


def _entry(entry: EntryRow, body: dict[str, Any]) -> dict[str, Any]:
    return {
        "record": "entry",
        "entry": entry.entry,
        "sequence": entry.sequence,
        "kind": entry.kind,
        "mark": entry.mark,
        "subject": masked(entry.subject),
        "id": entry.id.hex(),
        "segment": entry.segment,
        "epoch": entry.epoch,
        "at": iso(entry.at),
        "tag": entry.tag.hex(),
        "body": masked(body),
    }


def _send(wait: float, as_json: bool) -> Exit:
    with recording() as recorder, progress("spans sent") as step:
        report = export_pending(
            recorder.store,
            recorder.journal,
            recorder.tracing,
            progress=step,
            wait_s=wait,
            dead=owner_is_dead,
            mask_key=recorder.mask_key,
        )
        endpoint = recorder.tracing.endpoint
    if as_json:
        emit(
            {
                "sent": report.sent,
                "left": report.left,
                "endpoint": endpoint,
                "reason": masked(report.reason),
                "refused": [{"where": one.where, "reason": masked(one.reason)} for one in report.refused],
            }
        )
    else:
        say(
            f"{counted(report.sent, 'span')} sent, {report.left:,} left"
            + (f": {report.reason}" if report.reason else ".")
        )
        if report.refused:
            made = table("put aside", "reason")
            for one in report.refused:
                made.add_row(cell(one.where), cell(one.reason))
            say(made)
    return Exit.OK if not report.left and not report.refused else Exit.NO
