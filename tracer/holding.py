"""Which write waits for a person, and which one did a person let through?

A planned write that would alarm is held before its intent: its alert keeps the tool and the digest of the arguments,
and a yes is good for exactly that call. Other arguments are another call, and nobody has said yes to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection

from . import approvals
from .alertrecord import DECIDED, HELD, OPEN, alert_draft, alert_row, detail_of, ranked
from .alerts import QUESTION
from .asking import ask_person
from .contract import CallState, Ruling, RunState
from .divergence import Reason
from .errors import Diverged, Paused
from .ids import new_id
from .segment import Segment
from .store import objects, read
from .store.rows import AlertRow, CallRow, RunRow

LONGEST: Final = 400
"""Characters of the reason under which a run ends."""
_Key = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class Held:
    """A call that was planned and held, as its alert keeps it: enough to know exactly it again."""

    tool: str
    args_digest: bytes
    """Keyed, 32 bytes."""
    segment: int
    number: int
    """What it would have had in the ledger. A later segment may give it to another call."""

    @classmethod
    def of(cls, row: CallRow, segment: int) -> Held:
        """The planned call of *row*, held in *segment*."""
        return cls(row.tool, row.args_digest, segment, row.number)

    @classmethod
    def in_alert(cls, detail: Mapping[str, Any]) -> Held | None:
        """The call that an alert held; None for an alert about a call that was made."""
        plain = detail.get("held")
        if plain is None:
            return None
        return cls(plain["tool"], bytes.fromhex(plain["args_digest"]), plain["segment"], plain["number"])

    def to_plain(self) -> dict[str, Any]:
        """The inverse, for the stored detail of the alert."""
        return {
            "tool": self.tool,
            "args_digest": self.args_digest.hex(),
            "segment": self.segment,
            "number": self.number,
        }

    @property
    def key(self) -> _Key:
        """Equal for calls of one tool with equal arguments in one store."""
        return self.tool, self.args_digest

    def may_be(self, row: CallRow) -> bool:
        """Is this call the held one, made after it was held? One that failed has not happened."""
        later = (row.segment, row.number) >= (self.segment, self.number)
        return _key(row) == self.key and later and row.state != CallState.FAILED


class Consents:
    """What a person let through in this run. Each yes is good for one effect, however often it is tried."""

    def __init__(self) -> None:
        self._given: dict[_Key, int] = {}
        self._effects: dict[_Key, set[str]] = {}
        """Effect ids of the calls for which a yes was used, or that are on their way on it."""

    def give(self, held: Held, made: Iterable[CallRow] = ()) -> None:
        """A person said yes to a held call; *made* are the calls since, one of which may have used it."""
        self._given[held.key] = self._given.get(held.key, 0) + 1
        used = self._effects.setdefault(held.key, set())
        for row in made:
            if held.may_be(row) and row.effect_id not in used:
                used.add(row.effect_id)
                return

    def cover(self, row: CallRow) -> bool:
        """Is there a yes for such a call that none has used?"""
        return self._given.get(_key(row), 0) > len(self._effects.get(_key(row), ()))

    def claim(self, row: CallRow) -> bool:
        """May this planned call be sent? Then its yes is used from here on: an equal one may be planned beside it."""
        if not self.cover(row):
            return False
        self._effects.setdefault(_key(row), set()).add(row.effect_id)
        return True

    def forgo(self, row: CallRow) -> None:
        """This planned call was not sent after all: its yes is good for another."""
        self._effects.get(_key(row), set()).discard(row.effect_id)

    def took(self, row: CallRow, *, replayed: bool) -> bool:
        """Is this finished call one that a person let through? From then on its yes is used, unless it failed."""
        used = self._effects.get(_key(row), set())
        known = row.effect_id in used
        if not known and (replayed or not self.cover(row)):
            return False
        if row.state == CallState.FAILED:
            used.discard(row.effect_id)
        else:
            used.add(row.effect_id)
        return True


class Holding:
    """What keeps the writes of one segment back. The caller sees to it that one thread at a time changes it."""

    def __init__(self, segment: Segment, pause: Callable[[str, str], Paused]) -> None:
        self._segment = segment
        self._pause = pause
        self._waits_for: dict[str, None] = {}
        """Alerts that may hold the next write, oldest first."""
        self._args: dict[str, Any] = {}
        """Plain arguments of the calls that this segment held, by alert."""
        self.consents = Consents()

    @property
    def holds(self) -> bool:
        """Does the policy do more than record?"""
        return self._segment.policy.divergence.strictness > Ruling.CONTINUE.strictness

    def restore(self, connection: Connection, row: RunRow, made: Sequence[CallRow]) -> None:
        """Take in what earlier segments have left: open alerts, and calls that a person let through.

        A no stands: whoever acknowledges its alert later frees the run, and lets nothing through.

        Args:
            made: every call of the run before this segment.
        """
        found = read.alerts(connection, run_id=row.run_id, name=row.branch, states=(OPEN, *DECIDED))
        asked = read.approvals(connection, run_id=row.run_id, name=row.branch)
        said = {one.subject: one.state for one in asked if one.kind == QUESTION}
        for alert in reversed(found):
            if alert.state == OPEN:
                self._waits_for[alert.alert_id] = None
            answer = said.get(alert.alert_id)
            agreed = answer == approvals.APPROVED or (
                alert.state in DECIDED and answer in (None, approvals.PENDING)
            )
            held = _held_by(connection, alert) if agreed else None
            if held is not None:
                self.consents.give(held, made)

    def wait_for(self, alert_id: str) -> None:
        """The next write may have to wait until this alert is decided."""
        self._waits_for[alert_id] = None

    def hold(self, row: CallRow, args: Any, reasons: Sequence[Reason], compared_with: Sequence[str]) -> None:
        """Write an alert about a planned call; durable when this returns.

        Args:
            args: plain, sealed where they must be; shown with the question.

        Raises:
            StoreError, Fenced, SegmentPoisoned: it could not be written, so the call must not be dispatched.
        """
        segment, now, alert_id = self._segment, time.time_ns(), new_id().hex()
        said = [replace(one, sentence=f"{HELD}{one.sentence}") for one in ranked(reasons)]
        detail = {
            **detail_of(
                said, lambda _call: (row.number, row.target), compared_with=compared_with, left_out=()
            ),
            "held": Held.of(row, segment.number).to_plain(),
        }
        where = (segment.run_id, segment.branch, segment.number)
        values = alert_row(alert_id, where, OPEN, said, detail, raised_at=now, now=now)
        segment.append(
            [alert_draft(alert_id, OPEN, said, detail, now)],
            rows=[("upsert alert", values)],
            changes={"alerts": 1},
        )
        segment.recorder.metrics.divergence(said[0].code)
        self._args[alert_id] = args
        self.wait_for(alert_id)

    def agree(self, row: CallRow) -> None:
        """The alert about this planned call is decided already: it may be sent."""
        self.consents.give(Held.of(row, self._segment.number))
        self.consents.claim(row)

    def require_quiet(self) -> None:
        """Called before a write is dispatched.

        Raises:
            Diverged: the policy ends a run that diverged, or a person said no.
            Paused: the policy asks a person first.
        """
        if not self._waits_for or not self.holds:
            return
        for alert_id in list(self._waits_for):
            with self._segment.recorder.store.reader.connect() as connection:
                found = read.alert_by_id(connection, alert_id)
                held = None if found is None else _held_by(connection, found[0])
            if found is None or found[0].state != OPEN:
                self._waits_for.pop(alert_id, None)
            elif self._segment.policy.divergence is Ruling.ABORT:
                raise self._ended(found[0].sentence)
            elif self._asked(found[0], held):
                self._waits_for.pop(alert_id, None)

    def _asked(self, alert: AlertRow, held: Held | None) -> bool:
        """True when a person has said yes; raises while nobody has, or when one said no."""
        segment = self._segment
        with segment.recorder.store.reader.connect() as connection:
            rows = read.approvals(connection, run_id=segment.run_id, name=segment.branch)
        mine = [one for one in rows if (one.kind, one.subject) == (QUESTION, alert.alert_id)]
        if mine and mine[-1].state == approvals.APPROVED:
            if mine[-1].used_at is None:
                draft, change = approvals.use(mine[-1], time.time_ns())
                segment.note(draft, [change])
            return True
        if mine and mine[-1].state == approvals.DENIED:
            raise self._ended(f"{mine[-1].decided_by} said no. {alert.sentence}")
        detail: dict[str, Any] = {"alert": alert.alert_id}
        if held is None:
            prompt = f"The resumed agent does something else: {alert.sentence} May it go on?"
        else:
            prompt = f"{alert.sentence} May exactly this call be sent?"
            detail["tool"] = held.tool
            if alert.alert_id in self._args:
                detail["args"] = self._args[alert.alert_id]
        question = {
            "kind": QUESTION,
            "subject": alert.alert_id,
            "binding": alert.alert_id.encode(),
            "prompt": prompt,
        }
        raise ask_person(segment, self._pause, QUESTION, question, detail)

    def _ended(self, sentence: str) -> Diverged:
        segment = self._segment
        segment.end("failed", RunState.FAILED, f"diverged: {sentence}"[:LONGEST])
        return Diverged(segment.run_id, sentence)


def _key(row: CallRow) -> _Key:
    return row.tool, row.args_digest


def _held_by(connection: Connection, alert: AlertRow) -> Held | None:
    found = read.alert_by_id(connection, alert.alert_id)
    assert found is not None
    return Held.in_alert(objects.unpack_record(found[1], f"alert {alert.alert_id}"))
