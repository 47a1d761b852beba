"""How does a person at this machine answer a run?"""

from __future__ import annotations

import getpass
import json
import os
import time
from typing import Any, Final

import click
from rich.text import Text

from .. import alerts, approvals, reconcile
from ..contract import Clause, DecisionKind
from ..errors import ConfigError, UnknownRun
from ..hold import find
from ..quantities import counted
from ..recorder import Recorder
from ..refs import parse_run
from ..store import read
from ..store.rows import ApprovalRow
from ..toolspec import NOT_FOUND
from . import shapes
from .opened import program, recording, where
from .output import cell, emit, json_option, say, say_lines, type_line

HOW: Final = "local, unauthenticated"
"""How whoever types here was authenticated, as the journal keeps it."""
ASKED: Final = ("ask", "tool", alerts.QUESTION)
"""Kinds of questions that are answered with yes or no."""


def _clause(_ctx: click.Context, _param: click.Parameter, value: str | None) -> Clause | None:
    if value is None:
        return None
    name = value.lower().replace("-", " ").replace("_", " ")
    if name not in list(Clause):
        raise click.BadParameter(f"{value!r} is no clause. They are: {', '.join(Clause)}.")
    return Clause(name)


def _result(_ctx: click.Context, _param: click.Parameter, value: str | None) -> Any:
    if value is None:
        return NOT_FOUND
    try:
        return json.loads(value)
    except json.JSONDecodeError as error:
        raise click.BadParameter(
            f"the result is not JSON at character {error.pos + 1}: {error.msg}. Write what the tool would have "
            "returned, such as 4711, '\"T-4711\"' or null."
        ) from None


@click.command(name="approve", short_help="answer a run, waive a finding, settle a call")
@click.argument("run")
@click.option("--approval", metavar="ID", help="Answer this question; the first digits of its id are enough.")
@click.option(
    "--waive",
    metavar="CLAUSE",
    callback=_clause,
    help="Accept what the gate found on a clause, for this run.",
)
@click.option("--effect", metavar="ID", help="Say what became of a call that has no outcome.")
@click.option(
    "--happened",
    "result",
    metavar="RESULT_JSON",
    callback=_result,
    help="With --effect: it happened, and returned this.",
)
@click.option("--did-not-happen", "not_happened", is_flag=True, help="With --effect: it did not happen.")
@click.option("--deny", is_flag=True, help="Say no instead of yes.")
@click.option("--why", default="", metavar="TEXT", help="Why; kept in the journal and told to the agent.")
@json_option
def command(
    run: str,
    approval: str | None,
    waive: Clause | None,
    effect: str | None,
    result: Any,
    not_happened: bool,
    deny: bool,
    why: str,
    as_json: bool,
) -> None:
    """Answer a question of RUN, waive a finding of the gate, or settle a call.

    With no option the one open question of the agent is answered. Who decides is the system's user, recorded as
    `local, unauthenticated`; the run goes on with the next `waypost resume`.
    """
    _check(approval, waive, effect, result, not_happened, deny)
    run_id = parse_run(run)
    answered: list[ApprovalRow] = []
    settled: reconcile.Settled | None = None
    with recording() as recorder:
        if recorder.store.path is None:
            raise ConfigError(
                f"{where(recorder.store)} is not a local store, and nothing here proves who you are. Decide in a "
                "session of the inspector."
            )
        row = find(recorder, run_id)
        if row is None:
            raise UnknownRun(run_id, where(recorder.store))
        if effect is not None:
            settled = reconcile.settle(recorder, run_id, effect, result, who=_user(), why=why, how=HOW)
        else:
            yes = DecisionKind.APPROVE if waive is None else DecisionKind.WAIVE
            for question in _questions(recorder, run_id, approval, waive):
                if question.kind == alerts.QUESTION:
                    answered.append(
                        alerts.answer(recorder.journal, question, yes=not deny, who=_user(), why=why, how=HOW)
                    )
                    continue
                kind = DecisionKind.DENY if deny else DecisionKind.WAIVE if question.kind == "gate" else yes
                answered.append(
                    approvals.decide(
                        recorder.journal, question.approval_id, kind, who=_user(), why=why, how=HOW
                    )
                )
    _tell(run_id, answered, settled, as_json)


def _check(
    approval: str | None,
    waive: Clause | None,
    effect: str | None,
    result: Any,
    not_happened: bool,
    deny: bool,
) -> None:
    if sum(one is not None for one in (approval, waive, effect)) > 1:
        raise click.UsageError("--approval, --waive and --effect exclude each other.")
    said = (result is not NOT_FOUND) + not_happened
    if effect is not None and said != 1:
        raise click.UsageError("--effect needs one of --happened RESULT_JSON and --did-not-happen.")
    if effect is None and said:
        raise click.UsageError("--happened and --did-not-happen need --effect ID.")
    if effect is not None and deny:
        raise click.UsageError("--deny does not go with --effect; say --did-not-happen.")


def _questions(
    recorder: Recorder, run_id: str, approval: str | None, waive: Clause | None
) -> list[ApprovalRow]:
    with recorder.store.reader.connect() as connection:
        rows = read.approvals(connection, run_id=run_id)
    if approval is not None:
        return [_named(rows, run_id, approval)]
    now = time.time_ns()
    pending = [row for row in rows if approvals.effective(row, now) == approvals.PENDING]
    if waive is not None:
        found = [row for row in pending if row.kind == "gate" and row.subject == waive]
        if not found:
            raise click.UsageError(
                f"The gate has no open finding on {waive} for {run_id}. It asks when a resume is refused: "
                f"`{program()} resume {run_id}`."
            )
        return found
    found = [row for row in pending if row.kind in ASKED]
    if len(found) != 1:
        others = [f"{row.approval_id} ({row.kind}: {row.prompt})" for row in pending]
        which = f" Open are: {'; '.join(others)}." if others else ""
        many = counted(len(found), "question") if found else "no question"
        raise click.UsageError(
            f"The agent of {run_id} asks {many}; name one with --approval, or use --waive or --effect.{which} "
            f"`{program()} why {run_id}` prints the lines."
        )
    return found


def _named(rows: list[ApprovalRow], run_id: str, approval: str) -> ApprovalRow:
    found = [row for row in rows if row.approval_id.startswith(approval)]
    if len(found) != 1:
        raise click.UsageError(
            f"{run_id} has {counted(len(found), 'question')} with an id that begins with {approval!r}. "
            f"`{program()} show {run_id}` lists the open ones."
        )
    if found[0].kind == "effect":
        raise click.UsageError(
            f"{approval} asks whether a call happened. Say `--effect {found[0].subject}` with `--happened RESULT_JSON` "
            "or `--did-not-happen`."
        )
    return found[0]


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


def _tell(run_id: str, answered: list[ApprovalRow], settled: reconcile.Settled | None, as_json: bool) -> None:
    resume = f"{program()} resume {run_id}"
    if as_json:
        emit(
            {
                "run_id": run_id,
                "who": _user(),
                "how": HOW,
                "answered": [shapes.approval(row, row.state) for row in answered],
                "settled": None if settled is None else shapes.call(settled.call),
                "command": resume,
            }
        )
        return
    for row in answered:
        say(Text(f"{row.state}: ", style="bold").append_text(cell(row.prompt)))
    if settled is not None:
        call = settled.call
        say(
            Text(f"{call.state}: ", style="bold").append_text(
                cell(f"{call.tool} {call.target}, as {_user()} says")
            )
        )
    say_lines([type_line(resume, "go on")])
