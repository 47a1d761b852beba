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
from .errors import AmbiguousCall
from .store.rows import CallRow
from .toolspec import ToolSpec

UNSTORABLE = "result unstorable"


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

    def advance(self) -> None:
        """An advancing checkpoint: ordinals start again, the tail before it answers no more."""
        with self._lock:
            self._ordinals.clear()
            self._exact.clear()
            held = [row for rows in self._by_identity.values() for row in rows]
            # One that was taken has its outcome by now, or will come back through `lost`.
            unknown = [row for row in held if in_doubt(row) and row.effect_id not in self._taken]
            self._by_identity.clear()
            self._by_key.clear()
            for row in unknown:
                self._remember(row)

    def plan(self, asked: Asked, now_ns: int) -> Plan:
        """What is to be done about this call.

        Raises:
            AmbiguousCall: an equal write without a call key is in flight in the same scope.
        """
        with self._lock:
            place = (asked.scope, asked.spec.name, asked.args_digest)
            guarded = asked.call_key is None and asked.spec.kind is CallKind.WRITE
            if guarded and place in self._open_keyless:
                raise AmbiguousCall(asked.spec.name, "", "give each of the parallel calls a `call_key=`.")
            ordinal = self._ordinals.get(place, -1) + 1
            self._ordinals[place] = ordinal
            row = self._match(asked, ordinal)
            if row is None:
                number = self._next
                self._next += 1
                if guarded:
                    self._open_keyless.add(place)
                return New(number, ordinal)
            self._taken.add(row.effect_id)
            return _plan_for(row, asked.spec, now_ns)

    def settled(self, asked: Asked) -> None:
        """A call has ended: an equal one may follow."""
        with self._lock:
            self._open_keyless.discard((asked.scope, asked.spec.name, asked.args_digest))

    def _match(self, asked: Asked, ordinal: int) -> CallRow | None:
        name = asked.spec.name
        if asked.call_key is not None:
            return self._free(self._by_key.get((name, asked.call_key)))
        row = self._free(self._exact.get((asked.scope, name, asked.args_digest, ordinal)))
        if row is not None and row.call_key is None:
            return row
        for row in self._by_identity.get((name, asked.identity_digest), ()):
            if row.call_key is None and self._free(row) is not None:
                return row
        return None

    def _free(self, row: CallRow | None) -> CallRow | None:
        return None if row is None or row.effect_id in self._taken else row

    def _remember(self, row: CallRow) -> None:
        if row.call_key is not None:
            self._by_key[row.tool, row.call_key] = row
        rows = self._by_identity.setdefault((row.tool, row.identity_digest), [])
        rows[:] = [held for held in rows if held.effect_id != row.effect_id] + [row]
        self._taken.discard(row.effect_id)


def in_doubt(row: CallRow) -> bool:
    """Whether a call has an intent and no outcome."""
    return row.state in (CallState.SENT, CallState.UNKNOWN)


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
