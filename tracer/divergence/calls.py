"""What does one recorded call say, once and for all?

`canonical` reads a plain call record once, when it is recorded; everything later works on its result.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from . import outcome as outcomes
from .leaf import LONGEST, Leaf, leaf
from .lexicon import words
from .route import routed
from .rows import Fields, name_of, ordered, parsed, scalar, unfold
from .verbs import family

KINDS: Final = frozenset({"read", "write", "handoff", "internal", "model"})
FACTS: Final = 400
"""Scalars of one result that are kept as what the run was told."""
RESULT_TEXT: Final = 20_000
SPOKEN: Final = "~"
"""The path of what stands in prose."""

_PREFIXED = re.compile(r"[a-z]*\d+")
_SPACE = re.compile(r"[\s,;()\[\]\"'<>]+")
LONG_WORD: Final = 120
_MENTION = re.compile(r"[A-Za-z0-9][\w.@#-]*\d[\w-]*|[\w.+-]+@[\w.-]+\w")
NUMERIC_ID: Final = ("id", "no", "number", "ref", "key", "code", "num", "reference")


@dataclass(frozen=True, slots=True)
class Fact:
    """A value that a result gave for a record."""

    path: str
    leaf: Leaf
    about: str
    """Token of the record within the result that the value belongs to; "" for the whole result."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call in canonical form. `index` is its place among the calls of its list, from 0."""

    index: int
    name: str
    tool: str
    kind: str
    outcome: str
    key: str
    phase: str
    rows: tuple[Fields, ...]
    scalars: Fields
    told: tuple[Fact, ...]
    mentions: frozenset[str]
    """Tokens of every identifier in the arguments."""
    heard: frozenset[str]
    """Tokens of every identifier in the result."""
    shape: str
    """Digest of tool and arguments, notation aside."""
    answer: str
    """Digest of the result."""
    passing: bool = False
    waiting: bool = False
    left_out: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    """How each folded field name was written."""

    def path(self, folded: str) -> str:
        """A field's path as it was written."""
        return ".".join(self.names.get(part, part) for part in folded.split("."))

    @property
    def effective(self) -> bool:
        """Did this call, executed here and now, change the world (a hand-over counts)?"""
        return self.kind in {"write", "handoff"} and self.outcome == outcomes.DONE


def canonical(record: object, index: int = 0) -> Call:
    """Read one plain record `{name, args, kind, ok, result, …}`; whatever it is, no exception comes out.

    An undeclared kind is a write. What cannot be read is named in `left_out`.
    """
    if isinstance(record, Call):
        return record if record.index == index else replace(record, index=index)
    try:
        return _canonical(record, index)
    except Exception as error:  # A malformed record must never stop the agent that made it.
        said = f"call {index}: unreadable record ({type(error).__name__})"
        name = record.get("name") if isinstance(record, Mapping) else None
        if not isinstance(name, str) or not isinstance(record, Mapping):
            return _unreadable(index, said)
        # A write whose arguments cannot be read is a write all the same.
        bare = {
            k: v
            for k, v in record.items()
            if k in {"kind", "ok", "phase", "in_flight", "replayed", "read_only"}
        }
        return replace(_canonical({**bare, "name": name, "args": {}}, index), left_out=(said,))


def token(found: Leaf) -> str:
    """What names a record wherever it is mentioned; "" for a value too common to name one."""
    if found.kind == "number":
        return found.key if len(found.key.lstrip("-")) >= 4 and "." not in found.key else ""
    if found.kind == "id":
        if len(found.key) >= 3 and _PREFIXED.fullmatch(found.norm):
            return found.key  # Its prefix may be left out elsewhere.
        return found.norm if len(found.norm) >= 3 else ""
    return ""


def tokens(fields: Fields) -> set[str]:
    """Tokens of all identifiers in the fields, those within prose too."""
    out = {token(found) for _, found in fields}
    for _, found in fields:
        if found.kind == "text":
            out.update(token(inner) for inner in within(found))
    out.discard("")
    return out


