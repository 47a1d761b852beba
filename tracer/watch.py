"""Does this resumed segment do something else than the one that stopped, and who is told?

Every call of a resumed segment goes through `Live` once. At the alarm level an alert is written, and the policy
says whether the run goes on, waits for a person, or ends before its next write.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from . import codec
from .agentspec import AgentSpec
from .asking import ask_person
from .contract import CallState, Ruling
from .divergence import ALARM, Live, Reason
from .divergence.reason import combined
from .errors import Diverged, Paused
from .ids import new_id
from .journal import Draft
from .recorder import Recorder
from .seal import mask
from .segment import Segment
from .store import objects, read
from .store.rows import CallRow, RunRow

BASELINES: Final = 8
"""Earlier successful runs that a segment is compared with, at most."""
REASONS: Final = 50
"""Reasons kept with an alert; how many there were is said beside them."""

CallRecord = dict[str, Any]


def call_record(
    row: CallRow, args: Any, result: Any, *, phase: str = "", replayed: bool = False
) -> CallRecord:
    """One recorded call as the divergence engine reads it (plain arguments and result)."""
    record: CallRecord = {
        "name": row.tool,
        "args": args,
        "kind": row.kind,
        "ok": {CallState.COMMITTED: True, CallState.FAILED: False}.get(CallState(row.state)),
        "result": result if row.state == CallState.COMMITTED else row.error,
    }
    if row.idempotency_key:
        record["idem_key"] = row.idempotency_key
    if phase:
        record["phase"] = phase
    if replayed:
        record["replayed"] = True
    if record["ok"] is None:
        record["in_flight"] = True
    return record


def records_of(
    recorder: Recorder, run_id: str, branch: str = read.MAIN, *, position: int | None = None
) -> list[CallRecord]:
    """The calls of a run, oldest first; those after the advancing checkpoint *position* are marked `lost`."""
    with recorder.store.reader.connect() as connection:
        rows = read.calls_with_values(connection, run_id, branch)
    reader = recorder.reader()
    records: list[CallRecord] = []
    for row, args, result in rows:
        plain = codec.decode(objects.unpack(args, row.effect_id)) if args else None
        value = None if result is None else codec.decode(objects.unpack(result, row.effect_id))
        phase = "" if position is None else "lost" if row.position >= position else "committed"
        records.append(call_record(row, reader.load(plain), reader.load(value), phase=phase))
    return records


def shape_of(reason: Reason) -> str:
    """What makes two reasons the same to a person who mutes one: code, tool and the fields that differ."""
    fields = ",".join(sorted({diff.path for diff in reason.fields if diff.kind not in ("equal", "notation")}))
    return f"{reason.code} {reason.tool} {fields}".strip()


class Watch:
    """The comparison of one resumed segment, call by call."""

    def __init__(
        self, segment: Segment, spec: AgentSpec, row: RunRow, pause: Callable[[str, str], Paused]
    ) -> None:
        self._segment = segment
        self._pause = pause
        self._lock = threading.Lock()
        self._reasons: list[Reason] = []
        self._alert_id = ""
        self._raised_at = 0
        self._held = False
        recorder = segment.recorder
        with recorder.store.reader.connect() as connection:
            settings = read.run_settings(connection, row.run_id)
            digest = settings[1] if settings else b""
            earlier = read.baselines(
                connection, row.agent, row.plan, digest, besides=row.run_id, limit=BASELINES
            )
            self._muted = read.mutes(connection, row.agent, row.plan or "")
        baselines = [{"tools": records_of(recorder, run_id), "success": True} for run_id in earlier]
        self.compared_with: Sequence[str] = tuple(earlier)
        self._live = Live.start(
            baselines,
            records_of(recorder, row.run_id, row.branch, position=row.position),
            identity={name: tool.identity for name, tool in spec.tools().items() if tool.identity},
            grant=spec.grants or None,
        )

    def saw(self, row: CallRow, args: Mapping[str, Any], result: Any, *, replayed: bool = False) -> None:
        """Take in a finished call; an alarm is in the journal when this returns."""
        seal = self._segment.seal_text()
        plain = codec.lower(dict(args), path="$.args", seal=seal)
        try:
            value = codec.lower(result, path="$.result", seal=seal)
        except Exception:  # the ledger has said so already; the comparison goes on without the result
            value = None
        with self._lock:
            self._add(self._live.add(call_record(row, plain, value, replayed=replayed)))

    def finish(self) -> None:
        """The run has ended: what only shows at the end."""
        with self._lock:
            self._add(self._live.finish())

    def require_quiet(self) -> None:
        """Called before a write is dispatched.

        Raises:
            Diverged: the policy ends a run that diverged.
            Paused: the policy asks a person first.
        """
        segment = self._segment
        ruling = segment.policy.divergence
        if not self._held or ruling.strictness <= Ruling.CONTINUE.strictness:
            return
        first = self._reasons[0].sentence
        if ruling is Ruling.ABORT:
            error = Diverged(segment.run_id, mask(first))
            segment.poison(error)
            raise error
        question = {
            "kind": "divergence",
            "subject": self._alert_id,
            "binding": self._alert_id.encode(),
            "prompt": f"The resumed agent does something else: {first}",
        }
        raise ask_person(segment, self._pause, "divergence", question, {"alert": self._alert_id})

    def _add(self, reasons: list[Reason]) -> None:
        self._reasons += [reason for reason in reasons if shape_of(reason) not in self._muted]
        muted = [reason for reason in reasons if shape_of(reason) in self._muted]
        if combined(self._reasons) >= ALARM:
            self._alert("open", self._reasons)
        elif muted and not self._alert_id and combined([*self._reasons, *muted]) >= ALARM:
            self._alert("muted", [*self._reasons, *muted])

    def _alert(self, state: str, reasons: list[Reason]) -> None:
        segment, now = self._segment, time.time_ns()
        ranked = sorted(reasons, key=lambda reason: -reason.strength)
        fresh = not self._alert_id
        if fresh:
            self._alert_id, self._raised_at = new_id().hex(), now
        score = round(combined(reasons) * 1000)
        detail = {
            "reasons": [_plain(reason) for reason in ranked[:REASONS]],
            "count": len(ranked),
            "compared_with": list(self.compared_with),
            "left_out": [mask(text) for text in self._live.left_out[:REASONS]],
        }
        row = {
            "alert_id": self._alert_id,
            "run_id": segment.run_id,
            "branch": segment.branch,
            "segment": segment.number,
            "state": state,
            "score": score,
            "shape": shape_of(ranked[0]),
            "sentence": mask(ranked[0].sentence),
            "compared_with": ranked[0].compared_with,
            "detail": objects.pack_record(detail),
            "raised_at": self._raised_at,
            "updated_at": now,
            "decided_at": None,
            "decided_by": None,
            "note": None,
        }
        body = {"alert_id": self._alert_id, "score": score, **detail}
        draft = Draft(kind="divergence", mark=state, subject=shape_of(ranked[0]), body=body, at=now)
        deltas = {"alerts": 1} if fresh and state == "open" else {}
        segment.append([draft], rows=[("upsert alert", row)], changes=deltas)
        segment.recorder.metrics.divergence(ranked[0].code)
        self._held = state == "open"


def _plain(reason: Reason) -> dict[str, Any]:
    plain = {name: mask(value) if isinstance(value, str) else value for name, value in asdict(reason).items()}
    plain["fields"] = [
        {name: mask(value) if isinstance(value, str) else value for name, value in asdict(diff).items()}
        for diff in reason.fields
    ]
    plain["shape"] = shape_of(reason)
    return plain
