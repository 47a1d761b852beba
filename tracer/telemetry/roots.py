"""What is the root span of one process life of a run? Its outcome, its links, and the few events it carries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import Link, SpanContext, Status, StatusCode, TraceFlags

from ..spanref import SpanRef
from ..store.rows import EntryRow, SegmentRow
from . import names
from .spans import UNSET, Body, RunFacts, built, common
from .wiretext import KEYLESS, Attributes, Wording

KINDS: Final = ("resume", "pause", "end", "divergence")
"""Journal entries that become events of a root."""
EVENTS_MOST: Final = 64
"""Events on one root; the first ones are kept."""
QUIET: Final = frozenset({"started", "stopped", "muted", "withdrawn"})
"""Marks of `divergence` entries that are no alarm."""
_FAILED: Final = frozenset({"failed", "refused", "interrupted", "lost"})
_CLOSED_FOR_IT: Final = frozenset({"interrupted", "lost"})


def segment_span(
    row: SegmentRow,
    run: RunFacts,
    resource: Resource,
    *,
    link: Body | None = None,
    events: Sequence[tuple[EntryRow, Body]] = (),
    last: tuple[bytes, int] | None = None,
    draft: bool = False,
    words: Wording = KEYLESS,
) -> ReadableSpan:
    """The root of one ended segment.

    Args:
        link: the decoded `link` of the row: what it was resumed or forked from.
        events: the segment's journal entries of kinds `resume`, `pause`, `end` and `divergence`, with bodies.
        last: (id, sequence) of the segment's last checkpoint.
    """
    ref = SpanRef.unpack(row.span)
    outcome = row.outcome or "done"
    attributes = common(row.run_id, row.branch, row.segment, run, words)
    attributes[names.RUN_ORIGIN_TRACE_ID] = run.trace_id.hex()
    attributes[names.SEGMENT_OUTCOME] = outcome
    if run.parent_run_id:
        attributes[names.RUN_PARENT_ID] = run.parent_run_id
    if last is not None:
        attributes[names.CHECKPOINT_ID], attributes[names.CHECKPOINT_SEQUENCE] = last[0].hex(), last[1]
    if ref.under_agent:
        name = names.SPAN_SEGMENT
    else:
        attributes[names.OPERATION_NAME] = names.SPAN_AGENT
        name = f"{names.SPAN_AGENT} {attributes[names.AGENT_NAME]}"
    links = []
    if link is not None:
        attributes[names.RESUMED_FROM_CHECKPOINT] = link["checkpoint_id"]
        attributes[names.RESUMED_FROM_TRACE] = link["trace_id"]
        links.append(_link(link))
    status = UNSET
    if outcome in _FAILED:
        attributes[names.ERROR_TYPE] = outcome
        status = Status(StatusCode.ERROR, _why(outcome, events, words))
    if outcome in _CLOSED_FOR_IT:
        attributes[names.INCOMPLETE] = True
    made: list[Event] = []
    for entry, body in events[:EVENTS_MOST]:
        made += _root_events(entry, body, link, draft, words)
    ended = row.ended_at or row.started_at
    return built(name, ref, ended, attributes, resource, events=made, links=links, status=status)


def _root_events(entry: EntryRow, body: Body, link: Body | None, draft: bool, words: Wording) -> list[Event]:
    said: Attributes = {names.RUN_ID: entry.run_id}
    twin: tuple[str, Attributes] | None = None
    if entry.kind == "resume":
        name = names.EVENT_RESUMED
        said[names.VERDICT] = entry.mark
        for attribute, key in ((names.RESUMED_BY, "who"), (names.RESUME_REASON, "why")):
            if body.get(key):
                words.put(said, attribute, str(body[key]))
        origin: Attributes = {}
        if link is not None:
            said[names.RESUMED_FROM_CHECKPOINT] = link["checkpoint_id"]
            said[names.RESUMED_FROM_TRACE] = link["trace_id"]
            origin = {
                names.DRAFT_RESUMED_FROM_TYPE: "checkpoint",
                names.DRAFT_RESUMED_FROM_ID: link["checkpoint_id"],
            }
        if isinstance(body.get("waited_s"), int | float):
            said[names.WAITED] = float(body["waited_s"])
        twin = names.DRAFT_RESUMED, {names.DRAFT_EXECUTION_ID: entry.run_id, **origin}
    elif entry.kind == "pause" or (entry.kind == "end" and entry.mark == "paused"):
        name = names.EVENT_PAUSED
        reason = entry.mark if entry.kind == "pause" else str(body.get("reason", ""))
        said[names.PAUSE_ID] = entry.id.hex()
        reason = words.put(said, names.PAUSE_REASON, reason)
        if isinstance(body.get("deadline"), int):
            said[names.PAUSE_DEADLINE] = body["deadline"]
        twin = (
            names.DRAFT_PAUSED,
            {
                names.DRAFT_EXECUTION_ID: entry.run_id,
                names.DRAFT_PAUSE_ID: entry.id.hex(),
                names.DRAFT_PAUSE_REASON: reason,
            },
        )
    elif entry.kind == "divergence" and entry.mark not in QUIET:
        name = names.EVENT_DIVERGED
        words.put(said, names.DIVERGENCE_RULE, entry.mark)
        words.put(said, names.DIVERGENCE_SUBJECT, entry.subject)
        if isinstance(body.get("score"), int):
            said[names.DIVERGENCE_SCORE] = body["score"] / 1000
        if body.get("reasons"):
            words.put(said, names.DIVERGENCE_REASON, str(body["reasons"][0].get("sentence", "")))
    else:
        return []
    made = [Event(name, said, entry.at)]
    if draft and twin is not None:
        made.append(Event(twin[0], twin[1], entry.at))
    return made


def _why(outcome: str, events: Sequence[tuple[EntryRow, Body]], words: Wording) -> str:
    if outcome == "interrupted":
        return "process lost: its owner is dead"
    if outcome == "lost":
        return "process lost: its heartbeat stopped"
    reasons = [str(body.get("reason", "")) for entry, body in events if entry.kind == "end"]
    return words.shown(next(filter(None, reasons), outcome))[0]


def _link(link: Body) -> Link:
    context = SpanContext(
        int(link["trace_id"], 16), int(link["span_id"], 16), True, TraceFlags(int(link.get("flags", 1)))
    )
    attributes = {
        names.LINK_TYPE: link["type"],
        names.CHECKPOINT_ID: link["checkpoint_id"],
        names.CHECKPOINT_SEQUENCE: link["sequence"],
    }
    return Link(context, attributes)
