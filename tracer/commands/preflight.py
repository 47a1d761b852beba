"""What would the gate say of a resume now?"""

from __future__ import annotations

import click
from rich.text import Text

from .. import _resume
from ..contract import Finding
from ..entrypoint import find_agent
from ..errors import UnknownRun
from ..hold import find
from ..refs import parse_run
from . import shapes
from .exits import Exit
from .opened import program, recording, where
from .output import cell, clean, emit, json_option, say, say_lines, table, word


@click.command(name="preflight", short_help="what the gate would say now")
@click.argument("run")
@click.option(
    "--agent", default="", metavar="MODULE:NAME", help="The agent; as the run recorded it when left out."
)
@json_option
@click.pass_context
def command(ctx: click.Context, run: str, agent: str, as_json: bool) -> None:
    """Show what the gate would say of a resume of RUN now. Nothing is written, no service is asked.

    Exit 0 when the run may go on, 3 when the gate would refuse.
    """
    run_id = parse_run(run)
    with recording() as recorder:
        row = find(recorder, run_id)
        if row is None:
            raise UnknownRun(run_id, where(recorder.store))
        spec = find_agent(agent or row.entrypoint).spec
        found = _resume.preflight(recorder, spec, run_id)
    said = found.verdict
    if as_json:
        emit({"run_id": run_id, "from_sequence": row.head_sequence, **shapes.verdict(said)})
    else:
        made = table("clause", "ruling", "what was found")
        for finding in said.findings:
            told = cell(finding.what)
            if finding.waived_by:
                told.append(f" Waived by {clean(finding.waived_by)}.")
            made.add_row(cell(finding.clause), word(str(finding.ruling)), told)
        end = Text(f"\nA resume from {run_id}@{row.head_sequence} would: ")
        say(made, end.append_text(word(str(said.ruling))))
        say_lines(Text(f"→ {finding.clause}: {clean(remedy(finding, run_id))}") for finding in said.stops)
    ctx.exit(Exit.OK if said.admits else Exit.REFUSED)


def remedy(finding: Finding, run_id: str) -> str:
    """A finding's remedy with the run filled in, so that its lines can be typed."""
    return finding.remedy.replace("waypost approve RUN", f"{program()} approve {run_id}")
