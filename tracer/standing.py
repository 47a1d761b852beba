"""Where does a run stand for a person who looks now, and what is there to do about it?

The store says what was written; whether the writer still lives is looked up at every reading. Used by the command
line and by the pages, so that both say the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import lease
from .contract import RunState
from .lease import Owner, Standing
from .store.rows import RunRow

PROGRAM = "waypost"


@dataclass(frozen=True, slots=True)
class Action:
    """What a person can do next."""

    kind: str
    """`none`, `wait`, `answer`, `settle`, `resume`, `takeover`, `mend`, `look` or `restart`."""
    text: str
    """A few words for a table."""
    command: str = ""
    """The exact line to type; empty when there is nothing to type."""


def state_of(row: RunRow, now_ns: int) -> RunState:
    """The state to show: a running run whose owner is dead is `interrupted`, a silent one elsewhere `lost`.

    For people only. Whether a lease may be taken is decided by `lease.stopped_beating`, never by this clock.
    """
    if row.state != RunState.RUNNING:
        return RunState(row.state)
    held = lease.standing(row.owner)
    if held is Standing.ALIVE:
        return RunState.RUNNING
    if held is Standing.ELSEWHERE:
        return RunState.LOST if silent_ns(row, now_ns) > row.ttl else RunState.RUNNING
    return RunState.INTERRUPTED


def silent_ns(row: RunRow, now_ns: int) -> int:
    """Nanoseconds since the owner's last sign of life; never negative."""
    return max(0, now_ns - max(row.beat_at, row.updated_at))


def holder(row: RunRow) -> str:
    """Who holds the lease, for people; empty when nobody does."""
    return "" if row.owner is None else Owner.parse(row.owner).name


def next_action(row: RunRow, now_ns: int, program: str = PROGRAM) -> Action:
    """The next step for a run, from its row alone; `why` knows more.

    Args:
        program: how the command line is called, with its options (`waypost --store S`).
    """
    state, run_id = state_of(row, now_ns), row.run_id
    if state.over:
        return Action("none", "nothing, it is over")
    if state is RunState.QUARANTINED:
        return Action("look", "look what is damaged", f"{program} verify {run_id}")
    if state is RunState.RUNNING:
        return Action("wait", f"nothing, {holder(row)} works on it")
    if state is RunState.LOST:
        return Action("takeover", "take over", f"{program} resume {run_id} --takeover")
    if row.head_sequence == 0:
        return Action("restart", "start it again under another id", f"{program} why {run_id}")
    if row.waiting:
        text = "answer a question" if row.waiting == 1 else f"answer {row.waiting} questions"
        return Action("answer", text, f"{program} why {run_id}")
    if state is RunState.FAILED:
        return Action("mend", "mend the cause, then resume", f"{program} resume {run_id}")
    return Action("resume", "resume", f"{program} resume {run_id}")
