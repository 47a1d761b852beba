"""What kind of document is this, and which runs are in it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .chat import calls_of_chat
from .otlp import calls_by_trace


@dataclass(slots=True)
class Imported:
    """The runs of a document as plain run records, and what could not be read."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def runs_of(document: object, *, kinds: Mapping[str, str] | None = None) -> Imported:
    """The runs in *document*. *kinds* says which tools read, write, hand over or are internal.

    A tool nobody declared is taken for a look-up only when its name begins like one, and that is said.
    """
    out = Imported()
    if isinstance(document, list) and document and all(_is_message(m) for m in document):
        _chat(document, {}, out, kinds)
    elif isinstance(document, list):
        for part in document:
            _one(part, out, kinds)
    else:
        _one(document, out, kinds)
    if not out.runs:
        out.left_out.append(
            "no run found: neither chat messages with tool calls, nor OTLP spans of tools, nor run records"
        )
    return out


def _one(part: object, out: Imported, kinds: Mapping[str, str] | None) -> None:
    if not isinstance(part, Mapping):
        out.left_out.append(f"a {type(part).__name__} instead of a run")
    elif isinstance(part.get("messages"), list):
        _chat(part["messages"], part, out, kinds)
    elif "resourceSpans" in part or "resource_spans" in part:
        for trace, calls, left in calls_by_trace(part, kinds):
            out.left_out += left
            if calls:
                out.runs.append({"tools": calls, "source": f"trace {trace}"})
    elif isinstance(part.get("tools", part.get("calls")), list) and not _is_message(part):
        out.runs.append({**part, "tools": list(part.get("tools", part.get("calls")) or ())})
    else:
        out.left_out.append(
            f"a record with {', '.join(sorted(map(str, part))[:5]) or 'nothing in it'} is no run"
        )


def _chat(
    messages: Sequence[object], about: Mapping[str, Any], out: Imported, kinds: Mapping[str, str] | None
) -> None:
    calls, left = calls_of_chat(messages, kinds)
    out.left_out += left
    if calls:
        known = {k: about[k] for k in ("task_id", "trial", "success", "source") if k in about}
        out.runs.append({**known, "tools": calls})


def _is_message(part: object) -> bool:
    return isinstance(part, Mapping) and isinstance(part.get("role"), str)
