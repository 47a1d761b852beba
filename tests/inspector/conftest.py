"""What do tests of the inspector look at? A store that the SDK wrote, and an app over it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

import tracer
from inspector.app import Config, create_app
from inspector.security import Launch
from tracer import KEY, Evidence, Paused, Run, State, agent, read, write
from tracer.config import Settings
from tracer.recorder import reset
from tracer.store.engine import Store

HOSTILE = (
    "<script>document.title='taken'</script><b hx-get='/' hx-trigger='load'>x</b> \u202egnp\u202c a\u200bb"
)
PORT = 4700
OURS = {"Host": f"127.0.0.1:{PORT}", "Sec-Fetch-Site": "same-origin", "Origin": f"http://127.0.0.1:{PORT}"}


class Audit(State, version=1):
    """What the agent of these tests knows."""

    todo: list[str]
    tickets: dict[str, int]
    messages: list[dict[str, str]]
    token: str = ""


@read
def read_licence(dist: str) -> str:
    """A read whose answer is hostile."""
    return f"{dist}: {HOSTILE}"


@write(key_param="key", identity=("dist",))
def open_ticket(dist: str, text: str, *, key: str = KEY) -> int:
    """A write with a key."""
    return len(dist)


@agent("licence-audit", plan="3", objective=f"No copyleft {HOSTILE}", grants=["open_ticket"])
def audit(run: Run, state: Audit) -> Audit:
    """Looks, opens tickets, asks."""
    for dist in run.each(state.todo, step=lambda dist: f"check {dist[:1]}"):
        text = read_licence(dist)
        run.evidence(Evidence(f"dist/{dist}", digest=f"sha256:{len(dist):064x}"))
        state.messages.append({"role": "tool", "content": text})
        if len(dist) > 3:
            state.tickets[dist] = open_ticket(dist, f"{dist} {HOSTILE}")
    if not run.ask(f"Publish {HOSTILE}?", detail={"rows": len(state.tickets)}, timeout_s=3600):
        state.messages.append({"role": "assistant", "content": "not published"})
    return state


@pytest.fixture(scope="session")
def paused(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store that holds one paused run; copied, never used itself."""
    folder = tmp_path_factory.mktemp("inspector") / ".waypost"
    reset()
    tracer.configure(home=str(folder))
    secret = "sk-abcdefghijklmnop1234567890"
    state = Audit(todo=["gtk", "hexmap", "qrlib", "sax"], tickets={}, messages=[], token=secret)
    with pytest.raises(Paused):
        audit.start_or_resume("audit-1", state)
    reset()
    return folder


@pytest.fixture
def home(paused: Path, tmp_path: Path) -> Path:
    """A copy of that store of the test's own."""
    return Path(shutil.copytree(paused, tmp_path / ".waypost"))


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """The folder of a store without a run."""
    folder = tmp_path / "empty"
    Store.open(folder / "waypost.db").close()
    return folder


def served(home: Path) -> Iterator[Flask]:
    """The inspector over one store."""
    made = create_app(Config(Settings(home=str(home)), port=PORT, launch=Launch("once")))
    made.config["TESTING"] = True
    yield made
    made.extensions["waypost"].close()


def known(app: Flask) -> FlaskClient:
    """A browser whose session was opened by maya."""
    client = app.test_client()
    with client.session_transaction(base_url=f"http://127.0.0.1:{PORT}") as session:
        session["who"] = "maya"
    return client


@pytest.fixture(scope="session")
def app(paused: Path) -> Iterator[Flask]:
    """The inspector over the paused run, for tests that only look."""
    yield from served(paused)


@pytest.fixture
def own_app(home: Path) -> Iterator[Flask]:
    """The inspector over a store of the test's own."""
    yield from served(home)


@pytest.fixture
def stranger(app: Flask) -> FlaskClient:
    """A browser that was not let in."""
    return app.test_client()


@pytest.fixture
def person(app: Flask) -> FlaskClient:
    """A browser whose session was opened by maya, for tests that only look."""
    return known(app)


@pytest.fixture
def decider(own_app: Flask) -> FlaskClient:
    """The same over a store of the test's own."""
    return known(own_app)


@pytest.fixture
def sql(home: Path) -> Iterator[sqlite3.Connection]:
    """The same store, asked directly."""
    connection = sqlite3.connect(home / "waypost.db")
    yield connection
    connection.close()
