"""Did this call happen before, and what may be done about it now?

Pure of I/O: the ledger is filled with rows, asked with a call, and answers with one of five plans. Writing the
entries and running the function is `calls`' business.

Identity of a call after a resume: its call key; else (scope, tool, arguments, ordinal among equals), counted from
the loaded checkpoint; else, for a call that was lost with the tail or has no outcome, tool and declared identity,
because the agent may word it anew. Each recorded call answers at most once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .contract import CallKind, CallState
from .errors import AmbiguousCall, CallKeyReused
from .store.rows import CallRow
from .toolspec import ToolSpec

UNSTORABLE = "result unstorable"
_LASTING = (CallKind.WRITE, CallKind.HANDOFF)
UNHEARD = "unheard"
"""Flag of a call that was settled without the agent: by a person, or by asking the service at the gate."""


@dataclass(frozen=True, slots=True)
class New:
    """Nobody made this call before."""

    number: int
    ordinal: int


@dataclass(frozen=True, slots=True)
class Answer:
    """It is finished; its recorded result is given back."""

    row: CallRow


@dataclass(frozen=True, slots=True)
class Resend:
    """It was sent and has no outcome; the service will recognise its stored key."""

    row: CallRow


@dataclass(frozen=True, slots=True)
class Ask:
    """It has no outcome; `reconcile` can tell."""

    row: CallRow


@dataclass(frozen=True, slots=True)
class Park:
    """It has no outcome and only a person can say."""

    row: CallRow
    why: str


Plan = New | Answer | Resend | Ask | Park


@dataclass(frozen=True, slots=True)
class Asked:
    """A call as it is made: digests are keyed, 32 bytes."""

    spec: ToolSpec
    scope: str
    args_digest: bytes
    identity_digest: bytes
    call_key: str | None = None


class Ledger:
    """The calls since the last advancing checkpoint, and every call without an outcome."""

    def __init__(self, next_number: int = 1) -> None:
        self._lock = threading.Lock()
        self._next = next_number
        self._ordinals: dict[tuple[str, str, bytes], int] = {}
        self._exact: dict[tuple[str, str, bytes, int], CallRow] = {}
        self._by_key: dict[tuple[str, str], CallRow] = {}
        self._by_identity: dict[tuple[str, bytes], list[CallRow]] = {}
        self._taken: set[str] = set()
        self._open_keyless: set[tuple[str, str, bytes]] = set()
        self._keys: dict[tuple[str, str], bytes] = {}
        """Digest of the arguments that a call key of this life stands for."""

    def restore(self, tail: Iterable[CallRow], unknown: Iterable[CallRow]) -> None:
        """Take in what was recorded after the loaded checkpoint, and older calls without an outcome."""
        with self._lock:
            for row in tail:
                if row.state != CallState.FAILED:
                    self._exact[row.scope, row.tool, row.args_digest, row.ordinal] = row
                    self._remember(row)
            for row in unknown:
                self._remember(row)

    def lost(self, row: CallRow) -> None:
        """A call of this very segment ended without an outcome; its next attempt may be worded anew."""
        with self._lock:
            self._remember(row)

    def done(self, row: CallRow) -> None:
        """A call of this very segment is committed: whoever repeats its call key means this call."""
        if row.call_key is not None:
            with self._lock:
                self._by_key[row.tool, row.call_key] = row

    def advance(self, scope: str = "") -> None:
        """A checkpoint: what is finished answers no more, and its ordinals start again.

        Args:
            scope: the innermost item that is still being worked on ("" for none). Its own calls, and those around
                it, will be made again after a resume, so they stay; those inside it belong to finished items.

        A lost write that nobody has asked for yet keeps answering by identity: a sibling task may still ask.
        """
        with self._lock:
            below = f"{scope}/" if scope else ""
            self._ordinals = {place: n for place, n in self._ordinals.items() if not _within(place[0], below)}
            self._exact = {place: row for place, row in self._exact.items() if not _within(place[0], below)}
            kept = {
                place: [row for row in rows if self._kept(row, below)]
                for place, rows in self._by_identity.items()
            }
            self._by_identity = {place: rows for place, rows in kept.items() if rows}
            self._by_key = {
                place: row
                for place, row in self._by_key.items()
                if not _within(row.scope, below) or self._kept(row, below)
            }

    def plan(self, asked: Asked, now_ns: int) -> Plan:
        """What is to be done about this call. Whoever cannot carry it out says so to `undo`.

        Raises:
            AmbiguousCall: an equal write without a call key is in flight in the same scope.
            CallKeyReused: the call key named other arguments before.
        """
        with self._lock:
            place = _place(asked)
            guarded = _guarded(asked)
            if guarded and place in self._open_keyless:
                raise AmbiguousCall(asked.spec.name, "", "give each of the parallel calls a `call_key=`.")
            row = self._by_own_key(asked)
            ordinal = self._ordinals.get(place, -1) + 1
            self._ordinals[place] = ordinal
            row = row or self._match(asked, ordinal)
            if row is None:
                number = self._next
                self._next += 1
                if guarded:
                    self._open_keyless.add(place)
                if asked.call_key is not None:
                    self._keys[asked.spec.name, asked.call_key] = asked.args_digest
                return New(number, ordinal)
            self._taken.add(row.effect_id)
            return _plan_for(row, asked.spec, now_ns)

    def undo(self, asked: Asked, plan: Plan) -> None:
        """The plan was not carried out: a recorded call may be matched again, an equal one may follow."""
        with self._lock:
            if not isinstance(plan, New):
                self._taken.discard(plan.row.effect_id)
            elif asked.call_key is not None:
                self._keys.pop((asked.spec.name, asked.call_key), None)
            place = _place(asked)
            self._open_keyless.discard(place)
            self._ordinals[place] = self._ordinals.get(place, 0) - 1

    def settled(self, asked: Asked) -> None:
        """A call has ended: an equal one may follow."""
        with self._lock:
            self._open_keyless.discard(_place(asked))

    def _by_own_key(self, asked: Asked) -> CallRow | None:
        if asked.call_key is None:
            return None
        known = (asked.spec.name, asked.call_key)
        row = self._by_key.get(known)
        used = self._keys.get(known) if row is None else row.args_digest
        if used is not None and used != asked.args_digest:
            raise CallKeyReused(asked.spec.name, asked.call_key)
        return row

    def _match(self, asked: Asked, ordinal: int) -> CallRow | None:
        name = asked.spec.name
        if asked.call_key is None:
            row = self._free(self._exact.get((asked.scope, name, asked.args_digest, ordinal)))
            if row is not None and row.call_key is None:
                return row
        for row in self._by_identity.get((name, asked.identity_digest), ()):
            if self._free(row) is not None:
                return row
        return None

    def _free(self, row: CallRow | None) -> CallRow | None:
        return None if row is None or row.effect_id in self._taken else row

    def _kept(self, row: CallRow, below: str) -> bool:
        """Whether a recorded call may still answer by identity after a checkpoint."""
        if row.effect_id in self._taken:
            return False  # it has its outcome by now, or will come back through `lost`
        return in_doubt(row) or row.kind in _LASTING or not _within(row.scope, below)

    def _remember(self, row: CallRow) -> None:
        if row.call_key is not None:
            self._by_key[row.tool, row.call_key] = row
        rows = self._by_identity.setdefault((row.tool, row.identity_digest), [])
        rows[:] = [held for held in rows if held.effect_id != row.effect_id] + [row]
        self._taken.discard(row.effect_id)


def finished(row: CallRow, checkpoints: Iterable[tuple[int, str]]) -> bool:
    """Whether a call of the tail belongs to an item that a later checkpoint inside the tail has finished.

    Args:
        checkpoints: (sequence, scope of the item still being worked on) of those after the position.
    """
    return any(
        scope and row.after_sequence < sequence and _within(row.scope, f"{scope}/")
        for sequence, scope in checkpoints
    )


def _within(scope: str, below: str) -> bool:
    return scope.startswith(below)


def _place(asked: Asked) -> tuple[str, str, bytes]:
    return asked.scope, asked.spec.name, asked.args_digest


def _guarded(asked: Asked) -> bool:
    return asked.call_key is None and asked.spec.kind is CallKind.WRITE


def in_doubt(row: CallRow) -> bool:
    """Whether a call has an intent and no outcome."""
    return row.state in (CallState.SENT, CallState.UNKNOWN)


def unheard(row: CallRow) -> bool:
    """Whether a call is known to have happened, and the agent has not been told."""
    return row.state == CallState.COMMITTED and UNHEARD in row.flags.split() and not row.answers


def _owed(row: CallRow) -> bool:
    return in_doubt(row) or unheard(row)


def way_out(row: CallRow, spec: ToolSpec | None, now_ns: int) -> str:
    """How a call in doubt can be settled: `key`, `reconcile`, `expired` or `opaque`."""
    if spec is None:
        return "opaque"
    if spec.key_param and row.idempotency_key:
        if row.key_expires_at is None or now_ns < row.key_expires_at:
            return "key"
        return "reconcile" if spec.reconcile else "expired"
    return "reconcile" if spec.reconcile else "opaque"


def _plan_for(row: CallRow, spec: ToolSpec, now_ns: int) -> Plan:
    if row.state == CallState.COMMITTED:
        if UNSTORABLE in row.flags:
            return Park(row, f"it was committed, but its result could not be stored: {row.error}")
        return Answer(row)
    if spec.kind is not CallKind.WRITE and spec.kind is not CallKind.HANDOFF:
        return Resend(row)
    if row.state in (CallState.PLANNED, CallState.SUSPENDED):
        return Resend(row)
    way = way_out(row, spec, now_ns)
    if way == "key":
        return Resend(row)
    if way == "reconcile":
        return Ask(row)
    why = (
        "its stored key has expired"
        if way == "expired"
        else "it has neither an idempotency key nor reconcile="
    )
    return Park(row, f"it was sent and has no outcome; {why}")


def stored_values(row: CallRow, result: bytes | None, *, args: bytes = b"") -> dict[str, Any]:
    """*row* as the statement `upsert call` takes it; a row that exists keeps its arguments."""
    values = {name: getattr(row, name) for name in row.__dataclass_fields__}
    return {**values, "state": str(row.state), "args": args, "result": result}
