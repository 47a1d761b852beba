"""Does a killed audit end like one that nobody touched, wherever it is killed and whatever answers get lost?

Fifty seeds decide the kill point, the lost acknowledgements and the wording. Each is a real kill of a real
process in front of a real service; only the start of the interpreter is shared.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.licence_audit.harness import FEWEST, run_demo
from examples.licence_audit.lives import Forker, Lives
from examples.licence_audit.ticket_faults import FaultPlan
from examples.licence_audit.ticket_store import Request, TicketStore
from tests.e2e.small_environment import few

SEEDS = range(50)
REAPED = 3
"""Lives of a run that is killed once and asks once."""


@pytest.fixture(scope="module")
def lives() -> Iterator[Lives]:
    """One warm interpreter; every life is a fork of it."""
    with Forker() as forker:
        yield forker


def requests_of(folder: Path) -> list[Request]:
    store = TicketStore(folder / "tickets.db")
    try:
        return store.requests()
    finally:
        store.close()


@pytest.mark.kill
@pytest.mark.parametrize("seed", SEEDS)
def test_a_killed_audit_ends_as_if_nobody_had_touched_it(seed: int, lives: Lives, tmp_path: Path) -> None:
    result = run_demo(seed=seed, approve=True, home=tmp_path, only=few(), lives=lives)
    assert result.complaints == ()
    assert (result.killed_exit, result.segments, result.state) == (-9, REAPED, "done")
    assert (result.duplicated_effects, result.missing_effects) == (0, 0)
    assert result.events_distinct == result.checkpoints
    assert result.report_equal is True
    requests = requests_of(tmp_path / "demo" / result.run_id)
    tickets = {(request.dist, request.rule) for request in requests}
    assert len(tickets) >= FEWEST
    # The faults really happened, each where the seed put it, and each cost one repeat under the stored key.
    plan = FaultPlan.of(seed, len(tickets))
    assert {r.number: r.fate for r in requests if r.fate != "answer"} == plan.fates()
    assert len(requests) == len(tickets) + len(plan.fates())
    assert len({request.key for request in requests}) == len(tickets)
