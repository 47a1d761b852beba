"""Who is whose parent, in which trace, sampled or not; and is the context left as it was found?"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import random
import threading
from collections.abc import AsyncIterator, Iterator

import pytest
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from tracer.spanref import SpanRef
from tracer.telemetry.otelenv import read_env
from tracer.telemetry.provider import Tracing, context_of


@pytest.fixture
def tracing() -> Tracing:
    return Tracing.from_env()


@pytest.fixture
def theirs() -> trace.Tracer:
    return TracerProvider(shutdown_on_exit=False).get_tracer("theirs")


def current() -> tuple[int, int]:
    found = trace.get_current_span().get_span_context()
    return found.trace_id, found.span_id


def ids(ref: SpanRef) -> tuple[int, int]:
    return int.from_bytes(ref.trace_id), int.from_bytes(ref.span_id)


def test_a_root_of_ours_is_sampled_random_and_alone(tracing: Tracing) -> None:
    ref, sampled = tracing.root("invoke_agent x", 7, {"a": "b"})
    assert sampled
    assert ref.is_root
    assert ref.flags == 3
    assert ref.started_at == 7


def test_ids_do_not_depend_on_the_seed_that_an_agent_sets(tracing: Tracing) -> None:
    def one() -> tuple[int, int]:
        random.seed(7)
        return ids(tracing.root("x", 1)[0])

    assert len({one() for _ in range(50)}) == 50


def test_a_root_under_the_span_of_another_instrumentation_is_its_child(
    tracing: Tracing, theirs: trace.Tracer
) -> None:
    with theirs.start_as_current_span("POST /runs") as span:
        ref, sampled = tracing.root("x", 1)
    parent = span.get_span_context()
    assert ids(ref)[0] == parent.trace_id
    assert int.from_bytes(ref.parent_id) == parent.span_id
    assert sampled
    assert not ref.under_agent


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.operation.name": "invoke_agent"},
        {"openinference.span.kind": "AGENT"},
        {"traceloop.span.kind": "agent"},
    ],
)
def test_an_agent_span_of_another_instrumentation_is_recognised(
    tracing: Tracing, theirs: trace.Tracer, attributes: dict[str, str]
) -> None:
    with theirs.start_as_current_span("their agent", attributes=attributes):
        assert tracing.root("x", 1)[0].under_agent
        assert tracing.resumed_root("x", 1).under_agent


def test_the_sampler_of_the_environment_decides_once_and_a_resume_keeps_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    ref, sampled = Tracing.from_env().root("x", 1)
    assert not sampled
    assert ref.flags == 2
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_on")
    assert Tracing.from_env().resumed_root("x", 2, {}, sampled).flags == 2
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    assert Tracing.from_env().resumed_root("x", 2, {}, True).flags == 3


def test_an_unsampled_parent_makes_the_run_unsampled(tracing: Tracing) -> None:
    off = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False).get_tracer("off")
    with off.start_as_current_span("off"):
        assert tracing.root("x", 1)[1] is False


def test_a_resume_is_a_new_trace_or_goes_on_in_the_old_one_when_asked(
    tracing: Tracing, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = SpanRef(b"t" * 16, b"s" * 8, b"p" * 8, 3, 3, False, 1, "a=1")
    assert tracing.resumed_root("x", 9, {}, True, continues=last).trace_id != last.trace_id
    monkeypatch.setenv("WAYPOST_TRACE_RESUME", "continue")
    ref = Tracing.from_env().resumed_root("x", 9, {}, True, continues=last)
    assert (ref.trace_id, ref.parent_id, ref.parent_remote) == (last.trace_id, last.span_id, True)
    assert (ref.flags, ref.tracestate, ref.started_at) == (3, "a=1", 9)


def test_a_child_hangs_under_the_current_span_and_on_a_bare_thread_under_the_fallback(
    tracing: Tracing,
) -> None:
    root, _ = tracing.root("x", 1)
    fallback, _ = tracing.root("y", 1)
    token = tracing.attach(root)
    found: list[SpanRef] = []
    thread = threading.Thread(target=lambda: found.append(tracing.child(2, fallback)))
    thread.start()
    thread.join()
    here = tracing.child(2, fallback)
    tracing.detach(token)
    assert (here.trace_id, here.parent_id) == (root.trace_id, root.span_id)
    assert (found[0].trace_id, found[0].parent_id) == (fallback.trace_id, fallback.span_id)
    assert len({here.span_id, found[0].span_id, root.span_id, fallback.span_id}) == 4


def test_tracestate_flags_and_remoteness_of_the_parent_are_kept(tracing: Tracing) -> None:
    fallback, _ = tracing.root("x", 1)
    state = trace.TraceState([("vendor", "x:y")])
    remote = NonRecordingSpan(SpanContext(5, 6, True, TraceFlags(0x81), state))
    token = otel_context.attach(trace.set_span_in_context(remote))
    ref = tracing.child(1, fallback)
    otel_context.detach(token)
    assert (ref.parent_flags, ref.parent_remote, ref.tracestate) == (0x81, True, "vendor=x:y")
    assert context_of(ref).trace_state.to_header() == "vendor=x:y"


def test_attached_spans_of_users_become_our_children_and_the_context_is_left_clean(
    tracing: Tracing, theirs: trace.Tracer
) -> None:
    root, _ = tracing.root("x", 1)
    before = otel_context.get_current()
    token = tracing.attach(root)
    with theirs.start_as_current_span("GET /tickets") as span:
        pass
    tracing.detach(token)
    assert span.parent is not None  # type: ignore[attr-defined]
    assert (span.parent.trace_id, span.parent.span_id) == ids(root)  # type: ignore[attr-defined]
    assert otel_context.get_current() == before


def test_detaching_elsewhere_is_silent_and_clears_what_was_copied(
    tracing: Tracing, caplog: pytest.LogCaptureFixture
) -> None:
    root, _ = tracing.root("x", 1)
    token = tracing.attach(root)
    copied = contextvars.copy_context()

    def elsewhere() -> tuple[int, int]:
        tracing.detach(token)
        return current()

    assert copied.run(elsewhere) == (0, 0)
    fresh = contextvars.Context()
    assert fresh.run(elsewhere) == (0, 0)
    tracing.detach(token)
    tracing.detach(token)
    assert current() == (0, 0)
    assert caplog.records == []


def test_when_tracing_is_off_users_spans_are_not_silenced(
    monkeypatch: pytest.MonkeyPatch, theirs: trace.Tracer
) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    tracing = Tracing.from_env()
    ref, sampled = tracing.root("x", 1)
    assert (tracing.enabled, sampled, tracing.endpoint) == (False, False, None)
    token = tracing.attach(ref)
    with theirs.start_as_current_span("mine") as span:
        assert span.is_recording()
    tracing.detach(token)


async def _stream(tracing: Tracing, root: SpanRef, seen: list[SpanRef]) -> AsyncIterator[int]:
    for number in range(5):
        seen.append(tracing.child(number, root))
        await asyncio.sleep(0)
        yield number


def test_gather_threads_streams_and_cancelled_tasks_keep_the_parent(
    tracing: Tracing, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Case 29: every span has the step as its parent, and nothing is said on stderr."""
    fallback, _ = tracing.root("elsewhere", 1)

    async def main() -> list[SpanRef]:
        step = tracing.child(1, fallback)
        token = tracing.attach(step)
        seen: list[SpanRef] = []

        async def tool(number: int) -> SpanRef:
            await asyncio.sleep(0)
            return tracing.child(number, fallback)

        seen += await asyncio.gather(*(tool(n) for n in range(4)))
        # A pool's threads have no context: there the fallback is what the call was planned under.
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            seen += pool.map(lambda n: tracing.child(n, step), range(4))
        async for number in _stream(tracing, step, seen):
            if number == 2:
                break
        closed = _stream(tracing, step, seen)
        await anext(closed)
        await asyncio.create_task(closed.aclose())  # type: ignore[attr-defined]
        slow = asyncio.create_task(asyncio.sleep(10))
        await asyncio.sleep(0)
        slow.cancel()
        await asyncio.gather(slow, return_exceptions=True)
        tracing.detach(token)
        assert all(ref.parent_id == step.span_id and ref.trace_id == step.trace_id for ref in seen)
        assert len({ref.span_id for ref in seen}) == len(seen) == 12
        return seen

    for _ in range(200):
        asyncio.run(main())
        assert current() == (0, 0)
    assert caplog.records == []
    assert "detach" not in capfd.readouterr().err


