"""Does every page show what the store holds, say what it counts, and nothing that acts by itself?"""

from __future__ import annotations

import ast
import json
import re
import sqlite3
from html.parser import HTMLParser
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from jinja2 import nodes
from jinja2.meta import find_undeclared_variables

import tracer
from inspector.app import Config, create_app
from inspector.build.calls import EXAMPLE as EXAMPLE_CALL
from inspector.build.inbox import EXAMPLE as EXAMPLE_ASK
from inspector.build.runs import EXAMPLE as EXAMPLE_RUN
from tests.inspector.conftest import HOSTILE, OURS, PORT
from tracer.config import Settings
from tracer.recorder import reset

PAGES = (
    "/",
    "/?q=state:interupted",
    "/?q=agent:licence-audit+state:awaiting",
    "/?q=nothing",
    "/runs/audit-1",
    "/runs/audit-1?axis=clock&c=2&from=1&to=3",
    "/runs/audit-1/rail?before=3",
    "/runs/audit-1/c/2",
    "/runs/audit-1/c/2?tab=state",
    "/runs/audit-1/c/2?tab=state&path=/messages/0",
    "/runs/audit-1/c/2?tab=calls",
    "/runs/audit-1/c/2?tab=trace",
    "/runs/audit-1/c/2?tab=raw",
    "/runs/audit-1/diff/1...4",
    "/runs/audit-1/diff/1...4?layout=unified&ignore=timestamps,ids",
    "/runs/audit-1/diff/4...4",
    "/runs/audit-1/resumes",
    "/runs/audit-1/calls",
    "/runs/audit-1/calls?kind=write&state=committed",
    "/runs/audit-1/calls/1",
    "/inbox",
    "/inbox?run=audit-1",
)


