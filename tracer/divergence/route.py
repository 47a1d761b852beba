"""Which tool does a request to a web service stand for?

An agent that speaks HTTP has one tool for everything: the method is its verb, the path its noun and records.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from .lexicon import words
from .rows import name_of, parsed
from .verbs import FILLERS, VERBS, parts

METHODS: Final = {
    "get": "get",
    "head": "get",
    "post": "create",
    "put": "update",
    "patch": "update",
    "delete": "delete",
}
_WHERE: Final = ("url", "path", "uri", "endpoint", "route")
_BODY: Final = ("body", "json", "data", "payload", "param", "query", "argument", "arg", "input")
CARRIERS: Final = words(
    "api call invoke request rpc http client tool run execute use perform action do mcp gateway proxy dispatch service"
)
"""Words of a tool's name that say nothing of what it does."""
_OPERATION: Final = ("endpoint", "operation", "action", "method", "function", "tool", "event")
_NAME = re.compile(r"[A-Za-z][\w.:/-]{2,60}")
_VERSION = re.compile(r"v\d{1,3}")
_SPLIT = re.compile(r"[^A-Za-z0-9]+")


def routed(name: str, args: Mapping[object, object]) -> tuple[str, dict[object, object]] | None:
    """(tool, arguments) of a request given as method and address, or as operation and payload; None for others."""
    by_name = {name_of(key): key for key in args}
    operation = _operation(name, args, by_name)
    if operation is not None:
        return operation
    method = args.get(by_name.get("method", by_name.get("verb")))
    where = next((args[by_name[name]] for name in _WHERE if name in by_name), None)
    if not isinstance(method, str) or not isinstance(where, str) or method.strip().casefold() not in METHODS:
        return None
    try:
        address = urlsplit(where.strip()[:2_000])
    except ValueError:  # No address at all; the request stays what it was.
        return None
    nouns, named = _segments(address.path)
    out: dict[object, object] = {}
    for key, value in args.items():
        name = name_of(key)
        if name in {"method", "verb", "header", *_WHERE}:
            continue
        inner = parsed(value) if isinstance(value, str) else value
        if name in _BODY and isinstance(inner, Mapping):
            out.update(inner)
        else:
            out[key] = value
    out.update((key, value) for key, value in parse_qsl(address.query) if key not in out)
    out.update(named)  # The address says on what, whatever the body says.
    if address.netloc:
        out["host"] = address.netloc
    verb = METHODS[method.strip().casefold()]
    if (
        nouns
        and verb == "create"
        and any(word in VERBS for word in nouns[-1].split("_")[:1])
        and len(nouns) > 1
    ):
        verb = nouns.pop()
    out.update({f"within{n}" if n else "within": noun for n, noun in enumerate(nouns[:-1])})
    return f"{verb}_{nouns[-1]}" if nouns else verb, out


def _operation(
    outer: str, args: Mapping[object, object], by_name: Mapping[str, object]
) -> tuple[str, dict[object, object]] | None:
    """seats.book and a record of arguments: a tool within the tool."""
    if not set(parts(outer)) <= CARRIERS:
        return None  # A tool of its own, whose arguments only look like those of one within.
    named = next((by_name[name] for name in _OPERATION if name in by_name), None)
    body = next((by_name[name] for name in _BODY if name in by_name), None)
    tool, inner = args.get(named), args.get(body)
    inner = parsed(inner) if isinstance(inner, str) else inner
    if not isinstance(tool, str) or not isinstance(inner, Mapping) or not _NAME.fullmatch(tool.strip()):
        return None
    if not any(word in VERBS for word in parts(tool)) or tool.strip().casefold() in METHODS:
        return None
    return tool, {**{k: v for k, v in args.items() if k not in {named, body}}, **inner}


def _segments(path: str) -> tuple[list[str], list[tuple[str, str]]]:
    """(nouns, records with the name of their argument) of a path."""
    nouns: list[str] = []
    named: list[tuple[str, str]] = []
    for segment in path.split("/"):
        if not segment or (not nouns and _VERSION.fullmatch(segment.casefold())):
            continue
        said = [name_of(word) for word in _SPLIT.split(segment) if word]
        if nouns and (any(c.isdigit() for c in segment) or "@" in segment or ":" in segment):
            named.append((f"{nouns[-1]}_id", segment))
            continue
        said = [word for word in said if word not in FILLERS]
        if said:
            nouns.append("_".join(said))
    return nouns, named
