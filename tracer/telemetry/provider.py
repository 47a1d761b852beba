"""Which ids does a span of ours get, under which parent, and is it sampled?

Set up by the standard `OTEL_*` variables. No span object lives here: a span is a `SpanRef` that goes into the
journal, and becomes a span again on the exporter's side.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextvars import Token
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import NonRecordingSpan, Span, SpanContext, SpanKind, TraceFlags, TraceState

from ..spanref import SpanRef
from . import names
from .otelenv import OtelEnv, read_env

SAMPLED, RANDOM = 1, 2
"""Bits of the flags byte; a root of ours carries 03 when it is sampled."""
UNNAMED: Final = "unknown_service"
_NO_STATE: Final = TraceState()


class SystemIds(IdGenerator):
    """Ids from the system's generator: an agent that seeds `random` must not give two runs the same ids."""

    def generate_span_id(self) -> int:
        """A 64-bit number other than 0."""
        return int.from_bytes(os.urandom(8)) or 1

    def generate_trace_id(self) -> int:
        """A 128-bit number other than 0."""
        return int.from_bytes(os.urandom(16)) or 1

    def is_trace_id_random(self) -> bool:
        """Every bit is."""
        return True


@dataclass(frozen=True, slots=True)
class Attached:
    """What `attach` gives and `detach` takes."""

    token: Any
    context: otel_context.Context


