"""Does the ticket service act once per key, count every request, and lose its answer when told to?"""

from __future__ import annotations

import http.client
import json
import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.licence_audit.errors import AnswerLost, ServiceAbsent, TicketRefused
from examples.licence_audit.tally import tally_of
from examples.licence_audit.ticket_faults import FaultPlan
from examples.licence_audit.ticket_process import CHECKOUT, TicketProcess
from examples.licence_audit.tickets import open_at


def test_the_same_key_gives_the_same_ticket_whatever_the_words(service: TicketProcess) -> None:
    first = open_at(service.url, "thing", "no-licence-field", "one way to say it", "k1")
    again = open_at(service.url, "thing", "no-licence-field", "another way", "k1")
    assert (first.number, first.new) == (again.number, not again.new)
    assert [ticket.text for ticket in service.tickets()] == ["one way to say it"]
    assert [request.text for request in service.requests()] == ["one way to say it", "another way"]


def test_a_new_key_opens_a_second_ticket_which_the_tally_shows(service: TicketProcess) -> None:
    for key in ("k1", "k2"):
        open_at(service.url, "thing", "no-licence-field", "words", key)
    wanted = [("thing", "no-licence-field"), ("other", "weak-copyleft")]
    tally = tally_of(wanted, service.tickets(), service.requests())
    assert tally.duplicated == (("thing", "no-licence-field"),)
    assert tally.missing == (("other", "weak-copyleft"),)
    assert not tally.clean


def test_a_key_of_another_ticket_is_refused_and_not_counted(service: TicketProcess) -> None:
    open_at(service.url, "thing", "no-licence-field", "words", "k1")
    with pytest.raises(TicketRefused, match="belongs to thing"):
        open_at(service.url, "other", "no-licence-field", "words", "k1")
    assert len(service.requests()) == 1


def test_racing_requests_under_one_key_open_one_ticket(service: TicketProcess) -> None:
    with ThreadPoolExecutor(8) as pool:
        numbers = list(
            pool.map(lambda n: open_at(service.url, "d", "r", f"words {n}", "k").number, range(24))
        )
    assert len(set(numbers)) == 1
    assert [request.number for request in service.requests()] == list(range(1, 25))


def test_a_dropped_answer_is_a_lost_acknowledgement_of_a_ticket_that_exists(service: TicketProcess) -> None:
    service.set_faults(drop=(1,))
    with pytest.raises(AnswerLost):
        open_at(service.url, "thing", "weak-copyleft", "words", "k1")
    assert [(t.dist, t.key) for t in service.tickets()] == [("thing", "k1")]
    assert [request.fate for request in service.requests()] == ["drop"]
    assert not open_at(service.url, "thing", "weak-copyleft", "other words", "k1").new
    tally = tally_of([("thing", "weak-copyleft")], service.tickets(), service.requests())
    assert tally.clean
    assert (tally.requests, tally.repeats, tally.reworded) == (2, 1, 1)


def test_a_withheld_answer_is_held_after_the_commit_until_released(service: TicketProcess) -> None:
    service.set_faults(withhold=1)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(open_at, service.url, "thing", "weak-copyleft", "words", "k1")
        assert service.held_within(10) == [1]
        assert len(service.tickets()) == 1
        assert not waiting.done()
        service.release()
        assert waiting.result(10).new


def test_a_client_that_dies_while_its_answer_is_withheld_is_let_go(service: TicketProcess) -> None:
    service.set_faults(withhold=1)
    code = f"from examples.licence_audit.tickets import open_at; open_at({service.url!r}, 'd', 'r', 't', 'k')"
    client = subprocess.Popen([sys.executable, "-S", "-c", code], cwd=CHECKOUT)
    assert service.held_within(10) == [1]
    os.kill(client.pid, signal.SIGKILL)
    assert client.wait(10) == -signal.SIGKILL
    assert [request.fate for request in service.requests()] == ["withhold"]
    assert not open_at(service.url, "d", "r", "t again", "k").new


def test_its_database_is_its_own_and_outlives_it(tmp_path: Path) -> None:
    database = tmp_path / "tickets.db"
    with TicketProcess.start(database, max_seconds=60) as first:
        open_at(first.url, "d", "r", "t", "k")
    base = sqlite3.connect(database)
    assert base.execute("SELECT dist, rule, key FROM ticket").fetchall() == [("d", "r", "k")]
    base.close()
    with TicketProcess.start(database, max_seconds=60) as second:
        assert not open_at(second.url, "d", "r", "t", "k").new


def test_it_stops_when_its_parent_goes(service: TicketProcess) -> None:
    assert service.process.stdin is not None
    service.process.stdin.close()
    assert service.process.wait(10) == 0
    with pytest.raises(ServiceAbsent, match="LICENCE_AUDIT_TICKETS"):
        open_at(service.url, "d", "r", "t", "k")


def test_it_stops_by_itself_when_its_time_is_up(tmp_path: Path) -> None:
    with TicketProcess.start(tmp_path / "tickets.db", max_seconds=0.1) as service:
        assert service.process.wait(10) == 0


@pytest.mark.parametrize(
    ("method", "address", "key", "body", "status"),
    [
        ("POST", "/tickets", "", "{}", 400),
        ("POST", "/tickets", "k" * 257, "{}", 400),
        ("POST", "/tickets", "k", "{", 400),
        ("POST", "/tickets", "k", "[]", 400),
        ("POST", "/tickets", "k", '{"dist": 1, "rule": "r", "text": "t"}', 400),
        ("POST", "/tickets", "k", '{"dist": "' + "x" * 70_000 + '"}', 413),
        ("POST", "/faults", "", '{"drop": [0]}', 400),
        ("GET", "/faults/held?wait=long", "", "", 400),
        ("GET", "/nowhere", "", "", 404),
    ],
)
def test_bad_requests_are_answered_and_change_nothing(
    untouched: TicketProcess, method: str, address: str, key: str, body: str, status: int
) -> None:
    line = http.client.HTTPConnection(untouched.url.removeprefix("http://"), timeout=10)
    try:
        line.request(method, address, body, {"Idempotency-Key": key} if key else {})
        answer = line.getresponse()
        assert (answer.status, list(json.loads(answer.read()))) == (status, ["error"])
    finally:
        line.close()
    assert untouched.tickets() == []


def test_two_services_share_nothing(tmp_path: Path) -> None:
    with (
        TicketProcess.start(tmp_path / "a.db", max_seconds=60) as one,
        TicketProcess.start(tmp_path / "b.db", max_seconds=60) as two,
    ):
        open_at(one.url, "d", "r", "t", "k")
        assert (len(one.tickets()), len(two.tickets())) == (1, 0)


@given(st.integers(), st.integers(1, 60))
def test_a_seed_draws_one_plan_and_only_reachable_faults(seed: int, tickets: int) -> None:
    plan = FaultPlan.of(seed, tickets)
    assert plan == FaultPlan.of(seed, tickets)
    assert 1 <= plan.withhold <= tickets
    assert plan.withhold not in plan.drop
    assert max((plan.withhold, *plan.drop)) <= tickets + 1
    if tickets > 1:
        assert plan.drop
