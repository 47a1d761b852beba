"""What is left of an audit that is killed while an outside system has acted and not yet answered?

One trial: start a life, wait until the ticket service holds an answer back, SIGKILL, start the next life.
What comes out is compared with an audit of the same environment that nobody touched.
"""

from __future__ import annotations

from dataclasses import dataclass

from examples.licence_audit.astray import Slip
from examples.licence_audit.errors import TrialFailed
from examples.licence_audit.lives import Lives, ended, kill
from examples.licence_audit.stage import Stage
from examples.licence_audit.tally import Effect, Tally, tally_of
from examples.licence_audit.ticket_faults import FaultPlan
from examples.licence_audit.ticket_process import TicketProcess
from examples.licence_audit.ticket_store import TicketStore

LIFE_SECONDS = 300.0
LOOK_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Killed:
    """How a life was ended."""

    exit: int
    """−9: the signal did it."""
    request: int
    """Number of the request whose answer was held back."""
    effect: Effect
    """What the service had done for it."""


def killed_life(stage: Stage, lives: Lives, service: TicketProcess) -> Killed:
    """Start the first life of *stage* and SIGKILL it while *service* holds an answer back.

    Raises TrialFailed when the life ends by itself, or never gets there.
    """
    running = lives.start(stage.life(service.url))
    for _ in range(int(LIFE_SECONDS / LOOK_SECONDS)):
        held = service.held_within(LOOK_SECONDS)
        if held:
            code = kill(running)
            done = next(request for request in service.requests() if request.number == held[0])
            if code is None:
                raise TrialFailed(stage.run_id, f"pid {running.pid} outlived its SIGKILL")
            return Killed(code, done.number, (done.dist, done.rule))
        code = running.ended_within(0.0)
        if code is not None:
            raise TrialFailed(
                stage.run_id, f"it ended with exit {code} before the service held an answer back"
            )
    kill(running)
    raise TrialFailed(stage.run_id, f"no answer was held back within {LIFE_SECONDS:.0f} s")


def one_life(stage: Stage, lives: Lives, url: str, wanted: int, slip: Slip | None = None) -> None:
    """Start or resume the run and let this life end. Raises TrialFailed unless its exit is *wanted*."""
    code = ended(lives, stage.life(url, slip), LIFE_SECONDS)
    if code != wanted:
        raise TrialFailed(stage.run_id, f"a life ended with exit {code}, not {wanted}")


def tallied(stage: Stage, wanted: frozenset[Effect]) -> Tally:
    """Ask the ticket service's own database what happened."""
    store = TicketStore(stage.tickets)
    try:
        return tally_of(wanted, store.tickets(), store.requests())
    finally:
        store.close()


def complaints_about_alert(alert: str, slip: Slip | None) -> list[str]:
    """Say when the alarm is not as it should be: silent without a slip, and naming the wrong distribution with one."""
    if slip is None:
        return [f"An alert was raised, though nothing went astray: {alert}"] if alert else []
    if not alert:
        return [f"Nothing was said when {slip.right} was taken for {slip.wrong}."]
    return [] if slip.wrong in alert else [f"The alert does not name {slip.wrong}: {alert}"]


def complaints_about(tally: Tally, plan: FaultPlan) -> list[str]:
    """Say what does not hold; one sentence each."""
    said = [f"Twice: {dist}, {rule}." for dist, rule in tally.duplicated]
    said += [f"Missing: {dist}, {rule}." for dist, rule in tally.missing]
    said += [f"Nobody wanted: {dist}, {rule}." for dist, rule in tally.unwanted]
    # Every fault leaves one effect without an answer, and so costs exactly one repeat; more would be
    # blind sending, fewer would mean that the fault never happened.
    faults = len(plan.fates())
    if tally.repeats != faults:
        said.append(f"{tally.repeats} repeats reached the service for {faults} faults.")
    if tally.reworded != tally.repeats:
        said.append(f"Only {tally.reworded} of {tally.repeats} repeats were worded anew.")
    return said
