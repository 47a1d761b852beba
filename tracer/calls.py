"""How does a tool call pass through the ledger? Intent before effect, outcome right after, answers given back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Final

from . import approvals, codec, faults
from .asking import ask_person, take_answer
from .contract import CallKind, CallState
from .errors import Denied, NotStorable, Paused, UnknownEffect
from .ids import new_id
from .journal import Draft
from .ledger import UNSTORABLE, Answer, Ask, Asked, Ledger, New, Park, Plan, stored_values
from .seal import mask
from .segment import Segment
from .spanref import SpanRef
from .store import objects, read
from .store.rows import CallRow
from .toolspec import NotFound, ToolSpec
from .watch import Watch

inside: Final[ContextVar[tuple[str, ...]]] = ContextVar("waypost_inside", default=())
"""Effect ids of the calls whose bodies the current code runs in, outermost first."""
TARGET_MOST: Final = 160
WRITES: Final = (CallKind.WRITE, CallKind.HANDOFF)


@dataclass(slots=True)
class Ticket:
    """One call between its plan and its outcome."""

    asked: Asked
    row: CallRow
    args: Mapping[str, Any]
    stored_args: bytes
    span: SpanRef
    answered: bool = False
    value: Any = None
    result: bytes | None = None
    doubted: bool = False


class Calls:
    """The tool calls of one segment."""

    def __init__(self, segment: Segment, ledger: Ledger, pause: Callable[[str, str], Paused]) -> None:
        self.segment = segment
        self.ledger = ledger
        self._pause = pause
        self._open: dict[str, Ticket] = {}
        self._claiming = threading.Lock()
        self.watch: Watch | None = None
        """Compares a resumed segment with what went before; None in a first one."""

    def begin(self, spec: ToolSpec, args: Mapping[str, Any], scope: str, call_key: str | None) -> Ticket:
        """Find out what is to be done, and make the intent of a write durable.

        Raises:
            NotStorable: an argument cannot be kept; nothing was written and nothing sent.
            Denied: a person said no to exactly this call.
            Paused: a person must speak first.
            Diverged: the policy ends a resumed run that does something else, or is about to.
            UnknownEffect: the call was made before, and nobody knows whether it took effect.
            AmbiguousCall, SegmentPoisoned, StoreError, Fenced: the call is not dispatched.
        """
        segment = self.segment
        segment.require_live()
        if self.watch is not None and spec.kind in WRITES:
            self.watch.require_quiet()
        keys = segment.recorder.keys
        asked = Asked(
            spec,
            scope,
            keys.arg_digest(codec.canonical(dict(args))),
            keys.arg_digest(codec.canonical({name: args[name] for name in spec.identity or args})),
            None if call_key is None else segment.recorder.shown(call_key),
        )
        plan = self.ledger.plan(asked, time.time_ns())
        ticket: Ticket | None = None
        try:
            ticket = self._ticket(asked, args, plan)
            return self._carry_out(ticket, plan)
        except BaseException:
            self.ledger.undo(asked, plan)
            if self.watch is not None and ticket is not None and ticket.row.state == CallState.PLANNED:
                self.watch.not_sent(ticket.row)
            raise

    def _carry_out(self, ticket: Ticket, plan: Plan) -> Ticket:
        spec = ticket.asked.spec
        if isinstance(plan, Answer):
            return self._answer(ticket)
        if isinstance(plan, Park):
            raise self._park(ticket, plan.why)
        if isinstance(plan, Ask):
            return self._reconcile(ticket)
        if isinstance(plan, New):
            if self.watch is not None and spec.kind in WRITES:
                self.watch.require_agreed(ticket.row, ticket.args)
            if spec.approval:
                self._require_approval(ticket)
        if spec.kind in WRITES:
            self._intend(ticket)
            self._open[ticket.row.effect_id] = ticket
        return ticket

    def suspended(self) -> tuple[list[Draft], list[tuple[str, dict[str, Any]]]]:
        """Entries and rows for the writes inside which a person is asked: their bodies will run again.

        Only those on the asking code's own stack; a write in flight elsewhere has no outcome, and stays so.
        """
        drafts: list[Draft] = []
        rows: list[tuple[str, dict[str, Any]]] = []
        asking = [self._open.pop(effect_id) for effect_id in inside.get() if effect_id in self._open]
        for ticket in asking:
            ticket.row = replace(ticket.row, state=CallState.SUSPENDED, ended_at=time.time_ns())
            body = {"tool": ticket.row.tool, "target": ticket.row.target}
            drafts.append(Draft(kind="suspended", mark="suspended", subject=ticket.row.effect_id, body=body))
            rows.append(("upsert call", stored_values(ticket.row, None, args=ticket.stored_args)))
        return drafts, rows

    def withdrawn(self, ticket: Ticket) -> None:
        """The caller was cancelled before the call was dispatched: nothing happened, and the ledger says so."""
        if not ticket.answered:
            self._outcome(ticket, CallState.FAILED, error="cancelled before it was dispatched")
            if self.watch is not None:
                self.watch.not_sent(ticket.row)

    def committed(self, ticket: Ticket, value: Any, *, flag: str = "") -> Any:
        """The call has succeeded: its result is durable when this returns; the value itself."""
        parts: dict[bytes, bytes] = {}
        flags, error = flag, ""
        try:
            plain = codec.lower(value, path="$.result", seal=self.segment.seal_text())
            ticket.result = objects.pack(codec.encode(self.segment.part(plain, parts)))
        except NotStorable as why:
            flags = f"{flag} {UNSTORABLE}".strip()
            error = mask(str(why))
            ticket.result = None
        self._outcome(ticket, CallState.COMMITTED, flags=flags, error=error, parts=parts)
        if self.watch is not None:
            self.watch.saw(ticket.row, ticket.args, value)
        return value

    def raised(self, ticket: Ticket, error: BaseException) -> None:
        """The call ended with an exception: failed when that proves that nothing happened, else unknown."""
        spec = ticket.asked.spec
        harmless = spec.kind not in WRITES or (spec.failed_on and isinstance(error, spec.failed_on))
        state = CallState.FAILED if harmless else CallState.UNKNOWN
        self._outcome(ticket, state, error=mask(f"{type(error).__name__}: {error}"))
        if self.watch is not None:
            self.watch.saw(ticket.row, ticket.args, None)
        if state is CallState.UNKNOWN:
            self.ledger.lost(ticket.row)

    # -- the plans --------------------------------------------------------------------------------------------

    def _ticket(self, asked: Asked, args: Mapping[str, Any], plan: Any) -> Ticket:
        segment = self.segment
        now = time.time_ns()
        span = segment.recorder.tracing.child(now, segment.root_span)
        if not isinstance(plan, New):
            # It belongs to this step now: a crash before its checkpoint must find it in the tail again.
            row: CallRow = replace(
                plan.row, position=segment.position, after_sequence=segment.sequence, scope=asked.scope
            )
            return Ticket(asked, row, args, b"", span, doubted=row.state == CallState.UNKNOWN)
        spec = asked.spec
        key = f"wp-{new_id().hex()}" if spec.key_param else None
        row = CallRow(
            run_id=segment.run_id,
            branch=segment.branch,
            effect_id=new_id().hex(),
            number=plan.number,
            segment=segment.number,
            position=segment.position,
            after_sequence=segment.sequence,
            scope=asked.scope,
            ordinal=plan.ordinal,
            call_key=asked.call_key,
            tool=spec.name,
            kind=str(spec.kind),
            state=CallState.PLANNED,
            flags="",
            args_digest=asked.args_digest,
            identity_digest=asked.identity_digest,
            idempotency_key=key,
            key_expires_at=now + int(spec.key_ttl_s * 1e9) if key else None,
            target=_target(spec, args),
            error="",
            attempts=0,
            answers=0,
            taken_from=None,
            planned_at=now,
            sent_at=None,
            ended_at=None,
        )
        return Ticket(asked, row, args, b"", span)

    def _answer(self, ticket: Ticket) -> Ticket:
        row, segment = ticket.row, self.segment
        with segment.recorder.store.reader.connect() as connection:
            args, result = read.call_values(connection, row.run_id, row.branch, row.effect_id)
        if result is not None:
            plain = codec.decode(objects.unpack(result, f"result of {row.effect_id}"))
            plain = segment.recorder.reader().load(plain)
            ticket.value = codec.lift(plain, open=segment.recorder.open_sealed)
        ticket.answered = True
        if self.watch is not None:
            self.watch.saw(row, ticket.args, ticket.value, replayed=True)
        ticket.row = replace(row, answers=row.answers + 1)
        body = {"tool": row.tool, "call_key": ticket.asked.call_key, "in_segment": segment.number}
        segment.note(
            Draft(kind="answer", mark="skipped", subject=row.effect_id, body=body, at=time.time_ns()),
            [("upsert call", stored_values(ticket.row, result, args=args))],
        )
        self.ledger.settled(ticket.asked)
        return ticket

    def _park(self, ticket: Ticket, why: str) -> BaseException:
        row, segment = ticket.row, self.segment
        prompt = f"Did {row.tool} {row.target} happen? {why[:1].upper()}{why[1:]}."
        question = {
            "kind": "effect",
            "subject": row.effect_id,
            "binding": row.effect_id.encode(),
            "prompt": prompt,
        }
        error = UnknownEffect(row.tool, row.effect_id, why)
        paused = ask_person(
            segment, self._pause, "unknown effect", question, {"tool": row.tool, "target": row.target}
        )
        segment.poison(error)
        paused.__cause__ = error
        return paused

    def _reconcile(self, ticket: Ticket) -> Ticket:
        spec = ticket.asked.spec
        assert spec.reconcile is not None
        found = ask_reconcile(spec, ticket.args, ticket.row.idempotency_key)
        if isinstance(found, NotFound):
            self._intend(ticket)
            return ticket
        ticket.value = self.committed(ticket, found, flag="reconciled")
        ticket.answered = True
        return ticket

    def _intend(self, ticket: Ticket) -> None:
        """The intent is committed before the effect; only then does the row say `sent`."""
        segment = self.segment
        parts: dict[bytes, bytes] = {}
        plain = codec.lower(dict(ticket.args), path="$.args", seal=segment.seal_text())
        ref = segment.part(plain, parts)
        ticket.stored_args = objects.pack(codec.encode(ref))
        now = time.time_ns()
        again = ticket.row.attempts > 0
        ticket.row = replace(
            ticket.row, state=CallState.SENT, attempts=ticket.row.attempts + 1, sent_at=now, ended_at=None
        )
        if again:
            ticket.row = replace(
                ticket.row, taken_from=ticket.row.taken_from or f"segment {ticket.row.segment}"
            )
        row = ticket.row
        body = {
            "tool": row.tool,
            "kind": row.kind,
            "args": ref,
            "args_digest": row.args_digest.hex(),
            "identity_digest": row.identity_digest.hex(),
            "scope": row.scope,
            "ordinal": row.ordinal,
            "call_key": row.call_key,
            "key": row.idempotency_key,
            "attempt": row.attempts,
        }
        deltas: dict[str, Any] = {} if again else {"calls": 1, "writes": 1}
        if ticket.doubted:
            # Counted as long as the row says `unknown`, which from here on it does not: a second death is a new doubt.
            deltas["unknown"] = -1
            ticket.doubted = False
        faults.point("call.before_intent")
        segment.append(
            [
                Draft(
                    kind="intent",
                    mark="again" if again else "first",
                    subject=row.effect_id,
                    at=now,
                    body=body,
                )
            ],
            rows=[("upsert call", stored_values(row, None, args=ticket.stored_args))],
            objects=parts,
            changes=deltas,
        )
        faults.point("call.after_intent")

    def _outcome(
        self,
        ticket: Ticket,
        state: CallState,
        *,
        flags: str = "",
        error: str = "",
        parts: dict[bytes, bytes] | None = None,
    ) -> None:
        segment, spec, now = self.segment, ticket.asked.spec, time.time_ns()
        row = ticket.row
        fresh = row.attempts == 0
        row = replace(
            row,
            state=state,
            flags=" ".join(filter(None, (row.flags, flags))),
            position=segment.position,
            error=error,
            ended_at=now,
            attempts=max(1, row.attempts),
            sent_at=row.sent_at or row.planned_at,
        )
        into = dict(parts or {})
        if not ticket.stored_args:
            plain = codec.lower(dict(ticket.args), path="$.args", seal=segment.seal_text())
            ticket.stored_args = objects.pack(codec.encode(segment.part(plain, into)))
        body: dict[str, Any] = {
            "tool": row.tool,
            "kind": row.kind,
            "effect_id": row.effect_id,
            "call_key": row.call_key,
            "attempt": row.attempts,
            "error": error,
        }
        if ticket.result is not None:
            body["result"] = codec.decode(objects.unpack(ticket.result, "result"))
        if spec.kind not in WRITES:
            body["args"] = codec.decode(objects.unpack(ticket.stored_args, "arguments"))
        deltas: dict[str, Any] = {}
        if fresh and spec.kind not in WRITES:
            deltas["calls"] = 1
        if state is CallState.UNKNOWN and not ticket.doubted:
            deltas["unknown"] = 1
        elif ticket.doubted and state is not CallState.UNKNOWN:
            deltas["unknown"] = -1
        ticket.row = row
        span = replace(ticket.span, started_at=row.sent_at or row.planned_at)
        faults.point("call.before_outcome")
        segment.append(
            [
                Draft(
                    kind="outcome" if spec.kind in WRITES else "call",
                    mark=str(state),
                    subject=row.effect_id,
                    body=body,
                    at=now,
                    span=span.pack(),
                    export=segment.export,
                )
            ],
            rows=[("upsert call", stored_values(row, ticket.result, args=ticket.stored_args))],
            objects=into,
            changes=deltas,
        )
        faults.point("call.after_outcome")
        self._open.pop(row.effect_id, None)
        self.ledger.settled(ticket.asked)
        if state is CallState.COMMITTED:
            self.ledger.done(row)
        if spec.kind in WRITES:
            self._count(row, state)

    def _count(self, row: CallRow, state: CallState) -> None:
        effects = self.segment.effects
        open_ids: list[str] = [one for one in effects["unknown"] if one != row.effect_id]
        if state is CallState.UNKNOWN:
            open_ids.append(row.effect_id)
        else:
            effects[str(state)] = effects.get(str(state), 0) + 1
        effects["unknown"] = open_ids
        effects["last"] = row.effect_id
        self.segment.contract_changed()

    # -- approvals --------------------------------------------------------------------------------------------

    def _require_approval(self, ticket: Ticket) -> None:
        segment, spec = self.segment, ticket.asked.spec
        binding = segment.recorder.keys.arg_digest(
            codec.canonical([spec.name, spec.digest(), dict(ticket.args), segment.policy.to_plain()])
        )
        with self._claiming:
            answer = take_answer(segment, "tool", spec.name, binding)
        if answer is None:
            plain = codec.lower(dict(ticket.args), path="$.args", seal=segment.seal_text())
            question = {
                "kind": "tool",
                "subject": spec.name,
                "binding": binding,
                "prompt": f"May the agent call {spec.name} {ticket.row.target}?",
            }
            raise ask_person(
                segment,
                self._pause,
                "approval",
                question,
                {"tool": spec.name, "args": plain, "version": spec.version},
            )
        if not answer.approved:
            self.ledger.settled(ticket.asked)
            word = "its approval has expired" if answer.state == approvals.EXPIRED else f"{answer.by} said no"
            raise Denied(spec.name, ticket.row.effect_id, f"{word}. {answer.why}".strip())


def ask_reconcile(spec: ToolSpec, args: Mapping[str, Any], key: str | None) -> Any:
    """What the tool's own `reconcile` says of a call with these arguments."""
    assert spec.reconcile is not None
    given = dict(args)
    if spec.key_param:
        given[spec.key_param] = key
    return spec.reconcile(**given)


def _target(spec: ToolSpec, args: Mapping[str, Any]) -> str:
    """What the call is about, for lists: the identity arguments, masked."""
    names = spec.identity or tuple(args)
    text = " ".join(
        f"{name}={args[name]!r}" if not isinstance(args[name], str) else args[name] for name in names
    )
    shown = mask(text.encode("utf-8", "replace").decode())
    return shown if len(shown) <= TARGET_MOST else shown[: TARGET_MOST - 1] + "…"
