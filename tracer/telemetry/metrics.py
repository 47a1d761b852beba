"""How much, how fast, how often? Through the OpenTelemetry metrics API: what the program has set up receives it.

No id is an attribute: every one of them would be a time series of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from opentelemetry import metrics
from opentelemetry.metrics import Observation

from . import names


class Metrics:
    """The instruments of this process; without a meter provider they cost a call and do nothing."""

    def __init__(
        self, pending: Callable[[], int] | None = None, refused: Callable[[], int] | None = None
    ) -> None:
        """*pending* counts the spans still owed and *refused* those put aside, when somebody collects."""
        meter = metrics.get_meter(names.SCOPE, names.SCOPE_VERSION)
        self._checkpoints = meter.create_counter(
            names.METRIC_CHECKPOINTS, "{checkpoint}", "Checkpoints that became durable"
        )
        self._duration = meter.create_histogram(
            names.METRIC_CHECKPOINT_DURATION, "s", "From the call of a checkpoint until it is durable"
        )
        self._size = meter.create_histogram(
            names.METRIC_PAYLOAD_SIZE, "By", "Encoded state behind a checkpoint"
        )
        self._resumes = meter.create_counter(names.METRIC_RESUMES, "{resume}", "Verdicts of the gate")
        self._divergences = meter.create_counter(names.METRIC_DIVERGENCES, "{divergence}", "Alerts")
        self._failures = meter.create_counter(
            names.METRIC_COMPARISONS_FAILED,
            "{comparison}",
            "Comparisons of resumed runs that broke and were given up",
        )
        self._active = meter.create_up_down_counter(names.METRIC_ACTIVE, "{run}", "Runs this process holds")
        if refused is not None:
            meter.create_observable_counter(
                names.METRIC_REFUSED,
                [lambda _options: [Observation(refused())]],
                "{span}",
                "Spans put aside because the collector took only others",
            )
        if pending is not None:
            meter.create_observable_gauge(
                names.METRIC_PENDING,
                [lambda _options: [Observation(pending())]],
                "{span}",
                "Spans stored and not yet taken by a collector",
            )

    def checkpoint(self, kind: str, seconds: float, size: int) -> None:
        """One checkpoint is durable; *size* in bytes."""
        said = {names.METRIC_KIND: kind}
        self._checkpoints.add(1, said)
        self._duration.record(seconds, said)
        self._size.record(size, said)

    def resume(self, decision: str) -> None:
        """The gate has spoken: `continue`, `revalidate`, `reapprove` or `abort`."""
        self._resumes.add(1, {names.METRIC_DECISION: decision})

    def divergence(self, rule: str) -> None:
        """An alert of this rule."""
        self._divergences.add(1, {names.METRIC_RULE: rule})

    def comparison_failed(self, kind: str) -> None:
        """The comparison of a resumed run broke with an error of this kind; the run went on without it."""
        self._failures.add(1, {names.ERROR_TYPE: kind})

    def run_began(self) -> None:
        """This process holds one run more."""
        self._active.add(1)

    def run_ended(self) -> None:
        """This process holds one run less."""
        self._active.add(-1)
