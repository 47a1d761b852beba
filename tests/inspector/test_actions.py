"""Does a decision reach the journal, once, under the right name, and only for what was shown?"""

from __future__ import annotations

import sqlite3

import pytest
from flask.testing import FlaskClient

from tests.inspector.conftest import OURS


def form(client: FlaskClient, **values: str) -> tuple[str, dict[str, str]]:
    """(address, values) of the open decision, as its page shows them."""
    page = client.get("/inbox", headers=OURS).text
    address = page.split('class="decide" id="decide" method="post" action="')[1].split('"')[0]
    hidden = {
        name: page.split(f'name="{name}" value="')[1].split('"')[0] for name in ("csrf_token", "digest")
    }
    return address, {**hidden, **values}


def decisions(sql: sqlite3.Connection) -> list[tuple[str, str, str | None]]:
    return sql.execute("SELECT state, coalesce(decided_by, ''), why FROM approval").fetchall()


def test_an_approval_is_recorded_under_the_session_and_the_page_says_so(
    decider: FlaskClient, sql: sqlite3.Connection
) -> None:
    address, values = form(decider, decision="approve", why="looks right")
    answer = decider.post(address, data=values, headers=OURS)
    assert answer.status_code == 303
    assert decisions(sql) == [("approved", "maya", "looks right")]
    assert sql.execute("SELECT count(*) FROM entry WHERE kind = 'decision'").fetchone() == (1,)
    after = decider.get(answer.location, headers=OURS).text
    assert "Approved." in after
    assert "Signed as maya" in after
    assert "waypost resume audit-1" in after
    assert 'id="decide"' not in after


def test_a_denial_needs_a_reason(decider: FlaskClient, sql: sqlite3.Connection) -> None:
    address, values = form(decider, decision="deny", why="  ")
    assert decider.post(address, data=values, headers=OURS).status_code == 400
    assert decisions(sql) == [("pending", "", None)]
    assert decider.post(address, data={**values, "why": "too early"}, headers=OURS).status_code == 303
    assert decisions(sql) == [("denied", "maya", "too early")]


def test_a_second_decision_is_told_who_made_the_first(decider: FlaskClient, sql: sqlite3.Connection) -> None:
    address, values = form(decider, decision="approve")
    decider.post(address, data=values, headers=OURS)
    again = decider.post(address, data={**values, "decision": "deny", "why": "no"}, headers=OURS)
    assert again.status_code == 409
    assert "maya" in again.text
    assert decisions(sql) == [("approved", "maya", "")]


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"decision": "sudo"}, 400),
        ({"decision": "waive", "why": "it is a question, not a finding"}, 409),
        ({"digest": "0000…0000"}, 409),
        ({"why": "x" * 2001}, 400),
        ({"csrf_token": "forged"}, 400),
    ],
)
def test_what_does_not_fit_changes_nothing(
    decider: FlaskClient, sql: sqlite3.Connection, change: dict[str, str], status: int
) -> None:
    address, values = form(decider, decision="approve")
    assert decider.post(address, data={**values, **change}, headers=OURS).status_code == status
    assert decisions(sql) == [("pending", "", None)]


def test_an_expired_question_cannot_be_decided_and_says_that_silence_was_no(
    decider: FlaskClient, sql: sqlite3.Connection
) -> None:
    address, values = form(decider, decision="approve")
    sql.execute("UPDATE approval SET deadline = 1")
    sql.commit()
    late = decider.post(address, data=values, headers=OURS)
    assert late.status_code == 409
    assert "expired" in late.text
    page = decider.get("/inbox", headers=OURS).text
    assert "which counts as no" in page
    assert 'id="decide"' not in page


def test_looking_changes_nothing(decider: FlaskClient, sql: sqlite3.Connection) -> None:
    before = sql.execute("SELECT count(*), max(entry) FROM entry").fetchone()
    for address in ("/", "/runs/audit-1", "/inbox", "/runs/audit-1/calls/1", "/launch/once"):
        decider.get(address, headers=OURS)
    assert sql.execute("SELECT count(*), max(entry) FROM entry").fetchone() == before
