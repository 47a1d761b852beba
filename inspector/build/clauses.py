"""How do the seven clauses of a checkpoint read?"""

from __future__ import annotations

from typing import Any, Final

from inspector import plain, text, words
from inspector.build.context import Context
from inspector.pages.checkpoint import ClauseCard
from inspector.pages.shared import Pill
from inspector.stored import Stored
from tracer.contract import ResumePolicy, Ruling
from tracer.spanref import SpanRef
from tracer.store.rows import EntryRow, RunRow
from tracer.store.tables import ACKED, PENDING

ROWS: Final = 200
UNDECLARED: Final = "undeclared"


def clauses(
    context: Context, row: RunRow, entry: EntryRow, stored: Stored, body: dict[str, Any]
) -> tuple[ClauseCard, ...]:
    """All seven, in their order; what nobody declared is said to be undeclared."""
    parts = stored.clauses(body)
    return (
        _plan(stored.value(parts.get("plan"))),
        _evidence(context, stored, parts.get("evidence")),
        _effects(stored.value(parts.get("effects"))),
        _permissions(stored.value(parts.get("permissions"))),
        _identity(stored.value(parts.get("identity"))),
        _trace(entry),
        _policy(stored.value(parts.get("policy"))),
    )


def _said(value: Any) -> str:
    return UNDECLARED if value in (None, "") else plain.masked(str(value))


def _undeclared() -> Pill:
    return words.pill("undeclared", style="plain")


def _plan(plan: Any) -> ClauseCard:
    plan = plan or {}
    version, objective = plan.get("version"), plan.get("objective")
    note = f"v{version}" if version not in (None, "") else ""
    lines = (_said(objective) if objective else "No objective was declared.",)
    return ClauseCard("plan", "Objective and plan", note, None if note else _undeclared(), "mute", lines)


def _evidence(context: Context, stored: Stored, part: Any) -> ClauseCard:
    if part in (None, []):
        return ClauseCard(
            "evidence", "Evidence", "", _undeclared(), "mute", ("Nothing that it relies on was declared.",)
        )
    first = stored.slice(part, 0, 0)
    found = stored.slice(part, max(0, first.total - ROWS), first.total)
    records = stored.value([member for _, member in found.members])
    rows = tuple(
        (
            plain.masked(str(r.get("source", "?"))),
            text.short(str(r.get("digest") or r.get("version") or "no digest"), 14, 4),
        )
        for r in reversed(records)
        if isinstance(r, dict)
    )
    newest = records[-1] if records and isinstance(records[-1], dict) else {}
    read_at = str(newest.get("read_at", ""))[:19].replace("T", " ")
    line = f"Newest: {plain.masked(str(newest.get('source', '?')))}, read {read_at}."
    more = f"{first.total - len(rows):,} older ones not shown" if first.total > len(rows) else ""
    pill = words.pill("recorded", f"{first.total:,} recorded", "plain")
    return ClauseCard("evidence", "Evidence", "", pill, "mute", (line,), rows, more)


def _effects(effects: Any) -> ClauseCard:
    effects = effects or {}
    unknown = effects.get("unknown") or []
    committed, failed = int(effects.get("committed") or 0), int(effects.get("failed") or 0)
    lines = [f"{text.count(committed, 'write')} committed, {failed} failed when this was written."]
    if unknown:
        named = ", ".join(text.short(str(effect)) for effect in unknown[:5])
        lines.append(
            f"Without an outcome: {named}{f' and {len(unknown) - 5} more' if len(unknown) > 5 else ''}."
        )
        return ClauseCard(
            "effects",
            "Side effects",
            "",
            words.pill("unknown", f"{len(unknown)} unknown", "plain"),
            "odd",
            tuple(lines),
        )
    lines.append("None in flight.")
    if not committed and not failed:
        return ClauseCard("effects", "Side effects", "none yet", None, "mute", ("No write had been sent.",))
    return ClauseCard(
        "effects",
        "Side effects",
        "",
        words.pill("committed", f"{committed} committed", "plain"),
        "ok",
        tuple(lines),
    )