class Reader(HTMLParser):
    """Finds what a page can do, and whether it is well formed."""

    def __init__(self) -> None:
        super().__init__()
        self.acts: list[str] = []
        self.ids: list[str] = []
        self.ignored = 0
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note ids, styles, handlers, foreign scripts and htmx attributes."""
        names = dict(attrs)
        if names.get("id"):
            self.ids.append(str(names["id"]))
        if "style" in names or any(name.startswith("on") for name in names):
            self.acts.append(f"{tag} {attrs}")
        if tag == "script" and not str(names.get("src", "")).startswith("/static/"):
            self.acts.append(f"script {attrs}")
        if any(name.startswith("hx-get") for name in names) and names.get("id") != "live":
            self.acts.append(f"{tag} {attrs}")
        for name in ("href", "src", "action"):
            value = names.get(name) or ""
            if not value.startswith(("/", "#")) and value:
                self.acts.append(f"{tag} {name}={value}")


def read(html: str) -> Reader:
    """What is in a page."""
    reader = Reader()
    reader.feed(html)
    return reader


@pytest.mark.parametrize("address", PAGES)
def test_a_page_comes_whole_and_as_a_fragment_and_nothing_hostile_acts(
    person: FlaskClient, address: str
) -> None:
    whole = person.get(address, headers=OURS)
    part = person.get(address, headers={**OURS, "HX-Request": "true"})
    assert whole.status_code == part.status_code == 200, whole.text[:2000]
    assert whole.text.startswith("<!doctype html>")
    assert "<html" not in part.text
    assert "<main" not in part.text
    for answer in (whole, part):
        found = read(answer.text)
        assert found.acts == []
        assert len(found.ids) == len(set(found.ids))
        assert "\u202e" not in answer.text
        assert "\u200b" not in answer.text
        assert "<script>document" not in answer.text
        assert "sk-abcdefghijklmnop" not in answer.text


def test_hostile_text_is_shown_as_it_is(person: FlaskClient) -> None:
    page = person.get("/runs/audit-1/c/2?tab=state&path=/messages/0/content", headers=OURS).text
    assert "&lt;script&gt;" in page
    assert "‹U+202E›" in page
    assert "hx-ignore" in page
    assert HOSTILE not in page


def test_a_secret_is_masked_on_every_view_and_in_the_download(person: FlaskClient) -> None:
    tree = person.get("/runs/audit-1/c/2?tab=state", headers=OURS).text
    file = person.get("/runs/audit-1/state/2", headers=OURS)
    assert "‹sealed" in tree
    assert "‹sealed" in file.text
    assert file.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert file.headers["Content-Disposition"].startswith("attachment;")
    assert json.loads(file.text)["todo"] == ["hexmap", "qrlib", "sax"]


def test_counts_on_the_pages_are_those_of_the_store(decider: FlaskClient, sql: sqlite3.Connection) -> None:
    def count(query: str) -> int:
        return int(sql.execute(query).fetchone()[0])

    checkpoints = count("SELECT count(*) FROM entry WHERE sequence IS NOT NULL")
    calls = count('SELECT count(*) FROM "call"')
    writes = count("SELECT count(*) FROM \"call\" WHERE kind = 'write'")
    run = decider.get("/runs/audit-1", headers=OURS).text
    assert f"{checkpoints} of {checkpoints} checkpoints, {calls} of {calls} calls" in run
    assert len(re.findall(r'data-seq="\d+"', run)) == checkpoints
    assert f"{writes} writes: {writes} committed" in run
    ledger = decider.get("/runs/audit-1/calls", headers=OURS).text
    assert f"{calls} of {calls} calls shown" in ledger
    assert ledger.count("data-row") == calls
    listed = decider.get("/", headers=OURS).text
    assert f"1 of {count('SELECT count(*) FROM run')} runs" in listed
    waiting = count("SELECT count(*) FROM approval WHERE state = 'pending'")
    assert f"Open · {waiting}" in decider.get("/inbox", headers=OURS).text
    figure = json.loads(decider.get("/runs/audit-1/figure", headers=OURS).text)
    ticks = next(trace for trace in figure["data"] if trace["name"] == "checkpoints")
    assert len(ticks["x"]) == checkpoints


@pytest.mark.parametrize(
    ("address", "status", "said"),
    [
        ("/runs/nobody", 404, "waypost runs"),
        ("/runs/audit-1?branch=b9", 404, "branch b9"),
        ("/runs/audit-1/c/999", 404, "audit-1@6"),
        ("/runs/audit-1/c/2?tab=state&path=/no/such", 404, "/no/such"),
        ("/runs/audit-1/calls/999", 404, "call"),
        ("/runs/audit-1/resumes/9", 404, "Resume 9"),
        ("/runs/audit-1/diff/1...b2:2", 404, "b2"),
        ("/inbox/nothing", 404, "request nothing"),
        ("/effects/none", 404, "effect none"),
        ("/t/zz", 404, "trace zz"),
        ("/runs/..%2f..%2fetc", 404, "list of runs"),
        ("/nowhere", 404, "list of runs"),
    ],
)
def test_what_is_not_there_is_a_page_that_names_the_remedy(
    person: FlaskClient, address: str, status: int, said: str
) -> None:
    answer = person.get(address, headers=OURS)
    assert answer.status_code == status
    assert said in answer.text
    assert "All runs" in answer.text


def test_numbers_that_are_none_are_read_as_the_start(person: FlaskClient) -> None:
    for query in ("c=x", "c=-1", "from=9&to=1", f"c={'9' * 40}", "c=١"):
        assert person.get(f"/runs/audit-1?{query}", headers=OURS).status_code == 200
    assert person.get("/?before=x:y", headers=OURS).status_code == 200


def test_a_trace_and_an_effect_lead_to_their_run(decider: FlaskClient, sql: sqlite3.Connection) -> None:
    trace = sql.execute("SELECT trace_id FROM run").fetchone()[0].hex()
    effect, number = sql.execute('SELECT effect_id, number FROM "call" LIMIT 1').fetchone()
    assert decider.get(f"/t/{trace}", headers=OURS).location == "/runs/audit-1"
    assert decider.get(f"/effects/{effect}", headers=OURS).location == f"/runs/audit-1/calls/{number}"


def test_an_empty_store_shows_the_lines_that_fill_it_and_they_are_python(empty: Path) -> None:
    app = create_app(Config(Settings(home=str(empty)), port=PORT))
    client = app.test_client()
    with client.session_transaction(base_url=f"http://127.0.0.1:{PORT}") as session:
        session["who"] = "maya"
    runs = client.get("/", headers=OURS).text
    inbox = client.get("/inbox", headers=OURS).text
    app.extensions["waypost"].close()
    assert "No run has written a checkpoint yet" in runs
    assert "Nothing was ever asked" in inbox
    for example in (EXAMPLE_CALL, EXAMPLE_ASK, EXAMPLE_RUN):
        ast.parse(example)


def test_the_lines_for_an_empty_store_make_a_run_appear(empty: Path) -> None:
    tracer.configure(home=str(empty))
    try:
        exec(compile(EXAMPLE_RUN, "example", "exec"), {})
    finally:
        reset()
    with sqlite3.connect(empty / "waypost.db") as store:
        found = store.execute("SELECT run_id, objective FROM run").fetchall()
    store.close()
    assert found == [("first-run", "…")]


def test_every_field_of_every_page_record_says_what_it_is(root: Path) -> None:
    for file in sorted((root / "inspector" / "pages").glob("*.py")):
        for node in ast.parse(file.read_text("utf-8")).body:
            if not isinstance(node, ast.ClassDef):
                continue
            body = node.body[1:]
            for field, after in zip(body, [*body[1:], None], strict=True):
                if isinstance(field, ast.AnnAssign):
                    told = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
                    assert told, f"{file.name}: {node.name}.{ast.unparse(field.target)}"


def test_templates_see_one_page_record_and_nothing_else(app: Flask) -> None:
    allowed = {"page", "fragment", "asset", "csrf_token", "loop", "caller"}
    for name in app.jinja_env.list_templates():
        if not name.endswith(".html"):
            continue
        source, _, _ = app.jinja_env.loader.get_source(app.jinja_env, name)  # type: ignore[union-attr]
        tree = app.jinja_env.parse(source)
        parts = {str(part) for found in tree.find_all(nodes.FromImport) for part in found.names}
        parts |= {macro.name for macro in tree.find_all(nodes.Macro)}
        parts |= {name.name for name in tree.find_all(nodes.Name) if name.ctx == "store"}
        assert find_undeclared_variables(tree) - parts <= allowed, name
        assert not re.search(r"\|\s*safe|autoescape\s+false|Markup|<style|<[^>{]*\sstyle=", source), name
        assert not list(tree.find_all(nodes.MarkSafe)), name


def test_pages_are_built_by_the_builders_alone(root: Path) -> None:
    for folder in ("views", "pages"):
        for file in (root / "inspector" / folder).glob("*.py"):
            source = file.read_text("utf-8")
            assert "select(" not in source
            assert "sqlalchemy" not in source or folder == "build", file.name
