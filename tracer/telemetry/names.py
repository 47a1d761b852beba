"""What is everything called on the wire?

The only place where names of spans, events, attributes and metrics stand. `waypost.*` is ours; what begins with
`gen_ai.` is in the GenAI conventions or, behind `WAYPOST_SEMCONV=genai_draft`, in their open draft. Nothing is
invented there, and a rename upstream is one line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ..store.tables import ACKED, HANDED, NONE, PENDING, REFUSED, UNSAMPLED

SCOPE: Final = "waypost"
SCOPE_VERSION: Final = "0.1.0"
"""Of these names: it changes when one of them does, so that a span sent late is what it would have been."""

LOGGER: Final = "waypost.telemetry"
LOGGER_DIVERGENCE: Final = "waypost.divergence"

SEMCONV_VARIABLE: Final = "WAYPOST_SEMCONV"
GENAI_DRAFT: Final = "genai_draft"
EVENTS_VARIABLE: Final = "WAYPOST_EVENTS"
EVENTS_LOG: Final = "log"
RESUME_VARIABLE: Final = "WAYPOST_TRACE_RESUME"
RESUME_LINK, RESUME_CONTINUE = "link", "continue"
"""A resumed segment is a new trace with a link, or goes on in the trace of the segment before."""

# -- spans -------------------------------------------------------------------------------------------------------

SPAN_CHECKPOINT: Final = "checkpoint"
SPAN_TOOL: Final = "execute_tool"
SPAN_CHAT: Final = "chat"
SPAN_AGENT: Final = "invoke_agent"
SPAN_SEGMENT: Final = "waypost.segment"
"""Our root under an agent or workflow span that another instrumentation opened."""

# -- events ------------------------------------------------------------------------------------------------------

EVENT_CHECKPOINT: Final = "waypost.checkpoint"
EVENT_RESUMED: Final = "waypost.resumed"
EVENT_PAUSED: Final = "waypost.paused"
EVENT_DIVERGED: Final = "waypost.diverged"

DRAFT_CHECKPOINTED: Final = "gen_ai.agent.checkpointed"
DRAFT_PAUSED: Final = "gen_ai.agent.paused"
DRAFT_RESUMED: Final = "gen_ai.agent.resumed"

# -- attributes: ours --------------------------------------------------------------------------------------------

RUN_ID: Final = "waypost.run.id"
RUN_ORIGIN_TRACE_ID: Final = "waypost.run.origin_trace_id"
RUN_PARENT_ID: Final = "waypost.run.parent.id"
BRANCH_ID: Final = "waypost.branch.id"
SEGMENT_INDEX: Final = "waypost.segment.index"
SEGMENT_OUTCOME: Final = "waypost.segment.outcome"
INCOMPLETE: Final = "waypost.incomplete"
"""True on a span that a later process closed for one that died."""
STEP_NAME: Final = "waypost.step.name"
CHECKPOINT_ID: Final = "waypost.checkpoint.id"
CHECKPOINT_SEQUENCE: Final = "waypost.checkpoint.sequence"
CHECKPOINT_KIND: Final = "waypost.checkpoint.kind"
CHECKPOINT_PARENT_ID: Final = "waypost.checkpoint.parent.id"
CHECKPOINT_TAG: Final = "waypost.checkpoint.tag"
"""Anchor of the digest chain: 64 hex digits, as `waypost verify` prints it."""
PAYLOAD_SIZE: Final = "waypost.payload.size"
PAYLOAD_DIGEST: Final = "waypost.payload.digest"
PAYLOAD_REF: Final = "waypost.payload.ref"
LINK_TYPE: Final = "waypost.link.type"
RESUMED_FROM_CHECKPOINT: Final = "waypost.resumed_from.checkpoint.id"
RESUMED_FROM_TRACE: Final = "waypost.resumed_from.trace_id"
CALL_ID: Final = "waypost.call.id"
CALL_KIND: Final = "waypost.call.kind"
CALL_STATE: Final = "waypost.call.state"
CALL_ATTEMPT: Final = "waypost.call.attempt"
VERDICT: Final = "waypost.resume.verdict"
RESUMED_BY: Final = "waypost.resume.by"
RESUME_REASON: Final = "waypost.resume.reason"
WAITED: Final = "waypost.resume.waited"
"""Seconds between the end of the segment before and this one; never part of a span's own time."""
PAUSE_ID: Final = "waypost.pause.id"
PAUSE_REASON: Final = "waypost.pause.reason"
PAUSE_DEADLINE: Final = "waypost.pause.deadline"
DIVERGENCE_RULE: Final = "waypost.divergence.rule"
DIVERGENCE_SUBJECT: Final = "waypost.divergence.subject"
DIVERGENCE_SCORE: Final = "waypost.divergence.score"
"""0 to 1, of all reasons together."""
DIVERGENCE_REASON: Final = "waypost.divergence.reason"
ALTERED: Final = "waypost.export.altered"
"""Names of the attributes whose text the wire could not carry or was too long; the store has the exact text."""

