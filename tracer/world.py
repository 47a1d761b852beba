"""What does the gate need to know? Collects the checkpoint and the world beside it; decides nothing."""

from __future__ import annotations

import contextvars
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from . import approvals, codec
from .agentspec import AgentSpec
from .calls import ask_reconcile
from .contract import CallState, ResumePolicy
from .errors import UnknownCheckpoint
from .gate import OpenQuestion, UnknownCall, Waiver, World
from .ledger import UNHEARD, in_doubt, way_out
from .recorder import Recorder
from .seal import mask
from .store import objects, read
from .store.rows import CallRow, EntryRow, RunRow
from .toolspec import NotFound, ToolSpec
from .verify import damage_of, signed_as

PROBE_S: Final = 10.0
"""Seconds that a `reconcile` may take at the gate."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A checkpoint, opened."""

    entry: EntryRow
    root: dict[str, Any]
    fields: dict[str, Any]
    """Field name -> value, as it was written."""
    type_name: str
    version: int
    contract: dict[str, Any]
    contract_ref: Any
    notes: tuple[str, ...] = ()
    """What was renamed on the way in."""

    @property
    def policy(self) -> ResumePolicy:
        """The resume policy stored with it."""
        return ResumePolicy.from_plain(self.contract.get("policy") or {})


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What a service said of a call in doubt, when it was asked."""

    row: CallRow
    value: Any
    """The result, or `NotFound`."""


def load(recorder: Recorder, run_id: str, branch: str, sequence: int) -> Loaded:
    """Open one checkpoint whole.

    Raises:
        UnknownCheckpoint: the branch has no such sequence.
        IntegrityError: an object is missing or damaged.
        UnknownType: it holds a type that nobody registered.
    """
    with recorder.store.reader.connect() as connection:
        entry = read.checkpoint(connection, run_id, branch, sequence)
        body = None if entry is None else read.body(connection, run_id, branch, entry.entry)
    if entry is None or body is None:
        raise UnknownCheckpoint(f"{run_id}@{sequence}")
    plain = objects.unpack_record(body, f"{run_id}@{sequence}")
    reader = recorder.reader()
    notes: list[str] = []
    fields = {
        name: codec.lift(part, open=recorder.open_sealed, path=f"$.{name}", notes=notes)
        for name, part in reader.load(plain["root"]).items()
    }
    contract = reader.load(plain["contract"])
    return Loaded(
        entry,
        plain["root"],
        fields,
        plain["type"],
        int(plain["version"]),
        contract,
        plain["contract"],
        tuple(notes),
    )


def collect(
    recorder: Recorder,
    spec: AgentSpec,
    row: RunRow,
    loaded: Loaded,
    *,
    holder: str = "",
    probe: bool = True,
) -> tuple[World, list[Reconciled]]:
    """The world for the gate, and what services answered about calls in doubt (only when *probe*)."""
    with recorder.store.reader.connect() as connection:
        doubtful = read.calls(connection, row.run_id, row.branch, states=(CallState.SENT, CallState.UNKNOWN))
        questions = read.approvals(connection, run_id=row.run_id, name=row.branch)
    now = max(time.time_ns(), row.updated_at)
    unknown, reconciled = _doubts(recorder, spec, doubtful, now, probe)
    model = spec.model
    now_version = model.__waypost_version__ if model else loaded.version
    size = loaded.entry.size
    world = World(
        sequence=loaded.entry.sequence or 0,
        contract=loaded.contract,
        state_type=loaded.type_name,
        state_version=loaded.version,
        now_state_type=model.__name__ if model else loaded.type_name,
        now_state_version=now_version,
        now_plan=recorder.shown.plain(spec.plan.to_plain()),
        now_identity=recorder.shown.plain(spec.identity(recorder.settings).to_plain()),
        damage=damage_of(recorder, row.run_id, row.branch),
        signed=signed_as(recorder, row.run_id).signed,
        holder=holder,
        unknown=tuple(unknown),
        questions=tuple(
            OpenQuestion(question.approval_id, question.prompt, approvals.effective(question, now))
            for question in questions
            if question.kind in ("ask", "tool", "divergence") and question.state == approvals.PENDING
        ),
        evidence=row.evidence,
        context=(size, size),
        waivers=_waivers(questions),
    )
    return world, reconciled


def waiver_binding(waiver: Waiver) -> bytes:
    """The stored form of a waiver: what it accepts, exactly."""
    return codec.canonical(list(waiver))


def _waivers(questions: list[Any]) -> Mapping[Waiver, str]:
    out: dict[Waiver, str] = {}
    for question in questions:
        if question.kind == "gate" and question.state == approvals.APPROVED:
            clause, subject, before, after = codec.lift(codec.decode(question.binding))
            out[clause, subject, before, after] = question.decided_by or "somebody"
    return out


def _doubts(
    recorder: Recorder, spec: AgentSpec, rows: list[CallRow], now: int, probe: bool
) -> tuple[list[UnknownCall], list[Reconciled]]:
    tools = spec.tools()
    unknown: list[UnknownCall] = []
    reconciled: list[Reconciled] = []
    for row in rows:
        if not in_doubt(row):
            continue
        tool = tools.get(row.tool)
        way = way_out(row, tool, now)
        if way == "reconcile" and tool is not None:
            if not probe:
                unknown.append(UnknownCall(row.effect_id, row.tool, row.target, "reconciled"))
                continue
            try:
                reconciled.append(Reconciled(row, _asked(recorder, row, tool)))
                way = "reconciled"
            except NoAnswer as nothing:
                unknown.append(UnknownCall(row.effect_id, row.tool, row.target, "failed", str(nothing)))
                continue
        unknown.append(UnknownCall(row.effect_id, row.tool, row.target, way))
    return unknown, reconciled


class NoAnswer(Exception):
    """A service was asked and could not tell; the message says why."""


def _asked(recorder: Recorder, row: CallRow, tool: ToolSpec) -> Any:
    with recorder.store.reader.connect() as connection:
        stored, _ = read.call_values(connection, row.run_id, row.branch, row.effect_id)
    plain = recorder.reader().load(codec.decode(objects.unpack(stored, f"arguments of {row.effect_id}")))
    args = codec.lift(plain, open=recorder.open_sealed)
    return within(PROBE_S, lambda: ask_reconcile(tool, args, row.idempotency_key))


def within(limit_s: float, ask: Callable[[], Any]) -> Any:
    """What *ask* returns, if it does so in *limit_s* seconds.

    Raises:
        NoAnswer: it did not, or it raised. Nobody waits for it any more, not even the end of the process.
    """
    said: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

    def work() -> None:
        try:
            said.put((ask(), None))
        except BaseException as error:
            said.put((None, error))

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(work,), name="waypost-probe", daemon=True).start()
    try:
        value, error = said.get(timeout=limit_s)
    except queue.Empty:
        raise NoAnswer(f"did not answer within {limit_s:g} s") from None
    if error is not None:
        raise NoAnswer(mask(f"raised {type(error).__name__}: {error}")) from error
    return value


def settled_row(found: Reconciled, now: int) -> CallRow:
    """The ledger row of a reconciled call: committed with its result, or known not to have happened."""
    happened = not isinstance(found.value, NotFound)
    return replace(
        found.row,
        state=CallState.COMMITTED if happened else CallState.FAILED,
        flags=" ".join(filter(None, (found.row.flags, "reconciled", UNHEARD))),
        error="" if happened else "the service was asked: it did not happen",
        ended_at=now,
    )
