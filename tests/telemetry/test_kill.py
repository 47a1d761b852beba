"""Does every checkpoint of a run that is killed again and again arrive at a real collector, as one event?"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from itertools import pairwise

import pytest

from tracer.errors import SchemaTooOld, StoreMissing
from tracer.recorder import recorder
from tracer.store import read
from tracer.store.engine import Store
from tracer.telemetry.outbox import export_pending

from .conftest import Collector, Receiver, Shop, Start, text, wait_for

pytestmark = [pytest.mark.collector, pytest.mark.kill]
CHECKPOINTS = 1000
OFTEN = {"OTEL_BSP_SCHEDULE_DELAY": "20"}


def sequence(shop: Shop) -> int:
    """The last checkpoint so far; 0 before the first one."""
    try:
        with Store.open(shop.home / "waypost.db", create=False, upgrade=False) as store:
            with store.reader.connect() as connection:
                head = read.head(connection, "counter-1", "main")
            return head.head_sequence if head else 0
    except (StoreMissing, SchemaTooOld):  # it is being made at this moment
        return 0


def kill_after(start: Start, shop: Shop, checkpoints: int, delay_s: float) -> int:
    """Start the program, kill it a while after it got that far; its pid."""
    process = start("counter-1", 10 * CHECKPOINTS, env=OFTEN)
    assert wait_for(lambda: sequence(shop) >= checkpoints)
    time.sleep(delay_s)
    process.kill()
    assert process.wait() == -9
    return process.pid


@pytest.mark.parametrize("seed", [1])
def test_a_thousand_checkpoints_survive_three_kills_at_random_times(
    start: Start,
    shop: Shop,
    receiver: Receiver,
    collector: Collector,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
) -> None:
    chance = random.Random(seed)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.http)
    for life in range(3):
        kill_after(start, shop, 250 * life + chance.randint(60, 240), chance.random() * 0.05)
    assert start("counter-1", CHECKPOINTS, env=OFTEN).wait() == 0
    report = export_pending(recorder().store, recorder().journal, recorder().tracing)
    assert (report.left, report.reason, report.refused) == (0, "", ())

    written = shop.ids()
    assert wait_for(lambda: set(receiver.events()) >= written)
    assert set(receiver.events()) == written
    steps = [span for span in receiver.snapshot() if span.name.startswith("checkpoint count ")]
    assert len({text(span.attributes, "waypost.checkpoint.id") for span in steps}) == CHECKPOINTS

    copies: dict[bytes, set[bytes]] = defaultdict(set)
    for span in receiver.snapshot():
        copies[span.span_id].add(span.SerializeToString(deterministic=True))
    assert [span_id.hex() for span_id, forms in copies.items() if len(forms) > 1] == []

    spans = {span.span_id: span for span in receiver.snapshot()}
    roots = sorted(
        (span for span in spans.values() if not span.parent_span_id),
        key=lambda span: span.start_time_unix_nano,
    )
    assert [text(root.attributes, "waypost.segment.outcome") for root in roots] == ["interrupted"] * 3 + [
        "done"
    ]
    assert [root.status.code for root in roots] == [2, 2, 2, 0]
    assert all(span.parent_span_id in spans for span in spans.values() if span.parent_span_id)
    for before, root in pairwise(roots):
        (link,) = root.links
        assert link.trace_id == before.trace_id
        assert link.span_id in spans
        assert root.trace_id != before.trace_id


def test_a_run_that_nobody_resumes_still_gets_its_root_and_only_once(
    start: Start, shop: Shop, receiver: Receiver, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.http)
    pid = kill_after(start, shop, 30, 0.0)
    held = recorder()

    def alive(_owner: str) -> bool:
        return False

    def dead(owner: str) -> bool:
        return f"/{pid}/" in owner

    assert export_pending(held.store, held.journal, held.tracing, dead=alive).left == 0
    first = export_pending(held.store, held.journal, held.tracing, dead=dead)
    again = export_pending(held.store, held.journal, held.tracing, dead=dead)
    assert (first.sent, again.sent) == (1, 0)
    assert wait_for(lambda: any(not span.parent_span_id for span in receiver.snapshot()))
    (root,) = [span for span in receiver.snapshot() if not span.parent_span_id]
    last = max(span.end_time_unix_nano for span in receiver.snapshot() if span.parent_span_id)
    assert root.end_time_unix_nano >= last
    assert root.status.message == "process lost: its owner is dead"
    assert text(root.attributes, "waypost.segment.outcome") == "interrupted"


def test_a_kill_between_the_answer_and_the_acknowledgement_sends_the_same_span_again(
    start: Start, shop: Shop, receiver: Receiver, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.http)
    process = start("counter-1", 10_000, env={**OFTEN, "DIE_AT": "export.sent"})
    assert process.wait(30) == -9
    assert wait_for(lambda: len(receiver.events()) > 0)
    first = {span.span_id: span.SerializeToString(deterministic=True) for span in receiver.snapshot()}
    held = recorder()
    assert export_pending(held.store, held.journal, held.tracing).left == 0
    assert wait_for(lambda: set(receiver.events()) == shop.ids())
    again = receiver.snapshot()[len(first) :]
    twice = {
        span.span_id: span.SerializeToString(deterministic=True) for span in again if span.span_id in first
    }
    assert twice == first
