"""How do the reasons of a comparison lead to its pairs, and what does the page around them say?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from inspector import text, words
from inspector.build.compare_runs import Judged
from inspector.build.context import run_href
from inspector.build.tape import Asked
from inspector.pages.divergence import ReasonLine
from inspector.pages.shared import Pill, Strip
from inspector.pages.tape import TapePart
from tracer.divergence import CODES, HARD
from tracer.store.rows import AlertRow, MuteRow, RunRow

FACTORS: Final = 5
ATTEMPT: Final = "attempt"
"""How an address names the tape of the process that died; it ends where that one had come."""
_HARD: Final = words.pill("diverged", "hard rule", "hollow")
_BASELINE: Final = Pill("same", "with a baseline", "mute", "hollow")


@dataclass(frozen=True, slots=True)
class View:
    """What the address of the page says."""

    segment: int = 0
    alert: str = ""
    against: str = ""
    pair: str = ""
    start: int = -1


def asked_of(address: str, view: View, keep: Mapping[str, str]) -> Asked:
    base: dict[str, str | int] = {
        "alert": view.alert,
        "segment": view.segment,
        "pair": view.pair,
        "start": view.start,
        **keep,
    }

    def here(**more: str | int) -> str:
        values = {**base, **more}
        if "start" in more and "pair" not in more:
            values["pair"] = ""
        said = "&".join(
            f"{name}={quote(str(value))}" for name, value in values.items() if value not in ("", 0, -1)
        )
        joined = "&" if "?" in address else "?"
        anchor = "#tape" if "pair" in more or "start" in more else ""
        return f"{address}{joined}{said}{anchor}" if said else f"{address}{anchor}"

    return Asked(view.pair, view.start, here)


def count_of(tape: TapePart | None) -> str:
    if tape is None:
        return "no call"
    same = sum(not pair.differs for pair in tape.pairs)
    said = f"{text.count(len(tape.pairs), 'pair')}: {same:,} same, {len(tape.pairs) - same:,} differ"
    return said if tape.shown.shown == tape.shown.total else f"{said}; {tape.shown.total:,} places in all"


def reason_line(
    row: RunRow,
    alert: AlertRow | None,
    one: Mapping[str, Any],
    tape: TapePart | None,
    muted: Sequence[MuteRow],
    view: View,
    address: str = "",
) -> ReasonLine:
    number, code, shape = int(one.get("number") or 0), str(one["code"]), str(one.get("shape", ""))
    asked = asked_of(
        address or run_href(row.run_id, row.branch, "/divergence"),
        view,
        {"with": "" if view.against == ATTEMPT else view.against},
    )
    by = next((m for m in muted if m.shape == shape), None)
    selected = {pair.key for pair in tape.pairs if pair.current} if tape is not None else set()
    hard = code in HARD
    return ReasonLine(
        code=code,
        kind=words.pill("diverged", "hard rule", "hollow")
        if hard
        else Pill("same", "with a baseline", "mute", "hollow"),
        sentence=str(one["sentence"]),
        about=f"{one.get('tool', '')} {one.get('target', '')}".strip() if number or one.get("target") else "",
        href=asked.here(pair=f"a{number}") if number else "",
        strength=f"{float(one['strength']):.2f}",
        versus=f"{CODES.get(code, code)}; compared with {one.get('compared_with') or 'nothing'}",
        shape=shape,
        muted=f"muted by {by.muted_by}: {by.note or 'no note'}" if by is not None else "",
        mute=f"/alerts/{alert.alert_id}/mute" if alert is not None and by is None and shape else "",
        current=f"a{number}" in selected,
    )


def formula(reasons: Sequence[Mapping[str, Any]]) -> str:
    if not reasons:
        return ""
    factors = [f"(1 − {float(one['strength']):.2f})" for one in reasons[:FACTORS]]
    more = " × …" if len(reasons) > FACTORS else ""
    return f"score = 1 − {' × '.join(factors)}{more}"


def size_strip(anew: Judged | None, command: str) -> tuple[Strip, ...]:
    if anew is not None:
        return ()
    return (
        Strip(
            "info",
            "Not judged on this page.",
            f"There are too many calls to weigh them while you wait; `{command}` does. The tapes are whole.",
        ),
    )
