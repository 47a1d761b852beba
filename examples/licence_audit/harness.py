"""Does a killed audit leave the same tickets and the same report as one that nobody touched?

`waypost demo` calls `run_demo`. Kill point, lost acknowledgements and wording all follow from one seed.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from examples.licence_audit.book import Book
from examples.licence_audit.errors import AuditError, TooFewProblems, TrialFailed
from examples.licence_audit.evidence import shown_by
from examples.licence_audit.inventory import distributions_of
from examples.licence_audit.licence import judge
from examples.licence_audit.lives import FreshProcesses, Lives
from examples.licence_audit.result import DemoResult
from examples.licence_audit.scene import Say, Scene, Trial
from examples.licence_audit.sink import Sink
from examples.licence_audit.stage import Stage
from examples.licence_audit.tally import Effect
from examples.licence_audit.trial import complaints_about, complaints_about_alert
from tracer.telemetry import names

__all__ = ["AuditError", "DemoResult", "TooFewProblems", "TrialFailed", "main", "run_demo", "wanted_of"]

FEWEST = 8
"""An audit with fewer problems shows too little to be a demonstration."""
HOME = Path(".waypost")
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_TO_SINK = {
    "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
    "OTEL_SDK_DISABLED": "false",
    "OTEL_TRACES_EXPORTER": "otlp",
}
"""Where nobody named a collector, the demo's own sink receives, whatever else the environment says."""


def run_demo(
    *,
    seed: int = 1,
    approve: bool = False,
    serve: bool = False,
    diverge: bool = False,
    python: str | None = None,
    home: Path | None = None,
    only: Sequence[str] = (),
    limit: int = 0,
    lives: Lives | None = None,
    say: Say | None = None,
) -> DemoResult:
    """Audit an environment, kill the agent, resume it, and compare with an audit never killed.

    Args:
        seed: decides kill point, lost acknowledgements and wording.
        approve: answer the run's question; else it stays open and `next_lines` say how to answer.
        diverge: let the resumed agent open a ticket for the wrong distribution, which has to raise an alert.
        serve: the caller shows the inspector afterwards, so no line says how to.
        python: interpreter whose distributions are audited; the running one by default.
        home: folder of the store (WAYPOST_HOME, else `.waypost`); tickets and report go to `demo/RUN` in there.
        only, limit: narrow the audit to these names, and to the first so many of them.
        lives: how processes are made; fresh interpreters by default.
        say: is told what goes on, line by line.

    Raises:
        TooFewProblems, InterpreterUnusable: there is nothing to show.
        ServiceDidNotStart, TrialFailed, NeverEnded: it could not be shown.

    What was shown and does not hold is in the result's `complaints`.
    """
    say = say or _silent
    home = (home or Path(os.environ.get("WAYPOST_HOME") or HOME)).absolute()
    wanted, innocent = surveyed(python, only, limit)
    say(f"Auditing {python or sys.executable}: {len(wanted)} licence problems, a ticket for each.")
    run_id = f"licence-audit-{secrets.token_hex(4)}"
    folder = home / "demo" / run_id
    folder.mkdir(parents=True)
    scene = Scene(seed, python or "", tuple(only), limit, wanted, innocent, lives or FreshProcesses(), say)
    reference = scene.never_killed(run_id, home, folder)
    with _receiver() as sink:
        export = {} if sink is None else _TO_SINK | {_ENDPOINTS[0]: sink.endpoint}
        stage = scene.stage(run_id, home, folder, export)
        trial = scene.killed(stage, approve=approve, diverge=diverge)
        return _judged(stage, trial, sink, reference, serve=serve)


def wanted_of(python: str | None, only: Sequence[str] = (), limit: int = 0) -> frozenset[Effect]:
    """Judge an environment without an agent: (dist, rule) of every problem. Raises TooFewProblems."""
    return surveyed(python, only, limit)[0]


def surveyed(
    python: str | None, only: Sequence[str] = (), limit: int = 0
) -> tuple[frozenset[Effect], tuple[str, ...]]:
    """Judge an environment: ((dist, rule) of every problem, distributions without one). Raises TooFewProblems."""
    dists = distributions_of(python, only=only, limit=limit)
    judged = {dist.name: judge(shown_by(dist)).problems for dist in dists}
    found = frozenset((name, problem.rule) for name, problems in judged.items() for problem in problems)
    if len(found) < FEWEST:
        raise TooFewProblems(len(found), len(dists), FEWEST)
    return found, tuple(name for name, problems in judged.items() if not problems)


