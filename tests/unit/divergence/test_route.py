"""Which tool does a web request, a call within a call, or the answer of a protocol stand for?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.divergence.records import Record, write
from tracer.divergence import ALARM, canonical, score


def sent(method: str, path: str, body: Any = None) -> Record:
    """A request of an agent that has one tool for everything."""
    return write("http_request", method=method, url=f"https://api.shop.example/v2{path}", body=body)


BILL = {"customer": "C-1001", "amount": 120}
CREATED, CHANGED = sent("POST", "/invoices", BILL), sent("PATCH", "/invoices/INV-31045", {"state": "paid"})
APPROVED = sent("POST", "/invoices/INV-31045/approve", {})
DELETED = sent("DELETE", "/invoices/INV-31045")

SAME = {
    "POST creates": (CREATED, write("create_invoice", **BILL)),
    "PATCH updates": (CHANGED, write("update_invoice", invoice_id="INV-31045", state="paid")),
    "PUT updates": (CHANGED, sent("PUT", "/invoices/INV-31045", {"state": "paid"})),
    "DELETE deletes": (DELETED, write("delete_invoice", invoice_id="INV-31045")),
    "a verb at the end of the path": (APPROVED, write("approve_invoice", invoice_id="INV-31045")),
    "the record in the query": (DELETED, sent("delete", "/invoices?id=INV-31045")),
    "a body as text, another version": (
        CREATED,
        write("fetch", method="post", path="/v1/invoices/", data=json.dumps(BILL)),
    ),
}
OTHER = {
    "another amount": (CREATED, sent("POST", "/invoices", {**BILL, "amount": 125})),
    "another record": (CHANGED, sent("PATCH", "/invoices/INV-31046", {"state": "paid"})),
    "another record in the query": (
        sent("DELETE", "/invoices?id=INV-31045"),
        sent("DELETE", "/invoices?id=INV-31046"),
    ),
    "another method": (CHANGED, sent("DELETE", "/invoices/INV-31045")),
    "another verb at the end of the path": (APPROVED, sent("POST", "/invoices/INV-31045/reject", {})),
    "approved another record": (APPROVED, sent("POST", "/invoices/INV-31046/approve", {})),
}


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("count", [1, 2])
def test_a_request_is_the_tool_that_it_stands_for(name: str, count: int) -> None:
    one, two = SAME[name]
    assert score([], [two], [[one]] * count) < ALARM
    assert score([], [one], [[two]] * count) < ALARM


@pytest.mark.parametrize("name", OTHER)
@pytest.mark.parametrize("count", [1, 2])
def test_another_request_alarms(name: str, count: int) -> None:
    one, two = OTHER[name]
    assert score([], [two], [[one]] * count) >= ALARM
    assert score([], [one], [[two]] * count) >= ALARM


def test_a_request_that_was_sent_twice_is_a_repeat() -> None:
    assert score([CREATED], [write("create_invoice", **BILL)], [[CREATED], [CREATED]]) >= ALARM


def asked(operation: str, **payload: Any) -> Record:
    return write("call_api", operation=operation, payload=payload)


BOOKED = asked("seats.book", show="SH-101", seat="A-12")


def test_an_operation_and_its_payload_are_a_tool_and_its_arguments() -> None:
    direct = write("book_seat", show="SH-101", seat="A-12")
    assert score([], [direct], [[BOOKED]]) < ALARM
    assert score([], [BOOKED], [[direct]]) < ALARM


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(asked("seats.book", show="SH-101", seat="A-13"), id="another seat"),
        pytest.param(asked("seats.cancel", show="SH-101", seat="A-12"), id="another operation"),
    ],
)
def test_another_operation_or_payload_alarms(other: Record) -> None:
    assert score([], [other], [[BOOKED], [BOOKED]]) >= ALARM


@pytest.mark.parametrize(
    "args",
    [
        pytest.param(
            {"method": "card", "url": "https://pay.example/x"}, id="a method that is no verb of HTTP"
        ),
        pytest.param({"method": "POST"}, id="no address"),
        pytest.param({"operation": "nightly", "payload": {"a": 1}}, id="an operation without a verb"),
        pytest.param({"operation": "seats.book", "payload": "A-12"}, id="a payload that is no record"),
    ],
)
def test_arguments_that_only_resemble_a_request_leave_the_tool_as_it_is(args: Record) -> None:
    assert canonical(write("settle_order", **args)).tool == "settle_order"


def block(text: str) -> Record:
    return {"type": "text", "text": text}


ANSWER = '{"order_id": "ORD-9001", "due": 4711.5}'


@pytest.mark.parametrize(
    "result",
    [
        pytest.param(ANSWER, id="text"),
        pytest.param({"content": [block(ANSWER)]}, id="content blocks"),
        pytest.param([block(ANSWER)], id="bare blocks"),
        pytest.param({"content": [block(ANSWER)], "isError": False}, id="content blocks that say so"),
    ],
)
def test_content_blocks_are_taken_apart(result: Any) -> None:
    plain = canonical(write("create_order", json.loads(ANSWER), customer="C-100"))
    call = canonical(write("create_order", result, customer="C-100"))
    assert [(f.path, f.leaf.norm) for f in call.told] == [(f.path, f.leaf.norm) for f in plain.told]
    assert call.heard == plain.heard == {"ord9001"} or "9001" in call.heard


def test_a_block_that_is_an_error_is_no_effect() -> None:
    made = write("create_order", {"content": [block(ANSWER)]}, customer="C-100")
    refused = write(
        "create_order", {"content": [block("no such customer")], "isError": True}, customer="C-100"
    )
    assert score([], [refused, made], [[made], [made]]) < ALARM
    assert score([], [refused], [[made], [made]]) >= ALARM
