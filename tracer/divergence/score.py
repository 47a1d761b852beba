"""One number for one resumed run: how divergent is it?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .live import Live, sequence


def score(
    pre_calls: Sequence[object],
    post_calls: Sequence[object],
    baseline_runs: Sequence[object],
    *,
    final: bool = True,
    identity: Mapping[str, Iterable[str]] | None = None,
) -> float:
    """0.0 (nothing speaks for it, or nothing to judge by) to 1.0 (certainly another course).

    *pre_calls* are the calls of the interrupted attempt (`phase` committed or lost), *post_calls* those after the
    resume, *baseline_runs* earlier successful runs, each a list of calls or `{"tools": [calls]}`. *final* is False
    while the run goes on. Bad input lowers what can be said; it never raises.
    """
    live = Live.start(sequence(baseline_runs), sequence(pre_calls), identity=identity)
    for record in sequence(post_calls):
        live.add(record)
    if final:
        live.finish()
    return live.score