def _permissions(permissions: Any) -> ClauseCard:
    permissions = permissions or {}
    grants, used = permissions.get("grants") or [], permissions.get("used") or []
    if not grants and not used:
        return ClauseCard(
            "perm", "Permissions", "", _undeclared(), "mute", ("No grant was declared, no approval used.",)
        )
    lines = [f"Grants: {', '.join(map(_said, grants))}." if grants else "No grant was declared."]
    if used:
        lines.append(
            f"{text.count(len(used), 'answer')} of a person used, the last {text.short(str(used[-1]))}."
        )
    pill = words.pill("done", text.count(len(used), "answer used", "answers used"), "plain") if used else None
    return ClauseCard(
        "perm",
        "Permissions",
        "" if pill else text.count(len(grants), "grant"),
        pill,
        "ok" if used else "mute",
        tuple(lines),
    )


def _identity(identity: Any) -> ClauseCard:
    identity = identity or {}
    tools, packages = identity.get("tools") or {}, identity.get("packages") or {}
    line = (
        f"Agent {_said(identity.get('agent'))}, body {str(identity.get('topology', ''))[:12] or UNDECLARED}, "
        f"Python {_said(identity.get('python'))} on {_said(identity.get('host'))}."
    )
    named = ("model", "prompt", "policy_bundle", "principal", "environment")
    declared = [
        f"{name.replace('_', ' ')} {text.short(_said(identity.get(name)), 20, 6)}"
        for name in named
        if identity.get(name)
    ]
    missing = [name.replace("_", " ") for name in named if not identity.get(name)]
    lines = [line]
    if declared:
        lines.append("; ".join(declared) + ".")
    if missing:
        lines.append(f"Undeclared: {', '.join(missing)}.")
    rows = [(f"tool {name}", str(digest)[:16]) for name, digest in tools.items()]
    rows += [(name, str(version)) for name, version in packages.items()]
    note = f"{text.count(len(tools), 'tool')}, {text.count(len(packages), 'package')}"
    more = f"{len(rows) - 400} more" if len(rows) > 400 else ""
    return ClauseCard(
        "identity", "Runtime identity", note, None, "mute", tuple(lines), tuple(rows[:400]), more
    )


def _trace(entry: EntryRow) -> ClauseCard:
    if not entry.span:
        return ClauseCard("trace", "Trace", "", _undeclared(), "mute", ("It was written without a span.",))
    span = SpanRef.unpack(entry.span)
    line = f"Trace {text.short(span.trace_id.hex())}, span {span.span_id.hex()}."
    if entry.export == ACKED and entry.exported_at:
        lines = (line, f"Acknowledged after {text.duration(entry.exported_at - entry.at)}.")
        return ClauseCard("trace", "Trace", "", words.pill("done", "acknowledged", "plain"), "ok", lines)
    if entry.export == PENDING:
        return ClauseCard(
            "trace",
            "Trace",
            "",
            words.pill("awaiting", "not sent yet", "plain"),
            "wait",
            (line, "It waits in the outbox; `waypost export --pending` sends it."),
        )
    return ClauseCard(
        "trace",
        "Trace",
        "kept here",
        None,
        "mute",
        (line, "No exporter was configured, or it was not sampled."),
    )


def _policy(policy: Any) -> ClauseCard:
    if not policy:
        return ClauseCard(
            "policy", "Resume policy", "", _undeclared(), "mute", ("The default policy holds.",)
        )
    read = ResumePolicy.from_plain(policy)
    note = "default" if read == ResumePolicy() else "own"
    rows = tuple((name.replace("_", " "), str(ruling)) for name, ruling in read.to_plain().items())
    return ClauseCard("policy", "Resume policy", note, None, "mute", _brief(read), rows)


def _brief(policy: ResumePolicy) -> tuple[str, ...]:
    """What stops a run, strictest first; the rest is one click away."""
    said = {
        Ruling.ABORT: "Ends the run",
        Ruling.REAPPROVE: "Needs a person",
        Ruling.REVALIDATE: "Looked at again",
    }
    by: dict[Ruling, list[str]] = {}
    for name, ruling in policy.to_plain().items():
        by.setdefault(Ruling(ruling), []).append(name.replace("_", " "))
    return tuple(
        f"{word}: {', '.join(by[ruling][:5])}{f' and {len(by[ruling]) - 5} more' if len(by[ruling]) > 5 else ''}."
        for ruling, word in said.items()
        if ruling in by
    )
