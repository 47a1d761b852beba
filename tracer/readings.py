"""Do the rows that a resume relies on agree with the journal whose readings they are?

A call, a question and the head of a branch are rows, so that lists open no payload; the ledger, the approvals and
the lease are read from them. Each append therefore carries the digests of the rows that it writes in the body of
its first entry, under the chain: a row that was edited, added or taken away is noticed before anybody believes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from . import codec
from .contract import CheckpointKind
from .store.rows import ApprovalRow, CallRow, EntryRow, RunRow

KEY: Final = "rows"
"""The name in a body under which the digests stand."""
MARK: Final = b'"rows":'
HEAD: Final = ("state", "reason", "epoch", "owner", "segment")
"""Columns of a branch that say who may write and where the run stands; the last entry that names one holds."""

_CALL: Final = tuple(CallRow.__dataclass_fields__)
_QUESTION: Final = ("kind", "subject", "binding", "prompt", "asked_at", "deadline")
_ANSWER: Final = ("state", "decided_at", "decided_by", "why", "used_at")
_RUN: Final = ("agent", "entrypoint", "objective", "created_at", "trace_id")
_ADVANCES: Final = frozenset(str(kind) for kind in CheckpointKind if kind.advances)
Row = tuple[str, Mapping[str, Any]]


def bound(rows: Sequence[Row], creates: Sequence[Row], changes: Mapping[str, Any]) -> dict[str, Any]:
    """What the body of the first entry says of the rows that its append writes; empty when it writes none."""
    out: dict[str, Any] = {}
    head = {name: changes[name] for name in HEAD if name in changes}
    for name, values in (*creates, *rows):
        if name == "upsert call":
            out[f"call {values['effect_id']}"] = digest([*_picked(values, _CALL), values["result"]])
            if values["args"]:
                out[f"args {values['effect_id']}"] = digest([values["args"]])
        elif name == "insert approval":
            out[f"question {values['approval_id']}"] = digest(_picked(values, _QUESTION))
            out[f"answer {values['approval_id']}"] = digest(_picked(values, _ANSWER))
        elif name == "decide approval":
            out[f"answer {values['at_approval_id']}"] = digest(_picked(values, _ANSWER))
        elif name == "insert run":
            out["run"] = digest(_picked(values, _RUN))
        elif name == "insert branch":
            head = {**_named(values, HEAD), **head}
    if head:
        out["head"] = head
    return out


def digest(values: Iterable[Any]) -> str:
    """24 hex digits over the values of a row, their types included."""
    hashed = hashlib.sha256()
    for value in values:
        data = value if type(value) is bytes else str(value).encode("utf-8", "surrogatepass")
        hashed.update(b"%s %d " % (_kind(value), len(data)))
        hashed.update(data)
    return hashed.hexdigest()[:24]


@dataclass(slots=True)
class Believed:
    """What the journal says of the rows, gathered entry by entry."""

    rows: dict[str, str] = field(default_factory=dict)
    head: dict[str, Any] = field(default_factory=dict)
    position: int = 0
    step: str = ""

    def take(self, entry: EntryRow, body: bytes) -> None:
        """The next entry, in order, with its unpacked body."""
        if entry.sequence is not None:
            self.step = entry.subject
            if entry.mark in _ADVANCES:
                self.position = entry.sequence
        if MARK not in body:
            return
        plain: Any = codec.decode(body)
        said = plain.get(KEY)
        if not isinstance(said, dict):
            return
        self.head.update(said.pop("head", {}))
        for name, value in said.items():
            # The arguments of a call that is sent again may be worded anew; its row keeps the first ones.
            if name.startswith("args ") and name in self.rows:
                continue
            self.rows[name] = value

    def differences(
        self,
        run: RunRow,
        calls: Iterable[tuple[CallRow, bytes, bytes | None]],
        questions: Iterable[ApprovalRow],
    ) -> Iterator[str]:
        """What the rows say otherwise, one sentence each."""
        for name, value in {**self.head, "position": self.position, "step": self.step}.items():
            if (seen := getattr(run, name)) != value:
                yield f"the row of the run has {name} {seen!r}, its journal says {value!r}"
        left = dict(self.rows)
        yield from _compared(left, "run", _picked_of(run, _RUN), f"the row of run {run.run_id}")
        for call, args, result in calls:
            what = f"the row of call {call.effect_id[:8]} ({call.tool})"
            yield from _compared(left, f"call {call.effect_id}", [*_picked_of(call, _CALL), result], what)
            yield from _compared(left, f"args {call.effect_id}", [args], f"{what}, in its arguments,")
        for question in questions:
            what = f"the row of question {question.approval_id[:8]}"
            yield from _compared(
                left, f"question {question.approval_id}", _picked_of(question, _QUESTION), what
            )
            yield from _compared(left, f"answer {question.approval_id}", _picked_of(question, _ANSWER), what)
        for name in left:
            yield f"the row of {name} is in the journal and not in the store"


def _compared(left: dict[str, str], name: str, values: Iterable[Any], what: str) -> Iterator[str]:
    said = left.pop(name, None)
    if said is None:
        yield f"{what} is in the store, and no entry has written it"
    elif said != digest(values):
        yield f"{what} is not what its last entry has written"


def _picked(values: Mapping[str, Any], names: Iterable[str]) -> list[Any]:
    return [values[name] for name in names]


def _picked_of(row: object, names: Iterable[str]) -> list[Any]:
    return [getattr(row, name) for name in names]


def _named(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: values[name] for name in names}


def _kind(value: Any) -> bytes:
    if value is None:
        return b"null"
    if isinstance(value, bytes):
        return b"bytes"
    return b"int" if isinstance(value, int) else b"text"
