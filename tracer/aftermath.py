"""What became of the process that died, and of its calls?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from . import codec
from .contract import CallState
from .errors import NotStorable
from .journal import Draft
from .lease import Standing, standing
from .ledger import UNSTORABLE, stored_values
from .segment import Segment
from .store import objects
from .store.rows import CallRow, RunRow, SegmentRow
from .toolspec import NotFound
from .world import Reconciled, settled_row


def settle_doubts(
    doubtful: list[CallRow], reconciled: list[Reconciled], now: int, segment: Segment
) -> tuple[list[Draft], list[tuple[str, dict[str, Any]]], dict[str, Any], list[CallRow], list[CallRow]]:
    """Entries and rows for calls without an outcome: settled where a service knew, else `unknown` from now on.

    What a service answered is kept by *segment*, sealed and cut as the result of any other call.
    """
    drafts: list[Draft] = []
    rows: list[tuple[str, dict[str, Any]]] = []
    known = {found.row.effect_id: found for found in reconciled}
    doubts: list[CallRow] = []
    settled: list[CallRow] = []
    delta = 0
    for call in doubtful:
        found = known.get(call.effect_id)
        if found is not None:
            row, plain = _kept(found, now, segment)
            result = None if plain is None else objects.pack(codec.encode(plain))
            body = {
                "tool": row.tool,
                "kind": row.kind,
                "effect_id": row.effect_id,
                "reconciled": True,
                "result": plain,
                "attempt": row.attempts,
                "error": row.error,
            }
            drafts.append(
                Draft(kind="outcome", mark=str(row.state), subject=row.effect_id, body=body, at=now)
            )
            rows.append(("upsert call", stored_values(row, result)))
            settled.append(row)
            delta -= call.state == CallState.UNKNOWN
        elif call.state == CallState.SENT:
            row = replace(call, state=CallState.UNKNOWN)
            drafts.append(
                Draft(
                    kind="doubt",
                    mark="unknown",
                    subject=call.effect_id,
                    body={"tool": call.tool, "target": call.target, "segment": call.segment},
                    at=now,
                )
            )
            rows.append(("upsert call", stored_values(row, None)))
            doubts.append(row)
            delta += 1
        else:
            doubts.append(call)
    return drafts, rows, {"unknown": delta} if delta else {}, doubts, settled


def _kept(found: Reconciled, now: int, segment: Segment) -> tuple[CallRow, Any]:
    """The ledger row of a settled call and its result as stored; None where there is none."""
    row = settled_row(found, now)
    if isinstance(found.value, NotFound):
        return row, None
    try:
        plain = codec.lower(found.value, path="$.result", seal=segment.seal_text())
    except NotStorable as why:  # it did happen; that must not be lost because nobody can be given the answer
        return replace(row, flags=f"{row.flags} {UNSTORABLE}", error=segment.shown(str(why))), None
    return row, segment.kept(plain)


def effects_after(
    by_state: Mapping[tuple[str, str], int],
    doubts: list[CallRow],
    settled: list[CallRow],
    contract: Mapping[str, Any],
) -> dict[str, Any]:
    writes = ("write", "handoff")
    count = {
        state: sum(n for (kind, at), n in by_state.items() if kind in writes and at == state)
        for state in ("committed", "failed")
    }
    for row in settled:
        count[str(row.state)] = count.get(str(row.state), 0) + 1
    last = (contract.get("effects") or {}).get("last")
    return {**count, "unknown": [row.effect_id for row in doubts], "last": last}


def end_dead(
    past: list[SegmentRow], row: RunRow, now: int
) -> tuple[list[Draft], list[tuple[str, dict[str, Any]]]]:
    """End the segments that never said good-bye; their time of death is the last sign of life."""
    drafts: list[Draft] = []
    rows: list[tuple[str, dict[str, Any]]] = []
    for one in past:
        if one.ended_at is None:
            outcome = "interrupted" if standing(one.owner) is Standing.DEAD else "lost"
            died = max(row.beat_at if row.segment == one.segment else 0, row.checkpoint_at, one.started_at)
            body = {"segment": one.segment, "owner": one.owner, "last_sign_of_life": died}
            drafts.append(Draft(kind="end", mark=outcome, subject=outcome, body=body, at=now))
            where = {"at_run_id": one.run_id, "at_branch": one.branch, "at_segment": one.segment}
            rows.append(("end segment", {**where, "ended_at": died, "outcome": outcome}))
    return drafts, rows
