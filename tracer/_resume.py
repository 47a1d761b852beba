"""How does a run begin, and how does it go on after its process is gone?

Acquire the epoch, collect the world, let the gate decide, act. Refused: release, log, no segment. Nothing of the
agent runs between loading a checkpoint and the verdict.
"""

from __future__ import annotations

import getpass
import os
import secrets
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from . import codec, faults, gate
from .agentspec import AgentSpec
from .approvals import question
from .contract import CallState, CheckpointKind, Ruling, RunState, Verdict
from .errors import (
    AgentError,
    AlreadyResumed,
    Fenced,
    ResumeRefused,
    StoreError,
    UnknownCheckpoint,
    UnknownRun,
)
from .ids import valid_run_id
from .items import Items
from .journal import Append, Draft
from .lease import Standing, me, standing, stopped_beating
from .ledger import Ledger
from .recorder import Recorder
from .segment import Segment
from .spanref import SpanRef
from .store import objects, read
from .store.rows import CallRow, HeadRow, RunRow, SegmentRow
from .store.tables import NONE, PENDING, UNSAMPLED
from .toolspec import NotFound
from .world import Loaded, Reconciled, collect, load, settled_row, waiver_binding

MAIN = read.MAIN
PATTERNS = 1


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


def find(recorder: Recorder, run_id: str, branch: str = MAIN) -> RunRow | None:
    """The run, or None."""
    with recorder.store.reader.connect() as connection:
        return read.run_by_id(connection, run_id, branch)


def begin(
    recorder: Recorder, spec: AgentSpec, run_id: str, holder: Any, *, labels: Mapping[str, str] | None = None
) -> Begun:
    """Start a new run and write its first checkpoint.

    Raises:
        AgentError: the id cannot name a run.
        AlreadyResumed: somebody else has just started it.
        NotStorable: the initial state cannot be kept exactly.
    """
    if not valid_run_id(run_id):
        raise AgentError(
            spec.name, f"{run_id!r} cannot name a run; use letters, digits and `_.-`, at most 128."
        )
    now = time.time_ns()
    owner = me(secrets.token_hex(8))
    span, sampled = recorder.tracing.root(spec.name, now, _root_attributes(spec, run_id))
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
            "owner": str(owner),
        },
    )
    append = Append(
        run_id,
        MAIN,
        [start],
        segment=1,
        epoch=1,
        rows=[
            (
                "insert segment",
                _segment_row(recorder, run_id, 1, 1, str(owner), 0, now, span, None, sampled, spec.name),
            )
        ],
        creates=[
            ("insert run", _run_row(recorder, spec, run_id, holder, labels, now, span, sampled)),
            ("insert branch", _branch_row(recorder, spec, run_id, str(owner), now)),
        ],
    )
    try:
        recorder.journal.append(append)
    except StoreError:
        found = find(recorder, run_id)
        if found is None:
            raise
        raise AlreadyResumed(run_id, found.owner or "nobody", found.epoch) from None
    segment = _segment(recorder, spec, run_id, 1, 1, holder, span, sampled, identity)
    recorder.heart.start(run_id, MAIN, 1, recorder.settings.lease_ttl_s)
    segment.checkpoint("start")
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
    alive = standing(row.owner) in (Standing.ALIVE, Standing.ELSEWHERE)
    world, _ = collect(recorder, spec, row, loaded, holder=_name(row.owner) if alive else "", probe=False)
    return Preflight(row, gate.decide(world, loaded.policy), loaded)


