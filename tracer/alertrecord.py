"""How is an alert written down: its states, the shape of a reason, the reasons for people to read?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Final

from .divergence import Reason
from .divergence.reason import combined
from .journal import Draft
from .seal import mask
from .store import objects

OPEN, ACKNOWLEDGED, EXPECTED, MUTED, WITHDRAWN = "open", "acknowledged", "expected", "muted", "withdrawn"
"""Waits for a person; was right; was right of the agent; of a muted shape; what it saw netted to nothing."""
DECIDED: Final = (ACKNOWLEDGED, EXPECTED)
HELD: Final = "Held, not sent. If sent: "
"""How a sentence begins that is about a call which was planned and held; its reasons say what it would have been."""
REASONS: Final = 50
"""Reasons kept with an alert; how many there were is said beside them."""
_DIFFERS: Final = ("changed", "order", "added", "removed")


def shape_of(reason: Reason) -> str:
    """What makes two reasons the same to a person who mutes one: code, tool and the fields that differ."""
    fields = ",".join(sorted({diff.path for diff in reason.fields if diff.kind in _DIFFERS}))
    return mask(f"{reason.code} {reason.tool} {fields}".strip())


def ranked(reasons: Sequence[Reason]) -> list[Reason]:
    """Strongest first; of equal strength the earlier call first."""
    return sorted(reasons, key=lambda one: (-one.strength, one.call is None, one.call or 0))


def detail_of(
    reasons: Sequence[Reason],
    call_of: Callable[[int], tuple[int, str]],
    *,
    compared_with: Sequence[str],
    left_out: Sequence[str],
) -> dict[str, Any]:
    """The stored detail of an alert: its strongest reasons as plain, masked records, and how many there are.

    Args:
        call_of: call's place among those after the resume -> (its number in the ledger, what it is about).
    """
    return {
        "reasons": [_plain(reason, call_of) for reason in reasons[:REASONS]],
        "count": len(reasons),
        "compared_with": list(compared_with),
        "left_out": [mask(text) for text in left_out[:REASONS]],
    }


def alert_row(
    alert_id: str,
    where: tuple[str, str, int],
    state: str,
    reasons: Sequence[Reason],
    detail: dict[str, Any],
    *,
    raised_at: int,
    now: int,
) -> dict[str, Any]:
    """The row of an alert; *where* is (run, branch, segment), times are ns since 1970."""
    first = reasons[0]
    return {
        "alert_id": alert_id,
        "run_id": where[0],
        "branch": where[1],
        "segment": where[2],
        "state": state,
        "score": thousandths(reasons),
        "shape": shape_of(first),
        "sentence": _named(mask(first.sentence), detail["reasons"][0]["target"]),
        "compared_with": mask(first.compared_with),
        "detail": objects.pack_record(detail),
        "raised_at": raised_at,
        "updated_at": now,
        "decided_at": None,
        "decided_by": None,
        "note": None,
    }


def alert_draft(
    alert_id: str, state: str, reasons: Sequence[Reason], detail: dict[str, Any], now: int
) -> Draft:
    """The journal entry of an alert: marked with its first rule while it is open, else with its state."""
    first = reasons[0] if reasons else None
    return Draft(
        kind="divergence",
        mark=first.code if first is not None and state == OPEN else state,
        subject=first.tool if first is not None else "",
        body={"alert_id": alert_id, "state": state, "score": thousandths(reasons), **detail},
        at=now,
    )


def _named(sentence: str, target: str) -> str:
    """The sentence with the target of its call, where it does not say a word of it."""
    if not target or any(word in sentence for word in target.split()):
        return sentence
    return f"{sentence.removesuffix('.')}: {target}."


def thousandths(reasons: Sequence[Reason]) -> int:
    """The score of *reasons* together, in thousandths; never rounded up to certainty."""
    score = combined(reasons)
    return min(999, round(score * 1000)) if score < 1 else 1000


def _plain(reason: Reason, call_of: Callable[[int], tuple[int, str]]) -> dict[str, Any]:
    plain = {name: mask(value) if isinstance(value, str) else value for name, value in asdict(reason).items()}
    plain["fields"] = [
        {name: mask(value) if isinstance(value, str) else value for name, value in asdict(diff).items()}
        for diff in reason.fields
    ]
    plain["shape"] = shape_of(reason)
    plain["hard"] = reason.hard
    plain["number"], plain["target"] = (0, "") if reason.call is None else call_of(reason.call)
    return plain
