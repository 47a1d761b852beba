"""Which span is this row? The same row gives the same bytes on the wire, sent at once or years later.

Pure: rows and decoded bodies go in, `ReadableSpan`s come out. No payload does: at most 256 characters of masked
text per attribute, and what the wire cannot carry is replaced and named in `waypost.export.altered`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import orjson
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags, TraceState

from ..contract import CallKind, CallState
from ..spanref import SpanRef
from ..store.rows import EntryRow
from . import names
from .wiretext import KEYLESS, Attributes, Wording, error_type

MAIN: Final = "main"
_SCOPE: Final = InstrumentationScope(names.SCOPE, names.SCOPE_VERSION)
UNSET: Final = Status(StatusCode.UNSET)
_NO_STATE: Final = TraceState()

Body = Mapping[str, Any]


class RunFacts(Protocol):
    """What spans say of a run; a `RunRow` has it."""

    @property
    def run_id(self) -> str: ...
    @property
    def agent(self) -> str: ...
    @property
    def conversation_id(self) -> str | None: ...
    @property
    def parent_run_id(self) -> str | None: ...
    @property
    def trace_id(self) -> bytes: ...


def checkpoint_span(
    row: EntryRow,
    body: Body,
    run: RunFacts,
    resource: Resource,
    *,
    draft: bool = False,
    words: Wording = KEYLESS,
) -> ReadableSpan:
    """The span of one checkpoint, with exactly one event `waypost.checkpoint` (and its draft twin if *draft*)."""
    ref = SpanRef.unpack(row.span or b"")
    sequence, checkpoint_id = row.sequence or 0, row.id.hex()
    attributes = common(row.run_id, row.branch, row.segment, run, words)
    event: Attributes = {
        names.CHECKPOINT_ID: checkpoint_id,
        names.CHECKPOINT_SEQUENCE: sequence,
        names.CHECKPOINT_KIND: row.mark,
        names.RUN_ID: row.run_id,
        names.PAYLOAD_SIZE: row.size,
        names.CHECKPOINT_TAG: row.tag.hex(),
    }
    step = words.put(attributes, names.STEP_NAME, row.subject)
    attributes[names.CHECKPOINT_ID] = checkpoint_id
    attributes[names.CHECKPOINT_SEQUENCE] = sequence
    attributes[names.CHECKPOINT_KIND] = row.mark
    attributes[names.PAYLOAD_SIZE] = row.size
    attributes[names.PAYLOAD_DIGEST] = digest_of_root(body.get("root"))
    attributes[names.PAYLOAD_REF] = address(row.run_id, row.branch, sequence)
    if body.get("parent"):
        event[names.CHECKPOINT_PARENT_ID] = body["parent"]
    if run.conversation_id:
        event[names.CONVERSATION_ID] = words.shown(run.conversation_id)[0]
    events = [Event(names.EVENT_CHECKPOINT, event, row.at)]
    if draft:
        said = {names.DRAFT_EXECUTION_ID: row.run_id, names.DRAFT_CHECKPOINT_ID: checkpoint_id}
        events.append(Event(names.DRAFT_CHECKPOINTED, said, row.at))
    name = f"{names.SPAN_CHECKPOINT} {step}"
    return built(name, ref, row.at, attributes, resource, events=events)


def call_span(
    row: EntryRow, body: Body, run: RunFacts, resource: Resource, *, words: Wording = KEYLESS
) -> ReadableSpan:
    """The span of one finished call: `execute_tool {tool}`, or `chat {model}` for a model turn."""
    ref = SpanRef.unpack(row.span or b"")
    attributes = common(row.run_id, row.branch, row.segment, run, words)
    kind, tool = str(body.get("kind", CallKind.WRITE)), str(body.get("tool", ""))
    model_turn = kind == CallKind.MODEL
    if model_turn:
        name = names.SPAN_CHAT
        attributes[names.OPERATION_NAME] = names.SPAN_CHAT
        if body.get("model"):
            name = f"{name} {words.put(attributes, names.REQUEST_MODEL, str(body['model']))}"
        if body.get("provider"):
            words.put(attributes, names.PROVIDER_NAME, str(body["provider"]))
    else:
        attributes[names.OPERATION_NAME] = names.SPAN_TOOL
        name = f"{names.SPAN_TOOL} {words.put(attributes, names.TOOL_NAME, tool)}"
        if body.get("call_key"):
            words.put(attributes, names.TOOL_CALL_ID, str(body["call_key"]))
    attributes[names.CALL_ID] = row.subject
    attributes[names.CALL_KIND] = kind
    attributes[names.CALL_STATE] = row.mark
    attributes[names.CALL_ATTEMPT] = int(body.get("attempt") or 1)
    status = UNSET
    if row.mark in (CallState.FAILED, CallState.UNKNOWN):
        error = str(body.get("error") or "")
        attributes[names.ERROR_TYPE] = error_type(error, row.mark)
        unsure = "the outcome is unknown" if row.mark == CallState.UNKNOWN else ""
        status = Status(
            StatusCode.ERROR, words.shown(": ".join(filter(None, (unsure, error))) or row.mark)[0]
        )
    wire_kind = SpanKind.CLIENT if model_turn else SpanKind.INTERNAL
    return built(name, ref, row.at, attributes, resource, kind=wire_kind, status=status)


class StoredResource(Resource):
    """A resource that is hashed once: the encoder asks for every span, and the SDK writes JSON to answer."""

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        super().__init__(dict(attributes))
        self._hash = super().__hash__()

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or super().__eq__(other)


def resource_of(attributes: Mapping[str, Any]) -> Resource:
    """A resource with exactly these attributes: the stored ones of the row's own segment."""
    return StoredResource(attributes)


