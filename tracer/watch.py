"""Does this resumed segment do something else than the one that stopped, and who is told?

Every call of a resumed segment goes through `Live` once. At the alarm level an alert is written, and the policy
says whether the run goes on, waits for a person, or ends before its next write. Under a policy that does more than
record, a write that nobody made before is tried first, and held when it would alarm. Whatever goes wrong with the
comparison itself is logged once, counted and recorded; the agent never feels it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from . import codec
from .agentspec import AgentSpec
from .alertrecord import MUTED, OPEN, WITHDRAWN, alert_draft, alert_row, detail_of, ranked, shape_of
from .callrecord import CallRecord, call_record
from .contract import CallState
from .course import course, records, whole
from .divergence import ALARM, Live, Reason
from .divergence.reason import combined
from .errors import Paused
from .holding import Holding
from .ids import new_id
from .journal import Draft
from .seal import mask
from .segment import Segment
from .store import read, read_alerts
from .store.rows import CallRow, RunRow
from .telemetry import names

BASELINES: Final = 8
"""Earlier successful runs that a segment is compared with, at most."""
BASELINE_CALLS: Final = 12_000
"""Calls of earlier runs that are read before a segment may work; what is beyond is left out, and said."""
SHAPES: Final = 50
"""Shapes of reasons after each new one of which an alert is written anew; later it is when their number doubles."""
STARTED, STOPPED = "started", "stopped"
"""Marks of journal entries of kind `divergence` beside those of alerts: what a segment is compared with, and that
the comparison broke."""


class Watch:
    """The comparison of one resumed segment, call by call."""

    def __init__(
        self, segment: Segment, spec: AgentSpec, row: RunRow, pause: Callable[[str, str], Paused]
    ) -> None:
        """*row* is the run as it stood before this segment."""
        self._segment = segment
        self._holding = Holding(segment, pause)
        self._lock = threading.Lock()
        self._live: Live | None = None
        self._muted: frozenset[str] = frozenset()
        self._settled: set[str] = set()
        """Shapes that a person has acknowledged in this segment."""
        self._seen: list[tuple[int, str]] = []
        """(number in the ledger, what it is about) of every call that was seen."""
        self._agreed: set[int] = set()
        """Places of the calls that a person let through: what is wrong with them was decided before they were sent."""
        self._doubts: dict[str, tuple[CallRow, CallRecord]] = {}
        """Writes of this segment that have no outcome yet, by effect id."""
        self._names: list[str] = []
        self._alert_id = ""
        self._raised_at = 0
        self._state = ""
        self._told: set[str] = set()
        self._written = 0
        """Reasons in the alert as it was last written; `_since` counts those that came later."""
        self._since = 0
        try:
            self._begin(spec, row)
        except Exception as error:
            self._broke("before its first call", error)

    def saw(self, row: CallRow, args: Mapping[str, Any], result: Any, *, replayed: bool = False) -> None:
        """Take in a finished call; an alarm is in the journal when this returns.

        A write without an outcome waits for the one it is sent again for: under its key both are one effect.

        Raises:
            StoreError, Fenced, SegmentPoisoned: an alert could not be written, so nothing else could be either.
        """
        with self._lock:
            if self._live is None:
                return
            try:
                record = self._record(row, args, result, replayed)
                if row.state == CallState.UNKNOWN and row.idempotency_key and not replayed:
                    self._doubts[row.effect_id] = row, record
                    return
                self._doubts.pop(row.effect_id, None)
                due = self._taken(row, record)
            except Exception as error:
                self._broke(f"at call {row.number}, {row.tool}", error)
                return
            if due is not None:
                self._write(due)

    def finish(self) -> None:
        """The run has ended: what only shows at the end, and what has turned out to be nothing."""
        with self._lock:
            if self._live is None:
                return
            try:
                for row, record in list(self._doubts.values()):
                    self._taken(row, record)
                self._live.finish()
                due = self._due((), final=True)
            except Exception as error:
                self._broke("at the end", error)
                return
            if due is not None:
                self._write(due)

    def require_quiet(self) -> None:
        """Called before a write is dispatched; see `Holding.require_quiet`."""
        self._holding.require_quiet()

    def require_agreed(self, row: CallRow, args: Mapping[str, Any]) -> None:
        """Called before the intent of a write that nobody made before. One that would alarm is held.

        Raises:
            Diverged, Paused: see `Holding.require_quiet`; nothing was sent.
            StoreError, Fenced, SegmentPoisoned: its alert could not be written; nothing was sent either.
        """
        if not self._holding.holds:
            return
        with self._lock:
            record, reasons = self._tried(row, args)
            if not reasons:
                return
            self._holding.hold(row, record["args"], reasons, self._names)
        self._holding.require_quiet()
        with self._lock:  # Somebody was quick enough to let it through.
            self._holding.agree(row)

    def not_sent(self, row: CallRow) -> None:
        """A planned write was not dispatched after all: a yes that it was about to use is good for another."""
        with self._lock:
            self._holding.consents.forgo(row)

    # -- beginning --------------------------------------------------------------------------------------------

    def _begin(self, spec: AgentSpec, row: RunRow) -> None:
        recorder = self._segment.recorder
        plan = spec.plan.to_plain()["version"]
        identity = {name: tool.identity for name, tool in spec.tools().items() if tool.identity}
        tree = recorder.reader()
        with recorder.store.reader.connect() as connection:
            settings = read.run_settings(connection, row.run_id)
            digest = settings[1] if settings else b""
            earlier = read_alerts.earlier_runs(
                connection,
                row.agent,
                plan,
                digest,
                besides=row.run_id,
                since=time.time_ns(),
                limit=BASELINES,
            )
            muted = read_alerts.mute_rows(connection, agent=row.agent, plan=plan or "")
            past = course(connection, row, row.segment + 1).before
            self._holding.restore(connection, row, [one.row for one in past])
            before = records(connection, tree, past)
            baselines: list[dict[str, object]] = []
            room = BASELINE_CALLS
            for run_id, calls in earlier:
                if baselines and calls > room:
                    break
                room -= calls
                model = read.run_by_id(connection, run_id)
                assert model is not None
                baselines.append(
                    {"tools": records(connection, tree, whole(connection, model)), "success": True}
                )
                self._names.append(run_id)
        # Oldest first, as the engine counts them.
        baselines.reverse()
        self._names.reverse()
        self._muted = frozenset(one.shape for one in muted)
        self._live = Live.start(baselines, before, identity=identity, grant=spec.grants or None)
        if len(baselines) < len(earlier):
            self._live.left_out.append(
                f"{len(earlier) - len(baselines)} earlier runs, because those read have {BASELINE_CALLS:,} calls"
            )
        body = {
            "compared_with": self._names,
            "calls_before": len(before),
            "identity": {name: list(fields) for name, fields in identity.items()},
            "grant": list(spec.grants),
            "left_out": [mask(text) for text in self._live.left_out[:SHAPES]],
        }
        self._segment.note(Draft(kind="divergence", mark=STARTED, at=time.time_ns(), body=body))

    def _taken(self, row: CallRow, record: CallRecord) -> _Due | None:
        assert self._live is not None
        if self._holding.consents.took(row, replayed=bool(record.get("replayed"))):
            self._agreed.add(len(self._seen))
        self._seen.append((row.number, row.target))
        fresh = [one for one in self._live.add(record) if one.call not in self._agreed]
        return self._due(fresh) if fresh else None

    def _tried(self, row: CallRow, args: Mapping[str, Any]) -> tuple[CallRecord, list[Reason]]:
        """(the planned call as if it were done, the reasons to hold it); none when it may be sent."""
        if self._live is None or self._holding.consents.claim(row):
            return {}, []
        try:
            record = self._record(replace(row, state=CallState.COMMITTED), args, None, False)
            reasons = self._live.trial(record)
            if any(one.strength >= ALARM for one in reasons):
                self._settle()
            # A person who decided an alert has spoken of what was done, not of what is planned.
            reasons = self._heard(reasons)
        except Exception as error:
            self._broke(f"before call {row.number}, {row.tool}", error)
            return {}, []
        return record, reasons if any(one.strength >= ALARM for one in reasons) else []

    def _record(self, row: CallRow, args: Mapping[str, Any], result: Any, replayed: bool) -> dict[str, Any]:
        seal = self._segment.seal_text()
        plain = codec.lower(dict(args), path="$.args", seal=seal)
        try:
            value = codec.lower(result, path="$.result", seal=seal)
        except Exception:  # the ledger has said so already; the comparison goes on without the result
            value = None
        return call_record(row, plain, value, replayed=replayed)

    def _broke(self, where: str, error: Exception) -> None:
        """Compare no more, and say so: in the log, the journal and a metric."""
        self._live = None
        segment, kind = self._segment, type(error).__name__
        said = f"The comparison of {segment.run_id} stopped {where}: {kind}: {mask(str(error))[:300]}"
        logging.getLogger(names.LOGGER_DIVERGENCE).warning("%s The run goes on.", said, exc_info=error)
        segment.recorder.metrics.comparison_failed(kind)
        segment.note(
            Draft(kind="divergence", mark=STOPPED, subject=kind, at=time.time_ns(), body={"said": said})
        )

    # -- alerts -----------------------------------------------------------------------------------------------

    def _due(self, fresh: Sequence[Reason], *, final: bool = False) -> _Due | None:
        """What is to be written now; None while it is quiet, or when nothing is new to tell."""
        assert self._live is not None
        self._since += len(fresh)
        known = all(shape_of(one) in self._told for one in fresh) or len(self._told) >= SHAPES
        if self._state and known and self._since < max(1, self._written) and not final:
            return None
        self._settle()
        standing = self._standing(self._live.reasons)
        heard = self._heard(standing)
        if combined(heard) >= ALARM:
            state, reasons = OPEN, ranked(heard)
        elif combined(standing) >= ALARM:
            state, reasons = MUTED, ranked(standing)
        elif self._alert_id and final:
            return _Due(WITHDRAWN, ranked(standing), tuple(self._live.left_out))
        else:
            return None
        self._told |= {shape_of(one) for one in (*fresh, *reasons[:SHAPES])}
        if final and self._state == state and len(reasons) == self._written:
            return None
        self._written, self._since = len(reasons), 0
        return _Due(state, reasons, tuple(self._live.left_out))

    def _standing(self, reasons: Sequence[Reason]) -> list[Reason]:
        """Those that no person has decided."""
        return [one for one in reasons if one.call not in self._agreed and shape_of(one) not in self._settled]

    def _heard(self, reasons: Sequence[Reason]) -> list[Reason]:
        return [one for one in reasons if shape_of(one) not in self._muted]

    def _settle(self) -> None:
        """Has a person decided our alert? Then what they have seen is settled, and what comes is a new alert."""
        if not self._alert_id:
            return
        with self._segment.recorder.store.reader.connect() as connection:
            found = read.alert_by_id(connection, self._alert_id)
        if found is not None and found[0].decided_at is not None:
            self._settled |= self._told
            self._told, self._written, self._since = set(), 0, 0
            self._alert_id, self._state = "", ""

    def _write(self, due: _Due) -> None:
        segment, now = self._segment, time.time_ns()
        fresh, was = not self._alert_id, self._state
        if fresh:
            self._alert_id, self._raised_at = new_id().hex(), now
        detail = detail_of(
            due.reasons,
            lambda call: self._seen[call] if call < len(self._seen) else (0, ""),
            compared_with=self._names,
            left_out=due.left_out,
        )
        if due.reasons:
            where = (segment.run_id, segment.branch, segment.number)
            row = alert_row(
                self._alert_id, where, due.state, due.reasons, detail, raised_at=self._raised_at, now=now
            )
            rows = [("upsert alert", row)]
        else:
            rows = [("settle alert", {"at_alert_id": self._alert_id, "state": due.state, "updated_at": now})]
        delta = (due.state == OPEN) - (was == OPEN and not fresh)
        draft = alert_draft(self._alert_id, due.state, due.reasons, detail, now)
        segment.append([draft], rows=rows, changes={"alerts": delta} if delta else {})
        self._state = due.state
        if due.state == OPEN:
            if was != OPEN or fresh:
                segment.recorder.metrics.divergence(due.reasons[0].code)
            self._holding.wait_for(self._alert_id)


@dataclass(frozen=True, slots=True)
class _Due:
    """An alert to be written."""

    state: str
    reasons: list[Reason]
    left_out: tuple[str, ...]