def acquire(
    recorder: Recorder, run_id: str, *, branch: str = MAIN, takeover: bool = False
) -> tuple[RunRow, int]:
    """Take the lease; (the run as it stood before, our epoch).

    Raises:
        UnknownRun: there is no such run.
        AlreadyResumed: a living process holds it, or was quicker; the refusal is in the journal.
    """
    row = find(recorder, run_id, branch)
    if row is None:
        raise UnknownRun(run_id, str(recorder.store.url.database))
    held, seen = standing(row.owner), row
    if held in (Standing.ALIVE, Standing.ELSEWHERE):

        def beat() -> int:
            with recorder.store.reader.connect() as connection:
                head = read.head(connection, run_id, branch)
            return -1 if head is None or head.epoch != seen.epoch else head.beat

        if not takeover or not stopped_beating(beat, row.ttl / 1e9):
            raise _refused(recorder, row)
        row = find(recorder, run_id, branch) or row
    owner = me(secrets.token_hex(8))
    draft = Draft(
        kind="lease",
        mark=str(held),
        subject=owner.name,
        at=time.time_ns(),
        body={"owner": str(owner), "from": row.owner, "epoch": row.epoch + 1},
    )
    faults.point("resume.before_lease")
    try:
        recorder.journal.append(
            Append(
                run_id,
                branch,
                [draft],
                segment=row.segment,
                guards={"epoch": row.epoch, "owner": row.owner}
                if row.owner is not None
                else {"epoch": row.epoch},
                changes={
                    "epoch": row.epoch + 1,
                    "owner": str(owner),
                    "beat": 0,
                    "beat_at": draft.at,
                    "ttl": int(recorder.settings.lease_ttl_s * 1e9),
                },
            )
        )
    except (AlreadyResumed, Fenced):
        raise _refused(recorder, find(recorder, run_id, branch) or row) from None
    recorder.heart.start(run_id, branch, row.epoch + 1, recorder.settings.lease_ttl_s)
    return row, row.epoch + 1