def address(run_id: str, branch: str, sequence: int) -> str:
    """How people name a checkpoint: `R@17`, on another branch `R@b2:17`."""
    return f"{run_id}@{sequence}" if branch == MAIN else f"{run_id}@{branch}:{sequence}"


def digest_of_root(root: object) -> str:
    """Digest of a checkpoint's root, which names every part of the state by its own digest."""
    return f"sha256:{hashlib.sha256(orjson.dumps(root)).hexdigest()}"


def common(run_id: str, branch: str, segment: int, run: RunFacts, words: Wording) -> Attributes:
    attributes: Attributes = {
        names.RUN_ID: run_id,
        names.BRANCH_ID: branch,
        names.SEGMENT_INDEX: segment,
    }
    words.put(attributes, names.AGENT_NAME, run.agent)
    if run.conversation_id:
        words.put(attributes, names.CONVERSATION_ID, run.conversation_id)
    return attributes


def built(
    name: str,
    ref: SpanRef,
    ended_at: int,
    attributes: Attributes,
    resource: Resource,
    *,
    events: Sequence[Event] = (),
    links: Sequence[Link] = (),
    kind: SpanKind = SpanKind.INTERNAL,
    status: Status = UNSET,
) -> ReadableSpan:
    trace_id = int.from_bytes(ref.trace_id)
    state = TraceState.from_header([ref.tracestate]) if ref.tracestate else _NO_STATE
    parent = None
    if not ref.is_root:
        parent = SpanContext(
            trace_id, int.from_bytes(ref.parent_id), ref.parent_remote, TraceFlags(ref.parent_flags), state
        )
    return ReadableSpan(
        name=name,
        context=SpanContext(trace_id, int.from_bytes(ref.span_id), False, TraceFlags(ref.flags), state),
        parent=parent,
        resource=resource,
        attributes=attributes,
        events=events,
        links=links,
        kind=kind,
        status=status,
        # A clock that was set back must not give a span that ends before it starts.
        start_time=min(ref.started_at or ended_at, ended_at),
        end_time=ended_at,
        instrumentation_scope=_SCOPE,
    )