# -- attributes: conventions -------------------------------------------------------------------------------------

ERROR_TYPE: Final = "error.type"
SERVICE_NAME: Final = "service.name"
AGENT_NAME: Final = "gen_ai.agent.name"
CONVERSATION_ID: Final = "gen_ai.conversation.id"
OPERATION_NAME: Final = "gen_ai.operation.name"
PROVIDER_NAME: Final = "gen_ai.provider.name"
REQUEST_MODEL: Final = "gen_ai.request.model"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_CALL_ID: Final = "gen_ai.tool.call.id"

DRAFT_EXECUTION_ID: Final = "gen_ai.agent.execution.id"
DRAFT_CHECKPOINT_ID: Final = "gen_ai.agent.checkpoint.id"
DRAFT_PAUSE_ID: Final = "gen_ai.agent.pause.id"
DRAFT_PAUSE_REASON: Final = "gen_ai.agent.pause.reason"
DRAFT_RESUMED_FROM_TYPE: Final = "gen_ai.agent.resumed_from.type"
DRAFT_RESUMED_FROM_ID: Final = "gen_ai.agent.resumed_from.id"

AGENT_SPANS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        OPERATION_NAME: frozenset({"invoke_agent", "create_agent", "invoke_workflow"}),
        "openinference.span.kind": frozenset({"AGENT", "CHAIN"}),
        "traceloop.span.kind": frozenset({"agent", "workflow"}),
    }
)
"""By what a span of another instrumentation says that it already stands for an agent or a workflow."""

# -- metrics -----------------------------------------------------------------------------------------------------

METRIC_CHECKPOINTS: Final = "waypost.checkpoints"
METRIC_CHECKPOINT_DURATION: Final = "waypost.checkpoint.duration"
METRIC_PAYLOAD_SIZE: Final = "waypost.payload.size"
METRIC_RESUMES: Final = "waypost.resumes"
METRIC_DIVERGENCES: Final = "waypost.divergences"
METRIC_COMPARISONS_FAILED: Final = "waypost.divergence.failures"
METRIC_PENDING: Final = "waypost.export.pending"
METRIC_REFUSED: Final = "waypost.export.refused"
METRIC_ACTIVE: Final = "waypost.run.active"
METRIC_DECISION: Final = "waypost.decision"
METRIC_RULE: Final = "waypost.rule"
METRIC_KIND: Final = "waypost.checkpoint.kind"

# -- export states -----------------------------------------------------------------------------------------------

EXPORT_STATES: Final[Mapping[int, str]] = MappingProxyType(
    {
        NONE: "none",
        UNSAMPLED: "unsampled",
        PENDING: "pending",
        HANDED: "handed",
        ACKED: "acked",
        REFUSED: "refused",
    }
)
"""Stored state -> its word: `handed` was given to the user's own exporter, `acked` was taken by the collector."""
