"""How much processor time does a checkpoint's telemetry take, against a bare span and event of the SDK?

Ours: what a traced checkpoint costs more than an untraced one in the agent's thread, and all that the exporter's
thread spends until every row is acknowledged. Bare: `start_as_current_span`, `add_event` with the same attributes,
and the thread of its own BatchSpanProcessor with the same OTLP exporter. Three sides take turns, fifty steps each,
in one process; CPU is counted per thread, so that what works in the background is counted where it belongs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Tracer

from tracer import _resume
from tracer._agent import FreeRun
from tracer._run import Entered
from tracer.agentspec import AgentSpec
from tracer.config import Settings
from tracer.contract import Plan, RunState
from tracer.recorder import Recorder
from tracer.state import FreeState
from tracer.store import objects, read
from tracer.telemetry import spans

from . import ours
from .line import Line, line
from .measure import quiet, say

BLOCK: Final = 50
BLOCKS: Final = 24
ROUNDS: Final = 5
TARGET: Final = 2.0
ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
DISABLED: Final = "OTEL_SDK_DISABLED"


@dataclass(slots=True)
class Spent:
    """CPU seconds of one round; lists hold one value per block."""

    traced: list[float] = field(default_factory=list)
    untraced: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    exporting: float = 0.0
    bare_exporting: float = 0.0
    ids: float = 0.0
    """Of one span's ids and context: an untraced checkpoint spends that too, so it is not in the difference."""


def lines() -> Iterator[Line]:
    """One figure: ours over bare, both from the middle block and the middle round."""
    found: list[Spent] = []
    with sink() as endpoint:
        for number in range(ROUNDS + 1):
            with ours.scratch("span") as folder, environment({ENDPOINT: endpoint}):
                spent = one_round(folder)
            if number:  # the first one warms up
                found.append(spent)
                say(f"  round {number} of {ROUNDS}")
    pairs = [pair for one in found for pair in zip(one.traced, one.untraced, strict=True)]
    ids = median(one.ids for one in found)
    agent = median(traced - untraced for traced, untraced in pairs) / BLOCK + ids
    exporter = median(one.exporting for one in found) / (BLOCK * BLOCKS)
    bare_agent = median(used for one in found for used in one.bare) / BLOCK
    bare_exporter = median(one.bare_exporting for one in found) / (BLOCK * BLOCKS)
    detail = {
        "steps": BLOCK * BLOCKS,
        "rounds": ROUNDS,
        "agent_us": micro(agent),
        "of_that_ids_us": micro(ids),
        "exporter_us": micro(exporter),
        "bare_agent_us": micro(bare_agent),
        "bare_exporter_us": micro(bare_exporter),
        "checkpoint_us": micro(median(used for one in found for used in one.untraced) / BLOCK),
    }
    value = (agent + exporter) / (bare_agent + bare_exporter)
    yield line("span", value, TARGET, "at most", detail)


def micro(seconds: float) -> float:
    """As microseconds."""
    return round(seconds * 1e6, 1)


def one_round(folder: Path) -> Spent:
    """Three sides, block by block."""
    spent = Spent()
    with environment({DISABLED: "true"}):
        untraced = Recorder.open(Settings(home=str(folder / "untraced")))
    traced = Recorder.open(Settings(home=str(folder / "traced")))
    off, on = live(untraced), live(traced)
    model = first_span(traced)
    before = set(threading.enumerate())
    provider = TracerProvider(resource=Resource({}), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    (bare_thread,) = set(threading.enumerate()) - before
    tracer = provider.get_tracer("bare")
    traced.outbox.flush(10)
    (our_thread,) = [thread for thread in threading.enumerate() if thread.name == "waypost-export"]
    spent.ids = ids_of(traced, on)
    base, bare_base = cpu_of(our_thread), cpu_of(bare_thread)
    with quiet():
        for number in range(BLOCKS):
            turns = [(off, "untraced"), (on, "traced"), (None, "bare")]
            for run, side in turns[number % 3 :] + turns[: number % 3]:
                used = bare_block(tracer, model, number) if run is None else block(run, number)
                getattr(spent, side).append(used)
        began = time.thread_time()
        provider.force_flush()
        spent.bare_exporting = cpu_of(bare_thread) - bare_base + time.thread_time() - began
        left = traced.outbox.flush(60)
        spent.exporting = cpu_of(our_thread) - base
    if left:
        raise SystemExit(f"{left} spans were not acknowledged, so this is no figure")
    provider.shutdown()
    for held, run in ((untraced, off), (traced, on)):
        run._segment.end("done", RunState.DONE)
        held.close()
    return spent


def live(held: Recorder) -> FreeRun:
    """A run that may write."""
    holder = FreeState({"n": 0})
    begun = _resume.begin(held, AgentSpec("bench", None, None, plan=Plan()), "span-1", holder)
    return FreeRun(begun.segment, begun.ledger, holder)


def block(run: FreeRun, number: int) -> float:
    """CPU of this thread for one block of checkpoints."""
    with Entered(run):
        began = time.thread_time()
        for step in range(number * BLOCK, (number + 1) * BLOCK):
            run.checkpoint(f"step {step}", {"n": step})
        return time.thread_time() - began


def ids_of(held: Recorder, run: FreeRun) -> float:
    """CPU seconds for the trace context of one checkpoint."""
    root = run._segment.root_span
    with Entered(run):
        began = time.thread_time()
        for at in range(1_000):
            held.tracing.child(at, root).pack()
        return (time.thread_time() - began) / 1_000


def bare_block(tracer: Tracer, model: ReadableSpan, number: int) -> float:
    """CPU of this thread for as many bare spans."""
    attributes: Any = dict(model.attributes or {})
    said: Any = dict(model.events[0].attributes or {})
    with tracer.start_as_current_span("root"):
        began = time.thread_time()
        for step in range(number * BLOCK, (number + 1) * BLOCK):
            with tracer.start_as_current_span(f"checkpoint step {step}", attributes=attributes) as span:
                span.add_event("waypost.checkpoint", said)
        return time.thread_time() - began


def first_span(held: Recorder) -> ReadableSpan:
    """The span of the run's first checkpoint: its attributes are what the bare side sends too."""
    with held.store.reader.connect() as connection:
        row = read.checkpoint(connection, "span-1", "main", 1)
        run = read.run_by_id(connection, "span-1")
        packed = read.body(connection, "span-1", "main", row.entry) if row else None
    if row is None or run is None or packed is None:
        raise SystemExit("the run has no first checkpoint, so there is nothing to compare with")
    return spans.checkpoint_span(row, objects.unpack_record(packed, "span-1@1"), run, Resource({}))


def cpu_of(thread: threading.Thread) -> float:
    """CPU seconds that another thread has used so far."""
    assert thread.ident is not None
    return time.clock_gettime(time.pthread_getcpuclockid(thread.ident))


@contextmanager
def environment(values: dict[str, str]) -> Iterator[None]:
    """Exactly these settings of telemetry."""
    held = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("OTEL_")}
    os.environ.update(values)
    try:
        yield
    finally:
        for name in values:
            os.environ.pop(name, None)
        os.environ.update(held)


@contextmanager
def sink() -> Iterator[str]:
    """An OTLP/HTTP receiver that throws everything away, in a process of its own; yields its address."""
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.sink"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.communicate()