def within(text: Leaf) -> Iterator[Leaf]:
    """The identifiers inside a piece of prose."""
    for word in _SPACE.split(text.norm[:LONGEST])[:600]:
        match = _MENTION.search(word[:LONG_WORD])
        found = leaf(match[0]) if match is not None else None
        if found is not None and found.kind in {"id", "number"}:
            yield found


def plain_name(name: object) -> str:
    """The name as text of bounded length."""
    return str(name)[:200]


def _canonical(record: object, index: int) -> Call:
    if not isinstance(record, Mapping):
        return _unreadable(index, f"call {index}: {type(record).__name__} instead of a record")
    left_out: list[str] = []
    name = plain_name(record.get("name") or record.get("tool") or "")
    if not name:
        return _unreadable(index, f"call {index}: no tool name")
    tool = family(name)
    raw_kind = record.get("kind")
    kind = (
        raw_kind
        if isinstance(raw_kind, str) and raw_kind in KINDS
        else ("read" if record.get("read_only") is True else "write")
    )
    args = record.get("args") if record.get("args") is not None else {}
    request = routed(name, args) if isinstance(args, Mapping) else None
    if request is not None:
        tool, args = family(request[0]), request[1]
    tree = unfold(args)
    left_out += [f"call {index} ({name}): {what}" for what in tree.left_out]
    rows = tree.rows()
    raw_result = record.get("result")
    result = unwrapped(raw_result)
    everything = ordered([*tree.scalars, *(f for group in tree.groups for row in group for f in row)])
    state = outcomes.outcome(record, list(everything), tool, result)
    if state == outcomes.DONE and kind == "write":
        not_done = outcomes.spared(result)
        rows = [r for r in rows if not any(f.norm in not_done for _, f in r)] if not_done else rows
        state = state if rows else outcomes.NOTHING
    told, heard = _told(result)
    return Call(
        index=index,
        name=name,
        tool=tool,
        kind=kind,
        outcome=state,
        key=str(record.get("idem_key") or record.get("idempotency_key") or _key_among(everything))[:200],
        phase=str(record.get("phase") or ""),
        rows=tuple(rows),
        scalars=ordered(tree.scalars),
        told=tuple(told),
        mentions=frozenset(tokens(everything)),
        heard=frozenset(heard),
        shape=_digest(tool, *(f"{p}={f.kind}:{f.norm}{f.unit}" for p, f in everything)),
        answer=_digest(str(record.get("result_digest") or ""), _plain(raw_result)),
        passing=state == outcomes.FAILED and outcomes.passing(raw_result),
        waiting=kind == "read" and _waits(told),
        left_out=tuple(left_out[:20]),
        names=tree.names,
    )


_KEYS: Final = words(
    "idempotencykey idemkey idempotencytoken idempotency clienttoken clientrequestid requesttoken "
    "dedupekey deduplicationid dedupeid"
)


def _key_among(fields: Fields) -> str:
    """The idempotency key that a call carries among its arguments."""
    return next((f.norm for p, f in fields if p.rpartition(".")[2] in _KEYS), "")


def _told(result: object) -> tuple[list[Fact], set[str]]:
    facts: list[Fact] = []
    heard: set[str] = set()
    if isinstance(result, (Mapping, list, tuple)):
        _facts(result, "", "", facts, 0, "")
        for fact in facts:
            heard.update(tokens(((fact.path, fact.leaf),)))
    elif isinstance(result, str) and result:
        _spoken(result, facts)
        heard.update(token(fact.leaf) for fact in facts)
        heard.discard("")
    elif isinstance(result, (int, float)):
        found = leaf(result)
        if found is not None:
            facts.append(Fact("", found, ""))
    return facts, heard


