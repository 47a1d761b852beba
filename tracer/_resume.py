"""How does a run begin, and how does it go on after its process is gone?

Acquire the epoch, collect the world, let the gate decide, act. Refused: release, log, no segment. Nothing of the
agent runs between loading a checkpoint and the verdict.
"""

from __future__ import annotations

import getpass
import os
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass

from . import faults, gate
from .aftermath import effects_after, end_dead, settle_doubts
from .agentspec import AgentSpec
from .contract import CallState, CheckpointKind, RunState, Verdict
from .errors import AgentError, AlreadyResumed, ResumeRefused, StoreError, UnknownCheckpoint, UnknownRun
from .hold import find, holder_name, standing_of
from .holder import Holder
from .ids import valid_run_id
from .items import Items
from .journal import Draft
from .lease import Standing, me
from .ledger import UNHEARD, Ledger, finished, unheard
from .opening import branch_row, make_segment, root_attributes, run_row, segment_row
from .recorder import Recorder
from .refusal import log_refusal
from .segment import Segment
from .signing import KEY
from .spanref import SpanRef
from .store import objects, read
from .store.read import MAIN
from .store.rows import HeadRow, RunRow
from .text import storable
from .world import Loaded, collect, load


@dataclass(frozen=True, slots=True)
class Begun:
    """A segment that may work, and the ledger of what was done before it."""

    segment: Segment
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class Preflight:
    """What the gate would say now."""

    row: RunRow
    verdict: Verdict
    loaded: Loaded


def require_id(agent: str, run_id: object) -> None:
    """Raise AgentError unless *run_id* can name a run."""
    if not valid_run_id(run_id):
        raise AgentError(agent, f"{run_id!r} cannot name a run; use letters, digits and `_.-`, at most 128.")


def begin(
    recorder: Recorder,
    spec: AgentSpec,
    run_id: str,
    holder: Holder,
    *,
    labels: Mapping[str, str] | None = None,
) -> Begun:
    """Start a new run and write its first checkpoint.

    Raises:
        AgentError: the id cannot name a run.
        AlreadyResumed: somebody else has just started it.
        NotStorable: the initial state or a label cannot be kept exactly.
    """
    require_id(spec.name, run_id)
    for name, value in (labels or {}).items():
        storable(value, f"$.labels[{storable(name, '$.labels')!r}]")
    now = time.time_ns()
    owner = me(secrets.token_hex(8))
    span, sampled = recorder.tracing.root(spec.name, now, root_attributes(spec, run_id))
    identity = spec.identity(recorder.settings)
    start = Draft(
        kind="start",
        mark=recorder.settings.mode,
        subject=spec.name,
        at=now,
        body={
            "agent": spec.name,
            "entrypoint": spec.entrypoint,
            "plan": spec.plan.to_plain(),
            "sealing": recorder.settings.seal,
            KEY: recorder.signing.names(run_id, recorder.keys),
            "owner": str(owner),
        },
    )
    segment = make_segment(recorder, spec, run_id, 1, 1, holder, span, sampled, identity)
    row = segment_row(recorder, run_id, 1, 1, str(owner), 0, now, span, None, sampled, spec.name)
    with recorder.opening(run_id, MAIN):
        try:
            # One append: a run that is there has a first checkpoint, so that whatever dies it can be resumed.
            segment.checkpoint(
                "start",
                drafts=[start],
                rows=[("insert segment", row)],
                creates=[
                    ("insert run", run_row(recorder, spec, run_id, holder, labels, now, span, sampled)),
                    ("insert branch", branch_row(recorder, spec, run_id, str(owner), now)),
                ],
            )
        except StoreError:
            found = find(recorder, run_id)
            if found is None:
                raise
            raise AlreadyResumed(run_id, holder_name(found.owner), found.epoch, found.created_at) from None
        recorder.heart.start(run_id, MAIN, 1, recorder.settings.lease_ttl_s)
    return Begun(segment, Ledger())


def loaded_head(recorder: Recorder, row: RunRow) -> Loaded:
    """The newest checkpoint of a branch.

    Raises:
        UnknownCheckpoint: the run died before its first one; start it again under another id.
    """
    if row.head_sequence == 0:
        raise UnknownCheckpoint(
            f"{row.run_id}: it died before its first checkpoint; start it under another id."
        )
    return load(recorder, row.run_id, row.branch, row.head_sequence)


def preflight(recorder: Recorder, spec: AgentSpec, run_id: str, branch: str = MAIN) -> Preflight:
    """What the gate would say, without taking the lease, asking a service or writing anything.

    Raises:
        UnknownRun: there is no such run.
    """
    row = find(recorder, run_id, branch)
    if row is None:
        raise UnknownRun(run_id, str(recorder.store.url.database))
    loaded = loaded_head(recorder, row)
    alive = standing_of(recorder, row) in (Standing.ALIVE, Standing.ELSEWHERE)
    world, _ = collect(
        recorder, spec, row, loaded, holder=holder_name(row.owner) if alive else "", probe=False
    )
    return Preflight(row, gate.decide(world, loaded.policy), loaded)