def resume(
    recorder: Recorder,
    spec: AgentSpec,
    row: RunRow,
    epoch: int,
    loaded: Loaded,
    holder: Any,
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
    person = who or _user()
    if not verdict.admits:
        _log_refusal(recorder, row, epoch, loaded, verdict, person, why)
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
        next_number = read.last_call_number(connection, row.run_id, row.branch) + 1
        by_state = read.call_states(connection, row.run_id, row.branch)
    sampled = settings is None or bool(settings[2])
    span = recorder.tracing.resumed_root(
        spec.name, now, _root_attributes(spec, row.run_id), sampled, continues=last
    )
    identity = spec.identity(recorder.settings)
    segment = _segment(
        recorder, spec, row.run_id, number, epoch, holder, span, sampled, identity, branch=row.branch
    )
    position = row.position
    segment.resumed_from(
        loaded.root, loaded.contract_ref, loaded.entry.id, loaded.entry.sequence or 0, position
    )
    segment.evidence = Items(loaded.contract.get("evidence") or [])
    segment.approvals_used = list((loaded.contract.get("permissions") or {}).get("used") or [])
    drafts, rows, changes, doubts, settled = _doubts(recorder, doubtful, reconciled, now)
    segment.effects = _effects(by_state, doubts, settled, loaded.contract)
    ended_drafts, ended_rows = _end_dead(past, row, now)
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
            _segment_row(
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
    done = {found.row.effect_id: settled_row(found, now) for found in reconciled}
    doubted = {call.effect_id: call for call in doubts}
    ledger.restore(
        [done.get(call.effect_id) or doubted.get(call.effect_id) or call for call in tail],
        [doubted[call.effect_id] for call in doubtful if call.effect_id in doubted],
    )
    return Begun(segment, ledger)


# -- what a resume writes -------------------------------------------------------------------------------------


def _doubts(
    recorder: Recorder, doubtful: list[CallRow], reconciled: list[Reconciled], now: int
) -> tuple[list[Draft], list[tuple[str, dict[str, Any]]], dict[str, Any], list[CallRow], list[CallRow]]:
    """Entries and rows for calls without an outcome: settled where a service knew, else `unknown` from now on."""
    drafts: list[Draft] = []
    rows: list[tuple[str, dict[str, Any]]] = []
    known = {found.row.effect_id: found for found in reconciled}
    doubts: list[CallRow] = []
    settled: list[CallRow] = []
    delta = 0
    for call in doubtful:
        found = known.get(call.effect_id)
        if found is not None:
            row = settled_row(found, now)
            plain = None if isinstance(found.value, NotFound) else codec.lower(found.value, path="$.result")
            result = None if isinstance(found.value, NotFound) else objects.pack(codec.encode(plain))
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
            rows.append(("upsert call", _call_values(row, result)))
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
            rows.append(("upsert call", _call_values(row, None)))
            doubts.append(row)
            delta += 1
        else:
            doubts.append(call)
    return drafts, rows, {"unknown": delta} if delta else {}, doubts, settled


def _effects(
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


def _end_dead(
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


def _log_refusal(
    recorder: Recorder, row: RunRow, epoch: int, loaded: Loaded, verdict: Verdict, who: str, why: str
) -> None:
    """Release the lease, log the verdict, and ask a person about each finding that can be waived."""
    now = time.time_ns()
    body = {
        "who": who,
        "why": why,
        "from_sequence": loaded.entry.sequence,
        "ruling": str(verdict.ruling),
        "findings": [finding.to_plain() for finding in verdict.findings],
    }
    drafts = [Draft(kind="refusal", mark=str(verdict.ruling), subject=who, at=now, body=body)]
    rows: list[tuple[str, dict[str, Any]]] = []
    asked = 0
    with recorder.store.reader.connect() as connection:
        known = read.approvals(connection, run_id=row.run_id, name=row.branch)
    for finding in verdict.stops:
        if finding.ruling is Ruling.ABORT or not finding.subject:
            continue
        effect = finding.clause.value == "side effects"
        binding = finding.subject.encode() if effect else waiver_binding(gate.waiver_of(finding))
        kind = "effect" if effect else "gate"
        if finding.clause.value == "permissions" or any(
            q.kind == kind and q.binding == binding for q in known
        ):
            continue
        detail = finding.to_plain()
        _, draft, values = question(
            row.run_id,
            row.branch,
            kind=kind,
            subject=finding.subject if effect else str(finding.clause),
            binding=binding,
            prompt=finding.what,
            detail=detail,
            asked_at=now,
            deadline=None,
            packed_detail=objects.pack_record(detail),
        )
        drafts.append(draft)
        rows.append(values)
        asked += 1
    state = RunState.PAUSED if row.state == RunState.PAUSED else RunState.INTERRUPTED
    changes: dict[str, Any] = {"owner": None, "refusals": 1, "waiting": asked}
    if row.state != state:
        changes |= {"state": str(state), "reason": "stopped by the gate", "state_at": now}
    recorder.journal.append(
        Append(row.run_id, row.branch, drafts, segment=row.segment, epoch=epoch, rows=rows, changes=changes)
    )
    recorder.heart.stop(row.run_id, row.branch)


def _refused(recorder: Recorder, row: RunRow) -> AlreadyResumed:
    """Append the loser's refusal, the only thing it may write, and say who won."""
    body = {"owner": row.owner, "epoch": row.epoch, "by": me("").name}
    draft = Draft(kind="refusal", mark="lease", subject=_name(row.owner), at=time.time_ns(), body=body)
    recorder.journal.append(
        Append(row.run_id, row.branch, [draft], segment=row.segment, changes={"refusals": 1})
    )
    return AlreadyResumed(row.run_id, _name(row.owner), row.epoch)


def _segment(
    recorder: Recorder,
    spec: AgentSpec,
    run_id: str,
    number: int,
    epoch: int,
    holder: Any,
    span: SpanRef,
    sampled: bool,
    identity: Any,
    branch: str = MAIN,
) -> Segment:
    return Segment(
        recorder,
        run_id,
        branch,
        number,
        epoch,
        plan=spec.plan,
        identity=identity,
        policy=spec.policy,
        grants=spec.grants,
        state=holder,
        root_span=span,
        sampled=sampled,
    )


def _segment_row(
    recorder: Recorder,
    run_id: str,
    number: int,
    epoch: int,
    owner: str,
    from_sequence: int,
    now: int,
    span: SpanRef,
    link: Mapping[str, Any] | None,
    sampled: bool,
    agent: str,
    branch: str = MAIN,
) -> dict[str, Any]:
    tracing = recorder.tracing
    return {
        "run_id": run_id,
        "branch": branch,
        "segment": number,
        "epoch": epoch,
        "owner": owner,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "from_sequence": from_sequence,
        "started_at": now,
        "ended_at": None,
        "outcome": None,
        "span": span.pack(),
        "link": objects.pack_record(link) if link else None,
        "resource": objects.pack_record(tracing.resource_plain(agent)),
        "export": (PENDING if sampled else UNSAMPLED) if tracing.enabled else NONE,
        "exported_at": None,
    }


def _run_row(
    recorder: Recorder,
    spec: AgentSpec,
    run_id: str,
    holder: Any,
    labels: Mapping[str, str] | None,
    now: int,
    span: SpanRef,
    sampled: bool,
) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "agent": spec.name,
        "entrypoint": spec.entrypoint,
        "objective": spec.plan.to_plain()["objective"],
        "labels": objects.pack_record(labels or {}),
        "conversation_id": None,
        "parent_run_id": None,
        "input_digest": input_digest(recorder, holder),
        "mode": recorder.settings.mode,
        "patterns": PATTERNS,
        "sampled": int(sampled),
        "trace_id": span.trace_id,
        "created_at": now,
    }


def _branch_row(recorder: Recorder, spec: AgentSpec, run_id: str, owner: str, now: int) -> dict[str, Any]:
    counters = ("calls", "writes", "unknown", "resumes", "refusals", "waiting", "alerts", "evidence", "size")
    return {
        "run_id": run_id,
        "branch": MAIN,
        "forked_from": None,
        "forked_at": None,
        "head_entry": 0,
        "head_sequence": 0,
        "head_tag": b"",
        "epoch": 1,
        "owner": owner,
        "ttl": int(recorder.settings.lease_ttl_s * 1e9),
        "beat": 0,
        "beat_at": now,
        "segment": 1,
        "state": str(RunState.RUNNING),
        "reason": "",
        "state_at": now,
        "plan": spec.plan.to_plain()["version"],
        "step": "",
        "checkpoint_at": now,
        "position": 0,
        "degraded": "",
        "updated_at": now,
        **dict.fromkeys(counters, 0),
    }


def input_digest(recorder: Recorder, holder: Any) -> bytes:
    """Keyed digest of an initial state: another input under an existing id is refused."""
    return recorder.keys.arg_digest(codec.canonical(holder.fields()))


def _root_attributes(spec: AgentSpec, run_id: str) -> dict[str, str]:
    return {"agent": spec.name, "run_id": run_id}


def _call_values(row: CallRow, result: bytes | None) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in row.__dataclass_fields__}
    return {**values, "state": str(row.state), "args": b"", "result": result}


def _owner(recorder: Recorder, row: RunRow) -> str:
    with recorder.store.reader.connect() as connection:
        head: HeadRow | None = read.head(connection, row.run_id, row.branch)
    return (head.owner if head else None) or ""


def _name(owner: str | None) -> str:
    from .lease import Owner

    return "nobody" if owner is None else Owner.parse(owner).name


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


def release(recorder: Recorder, row: RunRow, epoch: int) -> None:
    """Give the lease back without a segment: something failed before the gate could speak."""
    recorder.heart.stop(row.run_id, row.branch)
    draft = Draft(kind="release", subject=me("").name, at=time.time_ns(), body={"epoch": epoch})
    recorder.journal.append(
        Append(row.run_id, row.branch, [draft], segment=row.segment, epoch=epoch, changes={"owner": None})
    )
