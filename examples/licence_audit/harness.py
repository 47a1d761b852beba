"""Does a killed audit leave the same tickets and the same report as one that nobody touched?

`waypost demo` calls `run_demo`. Kill point, lost acknowledgements and wording all follow from one seed.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from examples.licence_audit.book import Book, approve_question
from examples.licence_audit.evidence import shown_by
from examples.licence_audit.inventory import distributions_of
from examples.licence_audit.licence import judge
from examples.licence_audit.life import DONE, PAUSED
from examples.licence_audit.lives import FreshProcesses, Lives
from examples.licence_audit.result import DemoResult
from examples.licence_audit.sink import Sink
from examples.licence_audit.stage import Stage
from examples.licence_audit.tally import Effect
from examples.licence_audit.ticket_faults import FaultPlan
from examples.licence_audit.ticket_process import TicketProcess
from examples.licence_audit.trial import Killed, TrialFailed, complaints_about, killed_life, one_life, tallied
from tracer.telemetry import names

FEWEST = 8
"""An audit with fewer problems shows too little to be a demonstration."""
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
Say = Callable[[str], None]


class TooFewProblems(Exception):
    """The environment has too few licence problems to show anything. Name a larger one with --python."""

    def __init__(self, found: int, distributions: int) -> None:
        super().__init__(f"{self.__doc__} Found {found} in {distributions} distributions, need {FEWEST}.")
        self.found = found


@dataclass(frozen=True, slots=True)
class Wanted:
    """What any sound audit of the environment has to open tickets for, judged without an agent."""

    distributions: int
    effects: frozenset[Effect]


def run_demo(
    *,
    seed: int = 1,
    approve: bool = False,
    python: str | None = None,
    home: Path | None = None,
    only: Sequence[str] = (),
    limit: int = 0,
    lives: Lives | None = None,
    say: Say | None = None,
) -> DemoResult:
    """Audit an environment, kill the agent, resume it, and compare with an audit never killed.

    *home* (default: WAYPOST_HOME, else `.waypost`) keeps the store, and the tickets and the report below
    `demo/RUN`. *lives* says how processes are made, fresh interpreters by default. Raises TooFewProblems,
    InterpreterUnusable, TrialFailed, NeverEnded; what does not hold is in the result's `complaints`.
    """
    say = say or _silent
    lives = lives or FreshProcesses()
    home = (home or Path(os.environ.get("WAYPOST_HOME") or ".waypost")).absolute()
    run_id = f"licence-audit-{secrets.token_hex(4)}"
    folder = home / "demo" / run_id
    folder.mkdir(parents=True)
    wanted = wanted_of(python, only, limit)
    say(f"{wanted.distributions} distributions, {len(wanted.effects)} licence problems, a ticket for each")
    scene = _Scene(seed, python or "", tuple(only), limit, lives, say, wanted.effects)
    reference = scene.never_killed(folder / "never-killed")
    with _receiver() as (sink, export):
        stage = scene.stage(run_id, home, folder, export)
        return scene.killed(stage, sink, approve=approve, reference=reference)


def wanted_of(python: str | None, only: Sequence[str], limit: int) -> Wanted:
    """Judge the environment without an agent. Raises TooFewProblems."""
    dists = distributions_of(python, only=only, limit=limit)
    effects = {(dist.name, problem.rule) for dist in dists for problem in judge(shown_by(dist)).problems}
    if len(effects) < FEWEST:
        raise TooFewProblems(len(effects), len(dists))
    return Wanted(len(dists), frozenset(effects))


@dataclass(frozen=True, slots=True)
class _Scene:
    seed: int
    python: str
    only: tuple[str, ...]
    limit: int
    lives: Lives
    say: Say
    wanted: frozenset[Effect]

    def stage(self, run_id: str, home: Path, folder: Path, export: Mapping[str, str]) -> Stage:
        return Stage(run_id, home, folder, self.seed, self.python, self.only, self.limit, export)

    def never_killed(self, folder: Path) -> bytes:
        """Run the audit from start to end, on its own store and ticket service; return its report."""
        folder.mkdir()
        stage = self.stage("never-killed", folder, folder, {"OTEL_SDK_DISABLED": "true"})
        with TicketProcess.start(stage.tickets) as service:
            one_life(stage, self.lives, service.url, PAUSED)
            approve_question(stage.store, stage.run_id)
            one_life(stage, self.lives, service.url, DONE)
        tally = tallied(stage, self.wanted)
        if not tally.clean or tally.requests != len(self.wanted):
            raise TrialFailed(stage.run_id, f"the run never killed is wrong itself: {tally}")
        self.say(f"never killed: {tally.requests} tickets, report {stage.report}")
        return stage.report.read_bytes()

    def killed(self, stage: Stage, sink: Sink | None, *, approve: bool, reference: bytes) -> DemoResult:
        """Run the audit, kill it, resume it; say what is left."""
        plan = FaultPlan.of(self.seed, len(self.wanted))
        with TicketProcess.start(stage.tickets) as service:
            service.set_faults(withhold=plan.withhold, drop=plan.drop)
            lost = ", ".join(str(number) for number in plan.drop)
            self.say(
                f"ticket service {service.url}: holds answer {plan.withhold}, loses {lost} (seed {self.seed})"
            )
            killed = killed_life(stage, self.lives, service)
            dist, rule = killed.effect
            self.say(
                f"killed after it had acted on request {killed.request} ({dist}, {rule}): exit {killed.exit}"
            )
            one_life(stage, self.lives, service.url, PAUSED)
            self.say(
                f"resumed in a new process: {len(service.tickets())} tickets, it asks to publish the report"
            )
            if approve:
                approve_question(stage.store, stage.run_id)
                one_life(stage, self.lives, service.url, DONE)
                self.say(f"approved and resumed: report {stage.report}")
        return self._result(stage, sink, plan, killed, reference)

    def _result(
        self, stage: Stage, sink: Sink | None, plan: FaultPlan, killed: Killed, reference: bytes
    ) -> DemoResult:
        tally = tallied(stage, self.wanted)
        complaints = complaints_about(tally, plan)
        with Book.open(stage.store) as book:
            standing = book.of(stage.run_id)
        exported, distinct = standing.acknowledged, standing.acknowledged
        if sink is not None:
            received = sink.received(stage.run_id)
            exported, distinct = received.exported, received.distinct
            if received.torn:
                complaints.append(f"{received.torn} checkpoints arrived under more than one span.")
        equal = stage.report.read_bytes() == reference if stage.report.exists() else None
        if killed.exit != -9:
            complaints.append(f"The killed life left exit {killed.exit}, not -9.")
        if distinct != standing.checkpoints:
            complaints.append(f"{distinct} of {standing.checkpoints} checkpoint events arrived.")
        if equal is False:
            complaints.append("The report differs from that of the run never killed.")
        return DemoResult(
            run_id=stage.run_id,
            checkpoints=standing.checkpoints,
            segments=standing.segments,
            killed_exit=killed.exit,
            duplicated_effects=len(tally.duplicated),
            missing_effects=len(tally.missing),
            events_exported=exported,
            events_distinct=distinct,
            store_bytes=standing.store_bytes,
            verdict=standing.verdict,
            report_equal=equal,
            state=standing.state,
            store=stage.store,
            report=stage.report,
            complaints=tuple(complaints),
            next_lines=() if standing.state == "done" else next_lines(stage),
        )


def next_lines(stage: Stage) -> tuple[str, ...]:
    """Return the commands that answer the run's question and take it to its end."""
    home = f"WAYPOST_HOME={stage.home} "
    return (
        f"{home}waypost approve {stage.run_id}",
        f"{home}waypost resume examples.licence_audit.agent:audit {stage.run_id}",
    )


