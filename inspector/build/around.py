"""What changed around a resume: calls, evidence, identity?"""

from __future__ import annotations

from typing import Any, Final

from inspector import plain, text, words
from inspector.build.context import Context, run_href
from inspector.pages.resume import Became, EvidenceLine, IdentityLine
from inspector.pages.shared import Link, Pill
from inspector.stored import Stored
from tracer.store import read
from tracer.store.rows import CallRow, EntryRow, RunRow

CALLS: Final = 8
EVIDENCE: Final = 12
FIELDS: Final = (
    "agent",
    "topology",
    "model",
    "prompt",
    "policy_bundle",
    "principal",
    "environment",
    "python",
    "host",
)


def became(
    context: Context, row: RunRow, entry: EntryRow, body: dict[str, Any], calls: list[CallRow]
) -> tuple[Became, ...]:
    """Calls skipped, settled by asking, sent again, parked: counted and named."""
    if entry.kind != "resume":
        return ()
    by_id = {call.effect_id: call for call in calls}
    after = read.entries(
        context.connection, row.run_id, row.branch, kinds=("answer", "intent"), after=entry.entry
    )
    mine = [e for e in after if e.segment == entry.segment]
    earlier = {i for i, call in by_id.items() if call.segment < entry.segment}
    skipped = [by_id[e.subject] for e in mine if e.kind == "answer" and e.subject in earlier]
    again = [by_id[e.subject] for e in mine if e.mark == "again" and e.subject in earlier]
    settled = [by_id[i] for i in body.get("reconciled") or [] if i in by_id]
    doubts = [
        by_id[i]
        for i in body.get("doubts") or []
        if i in by_id and by_id[i] not in again and by_id[i].state == "unknown"
    ]
    return (
        _kind(row, skipped, words.pill("same", "skipped"), "answered from the ledger"),
        _kind(row, settled, words.pill("reconciled"), "the service was asked"),
        _kind(row, again, words.pill("sent", "sent again"), "under the stored key"),
        *((_kind(row, doubts, words.pill("unknown", "parked"), "only a person can say"),) if doubts else ()),
    )


def _kind(row: RunRow, calls: list[CallRow], pill: Pill, said: str) -> Became:
    links = tuple(
        Link(
            f"{call.tool} {text.line(call.target, 34)}",
            run_href(row.run_id, row.branch, f"/calls/{call.number}"),
        )
        for call in calls[:CALLS]
    )
    more = f"and {len(calls) - CALLS} more" if len(calls) > CALLS else ""
    return Became(len(calls), pill, said, links, more)


def evidence(
    context: Context, row: RunRow, stored: Stored, sequence: int
) -> tuple[tuple[EvidenceLine, ...], int]:
    """What the checkpoint relied on, newest first, and how many in all."""
    entry = read.checkpoint(context.connection, row.run_id, row.branch, sequence)
    if entry is None:
        return (), 0
    part = stored.clauses(stored.body(entry)).get("evidence")
    if part in (None, []):
        return (), 0
    total = stored.slice(part, 0, 0).total
    found = stored.slice(part, max(0, total - EVIDENCE), total)
    records = stored.value([member for _, member in found.members])
    lines = tuple(
        EvidenceLine(
            words.pill("recorded", "not judged", "plain"),
            plain.masked(str(record.get("source", "?"))),
            text.short(str(record.get("digest") or record.get("version") or "no digest"), 14, 4),
            str(record.get("read_at", ""))[11:19],
            "",
            "" if record.get("repeatable", True) else "not repeatable",
        )
        for record in reversed(records)
        if isinstance(record, dict)
    )
    return lines, total


def identity(
    context: Context, row: RunRow, stored: Stored, entry: EntryRow, body: dict[str, Any]
) -> tuple[IdentityLine, ...]:
    """The runtime before and after, changed fields first; nothing for a refusal, which started none."""
    if entry.kind != "resume":
        return ()
    before = stored.value(body.get("identity_before")) or {}
    after = _identity_after(context, row, stored, entry)
    lines = [
        IdentityLine(name.replace("_", " "), _said(before.get(name)), _said(after.get(name)))
        for name in FIELDS
    ]
    for group, word in (("tools", "tool "), ("packages", "")):
        old, new = before.get(group) or {}, after.get(group) or {}
        changed = [key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key)]
        lines += [
            IdentityLine(f"{word}{key}", _said(old.get(key), "absent"), _said(new.get(key), "absent"))
            for key in changed
        ]
        same = len(old.keys() & new.keys()) - sum(key in old and key in new for key in changed)
        if same:
            other = "other " if changed else ""
            said = text.count(same, f"{other}entry", f"{other}entries")
            lines.append(IdentityLine(group, said, said))
    return tuple(sorted(lines, key=lambda line: line.before == line.after))


def _identity_after(context: Context, row: RunRow, stored: Stored, entry: EntryRow) -> dict[str, Any]:
    """The identity that the first checkpoint after the resume recorded."""
    later = read.checkpoints(context.connection, row.run_id, row.branch, after=0)
    first = next((c for c in later if c.entry > entry.entry), None)
    if first is None:
        return {}
    found: dict[str, Any] = stored.value(stored.clauses(stored.body(first)).get("identity")) or {}
    return found


def _said(value: Any, nothing: str = "undeclared") -> str:
    return nothing if value in (None, "") else text.short(plain.masked(str(value)), 14, 4)
