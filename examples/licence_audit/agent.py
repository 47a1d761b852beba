"""What does an agent look like that audits licences and must neither forget nor repeat a ticket?

A plain-Python agent: what is in the state is the position. It lists the distributions, reads each one's
evidence, opens a ticket for every problem, asks a person, and publishes a report.
"""

# ruff: noqa: RUF012 - a State copies its defaults, as every pydantic model does

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from examples.licence_audit import report
from examples.licence_audit.astray import subject
from examples.licence_audit.errors import AnswerLost, TicketRefused
from examples.licence_audit.evidence import shown_by
from examples.licence_audit.inventory import Distribution, distributions_of
from examples.licence_audit.licence import RULEBOOK, RULES, judge
from examples.licence_audit.tickets import open_at
from examples.licence_audit.wording import worded
from tracer import KEY, NOT_FOUND, Evidence, ResumePolicy, Ruling, Run, State, agent, read, write
from tracer.toolspec import NotFound

TICKETS = "LICENCE_AUDIT_TICKETS"
"""Environment variable: address of the ticket service. Not in the state: it may change over a resume."""
TRIES = 6
"""How often a ticket is asked for in one life when answers get lost."""


class Installed(TypedDict):
    """A distribution still to be audited."""

    name: str
    version: str
    where: str


class Found(TypedDict):
    """A problem, with the number of its ticket."""

    dist: str
    rule: str
    detail: str
    ticket: int


class Audited(TypedDict):
    """A distribution that was audited: what the report says of it."""

    dist: str
    version: str
    category: str
    decided_by: str
    families: list[str]
    digests: list[list[str]]


class Said(TypedDict):
    """One message of the agent, as a model's turn would be."""

    role: str
    content: str


class Audit(State, version=1):
    """Input, position and findings of one audit."""

    report: str
    """Absolute path of the report."""
    python: str = ""
    """Interpreter whose distributions are audited; empty: the one that runs the agent."""
    only: list[str] = []
    """Names to keep; empty: all."""
    limit: int = 0
    """How many distributions at most; 0: all."""
    seed: int = 0
    """Decides the wording, as a model's temperature would."""
    listed: bool = False
    todo: list[Installed] = []
    audited: list[Audited] = []
    findings: list[Found] = []
    tickets: dict[str, int] = {}
    """`dist rule` → number."""
    messages: list[Said] = []
    scratch: dict[str, int] = {}
    """Distributions by category, so far."""
    published: str = ""
    """SHA-256 of the report, once it is out; stays empty when a person said no."""


@read
def inventory(python: str, only: list[str], limit: int) -> list[Installed]:
    """List the distributions an interpreter sees."""
    dists = distributions_of(python or None, only=only, limit=limit)
    return [Installed(name=dist.name, version=dist.version, where=dist.where) for dist in dists]


@read
def examine(name: str, version: str, where: str) -> dict[str, Any]:
    """Read what one distribution shows about its licence, and judge it."""
    shown = shown_by(Distribution(name, version, where))
    judgement = judge(shown)
    return {
        "category": judgement.category.value,
        "decided_by": judgement.decided_by,
        "families": list(judgement.families),
        "problems": [[problem.rule, problem.detail] for problem in judgement.problems],
        "records": [asdict(record) for record in shown.records],
    }


@write(key_param="idempotency_key", identity=("dist", "rule"), failed_on=(TicketRefused,))
def open_ticket(dist: str, rule: str, text: str, *, idempotency_key: str = KEY) -> int:
    """Open a ticket for a problem; return its number."""
    return open_at(os.environ.get(TICKETS, ""), dist, rule, text, idempotency_key).number


def already_published(path: str, body: str) -> str | NotFound:
    """Look whether the report at *path* is the one that was to be published."""
    there = report.published(Path(path))
    return there if there == report.digest(body) else NOT_FOUND


