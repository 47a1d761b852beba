"""Case 34, the whole house: thirty kinds of canaries go in everywhere, and come out nowhere but into the agent."""

from __future__ import annotations

import sqlite3
from base64 import b64encode
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from pydantic import Field

from tests.cases.inputs.case_34_kinds import HIDDEN_PARTS, IN_TEXT, KINDS, NAMED
from tracer import KEY, Evidence, Paused, Run, State, agent, configure, write
from tracer import read as reads
from tracer.approvals import decide
from tracer.cli import waypost
from tracer.contract import DecisionKind
from tracer.recorder import recorder, reset
from tracer.store import objects, read
from tracer.telemetry.owed import Source

TEXTS = {**KINDS, **IN_TEXT}
CANARIES = [
    *(value.split("\n")[1] if "\n" in value else value for value in KINDS.values()),
    *NAMED.values(),
    *HIDDEN_PARTS,
]
NOBODY = "http://127.0.0.1:9"


class Vaulted(State, version=1):
    todo: list[str]
    known: dict[str, Any] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)


class Refused(Exception):
    """A provider's answer that quotes what it was sent."""


saw: list[Any] = []


@reads
def look(text: str, headers: dict[str, str]) -> dict[str, Any]:
    saw.append((text, headers))
    return {"echo": text, "headers": headers}


@write(key_param="key", identity=("text",), failed_on=(Refused,))
def send(text: str, *, key: str = KEY) -> str:
    raise Refused(f"401 for {text}")


@agent("vaulted", plan="1", objective="Let nothing out")
def vaulted(run: Run, state: Vaulted) -> Vaulted:
    for kind in run.each(state.todo, step=lambda kind: f"with {TEXTS[kind]}"):
        text = f"{kind}: {TEXTS[kind]} and more"
        state.known[kind] = look(text, dict(NAMED))
        run.evidence(Evidence(f"https://example.org/{TEXTS[kind]}", version=TEXTS[kind]))
        try:
            send(text)
        except Refused as refused:
            state.notes.append(str(refused))
    run.ask(
        f"May it use {TEXTS['openai']}?", detail={"password": NAMED["password"], "all": list(TEXTS.values())}
    )
    return state


@pytest.fixture
def paused(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that met every canary in every place and waits for a person; the WAL is still there."""
    saw.clear()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", NOBODY)
    reset()
    configure(home=str(home))
    start = Vaulted(todo=list(TEXTS), known={"given": dict(NAMED)}, notes=list(TEXTS.values()))
    with pytest.raises(Paused) as stopped:
        vaulted.start_or_resume("v1", start, labels={"why": f"a test with {TEXTS['github']}"})
    nothing_in(str(stopped.value).encode(), "the pause")
    return home


def forms(canary: str) -> list[bytes]:
    """The bytes under which a canary could hide."""
    raw = canary.encode()
    shifted = [b64encode(b"x" * shift + raw)[4 if shift else 0 : -4] for shift in range(3)]
    return [raw, quote(canary, safe="").encode(), raw.hex().encode(), *shifted]


FORMS = [(canary, form) for canary in CANARIES for form in forms(canary)]


def nothing_in(data: bytes, where: str) -> None:
    assert [(where, canary) for canary, form in FORMS if form in data] == []


def test_thirty_kinds_are_tried() -> None:
    assert len(CANARIES) == 30
    with pytest.raises(AssertionError):
        nothing_in(b"..." + CANARIES[0].encode(), "a control")


def test_no_canary_is_in_the_database_its_wal_or_the_blobs(paused: Path) -> None:
    for path in [path for path in paused.rglob("*") if path.is_file() and path.name != "key"]:
        nothing_in(path.read_bytes(), path.name)
    connection = sqlite3.connect(paused / "waypost.db")
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    rows = 0
    for name in names:
        for row in connection.execute(f"SELECT * FROM {name}"):
            rows += 1
            for value in row:
                if isinstance(value, str):
                    nothing_in(value.encode(), name)
                elif isinstance(value, bytes):
                    nothing_in(value, name)
                    nothing_in(_opened(value), name)
    connection.close()
    assert rows > 100


def _opened(value: bytes) -> bytes:
    try:
        return objects.unpack(value, "a row")
    except Exception:
        return b""


def test_no_canary_is_in_a_span(paused: Path) -> None:
    held = recorder()
    with held.store.reader.connect() as connection:
        owed = read.count_pending(connection)
    batch = Source(held.store, mask_key=lambda: held.keys.fingerprint).batch(10_000)
    assert len(batch.owed) >= owed > 40
    assert batch.broken == []
    for one in batch.owed:
        nothing_in(encode_spans([one.span]).SerializeToString(), one.span.name)


def test_no_canary_is_said_by_the_command_line(paused: Path) -> None:
    for line in (
        ["runs"],
        ["show", "v1"],
        ["why", "v1"],
        ["cat", "v1@3"],
        ["preflight", "v1"],
        ["verify", "v1"],
    ):
        for how in ([], ["--json"]):
            said = CliRunner().invoke(waypost, [*line, *how], prog_name="waypost")
            nothing_in(said.output.encode(), " ".join(line))
            assert "v1" in said.output, (line, said.output)


def test_no_canary_is_on_a_page(paused: Path) -> None:
    from inspector.app import Config, create_app
    from tracer.config import Settings

    reset()
    app = create_app(Config(Settings(home=str(paused)), port=4700))
    person = app.test_client()
    with person.session_transaction(base_url="http://127.0.0.1:4700") as session:
        session["who"] = "maya"
    pages = [
        "/",
        "/inbox",
        "/runs/v1",
        "/runs/v1/c/3",
        "/runs/v1/state/3",
        "/runs/v1/diff/2...3",
        "/runs/v1/calls",
    ]
    pages += ["/runs/v1/calls/1", "/runs/v1/calls/2", "/runs/v1/resumes"]
    for page in pages:
        shown = person.get(page, headers={"Host": "127.0.0.1:4700"})
        assert shown.status_code == 200, page
        nothing_in(shown.data, page)
    app.extensions["waypost"].close()


def test_the_resumed_agent_has_every_value_exactly(paused: Path) -> None:
    before = list(saw)
    with recorder().store.reader.connect() as connection:
        (question,) = read.approvals(connection, run_id="v1")
    decide(recorder().journal, question.approval_id, DecisionKind.APPROVE, who="kim")
    reset()
    configure(home=str(paused))
    state = vaulted.start_or_resume("v1")
    assert saw == before, "no call was made again"
    assert state.known["given"] == NAMED
    for kind, value in TEXTS.items():
        text = f"{kind}: {value} and more"
        assert state.known[kind] == {"echo": text, "headers": NAMED}
        assert f"401 for {text}" in list(state.notes)
    assert list(state.notes)[: len(TEXTS)] == list(TEXTS.values())


def test_turning_it_off_is_written_in_the_journal(home: Path) -> None:
    configure(seal=False)
    with pytest.raises(Paused):
        vaulted.start_or_resume("v2", Vaulted(todo=[]))
    with recorder().store.reader.connect() as connection:
        ((_, body),) = read.entries_with_bodies(connection, "v2", kinds=("start",))
    assert objects.unpack_record(body, "start")["sealing"] is False
