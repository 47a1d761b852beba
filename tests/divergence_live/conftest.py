"""An agent that stops in the middle and can think differently when it goes on, in a store of the test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tracer import KEY, Agent, ResumePolicy, Ruling, Run, State, agent, configure, read, write
from tracer.recorder import Recorder, recorder, reset
from tracer.store import read as questions
from tracer.store.rows import AlertRow

TODO = ("gtk", "hexmap", "mailkit", "qrlib", "sax")


class Stopped(Exception):
    """The process life ends here."""


@dataclass
class Mind:
    """What the agent does next; a test changes it, as a temperature would."""

    stop_at: str = ""
    other: dict[str, str] = field(default_factory=dict)
    """Distribution -> the one for which it opens the ticket instead."""
    extra: str = ""
    """After this one it closes a ticket that nobody spoke of."""
    sent: list[tuple[str, str]] = field(default_factory=list)
    """What really went out."""


MIND = Mind()


class Audit(State, version=1):
    """What is left to do, and what was done."""

    todo: list[str]
    tickets: dict[str, int]


@read
def read_licence(dist: str) -> dict[str, str]:
    """What a distribution says."""
    return {"dist": dist, "licence": "AGPL-3.0-only"}


@write(key_param="key", identity=("dist", "rule"))
def open_ticket(dist: str, rule: str, *, key: str = KEY) -> dict[str, Any]:
    """Open a ticket."""
    MIND.sent.append(("open_ticket", dist))
    return {"number": 880 + len(MIND.sent), "dist": dist}


@write(identity=("number",))
def close_ticket(number: int) -> bool:
    """Close one."""
    MIND.sent.append(("close_ticket", str(number)))
    return True


def body(run: Run, state: Audit) -> Audit:
    """Read each licence, open a ticket for it."""
    for dist in run.each(state.todo):
        read_licence(dist)
        if dist == MIND.stop_at:
            raise Stopped(dist)
        about = MIND.other.get(dist, dist)
        state.tickets[dist] = open_ticket(about, "copyleft")["number"]
        if dist == MIND.extra:
            close_ticket(111)
    return state


def audit(ruling: Ruling = Ruling.CONTINUE, grants: tuple[str, ...] = ()) -> Agent[Audit]:
    """The agent under a policy for alarms."""
    declared = agent(
        "licence-audit",
        plan="3",
        objective="No copyleft",
        policy=ResumePolicy(divergence=ruling),
        grants=grants,
    )
    return declared(body)


Start = Callable[..., Any]


@pytest.fixture
def mind() -> Iterator[Mind]:
    """The agent's mind, fresh."""
    MIND.__init__()  # type: ignore[misc]
    yield MIND
    MIND.__init__()  # type: ignore[misc]


@pytest.fixture
def held(tmp_path: Path, mind: Mind) -> Iterator[Recorder]:
    """The recorder of a store of the test's own."""
    reset()
    configure(home=str(tmp_path / ".waypost"))
    yield recorder()
    reset()


@pytest.fixture
def model(held: Recorder, mind: Mind) -> None:
    """Two earlier runs that did what they should."""
    for name in ("model-1", "model-2"):
        audit().start_or_resume(name, given())
    mind.sent.clear()


def given() -> Audit:
    """The initial state of every run."""
    return Audit(todo=list(TODO), tickets={})


def stopped(at: str = "mailkit", ruling: Ruling = Ruling.CONTINUE, run_id: str = "audit-1") -> Agent[Audit]:
    """A run whose first process life has ended inside one item; its agent."""
    made = audit(ruling)
    MIND.stop_at = at
    with pytest.raises(Stopped):
        made.start_or_resume(run_id, given())
    MIND.stop_at = ""
    return made


def alerts(run_id: str = "audit-1", *states: str) -> list[AlertRow]:
    """The alerts of a run."""
    with recorder().store.reader.connect() as connection:
        return questions.alerts(connection, run_id=run_id, states=states)


def entries(kind: str, run_id: str = "audit-1") -> list[tuple[str, dict[str, Any]]]:
    """(mark, body) of the journal entries of one kind."""
    from tracer.store import objects

    with recorder().store.reader.connect() as connection:
        found = questions.entries_with_bodies(connection, run_id, kinds=(kind,))
    return [(entry.mark, objects.unpack_record(body, "entry")) for entry, body in found]