@contextmanager
def _receiver() -> Iterator[tuple[Sink | None, dict[str, str]]]:
    """Where checkpoint events go: to the collector the environment names, else to a sink of ours."""
    if os.environ.get(ENDPOINT):
        yield None, {}
        return
    with Sink(
        event=names.EVENT_CHECKPOINT, run_attribute=names.RUN_ID, checkpoint_attribute=names.CHECKPOINT_ID
    ) as sink:
        yield sink, {ENDPOINT: sink.endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}


def _silent(_: str) -> None:
    """Say nothing."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one demo; progress on standard error, one line of JSON on standard output. Exit 0 when all held."""
    parser = argparse.ArgumentParser(prog="licence_audit", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="decides kill point, lost answers and wording")
    parser.add_argument(
        "--approve", action="store_true", help="answer the question instead of leaving it open"
    )
    parser.add_argument("--python", help="interpreter whose distributions are audited")
    parser.add_argument("--home", type=Path, help="folder of the store (default: WAYPOST_HOME or .waypost)")
    parser.add_argument(
        "--only", action="append", default=[], help="audit this distribution; may be repeated"
    )
    parser.add_argument("--limit", type=int, default=0, help="audit the first so many distributions")
    options = parser.parse_args(argv)
    result = run_demo(**vars(options), say=_to_people)
    for line in (*result.complaints, *result.next_lines):
        _to_people(line)
    sys.stdout.write(result.to_json() + "\n")
    return 0 if result.ok else 1


def _to_people(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
