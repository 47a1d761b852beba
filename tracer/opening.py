"""Which rows does a run, and each process life of it, begin with?"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Any

from . import codec
from .agentspec import AgentSpec
from .contract import Identity, RunState
from .holder import Holder
from .recorder import Recorder
from .seal import VERSION
from .segment import Segment
from .spanref import SpanRef
from .store import objects
from .store.read import MAIN
from .store.tables import NONE, PENDING, UNSAMPLED


def make_segment(
    recorder: Recorder,
    spec: AgentSpec,
    run_id: str,
    number: int,
    epoch: int,
    holder: Holder,
    span: SpanRef,
    sampled: bool,
    identity: Identity,
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


def segment_row(
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


def run_row(
    recorder: Recorder,
    spec: AgentSpec,
    run_id: str,
    holder: Holder,
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
        "labels": objects.pack_record(recorder.shown.plain(labels or {})),
        "conversation_id": None,
        "parent_run_id": None,
        "input_digest": input_digest(recorder, holder),
        "mode": recorder.settings.mode,
        "patterns": VERSION,
        "sampled": int(sampled),
        "trace_id": span.trace_id,
        "created_at": now,
    }


def branch_row(recorder: Recorder, spec: AgentSpec, run_id: str, owner: str, now: int) -> dict[str, Any]:
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


def input_digest(recorder: Recorder, holder: Holder) -> bytes:
    """Keyed digest of an initial state: another input under an existing id is refused."""
    return recorder.keys.arg_digest(codec.canonical(holder.fields()))


def root_attributes(spec: AgentSpec, run_id: str) -> dict[str, str]:
    return {"agent": spec.name, "run_id": run_id}
