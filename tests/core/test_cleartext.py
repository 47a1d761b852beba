"""Is a secret that stands in a text which everybody reads written down anywhere?"""

from __future__ import annotations

import sqlite3
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from tests.cases.lives import KILLED, die, lives
from tracer import Evidence, Paused, Run, State, agent, configure, write
from tracer import read as reads
from tracer._resume import preflight
from tracer.approvals import decide
from tracer.cleartext import Shown
from tracer.contract import CallState, DecisionKind, Ruling
from tracer.errors import ResumeRefused
from tracer.reconcile import settle
from tracer.recorder import recorder, reset
from tracer.store import objects, read
from tracer.telemetry.owed import Source

numbers = count(10)
planted: dict[str, str] = {}
CARD = "4111 1111 1111 1111"


def canary(place: str) -> str:
    """The secret of *place*, the same in every process."""
    if place not in planted:
        planted[place] = f"sk-ant-api03-{'Qz7' * 29}{next(numbers)}AA"
    return planted[place]


for place in ("objective", "label", "label name", "target", "call key", "reconciled", "read error"):
    canary(place)


class Full(State, version=1):
    items: list[str]
    got: str = ""


class Broken(Exception):
    """A service that quotes what it was sent."""


@write(identity=("x",))
def effect(x: str, y: int = 0) -> str:
    raise Broken(f"effect {canary('write error')}")


@reads
def look(x: str) -> str:
    raise Broken(f"look {canary('read error')}")


@write
def numbered(x: int) -> str:
    with open("effects", "a") as file:
        file.write(f"{x}\n")
    return CARD


@agent(
    "full",
    plan="3",
    objective=f"obj {canary('objective')}",
    grants=[f"grant {canary('grant')}"],
    policy_bundle=f"bundle {canary('policy bundle')}",
    model=f"model {canary('model')}",
)
def full(run: Run, state: Full) -> Full:
    for _ in run.each(state.items, step=lambda item: f"each {canary('each step')}"):
        pass
    if not run.resumed:
        run.checkpoint(f"step {canary('step')}")
    source, version = f"https://example.org/?k={canary('evidence')}", canary("evidence version")
    run.evidence(Evidence(source, version=version))
    for tool in (look, effect):
        with suppress(Broken):
            tool(f"target {canary('target')}")
    if not run.resumed:
        run.pause(f"reason {canary('pause')}")
    run.ask(f"prompt {canary('prompt')}", detail={"d": canary("detail"), canary("detail key"): 1})
    raise Broken(f"body {canary('body error')}")


@agent("keyed", objective=f"obj {canary('objective')}")
def keyed(run: Run, state: Full) -> Full:
    tool: Any = numbered
    state.got = tool(1, call_key=f"key {canary('call key')}")
    if not run.resumed:
        die()
    return state


@pytest.fixture
def everywhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that met a secret in every text it can word, and was resumed, decided upon and ended."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    reset()
    configure(home=str(home), principal=f"who {canary('principal')}", environment=f"env {canary('env')}")
    who, why = f"who {canary('who')}", f"why {canary('why')}"
    with pytest.raises(Paused):
        full.start_or_resume(
            "r1",
            Full(items=["a"]),
            labels={"owner": f"label {canary('label')}", f"name {canary('label name')}": "x"},
        )
    with pytest.raises(ResumeRefused):  # the write that raised has no outcome
        full.start_or_resume("r1", who=who, why=why)
    with recorder().store.reader.connect() as connection:
        (lost,) = read.calls(connection, "r1", states=(CallState.UNKNOWN,))
    settle(recorder(), "r1", lost.effect_id, canary("reconciled"), who=f"s {canary('settler')}", why=why)
    with pytest.raises(Paused):
        full.start_or_resume("r1", who=who, why=why)
    with recorder().store.reader.connect() as connection:
        (question,) = [one for one in read.approvals(connection, run_id="r1") if one.kind == "ask"]
    said = f"because {canary('decision')}"
    decide(
        recorder().journal, question.approval_id, DecisionKind.APPROVE, who=f"p {canary('person')}", why=said
    )
    with pytest.raises(Broken):
        full.start_or_resume("r1", who=who, why=why)
    return home


def forms(secret: str) -> Iterator[bytes]:
    """The bytes under which a secret could hide."""
    raw = secret.encode()
    yield raw
    yield quote(secret, safe="").encode()
    yield raw.hex().encode()
    for shift in range(3):
        yield b64encode(b"x" * shift + raw)[4 if shift else 0 : -4]


def leaks(data: bytes) -> set[str]:
    return {place for place, secret in planted.items() for form in forms(secret) if form in data}


def opened(value: bytes) -> bytes:
    try:
        return objects.unpack(value, "a row")
    except Exception:
        return b""


def test_no_byte_of_the_home_folder_holds_one(everywhere: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert len(planted) >= 26
    assert leaks(canary("who").encode()) == {"who"}
    files = [path for path in everywhere.rglob("*") if path.is_file() and path.name != "key"]
    assert any(path.name.endswith("-wal") and path.stat().st_size for path in files)
    for path in files:
        assert leaks(path.read_bytes()) == set(), path.name
    with sqlite3.connect(everywhere / "waypost.db") as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in connection.execute(f"SELECT * FROM {name}"):
                for value in row:
                    data = value.encode() if isinstance(value, str) else value
                    if isinstance(data, bytes):
                        assert leaks(data) | leaks(opened(data)) == set(), name
    connection.close()
    out, err = capfd.readouterr()
    assert leaks((out + err).encode()) == set()


def test_no_span_holds_one(everywhere: Path) -> None:
    held = recorder()
    batch = Source(held.store, mask_key=held.mask_key).batch(10_000)
    assert len(batch.owed) > 10
    assert batch.broken == []
    for one in batch.owed:
        assert leaks(encode_spans([one.span]).SerializeToString()) == set(), one.span.name


def test_a_masked_plan_and_identity_are_recognised_by_the_next_process(everywhere: Path) -> None:
    reset()
    configure(
        home=str(everywhere), principal=f"who {canary('principal')}", environment=f"env {canary('env')}"
    )
    findings = preflight(recorder(), full.spec, "r1").verdict.findings
    assert [finding.what for finding in findings if finding.ruling is Ruling.REAPPROVE] == []


def test_a_call_key_with_a_secret_is_recognised_by_the_next_process(home: Path) -> None:
    assert lives(lambda: keyed.start_or_resume("k1", Full(items=[]))) == KILLED
    state = keyed.start_or_resume("k1")
    assert Path("effects").read_text() == "1\n"
    assert state.got == CARD, "what only looks like the number of a card is no less exact"


@given(st.text(max_size=80))
def test_masking_twice_changes_nothing_more(text: str) -> None:
    shown = Shown(lambda: b"k" * 32)
    once = shown(f"{text} {canary('step')} token={text}")
    assert shown(once) == once
    assert canary("step") not in once