def _judged(stage: Stage, trial: Trial, sink: Sink | None, reference: bytes, *, serve: bool) -> DemoResult:
    with Book.open(stage.store) as book:
        standing, alert = book.of(stage.run_id), book.alert(stage.run_id)
    complaints = [*complaints_about(trial.expected, trial.plan), *complaints_about_alert(alert, trial.slip)]
    if trial.killed.exit != -9:
        complaints.append(f"The killed life left exit {trial.killed.exit}, not -9.")
    if standing.verdict != "continue":
        complaints.append(f"After the kill the gate said {standing.verdict or 'nothing'}, not continue.")
    exported = distinct = standing.acknowledged
    if sink is not None:
        received = sink.received(stage.run_id)
        exported, distinct = received.exported, received.distinct
        if received.torn:
            complaints.append(f"{received.torn} checkpoints arrived under more than one span.")
        # Of a collector elsewhere only its acknowledgements are known, and it may be down: no complaint then.
        if distinct != standing.checkpoints:
            complaints.append(f"{distinct} of {standing.checkpoints} checkpoint events arrived.")
    equal = stage.report.read_bytes() == reference if stage.report.exists() else None
    if equal is False:
        complaints.append(f"{stage.report} differs from the report of the run never killed.")
    return DemoResult(
        run_id=stage.run_id,
        checkpoints=standing.checkpoints,
        segments=standing.segments,
        killed_exit=trial.killed.exit,
        duplicated_effects=len(trial.tally.duplicated),
        missing_effects=len(trial.tally.missing),
        events_exported=exported,
        events_distinct=distinct,
        store_bytes=standing.store_bytes,
        verdict=standing.verdict,
        report_equal=equal,
        state=standing.state,
        store=stage.store,
        report=stage.report,
        complaints=tuple(complaints),
        alert=alert,
        next_lines=next_lines(
            stage, waits=standing.state != "done", serve=serve, diverged=trial.slip is not None
        ),
    )


def next_lines(stage: Stage, *, waits: bool, serve: bool, diverged: bool = False) -> tuple[str, ...]:
    """Return commands, ready to be pasted, that answer the run's question, end it, and show it."""
    home = "" if stage.home == HOME.absolute() else f"WAYPOST_HOME={shlex.quote(str(stage.home))} "
    beside = Path(sys.executable).with_name("waypost")
    command = home + ("waypost" if shutil.which("waypost") else shlex.quote(str(beside)))
    answer = (f"{command} approve {stage.run_id}", f"{command} resume {stage.run_id}") if waits else ()
    if diverged:
        answer = (f"{command} divergence {stage.run_id}", *answer)
    return answer if serve else (*answer, f"{command} inspect")


@contextmanager
def _receiver() -> Iterator[Sink | None]:
    """Where checkpoint events go: to the collector the environment names, else to a sink of ours."""
    if any(os.environ.get(name) for name in _ENDPOINTS):
        yield None
        return
    told = {"event": names.EVENT_CHECKPOINT, "run_attribute": names.RUN_ID}
    with Sink(**told, checkpoint_attribute=names.CHECKPOINT_ID) as sink:
        yield sink


def _silent(_: str) -> None:
    """Say nothing."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one demo; progress on standard error, one line of JSON on standard output.

    Returns 0 when everything held, 1 when something did not, 2 when it could not be shown.
    """
    parser = argparse.ArgumentParser(prog="licence_audit", description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--seed", type=int, default=1, help="decides kill point, lost answers and wording")
    add("--approve", action="store_true", help="answer the question instead of leaving it open")
    add(
        "--diverge",
        action="store_true",
        help="let the resumed agent open a ticket for the wrong distribution",
    )
    add("--python", help="interpreter whose distributions are audited")
    add("--home", type=Path, help="folder of the store (default: WAYPOST_HOME or .waypost)")
    add("--only", action="append", default=[], help="audit this distribution; may be repeated")
    add("--limit", type=int, default=0, help="audit the first so many distributions")
    options = parser.parse_args(argv)
    try:
        result = run_demo(**vars(options), say=_to_people)
    except AuditError as error:
        _to_people(str(error))
        return 2
    for line in (*result.complaints, *result.next_lines):
        _to_people(line)
    sys.stdout.write(result.to_json() + "\n")
    return 0 if result.ok else 1


def _to_people(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
