"""How does one audit go that nobody touches, and one that is killed? Both from start to end, told as they go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from examples.licence_audit.astray import Slip
from examples.licence_audit.book import approve_question
from examples.licence_audit.errors import TrialFailed
from examples.licence_audit.life import DONE, PAUSED
from examples.licence_audit.lives import Lives
from examples.licence_audit.stage import Stage
from examples.licence_audit.tally import Effect, Tally
from examples.licence_audit.ticket_faults import FaultPlan
from examples.licence_audit.ticket_process import TicketProcess
from examples.licence_audit.trial import Killed, killed_life, one_life, tallied

Say = Callable[[str], None]
_NO_EXPORT = {"OTEL_SDK_DISABLED": "true"}


@dataclass(frozen=True, slots=True)
class Trial:
    """One killed and resumed audit, before anybody judges it."""

    plan: FaultPlan
    killed: Killed
    tally: Tally
    slip: Slip | None
    """What the resumed life did otherwise, on purpose."""
    expected: Tally
    """The same against what a life with that slip has to leave."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What the audit that is killed and the one that is not have in common."""

    seed: int
    python: str
    only: tuple[str, ...]
    limit: int
    wanted: frozenset[Effect]
    """(dist, rule) of every ticket that there has to be."""
    innocent: tuple[str, ...]
    """Distributions without a problem."""
    lives: Lives
    say: Say
    """Tells a person what goes on."""

    def stage(self, run_id: str, home: Path, folder: Path, export: Mapping[str, str]) -> Stage:
        """Describe where one run plays."""
        return Stage(run_id, home, folder, self.seed, self.python, self.only, self.limit, export)

    def never_killed(self, run_id: str, home: Path, folder: Path) -> bytes:
        """Audit with a ticket service of its own in *folder*/never-killed; return the report, which lies there.

        It is in the same store as the audit that is killed, with the same input: what the resumed one does is
        compared with it. Raises TrialFailed when even this run leaves other tickets than wanted, each asked for once.
        """
        apart = folder / "never-killed"
        apart.mkdir()
        stage = replace(
            self.stage(f"{run_id}-never-killed", home, apart, _NO_EXPORT), report_at=folder / "report.md"
        )
        with TicketProcess.start(stage.tickets) as service:
            one_life(stage, self.lives, service.url, PAUSED)
            approve_question(stage.store, stage.run_id)
            one_life(stage, self.lives, service.url, DONE)
        tally = tallied(stage, self.wanted)
        if not tally.clean or tally.requests != len(self.wanted):
            raise TrialFailed(stage.run_id, f"it should have left {len(self.wanted)} tickets, but: {tally}")
        report = stage.report.rename(apart / "report.md")
        self.say(f"Never killed: {tally.requests} tickets, the report is {report}")
        return report.read_bytes()

    def killed(self, stage: Stage, *, approve: bool, diverge: bool = False) -> Trial:
        """Audit on *stage*, kill it, resume it, and take it as far as it goes without a person.

        With *diverge* the resumed life opens tickets for a wrong distribution. Raises TrialFailed, NeverEnded.
        """
        # Where something is to go wrong after the resume, there must be something left to do.
        plan = FaultPlan.of(self.seed, len(self.wanted) // (2 if diverge else 1))
        slip = None
        with TicketProcess.start(stage.tickets) as service:
            service.set_faults(withhold=plan.withhold, drop=plan.drop)
            lost = ", ".join(f"{number}" for number in plan.drop)
            self.say(f"Ticket service at {service.url}; seed {self.seed} makes it act and then")
            self.say(f"  lose the answer to request {lost}, and hold back that to request {plan.withhold}.")
            killed = killed_life(stage, self.lives, service)
            dist, rule = killed.effect
            self.say(
                f"Killed after request {killed.request} took effect ({dist}, {rule}): exit {killed.exit}."
            )
            if diverge:
                slip = Slip.of(self.seed, self.wanted, self.innocent, dist)
                self.say(f"The resumed agent will take {slip.right} for {slip.wrong}.")
            one_life(stage, self.lives, service.url, PAUSED, slip)
            self.say(f"Resumed in a new process: {len(service.tickets())} tickets; it asks to publish.")
            if approve:
                approve_question(stage.store, stage.run_id)
                one_life(stage, self.lives, service.url, DONE)
                self.say(f"Approved and resumed: the report is {stage.report}")
        wanted = self.wanted if slip is None else slip.instead(self.wanted)
        return Trial(plan, killed, tallied(stage, self.wanted), slip, tallied(stage, wanted))