class Tracing:
    """Where spans of this process come from, and whether they are to be exported."""

    def __init__(self, provider: TracerProvider, setting: OtelEnv) -> None:
        self.provider = provider
        self.setting = setting

    @classmethod
    def from_env(cls) -> Tracing:
        """As `OTEL_*` in this process's environment says."""
        # The provider never exports; it gives the sampler and the resource that the variables ask for.
        provider = TracerProvider(id_generator=SystemIds(), shutdown_on_exit=False)
        return cls(provider, read_env(os.environ))

    @property
    def enabled(self) -> bool:
        """Rows are `pending` when true, even without an endpoint: `waypost export --pending` sends them later."""
        return self.setting.enabled

    @property
    def endpoint(self) -> str | None:
        """Where spans go; None: nowhere yet."""
        return self.setting.endpoint

    # -- spans ------------------------------------------------------------------------------------------------

    def root(
        self, name: str, at_ns: int, attributes: Mapping[str, Any] | None = None
    ) -> tuple[SpanRef, bool]:
        """The root of a run's first segment, and whether the run is sampled: decided here, once.

        A new trace, or a child of the span that is current when another instrumentation has opened one.
        """
        current = trace.get_current_span()
        parent = current.get_span_context()
        under = parent.is_valid
        trace_id = parent.trace_id if under else self.provider.id_generator.generate_trace_id()
        if not self.enabled:
            return self._made(current, parent, trace_id, at_ns, False), False
        result = self.provider.sampler.should_sample(
            otel_context.get_current(), trace_id, name, SpanKind.INTERNAL, dict(attributes or {}), ()
        )
        sampled = result.decision is Decision.RECORD_AND_SAMPLE
        state = result.trace_state.to_header() if result.trace_state else ""
        return self._made(current, parent, trace_id, at_ns, sampled, state), sampled

    def resumed_root(
        self,
        name: str,
        at_ns: int,
        attributes: Mapping[str, Any] | None = None,
        sampled: bool = True,
        *,
        continues: SpanRef | None = None,
    ) -> SpanRef:
        """The root of a later segment. The run's first sampling decision is kept, so the sampler is not asked.

        Args:
            name, attributes: as for `root`.
            sampled: the decision of the run's first segment.
            continues: the last persisted checkpoint's span; used as the parent when `WAYPOST_TRACE_RESUME=continue`.
        """
        current = trace.get_current_span()
        parent = current.get_span_context()
        if continues is not None and self.setting.continues and not parent.is_valid:
            return SpanRef(
                continues.trace_id,
                os.urandom(8),
                continues.span_id,
                continues.flags & ~SAMPLED | sampled,
                continues.flags,
                True,
                at_ns,
                continues.tracestate,
            )
        trace_id = parent.trace_id if parent.is_valid else self.provider.id_generator.generate_trace_id()
        return self._made(current, parent, trace_id, at_ns, sampled)

    def child(self, at_ns: int, fallback: SpanRef) -> SpanRef:
        """A child of the current span, or of *fallback* where none is (a bare thread). Never asks the sampler."""
        parent = trace.get_current_span().get_span_context()
        if parent.is_valid:
            flags = int(parent.trace_flags)
            return SpanRef(
                parent.trace_id.to_bytes(16),
                os.urandom(8),
                parent.span_id.to_bytes(8),
                flags & ~SAMPLED | fallback.flags & SAMPLED,
                flags,
                parent.is_remote,
                at_ns,
                parent.trace_state.to_header() if parent.trace_state else "",
            )
        return SpanRef(
            fallback.trace_id,
            os.urandom(8),
            fallback.span_id,
            fallback.flags,
            fallback.flags,
            False,
            at_ns,
            fallback.tracestate,
        )

    def _made(
        self,
        current: Span,
        parent: SpanContext,
        trace_id: int,
        at_ns: int,
        sampled: bool,
        state: str | None = None,
    ) -> SpanRef:
        if not parent.is_valid:
            return SpanRef(
                trace_id.to_bytes(16),
                os.urandom(8),
                flags=RANDOM | sampled,
                parent_flags=0,
                started_at=at_ns,
                tracestate=state or "",
            )
        flags = int(parent.trace_flags)
        return SpanRef(
            trace_id.to_bytes(16),
            os.urandom(8),
            parent.span_id.to_bytes(8),
            flags & ~SAMPLED | sampled,
            flags,
            parent.is_remote,
            at_ns,
            parent.trace_state.to_header() if state is None else state,
            stands_for_agent(current),
        )

    # -- context ----------------------------------------------------------------------------------------------

    def attach(self, ref: SpanRef) -> Attached | None:
        """Make *ref* the current span, so that spans of the user and of HTTP clients become its children.

        Does nothing when tracing is off: a parent that is not sampled would silence the user's own spans.
        """
        if not self.enabled:
            return None
        span = NonRecordingSpan(context_of(ref))
        context = trace.set_span_in_context(span)
        return Attached(otel_context.attach(context), context)

    def detach(self, token: object) -> None:
        """Undo `attach`; from another context than the attaching one too, and without a word on stderr."""
        if not isinstance(token, Attached):
            return
        held = token.token
        if not isinstance(held, Token):  # another runtime context than the default one
            otel_context.detach(held)
            return
        try:
            # Not the API's detach: it logs a stack trace when a generator is closed in another context.
            held.var.reset(held)
        except (ValueError, RuntimeError):
            if otel_context.get_current() is token.context:
                before = held.old_value
                held.var.set(otel_context.Context() if before is Token.MISSING else before)

    # -- resource ---------------------------------------------------------------------------------------------

    def resource_plain(self, agent: str = "") -> dict[str, Any]:
        """Attributes of the resource, as the segment's row keeps them (JSON values).

        Those of the user's own provider where there is one. Where nobody named the service, *agent* is its name.
        """
        theirs = getattr(trace.get_tracer_provider(), "resource", None)
        found = theirs if isinstance(theirs, Resource) else self.provider.resource
        attributes = {name: _plain(value) for name, value in found.attributes.items()}
        if agent and str(attributes.get(names.SERVICE_NAME, UNNAMED)).startswith(UNNAMED):
            attributes[names.SERVICE_NAME] = agent
        return attributes


def context_of(ref: SpanRef) -> SpanContext:
    """*ref* as OpenTelemetry's own type."""
    state = TraceState.from_header([ref.tracestate]) if ref.tracestate else _NO_STATE
    return SpanContext(
        int.from_bytes(ref.trace_id), int.from_bytes(ref.span_id), False, TraceFlags(ref.flags), state
    )


def stands_for_agent(span: Span) -> bool:
    """Whether another instrumentation says that this span is an agent or a workflow."""
    attributes = getattr(span, "attributes", None)
    if not isinstance(attributes, Mapping):
        return False
    return any(attributes.get(name) in values for name, values in names.AGENT_SPANS.items())


def _plain(value: object) -> object:
    if isinstance(value, str | bool | int | float):
        return value
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else str(value)
