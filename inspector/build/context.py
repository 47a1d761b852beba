"""What does every page need besides its own rows?"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from sqlalchemy import Connection

from inspector import words
from inspector.pages.shared import Link, Live, Pill, Shell
from inspector.source import Source
from tracer import approvals
from tracer.errors import UnknownRun
from tracer.store import read
from tracer.store.rows import ApprovalRow, RunRow

FORWARD = (("j k", "move"), ("Enter", "open"), ("/", "filter"))
RUN_KEYS = (("j k", "checkpoint"), ("J K", "next change"), ("d", "diff"), ("[ ]", "fold"))


@dataclass(frozen=True, slots=True)
class Context:
    """One request: where the rows come from, who asks, and when."""

    source: Source
    connection: Connection
    user: str
    now_ns: int

    def shell(
        self,
        title: str,
        *,
        section: str = "runs",
        crumbs: tuple[Link, ...] = (),
        keys: tuple[tuple[str, str], ...] = (),
        count: str = "",
        live: Live | None = None,
        figure: bool = False,
    ) -> Shell:
        """What surrounds a page."""
        return Shell(
            title=title,
            section=section,
            user=self.user,
            store=self.source.name,
            waiting=len(self.pending()),
            alerts=read.count_alerts(self.connection, state="open"),
            crumbs=crumbs,
            keys=keys,
            count=count,
            live=live,
            figure=figure,
        )

    def pending(self) -> list[ApprovalRow]:
        """Questions that still wait, those past their deadline left out."""
        rows = read.approvals(self.connection, states=(approvals.PENDING,))
        return [row for row in rows if approvals.effective(row, self.now_ns) == approvals.PENDING]

    def run(self, run_id: str, branch: str) -> RunRow:
        """One branch of a run; UnknownRun when there is none."""
        row = read.run_by_id(self.connection, run_id, branch)
        if row is None:
            name = run_id if branch == read.MAIN else f"{run_id}, branch {branch}"
            raise UnknownRun(name, self.source.name)
        return row

    def shown_state(self, row: RunRow) -> str:
        """The state under which a run is shown."""
        return words.run_state(self.source.standing(row), row.reason)

    def state_pill(self, row: RunRow, extra: str = "") -> Pill:
        """The pill of a run."""
        state = self.shown_state(row)
        pill = words.pill(state)
        return words.pill(state, f"{pill.word} {extra}".strip())


def title_of(row: RunRow) -> str:
    """The objective of a run; its id where none was declared."""
    return row.objective or row.run_id


def run_href(run_id: str, branch: str = read.MAIN, tail: str = "", **query: str | int) -> str:
    """The address of a run, or of something below it."""
    values = {name: str(value) for name, value in query.items() if value not in ("", 0)}
    if branch != read.MAIN:
        values = {"branch": branch, **values}
    asked = "&".join(f"{name}={quote(value, safe=':,')}" for name, value in values.items())
    return f"/runs/{quote(run_id)}{tail}" + (f"?{asked}" if asked else "")


def ref_of(branch: str, sequence: int) -> str:
    """How an address names a checkpoint: `17`, or `b2:17`."""
    return str(sequence) if branch == read.MAIN else f"{branch}:{sequence}"


def parse_ref(ref: str) -> tuple[str, int]:
    """The inverse of `ref_of`."""
    branch, _, number = ref.rpartition(":")
    return branch or read.MAIN, int(number)


def crumbs(row: RunRow, *here: str) -> tuple[Link, ...]:
    """The way to a page of a run."""
    top = (
        Link("Runs", "/"),
        Link(row.agent, f"/?q=agent:{quote(row.agent)}"),
    )
    run = Link(row.run_id, run_href(row.run_id, row.branch) if here else "")
    return (*top, run, *(Link(word, "") for word in here))
