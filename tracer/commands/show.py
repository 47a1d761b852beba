"""What is known of one run?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import click

from .. import approvals
from ..contract import CallState
from ..quantities import ago, counted, moment, size, span
from ..refs import parse_run
from ..standing import holder, next_action, state_of
from ..store import read
from ..store.rows import ApprovalRow, CallRow, EntryRow, RunRow, SegmentRow
from . import shapes
from .opened import program, reading
from .output import cell, emit, json_option, note, pairs, run_state, say, say_lines, table, type_line, word


@click.command(name="show", short_help="all that is known of one run")
@click.argument("run")
@click.option(
    "--last",
    default=10,
    show_default=True,
    type=click.IntRange(1, 100_000),
    help="So many of the last checkpoints.",
)
@json_option
def command(run: str, last: int, as_json: bool) -> None:
    """Show one RUN: where it stands, its process lives, checkpoints, open calls and questions."""
    now = time.time_ns()
    with reading() as store, store.connect() as connection:
        row = store.run(connection, parse_run(run))
        where = row.run_id, row.branch
        segments = read.segments(connection, *where)
        newest = read.checkpoints(connection, *where, limit=last, newest_first=True)
        doubts = read.calls(connection, *where, states=(CallState.SENT, CallState.UNKNOWN))
        asked = read.approvals(connection, run_id=row.run_id, name=row.branch, states=(approvals.PENDING,))
    checkpoints = newest[::-1]
    open_ones = [one for one in asked if approvals.effective(one, now) == approvals.PENDING]
    if as_json:
        emit(
            {
                **shapes.run(row, now, program()),
                "segment_list": [shapes.segment(one) for one in segments],
                "checkpoint_list": [shapes.checkpoint(one) for one in checkpoints],
                "in_doubt": [shapes.call(one) for one in doubts],
                "questions": [shapes.approval(one, approvals.PENDING) for one in open_ones],
            }
        )
        return
    for part in _parts(row, now, segments, checkpoints, doubts, open_ones):
        say(part)
    if len(checkpoints) < row.head_sequence:
        note(f"{len(checkpoints)} of {counted(row.head_sequence, 'checkpoint')} shown; --last shows more.")
    action = next_action(row, now, program())
    say_lines(
        [type_line(action.command, action.text) if action.command else type_line("", f"Next: {action.text}.")]
    )


def _parts(
    row: RunRow,
    now: int,
    segments: list[SegmentRow],
    checkpoints: list[EntryRow],
    doubts: list[CallRow],
    asked: list[ApprovalRow],
) -> Iterator[Any]:
    yield _header(row, now)
    lives = table(
        "life", "process", "from", "started", "lasted", "end", right=("life",), title="\nProcess lives"
    )
    for one in segments:
        # Of a life that ended without a word and is not the last one, nobody knows the length until it is recovered.
        alive_until = max(row.beat_at, row.checkpoint_at) if one.segment == row.segment else None
        end = one.ended_at if one.ended_at is not None else alive_until
        lives.add_row(
            str(one.segment),
            cell(f"{one.host} pid {one.pid}"),
            f"@{one.from_sequence}" if one.from_sequence else "start",
            moment(one.started_at),
            "unknown" if end is None else span(end - one.started_at),
            word(one.outcome or str(state_of(row, now))),
        )
    yield lives
    steps = table("checkpoint", "kind", "step", "state", "at", right=("state",), title="\nLast checkpoints")
    for point in checkpoints:
        steps.add_row(
            cell(f"{row.run_id}@{point.sequence}"),
            cell(point.mark),
            cell(point.subject),
            size(point.size),
            moment(point.at),
        )
    yield steps
    if doubts:
        calls = table("effect", "call", "state", "key", whole=("effect",), title="\nCalls without an outcome")
        for call in doubts:
            key = "stored" if call.idempotency_key else "none"
            calls.add_row(cell(call.effect_id), cell(f"{call.tool} {call.target}"), word(call.state), key)
        yield calls
    if asked:
        questions = table("approval", "question", "until", whole=("approval",), title="\nOpen questions")
        for question in asked:
            until = moment(question.deadline) if question.deadline is not None else "always"
            questions.add_row(cell(question.approval_id), cell(question.prompt), until)
        yield questions
    yield ""


def _header(row: RunRow, now: int) -> Any:
    state = state_of(row, now)
    rows: list[tuple[str, object]] = [
        ("run", row.run_id),
        ("agent", f"{row.agent}, plan {row.plan or 'undeclared'}"),
        ("objective", row.objective or "undeclared"),
        ("state", run_state(state, row.reason)),
        ("since", f"{moment(row.state_at)} ({ago(row.state_at, now)})"),
        ("held by", holder(row) or "nobody"),
        ("checkpoints", f"{row.head_sequence}, the last {ago(row.checkpoint_at, now)}"),
        ("calls", f"{row.calls} in all, {row.writes} writes, {row.unknown} unknown"),
        ("resumes", f"{row.resumes}, refused {row.refusals}"),
        ("evidence", f"{row.evidence} recorded"),
        ("trace", row.trace_id.hex()),
    ]
    if row.alerts:
        rows.append(("alerts", f"{row.alerts} of divergence; the inspector shows them"))
    if row.degraded:
        rows.append(("degraded", row.degraded))
    return pairs(rows)
