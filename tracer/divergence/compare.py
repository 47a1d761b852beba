"""What does a reviewer see when a resumed run is compared: score, reasons, tapes, and what was left out?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from .align import MISSING, NEW, Tape, tape
from .calls import Call, canonical
from .live import Live, calls_of, sequence
from .reason import ALARM, Reason

ALARMED, QUIET, NOT_ENOUGH = "alarm", "quiet", "not enough evidence"
TAPED: Final = 5_000
"""Calls of one run that are laid on a tape; a longer run is compared whole but shown in part."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Something the run was compared with, and how many calls of it."""

    what: str
    calls: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The whole result of one comparison."""

    score: float
    verdict: str
    """alarm, quiet, or not enough evidence: nothing to compare effects with, and no hard rule broken."""
    reasons: tuple[Reason, ...]
    """Strongest first."""
    compared_with: tuple[Compared, ...]
    left_out: tuple[str, ...]
    tapes: tuple[Tape, ...]
    """Against the interrupted attempt where it lost calls, then against the nearest baseline."""
    final: bool

    @property
    def alarm(self) -> bool:
        """Is the score at or above the shipped alarm level?"""
        return self.verdict == ALARMED

    @property
    def sentence(self) -> str:
        """The verdict in words; never "no divergence" where there was nothing to see it by."""
        if self.alarm:
            return self.reasons[0].sentence
        if self.verdict == NOT_ENOUGH:
            return "Not enough evidence: no hard rule broken, and nothing to compare the effects with."
        return f"Quiet: the effects are those of {self.compared_with[-1].what}."

    @property
    def exit_code(self) -> int:
        """0 quiet, 1 alarm, 3 not enough evidence."""
        return {QUIET: 0, ALARMED: 1}.get(self.verdict, 3)


def compare(
    pre_calls: Sequence[object],
    post_calls: Sequence[object],
    baseline_runs: Sequence[object],
    *,
    final: bool = True,
    identity: Mapping[str, Iterable[str]] | None = None,
    grant: Collection[str] | None = None,
    expected: Sequence[object] | None = None,
    tapes: bool = True,
) -> Comparison:
    """Compare what was done after a resume with what came before, with earlier runs, and with absolute rules.

    *expected* are declared effects (`{name, args}`); they count as one more run that did exactly these writes.
    *grant* are the tools that may be called. Nothing is raised for bad input; see `left_out`.
    """
    baselines = [*sequence(baseline_runs), *([plan(expected)] if expected is not None else [])]
    live = Live.start(baselines, sequence(pre_calls), identity=identity, grant=grant)
    for record in sequence(post_calls):
        live.add(record)
    if final:
        live.finish()
    return result(live, pre_calls, post_calls, baselines, tapes=tapes)


def result(
    live: Live,
    pre_calls: Sequence[object],
    post_calls: Sequence[object],
    baseline_runs: Sequence[object],
    *,
    tapes: bool = True,
) -> Comparison:
    """The whole result of a live comparison as it stands."""
    pre = [canonical(r, n) for n, r in enumerate(sequence(pre_calls))]
    post = [canonical(r, n) for n, r in enumerate(sequence(post_calls))]
    runs = [[canonical(r, n) for n, r in enumerate(calls_of(run))] for run in sequence(baseline_runs)]
    reasons = tuple(live.reasons)
    verdict = ALARMED if live.score >= ALARM else QUIET if live.evidence else NOT_ENOUGH
    lost = [call for call in pre if call.phase == "lost"]
    compared = [Compared("the interrupted attempt", len(pre))] if pre else []
    compared += (
        [Compared(f"earlier run {n + 1}", len(run)) for n, run in enumerate(runs) if run]
        if live.evidence
        else []
    )
    shown = _tapes(live, pre, lost, post, runs, reasons) if tapes else ()
    left_out = list(live.left_out)
    longest = max((len(r) for r in [pre + post, *runs]), default=0)
    if tapes and longest > TAPED:
        left_out.append(f"the tapes show the first {TAPED} of up to {longest} calls")
    if live.pattern.effects.crowded:
        left_out.append(
            f"{live.pattern.effects.crowded} effects with the digits of many others were compared by exact form only"
        )
    return Comparison(
        live.score, verdict, reasons, tuple(compared), tuple(dict.fromkeys(left_out)), shown, live.finished
    )


def plan(effects: Sequence[object]) -> dict[str, object]:
    """Declared effects as a run that did exactly these writes."""
    return {
        "tools": [
            {"kind": "write", "ok": True, **e} if isinstance(e, Mapping) else e for e in sequence(effects)
        ],
        "success": True,
    }


def _tapes(
    live: Live,
    pre: list[Call],
    lost: list[Call],
    post: list[Call],
    runs: list[list[Call]],
    reasons: tuple[Reason, ...],
) -> tuple[Tape, ...]:
    out: list[Tape] = []
    roles = live.pattern.roles
    if lost:
        made = tape(
            lost[:TAPED], post[:TAPED], roles, before="the interrupted attempt", after="after the resume"
        )
        out.append(_with_reasons(made, reasons, 0))
    kept = [c for c in pre if c.phase != "lost"]
    whole = [*kept, *post][:TAPED]
    best: Tape | None = None
    for number, run in enumerate(runs[-5:]):
        if run and live.evidence:
            place = len(runs) - len(runs[-5:]) + number + 1
            made = tape(run[:TAPED], whole, roles, before=f"earlier run {place}", after="this run")
            if best is None or _distance(made) < _distance(best):
                best = made
    return (*out, _with_reasons(best, reasons, len(kept))) if best is not None else tuple(out)


def _distance(made: Tape) -> int:
    return sum(1 for row in made.rows if row.glyph in {NEW, MISSING} and row.kind != "internal")


def _with_reasons(made: Tape, reasons: tuple[Reason, ...], offset: int) -> Tape:
    by_call: dict[int, list[int]] = {}
    for place, reason in enumerate(reasons):
        if reason.call is not None:
            by_call.setdefault(reason.call + offset, []).append(place)
    rows = [
        replace(row, reasons=tuple(by_call.get(row.after, ()))) if row.after is not None else row
        for row in made.rows
    ]
    return Tape(made.before, made.after, tuple(rows))
