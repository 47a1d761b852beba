"""Which checkpoint, span and call last wrote this value?"""

from __future__ import annotations

from typing import Any, Final

from inspector import text
from inspector.build.context import Context, run_href
from inspector.build.state import split
from inspector.pages.shared import Link
from inspector.stored import Stored
from tracer.spanref import SpanRef
from tracer.store import read
from tracer.store.rows import EntryRow, RunRow

FARTHEST: Final = 5_000
"""Checkpoints that are looked at."""
_GONE: Final = object()


def blame(
    context: Context, row: RunRow, stored: Stored, entry: EntryRow, root: dict[str, Any], path: str
) -> Link:
    """Walk back from *entry* to the checkpoint that made the value at *path* what it is.

    Parts are compared by their references, so no value is opened on the way.
    """
    steps = split(path)
    wanted = _part(stored, root, steps)
    back = read.checkpoints(
        context.connection, row.run_id, row.branch, before=entry.sequence, limit=FARTHEST, newest_first=True
    )
    writer = entry
    for older in back:
        if writer.changed and _part(stored, stored.body(older)["root"], steps) != wanted:
            return _said(context, row, writer)
        writer = older
    if writer.sequence == 1:
        return _said(context, row, writer)
    href = run_href(row.run_id, row.branch, c=writer.sequence or 0)
    return Link(
        f"Checkpoint {writer.sequence}", href, count=f"or an earlier one; {FARTHEST:,} were looked at."
    )


def _part(stored: Stored, root: dict[str, Any], steps: tuple[str, ...]) -> Any:
    try:
        return stored.down(root, steps)
    except KeyError:
        return _GONE


def _said(context: Context, row: RunRow, writer: EntryRow) -> Link:
    sequence = writer.sequence or 0
    calls = read.calls(context.connection, row.run_id, row.branch)
    made = [f"{c.tool} {text.line(c.target, 40)}".strip() for c in calls if c.after_sequence == sequence - 1]
    during = (
        f", with {', '.join(made[:4])}{f' and {len(made) - 4} more' if len(made) > 4 else ''}" if made else ""
    )
    span = f", span {SpanRef.unpack(writer.span).span_id.hex()}" if writer.span else ""
    said = f"wrote it: step {writer.subject}, segment {writer.segment}{span}{during}."
    return Link(f"Checkpoint {sequence}", run_href(row.run_id, row.branch, c=sequence), count=said)
