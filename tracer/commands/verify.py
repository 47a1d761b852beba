"""Is what is stored what was written?"""

from __future__ import annotations

from collections.abc import Iterator

import click

from ..errors import StoreError
from ..quantities import counted
from ..recorder import Recorder
from ..refs import MAIN, parse_run
from ..store import read
from ..store.engine import translated
from ..verify import Progress, Report, signed_as, verify
from .exits import Exit
from .opened import Reading, recording
from .output import cell, emit, json_option, note, paragraph, progress, say, table, word

PAGE = 500


@click.command(name="verify", short_help="is what is stored what was written")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@json_option
@click.pass_context
def command(ctx: click.Context, runs: tuple[str, ...], as_json: bool) -> None:
    """Check the chain of every RUN, and every object that its checkpoints reach; all runs when none is named.

    Exit 0 when all is sound, 1 when there is damage. Without WAYPOST_CHAIN_KEY the chain shows damage, not forgery.
    """
    named = [parse_run(run) for run in dict.fromkeys(runs)]
    reports: list[Report] = []
    with recording() as recorder:
        wanted = [(run, MAIN) for run in named] or list(_all(recorder))
        reading = Reading(recorder.settings, recorder.store)
        with reading.connect() as connection:
            for run_id, branch in wanted if named else ():
                reading.run(connection, run_id, branch)
        one = len(wanted) == 1
        with progress("checkpoints verified" if one else "runs verified") as step:
            for number, (run_id, branch) in enumerate(wanted, 1):
                reports.append(_checked(recorder, run_id, branch, step if one else None))
                if not one:
                    step(number, len(wanted))
    sound = all(report.sound for report in reports)
    if as_json:
        emit({"sound": sound, "runs": [_shape(report) for report in reports]})
    elif not reports:
        note("This store holds no run yet.")
    else:
        _tell(reports)
    ctx.exit(Exit.OK if sound else Exit.NO)


def _all(recorder: Recorder) -> Iterator[tuple[str, str]]:
    before: tuple[int, str] | None = None
    while True:
        with translated(recorder.store.url), recorder.store.reader.connect() as connection:
            rows = read.runs(connection, before=before, limit=PAGE)
        yield from ((row.run_id, row.branch) for row in rows)
        if len(rows) < PAGE:
            return
        before = rows[-1].created_at, rows[-1].run_id


def _checked(recorder: Recorder, run_id: str, branch: str, step: Progress | None) -> Report:
    try:
        with translated(recorder.store.url):
            return verify(recorder, run_id, branch, step)
    except StoreError as error:
        # A lock or a full disk says nothing about the run; a page that the database cannot read does.
        if type(error) is not StoreError:
            raise
        return Report(run_id, branch, 0, 0, signed_as(recorder, run_id).signed, (str(error),))


def _tell(reports: list[Report]) -> None:
    made = table("run", "verdict", "entries", "objects", right=("entries", "objects"))
    for report in reports:
        made.add_row(
            cell(report.run_id),
            word("ok" if report.sound else "fail"),
            f"{report.entries:,}",
            f"{report.objects:,}",
        )
    say(made)
    for report in reports:
        for problem in report.problems:
            say(paragraph(f"{report.run_id}: {problem}"))
    bad = sum(not report.sound for report in reports)
    signed = "under a key" if reports[0].signed else "unsigned: this shows damage, not forgery"
    note(f"{counted(len(reports), 'run')} verified, {bad or 'none'} damaged; {signed}.")


def _shape(report: Report) -> dict[str, object]:
    return {
        "run_id": report.run_id,
        "branch": report.branch,
        "sound": report.sound,
        "entries": report.entries,
        "objects": report.objects,
        "signed": report.signed,
        "problems": list(report.problems),
    }