def test_a_generator_closed_in_another_context_says_nothing(
    tracing: Tracing, caplog: pytest.LogCaptureFixture
) -> None:
    root, _ = tracing.root("x", 1)

    def steps() -> Iterator[int]:
        token = tracing.attach(root)
        try:
            yield 1
        finally:
            tracing.detach(token)

    made = steps()
    contextvars.copy_context().run(next, made)
    made.close()
    assert caplog.records == []
    assert current() == (0, 0)


@pytest.mark.parametrize(
    ("env", "enabled", "endpoint", "protocol"),
    [
        ({}, True, None, "http/protobuf"),
        ({"OTEL_SDK_DISABLED": "TRUE"}, False, None, "http/protobuf"),
        ({"OTEL_TRACES_EXPORTER": "none"}, False, None, "http/protobuf"),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True, "http://localhost:4318", "http/protobuf"),
        ({"OTEL_TRACES_EXPORTER": "console,otlp_proto_grpc"}, True, "http://localhost:4317", "grpc"),
        ({"OTEL_TRACES_EXPORTER": "console"}, True, "console", "http/protobuf"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:1"}, True, "http://c:1", "http/protobuf"),
        (
            {
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:1",
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:2/x",
                "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
            },
            *(True, "http://c:2/x", "grpc"),
        ),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}, True, None, "http/protobuf"),
    ],
)
def test_the_standard_variables_are_understood(
    env: dict[str, str], enabled: bool, endpoint: str | None, protocol: str
) -> None:
    setting = read_env(env)
    assert (setting.enabled, setting.endpoint, setting.protocol) == (enabled, endpoint, protocol)


def test_the_resource_comes_from_the_environment_and_a_nameless_service_gets_the_agents_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert Tracing.from_env().resource_plain("audit")["service.name"] == "audit"
    monkeypatch.setenv("OTEL_SERVICE_NAME", "billing")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
    plain = Tracing.from_env().resource_plain("audit")
    assert (plain["service.name"], plain["deployment.environment"]) == ("billing", "test")
