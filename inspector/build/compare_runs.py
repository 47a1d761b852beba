"""How different are two courses, as far as it can be weighed while somebody waits for a page?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from inspector.build.context import Context
from inspector.plain import masked
from tracer import comparing
from tracer.alertrecord import shape_of
from tracer.course import Course, records
from tracer.store import read
from tracer.store.rows import RunRow

MOST: Final = 1_200
"""Calls on all sides that are read and weighed for a page: about a second."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict that was reckoned for a page."""

    verdict: str
    score: float
    sentence: str
    reasons: tuple[Mapping[str, Any], ...]
    """As an alert stores them."""


def judged(
    context: Context,
    row: RunRow,
    found: Course,
    names: Sequence[str],
    identity: Mapping[str, Sequence[str]],
) -> Judged | None:
    """Weigh a course against the runs *names*; None when there are too many calls for a page."""
    room = MOST - len(found.before) - len(found.after)
    models: list[comparing.Side] = []
    tree = context.source.tree(context.connection)
    for name in reversed(names):
        model = read.run_by_id(context.connection, name)
        if model is None:
            continue
        room -= model.calls
        if room < 0:
            break
        models.append(comparing.model(context.connection, tree, model))
    if room < 0 and not models:
        return None
    models.reverse()
    report = comparing.judge(
        row.run_id,
        records(context.connection, tree, found.before),
        records(context.connection, tree, found.after),
        models,
        identity=identity,
        grant=comparing.declared(context.connection, row).grant,
        final=row.state == "done",
        tapes=False,
    )
    result = report.comparison
    reasons = []
    for reason in result.reasons:
        made = (
            found.after[reason.call] if reason.call is not None and reason.call < len(found.after) else None
        )
        reasons.append(
            {
                **asdict(reason),
                "sentence": masked(reason.sentence),
                "shape": shape_of(reason),
                "number": 0 if made is None else made.row.number,
                "target": "" if made is None else made.row.target,
            }
        )
    return Judged(result.verdict, result.score, masked(report.sentence), tuple(reasons))