@write(identity=("path",), reconcile=already_published)
def publish_report(path: str, body: str) -> str:
    """Put the report in place; return its SHA-256."""
    return report.publish(Path(path), body)


@agent(
    "licence-audit",
    plan="3",
    objective="Every licence problem of an environment has a ticket, once, and the report says which",
    grants=["inventory", "examine", "open_ticket", "publish_report"],
    policy=ResumePolicy(evidence=Ruling.REAPPROVE, evidence_gone=Ruling.ABORT),
    policy_bundle=RULEBOOK,
)
def audit(run: Run, state: Audit) -> Audit:
    """Audit an environment."""
    if not state.listed:
        state.todo.extend(inventory(state.python, list(state.only), state.limit))
        state.listed = True
        run.checkpoint("inventory")
    for dist in run.each(state.todo, step=lambda one: one["name"]):
        examined = examine(**dist)
        for record in examined["records"]:
            _show(run, dist, record)
        for rule, detail in examined["problems"]:
            texts = wordings(run, state.seed, dist, rule, detail)
            number = insistently(open_ticket, subject(dist["name"]), rule, texts)
            state.findings.append(Found(dist=dist["name"], rule=rule, detail=detail, ticket=number))
            state.tickets[f"{dist['name']} {rule}"] = number
        _note(state, dist, examined)
    if run.ask("publish the report?", detail=_summary(state)):
        state.published = publish_report(state.report, rendered(state))
    return state


def wordings(run: Run, seed: int, dist: Installed, rule: str, detail: str) -> list[str]:
    """Describe a problem for each try to come.

    Counted from the number of this process life, so that a repeat after a resume, too, comes in other words
    than the call it repeats.
    """
    name, version, means = dist["name"], dist["version"], RULES[rule]
    return [
        worded(name, version, rule, means, detail, seed=seed, attempt=run.segment + nth)
        for nth in range(TRIES)
    ]


def insistently(ask: Callable[..., int], dist: str, rule: str, texts: list[str]) -> int:
    """Ask for a ticket with one text after the other until an answer comes. Raises AnswerLost when none does."""
    lost: AnswerLost | None = None
    for text in texts:
        try:
            return ask(dist, rule, text)
        except AnswerLost as error:
            # Nobody knows whether there is a ticket. Asking again is safe: the ledger knows the effect by
            # (dist, rule) and hands over the stored key, whatever the words.
            lost = error
    assert lost is not None
    raise lost


def rendered(state: Audit) -> str:
    """Return the report of what *state* holds."""
    lines = [
        report.Line(
            dist=one["dist"],
            version=one["version"],
            category=one["category"],
            decided_by=one["decided_by"],
            families=tuple(one["families"]),
            digests=tuple((path, digest) for path, digest in one["digests"]),
        )
        for one in state.audited
    ]
    return report.rendered(state.report, lines, [report.Ticketed(**found) for found in state.findings])


def _show(run: Run, dist: Installed, record: dict[str, Any]) -> None:
    run.evidence(
        Evidence(
            source=str(Path(dist["where"]).parent / record["path"]),
            version=record["version"],
            digest=f"sha256:{record['sha256']}",
        )
    )


def _note(state: Audit, dist: Installed, examined: dict[str, Any]) -> None:
    category, problems = examined["category"], [rule for rule, _ in examined["problems"]]
    state.audited.append(
        Audited(
            dist=dist["name"],
            version=dist["version"],
            category=category,
            decided_by=examined["decided_by"],
            families=examined["families"],
            digests=[[record["path"], record["sha256"]] for record in examined["records"]],
        )
    )
    state.scratch[category] = state.scratch.get(category, 0) + 1
    said = f"{dist['name']} {dist['version']}: {category}; {', '.join(problems) or 'no problem'}."
    state.messages.append(Said(role="assistant", content=said))


def _summary(state: Audit) -> dict[str, Any]:
    return {"distributions": len(state.audited), "problems": len(state.findings), "path": state.report}
