"""How does one audit go that nobody touches, and one that is killed? Both from start to end, told as they go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True, slots=True)
class Scene:
    """What the audit that is killed and the one that is not have in common."""

    seed: int
    python: str
    only: tuple[str, ...]
    limit: int
    wanted: frozenset[Effect]
    """(dist, rule) of every ticket that there has to be."""
    lives: Lives
    say: Say
    """Tells a person what goes on."""

    def stage(self, run_id: str, home: Path, folder: Path, export: Mapping[str, str]) -> Stage:
        """Describe where one run plays."""
        return Stage(run_id, home, folder, self.seed, self.python, self.only, self.limit, export)

    def never_killed(self, folder: Path) -> bytes:
        """Audit in *folder*, with a store and a ticket service of its own; return the report.

        Raises TrialFailed when even this run leaves other tickets than wanted, each asked for once.
        """
        folder.mkdir()
        stage = self.stage("never-killed", folder, folder, _NO_EXPORT)
        with TicketProcess.start(stage.tickets) as service:
            one_life(stage, self.lives, service.url, PAUSED)
            approve_question(stage.store, stage.run_id)
            one_life(stage, self.lives, service.url, DONE)
        tally = tallied(stage, self.wanted)
        if not tally.clean or tally.requests != len(self.wanted):
            raise TrialFailed(stage.run_id, f"it should have left {len(self.wanted)} tickets, but: {tally}")
        self.say(f"Never killed: {tally.requests} tickets, the report is {stage.report}")
        return stage.report.read_bytes()

    def killed(self, stage: Stage, *, approve: bool) -> Trial:
        """Audit on *stage*, kill it, resume it, and take it as far as it goes without a person.

        Raises TrialFailed, NeverEnded.
        """
        plan = FaultPlan.of(self.seed, len(self.wanted))
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
            one_life(stage, self.lives, service.url, PAUSED)
            self.say(f"Resumed in a new process: {len(service.tickets())} tickets; it asks to publish.")
            if approve:
                approve_question(stage.store, stage.run_id)
                one_life(stage, self.lives, service.url, DONE)
                self.say(f"Approved and resumed: the report is {stage.report}")
        return Trial(plan, killed, tallied(stage, self.wanted))