def unwrapped(result: object) -> object:
    """What a tool answered: text that holds JSON is read, and the content blocks of a protocol are taken apart."""
    if isinstance(result, str):
        return parsed(result)
    if isinstance(result, Mapping) and isinstance(result.get("content"), (list, tuple)):
        inner = unwrapped(result["content"])
        if inner is result["content"]:
            return result
        return {"error": inner} if result.get("isError") is True else inner
    if isinstance(result, (list, tuple)) and result and all(_block(part) for part in result):
        texts = [parsed(part["text"]) for part in result[:FACTS] if isinstance(part.get("text"), str)]
        return texts[0] if len(texts) == 1 else texts or result
    return result


def _block(part: object) -> bool:
    return (
        isinstance(part, Mapping) and isinstance(part.get("type"), str) and len(part) <= 3 and "text" in part
    )


def _spoken(text: str, out: list[Fact]) -> None:
    """The identifiers and numbers that a piece of prose names."""
    for word in _SPACE.split(text[:RESULT_TEXT]):
        if len(out) >= FACTS:
            return
        match = _MENTION.search(word[:LONG_WORD])
        found = leaf(match[0].rstrip(".")) if match is not None else None
        if found is not None and found.kind in {"id", "number", "date"}:
            out.append(Fact(SPOKEN, found, ""))


def _facts(value: object, path: str, about: str, out: list[Fact], depth: int, key: object) -> None:
    if len(out) >= FACTS or depth > 8:
        return
    if isinstance(value, Mapping):
        mine = about
        for key, inner in list(value.items())[:60]:
            name = name_of(key)
            if (
                isinstance(inner, (str, int))
                and not isinstance(inner, bool)
                and (name.endswith("id") or name in NUMERIC_ID)
            ):
                found = scalar(key, inner)
                if found is not None and token(found):
                    mine = token(found)
                    break
        for key, inner in list(value.items())[:60]:
            _facts(inner, f"{path}.{name_of(key)}" if path else name_of(key), mine, out, depth + 1, key)
    elif isinstance(value, (list, tuple)):
        for inner in value[:FACTS]:
            _facts(inner, path, about, out, depth + 1, key)
    else:
        inner = parsed(value) if isinstance(value, str) else value
        if isinstance(inner, (Mapping, list)):
            _facts(inner, path, about, out, depth + 1, key)
            return
        found = scalar(key, value) if isinstance(value, (str, int, float, bool)) else None
        if found is not None:
            out.append(Fact(path, found, about))
            if found.kind == "text":
                _spoken(found.norm, out)


def is_identifier(path: str, found: Leaf) -> bool:
    """Is this value of a result a name that somebody handed out, rather than an amount?"""
    if found.kind == "id":
        return bool(token(found))
    return found.kind == "number" and bool(token(found)) and path.rpartition(".")[2].endswith(NUMERIC_ID)


_PENDING: Final = words(
    "pending queued running inprogress processing waiting scheduled started working open busy"
)


_FINISHED: Final = words("closed done complete completed ready finished settled processed available ended")


def _waits(told: list[Fact]) -> bool:
    """Does the answer itself say that something is still under way?"""
    return any(
        (f.leaf.kind == "word" and f.leaf.norm in _PENDING)
        or (f.leaf.norm == "false" and f.path.rpartition(".")[2] in _FINISHED)
        for f in told
    )


def _plain(result: object) -> str:
    try:
        return str(result)[:RESULT_TEXT]
    except ValueError:  # Python refuses to print very long integers.
        return type(result).__name__


def _digest(*parts: str) -> str:
    digest = hashlib.blake2b(digest_size=12)
    for part in parts:
        digest.update(part.encode("utf-8", "replace"))
        digest.update(b"\x1f")
    return digest.hexdigest()


def _unreadable(index: int, why: str) -> Call:
    empty: frozenset[str] = frozenset()
    return Call(
        index,
        "",
        "",
        "internal",
        outcomes.NOTHING,
        "",
        "",
        (),
        (),
        (),
        empty,
        empty,
        f"?{index}",
        "",
        left_out=(why,),
    )
