"""Which runs come out of the documents that people already have?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tracer.divergence import compare
from tracer.divergence.baselines import runs_of

ASKED = {
    "id": "c1",
    "type": "function",
    "function": {"name": "cancel_order", "arguments": '{"order_id": "ORD-9"}'},
}
CHAT: list[dict[str, Any]] = [
    {"role": "user", "content": "please cancel"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c0", "type": "function", "function": {"name": "get_order", "arguments": "{}"}}
        ],
    },
    {"role": "tool", "tool_call_id": "c0", "content": '{"order_id": "ORD-9"}'},
    {"role": "assistant", "content": None, "tool_calls": [ASKED]},
    {"role": "tool", "tool_call_id": "c1", "content": "Error: try again"},
    {"role": "assistant", "content": None, "tool_calls": [{**ASKED, "id": "c2"}]},
    {"role": "tool", "tool_call_id": "c2", "content": "done"},
]


def span(start: int, **about: Any) -> dict[str, Any]:
    pairs = [{"key": k.replace("__", "."), "value": {"stringValue": v}} for k, v in about.items()]
    return {
        "traceId": "t1",
        "name": "execute_tool",
        "startTimeUnixNano": str(start),
        "attributes": pairs,
        "status": {},
    }


GENAI = span(
    2,
    gen_ai__operation__name="execute_tool",
    gen_ai__tool__name="cancel_order",
    gen_ai__tool__call__arguments='{"order_id": "ORD-9"}',
)
INFERENCE = span(
    1,
    openinference__span__kind="TOOL",
    tool__name="get_order",
    input__value="{}",
    output__value='{"order_id": "ORD-9"}',
)
MODEL = span(0, openinference__span__kind="LLM", input__value="please cancel")


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


@pytest.mark.parametrize(
    "document", [CHAT, {"messages": CHAT}, [{"messages": CHAT}]], ids=["messages", "a run", "runs"]
)
def test_chat_messages_are_a_run(document: Any) -> None:
    (run,) = runs_of(document).runs
    assert [(c["name"], c["kind"], c["ok"]) for c in run["tools"]] == [
        ("get_order", "read", True),
        ("cancel_order", "write", False),
        ("cancel_order", "write", True),
    ]


def test_spans_of_both_conventions_are_a_run_in_order_of_time() -> None:
    found = runs_of(otlp(GENAI, INFERENCE, MODEL))
    (run,) = found.runs
    assert [(c["name"], c["kind"], c["args"]) for c in run["tools"]] == [
        ("get_order", "read", {}),
        ("cancel_order", "write", {"order_id": "ORD-9"}),
    ]
    assert found.left_out == ["taken for look-ups or inner calls by name: get_order"]


def test_a_failed_span_is_a_failed_call_and_a_bare_one_is_named() -> None:
    bare = span(3, gen_ai__operation__name="execute_tool", gen_ai__tool__name="close_order")
    found = runs_of(otlp({**GENAI, "status": {"code": 2}}, bare), kinds={"close_order": "write"})
    assert [c["ok"] for c in found.runs[0]["tools"]] == [False, True]
    assert found.left_out == ["close_order: a span without arguments (content was not recorded)"]


def test_declared_kinds_come_before_names() -> None:
    (run,) = runs_of(CHAT, kinds={"get_order": "write", "cancel_order": "read"}).runs
    assert [c["kind"] for c in run["tools"]] == ["write", "read", "read"]


@pytest.mark.parametrize(
    "document",
    [None, 3, [], {}, [None], {"messages": [1]}, {"resourceSpans": [3]}, {"tools": []}, [[]]],
    ids=json.dumps,
)
def test_what_is_no_run_is_said(document: Any) -> None:
    found = runs_of(document)
    assert not [r for r in found.runs if r["tools"]]
    assert found.left_out or document == {"tools": []}


def test_an_imported_run_is_a_baseline() -> None:
    (run,) = runs_of(otlp(GENAI, INFERENCE)).runs
    assert compare([], runs_of(CHAT).runs[0]["tools"], [run]).verdict == "quiet"
    wrong = {"name": "cancel_order", "args": {"order_id": "ORD-8"}, "kind": "write", "ok": True}
    assert compare([], [run["tools"][0], wrong], [run]).verdict == "alarm"