def resume(
    recorder: Recorder,
    spec: AgentSpec,
    row: RunRow,
    epoch: int,
    loaded: Loaded,
    holder: Holder,
    *,
    who: str = "",
    why: str = "",
) -> Begun:
    """Let the gate decide, and open the next segment.

    Raises:
        ResumeRefused: the gate says anything but `continue`; the verdict is in the resume log, the lease is free.
    """
    world, reconciled = collect(recorder, spec, row, loaded)
    verdict = gate.decide(world, loaded.policy)
    recorder.metrics.resume(str(verdict.ruling))
    person = who or _user()
    if not verdict.admits:
        log_refusal(recorder, row, epoch, loaded, verdict, person, why)
        raise ResumeRefused(
            row.run_id,
            str(verdict.ruling),
            tuple(f"{f.clause}: {f.what} → {f.remedy}." for f in verdict.stops),
        )
    faults.point("resume.admitted")
    now = time.time_ns()
    number = row.segment + 1
    last = SpanRef.unpack(loaded.entry.span) if loaded.entry.span else None
    with recorder.store.reader.connect() as connection:
        settings = read.run_settings(connection, row.run_id)
        past = read.segments(connection, row.run_id, row.branch)
        tail = read.calls(connection, row.run_id, row.branch, position=row.position)
        doubtful = read.calls(connection, row.run_id, row.branch, states=(CallState.SENT, CallState.UNKNOWN))
        told = read.calls(connection, row.run_id, row.branch, states=(CallState.COMMITTED,), flag=UNHEARD)
        next_number = read.last_call_number(connection, row.run_id, row.branch) + 1
        by_state = read.call_states(connection, row.run_id, row.branch)
        record = read.body(connection, row.run_id, row.branch, loaded.entry.entry)
    inside = _inside(record, loaded)
    tail = [call for call in tail if not finished(call, [(n, scope) for scope, n in inside.items()])]
    sampled = settings is None or bool(settings[2])
    span = recorder.tracing.resumed_root(
        spec.name, now, root_attributes(spec, row.run_id), sampled, continues=last
    )
    identity = spec.identity(recorder.settings)
    segment = make_segment(
        recorder, spec, row.run_id, number, epoch, holder, span, sampled, identity, branch=row.branch
    )
    position = row.position
    segment.resumed_from(
        loaded.root, loaded.contract_ref, loaded.entry.id, loaded.entry.sequence or 0, position, inside
    )
    segment.evidence = Items(loaded.contract.get("evidence") or [])
    segment.approvals_used = list((loaded.contract.get("permissions") or {}).get("used") or [])
    drafts, rows, changes, doubts, settled = settle_doubts(doubtful, reconciled, now, segment)
    segment.effects = effects_after(by_state, doubts, settled, loaded.contract)
    ended_drafts, ended_rows = end_dead(past, row, now)
    link = {
        "type": "resumed_from",
        "trace_id": last.trace_id.hex() if last else "",
        "span_id": last.span_id.hex() if last else "",
        "flags": last.flags if last else 0,
        "checkpoint_id": loaded.entry.id.hex(),
        "sequence": loaded.entry.sequence,
    }
    body = {
        "who": person,
        "why": why,
        "from_sequence": loaded.entry.sequence,
        "ruling": str(verdict.ruling),
        "findings": [finding.to_plain() for finding in verdict.findings],
        "migrations": list(world.migrations),
        "renamed": list(loaded.notes),
        "identity_before": loaded.contract.get("identity"),
        "reconciled": [found.row.effect_id for found in reconciled],
        "doubts": [call.effect_id for call in doubts],
        "trace_before": last.trace_id.hex() if last else None,
        "trace_after": span.trace_id.hex(),
        "gate_ns": time.time_ns() - now,
    }
    drafts = [
        *ended_drafts,
        *drafts,
        Draft(kind="resume", mark=str(verdict.ruling), subject=person, at=now, body=body),
    ]
    owner = _owner(recorder, row)
    rows = [
        *ended_rows,
        *rows,
        (
            "insert segment",
            segment_row(
                recorder,
                row.run_id,
                number,
                epoch,
                owner,
                loaded.entry.sequence or 0,
                now,
                span,
                link,
                sampled,
                spec.name,
                branch=row.branch,
            ),
        ),
    ]
    segment.checkpoint(
        "resume",
        CheckpointKind.RESUME,
        drafts=drafts,
        rows=rows,
        changes={
            **changes,
            "state": str(RunState.RUNNING),
            "reason": "",
            "state_at": now,
            "segment": number,
            "resumes": 1,
            "plan": spec.plan.to_plain()["version"],
        },
    )
    faults.point("resume.opened")
    ledger = Ledger(next_number)
    done = {call.effect_id: call for call in settled}
    doubted = {call.effect_id: call for call in doubts}
    ledger.restore(
        [done.get(call.effect_id) or doubted.get(call.effect_id) or call for call in tail],
        [
            *(doubted[call.effect_id] for call in doubtful if call.effect_id in doubted),
            *(call for call in (*told, *done.values()) if unheard(call)),
        ],
    )
    return Begun(segment, ledger)


def _inside(record: bytes | None, loaded: Loaded) -> dict[str, int]:
    """What was finished inside items that were not: see `Segment.inside`."""
    if record is None:
        return {}
    plain = objects.unpack_record(record, f"{loaded.entry.run_id}@{loaded.entry.sequence}")
    return {str(scope): int(n) for scope, n in (plain.get("inside") or {}).items()}


def _owner(recorder: Recorder, row: RunRow) -> str:
    with recorder.store.reader.connect() as connection:
        head: HeadRow | None = read.head(connection, row.run_id, row.branch)
    return (head.owner if head else None) or ""


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
