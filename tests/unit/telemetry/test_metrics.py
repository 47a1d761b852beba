"""Do the figures carry the agreed names and units, and never an id?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import metrics as api
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from tracer.telemetry.metrics import Metrics


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemoryMetricReader]:
    made = InMemoryMetricReader()
    provider = MeterProvider([made], shutdown_on_exit=False)
    monkeypatch.setattr(api, "get_meter", provider.get_meter)
    yield made
    provider.shutdown()


def collected(reader: InMemoryMetricReader) -> dict[str, Any]:
    data = reader.get_metrics_data()
    assert data is not None
    return {metric.name: metric for metric in data.resource_metrics[0].scope_metrics[0].metrics}


def test_every_figure_has_its_name_and_unit_and_no_id(reader: InMemoryMetricReader) -> None:
    made = Metrics(lambda: 7, lambda: 2)
    made.run_began()
    made.checkpoint("step", 0.002, 512)
    made.resume("continue")
    made.divergence("repeated write")
    made.run_began()
    made.run_ended()
    found = collected(reader)
    assert {name: metric.unit for name, metric in found.items()} == {
        "waypost.checkpoints": "{checkpoint}",
        "waypost.checkpoint.duration": "s",
        "waypost.payload.size": "By",
        "waypost.resumes": "{resume}",
        "waypost.divergences": "{divergence}",
        "waypost.export.pending": "{span}",
        "waypost.export.refused": "{span}",
        "waypost.run.active": "{run}",
    }
    attributes = {
        key for metric in found.values() for p in metric.data.data_points for key in p.attributes or {}
    }
    assert attributes == {"waypost.checkpoint.kind", "waypost.decision", "waypost.rule"}
    value = {name: metric.data.data_points[0] for name, metric in found.items()}
    assert value["waypost.export.pending"].value == 7
    assert value["waypost.export.refused"].value == 2
    assert value["waypost.run.active"].value == 1
    assert value["waypost.payload.size"].sum == 512


def test_without_a_meter_provider_it_costs_nothing_and_asks_nobody() -> None:
    def never() -> int:
        raise AssertionError("nobody collects")

    made = Metrics(never, never)
    made.checkpoint("step", 0.1, 1)
    made.run_began()
