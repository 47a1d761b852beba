"""Which tool calls do the spans of an OTLP JSON document hold?

Read are spans of the GenAI conventions (`execute_tool`) and of OpenInference (kind TOOL). These names are
other people's; our own stand in `tracer.telemetry.names`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..rows import parsed
from .kinds import kind_of, said

GENAI: Final = "gen_ai."
OPERATION, TOOL = f"{GENAI}operation.name", f"{GENAI}tool.name"
ARGUMENTS: Final = (
    f"{GENAI}tool.call.arguments",
    "input.value",
    "tool.parameters",
    "tool_call.function.arguments",
)
RESULTS: Final = (f"{GENAI}tool.call.result", "output.value")
NAMES: Final = (TOOL, "tool.name", "tool_call.function.name")
KIND: Final = "openinference.span.kind"
ERROR: Final = 2
"""The status code of a span that failed."""

Found = tuple[str, list[dict[str, Any]], list[str]]


def calls_by_trace(document: Mapping[str, Any], kinds: Mapping[str, str] | None) -> Iterator[Found]:
    """(trace id, plain call records by start time, what was left out) of every trace with tool spans."""
    traces: dict[str, list[tuple[int, dict[str, Any]]]] = defaultdict(list)
    left: dict[str, list[str]] = defaultdict(list)
    guessed: dict[str, set[str]] = defaultdict(set)
    for span in _spans(document):
        about = attributes(span.get("attributes"))
        trace = str(span.get("traceId") or span.get("trace_id") or "")
        if about.get(OPERATION) != "execute_tool" and str(about.get(KIND, "")).upper() != "TOOL":
            continue
        name = next((str(about[n]) for n in NAMES if about.get(n)), "") or str(
            span.get("name") or ""
        ).removeprefix("execute_tool ")
        if not name:
            left[trace].append("a tool span without the tool's name")
            continue
        kind, declared = kind_of(name, kinds)
        if not declared:
            guessed[trace].add(name)
        args = next((about[n] for n in ARGUMENTS if n in about), None)
        if args is None:
            left[trace].append(f"{name}: a span without arguments (content was not recorded)")
        status = span.get("status")
        code = status.get("code") if isinstance(status, Mapping) else None
        call = {
            "name": name, "kind": kind, "args": parsed(args) if isinstance(args, str) else args or {},
            "ok": code not in {ERROR, "STATUS_CODE_ERROR"},
            "result": next((about[n] for n in RESULTS if n in about), ""),
        }  # fmt: skip
        traces[trace].append((_when(span), call))
    for trace, found in traces.items():
        found.sort(key=lambda f: f[0])
        yield (
            trace,
            [call for _, call in found],
            list(dict.fromkeys(left[trace]))[:20] + said(guessed[trace], kinds),
        )


def attributes(raw: object) -> dict[str, Any]:
    """The attributes of a span as a plain record; also of writers that already made them one."""
    if isinstance(raw, Mapping):
        return dict(raw)
    out: dict[str, Any] = {}
    for pair in raw if isinstance(raw, list) else []:
        if isinstance(pair, Mapping) and isinstance(pair.get("key"), str):
            out[pair["key"]] = value(pair.get("value"))
    return out


def value(raw: object, depth: int = 0) -> Any:
    """The plain value of an OTLP `AnyValue`."""
    if not isinstance(raw, Mapping) or depth > 16:
        return raw
    for name, read in (("stringValue", str), ("boolValue", bool), ("doubleValue", float)):
        if name in raw:
            return read(raw[name])
    if "intValue" in raw:
        text = str(raw["intValue"])
        return int(text) if text.lstrip("-").isdigit() and len(text) < 40 else text
    if isinstance(raw.get("arrayValue"), Mapping):
        return [value(v, depth + 1) for v in raw["arrayValue"].get("values", [])]
    if isinstance(raw.get("kvlistValue"), Mapping):
        pairs = raw["kvlistValue"].get("values", [])
        return {
            str(p["key"]): value(p.get("value"), depth + 1)
            for p in pairs
            if isinstance(p, Mapping) and "key" in p
        }
    return dict(raw)


def _spans(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for resource in _list(document, "resourceSpans", "resource_spans"):
        for scope in _list(resource, "scopeSpans", "scope_spans", "instrumentationLibrarySpans"):
            for span in _list(scope, "spans"):
                if isinstance(span, Mapping):
                    yield span


def _list(record: object, *names: str) -> list[Any]:
    if isinstance(record, Mapping):
        for name in names:
            if isinstance(record.get(name), list):
                return list(record[name])
    return []


def _when(span: Mapping[str, Any]) -> int:
    raw = str(span.get("startTimeUnixNano", span.get("start_time_unix_nano", 0)))
    return int(raw) if raw.isdigit() and len(raw) < 30 else 0
