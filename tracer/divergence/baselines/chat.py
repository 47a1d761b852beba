"""Which tool calls do OpenAI chat messages hold?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..rows import parsed
from .kinds import kind_of, said


def calls_of_chat(
    messages: Sequence[object], kinds: Mapping[str, str] | None
) -> tuple[list[dict[str, Any]], list[str]]:
    """(plain call records in order, what was left out). A call without an answer has `ok` None."""
    calls: list[dict[str, Any]] = []
    by_id: dict[str, dict[str, Any]] = {}
    open_: list[dict[str, Any]] = []
    guessed: set[str] = set()
    left: list[str] = []
    for place, message in enumerate(messages):
        if not isinstance(message, Mapping):
            left.append(f"message {place}: {type(message).__name__} instead of a record")
            continue
        for asked in _asked(message):
            name = str(asked.get("name") or "")
            if not name:
                left.append(f"message {place}: a tool call without a name")
                continue
            kind, declared = kind_of(name, kinds)
            if not declared:
                guessed.add(name)
            raw = asked.get("arguments")
            args = parsed(raw) if isinstance(raw, str) else raw
            call: dict[str, Any] = {"name": name, "args": args or {}, "kind": kind, "ok": None, "result": ""}
            calls.append(call)
            open_.append(call)
            if asked.get("id"):
                by_id[str(asked["id"])] = call
        if message.get("role") in {"tool", "function"}:
            call_id = str(message.get("tool_call_id") or "")
            found = by_id.get(call_id) or next(
                (c for c in open_ if c["name"] == message.get("name") and c["ok"] is None), None
            )
            if found is None:
                left.append(f"message {place}: an answer to no call")
            else:
                found["result"] = message.get("content") or ""
                found["ok"] = not _failed(found["result"])
    return calls, left + said(guessed, kinds)


def _asked(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Tool calls of an assistant's message, the old single form included."""
    out: list[Mapping[str, Any]] = []
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, Mapping):
            function = call.get("function")
            about = function if isinstance(function, Mapping) else call
            out.append(
                {
                    "id": call.get("id"),
                    "name": about.get("name"),
                    "arguments": about.get("arguments", about.get("args")),
                }
            )
    single = message.get("function_call")
    if isinstance(single, Mapping):
        out.append({"name": single.get("name"), "arguments": single.get("arguments")})
    return out


def _failed(result: object) -> bool:
    return isinstance(result, str) and result.lstrip()[:9].casefold().startswith(("error", "exception"))
