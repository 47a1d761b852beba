"""What is said about the attempts to go on with a run?"""

from __future__ import annotations

from typing import Any, Final

from inspector import plain, text, words
from inspector.build import around
from inspector.build.context import Context, crumbs, ref_of, run_href
from inspector.build.timeline import owner_name
from inspector.pages.resume import (
    FindingLine,
    ResumeLine,
    ResumePage,
    ResumesPage,
)
from inspector.pages.shared import Fact, Link, Pill, Shown, Strip
from inspector.stored import Stored
from tracer.contract import Finding, Ruling
from tracer.errors import UnknownCheckpoint
from tracer.store import read
from tracer.store.rows import CallRow, EntryRow, RunRow

KINDS: Final = ("resume", "refusal")
GLYPHS: Final = {
    "continue": "continue",
    "revalidate": "revalidate",
    "reapprove": "reapprove",
    "abort": "abort",
}


def resumes_page(context: Context, row: RunRow) -> ResumesPage:
    """The resume log, newest first."""
    found = _entries(context, row)
    lines = tuple(_line(context, row, number, entry, body) for number, entry, body in reversed(found))
    return ResumesPage(
        shell=context.shell(
            f"Resume log of {row.run_id}",
            crumbs=crumbs(row, "resume log"),
            keys=(("j k", "move"), ("Enter", "open")),
            count=f"{len(lines)} of {len(lines)} entries",
        ),
        run_id=row.run_id,
        lines=lines,
        shown=Shown(len(lines), len(lines), "entries"),
        example=f"waypost resume {row.run_id}",
    )


def number_of(context: Context, row: RunRow, segment: int) -> int:
    """Which entry of the log opened a segment; 0 when none did."""
    entries = read.entries(context.connection, row.run_id, row.branch, kinds=KINDS)
    return next((n for n, e in enumerate(entries, 1) if e.kind == "resume" and e.segment == segment), 0)


def _entries(context: Context, row: RunRow) -> list[tuple[int, EntryRow, dict[str, Any]]]:
    rows = read.entries_with_bodies(context.connection, row.run_id, row.branch, kinds=KINDS)
    return [
        (number, entry, context.source.opened(packed, f"{row.run_id} entry {entry.entry}"))
        for number, (entry, packed) in enumerate(rows, 1)
    ]


def _findings(body: dict[str, Any]) -> list[Finding]:
    return [Finding.from_plain(found) for found in body.get("findings") or []]


def _line(context: Context, row: RunRow, number: int, entry: EntryRow, body: dict[str, Any]) -> ResumeLine:
    findings = _findings(body)
    strictest = max(findings, key=lambda f: f.ruling.strictness, default=None)
    what = (
        f"{strictest.clause}: {strictest.what}" if strictest else str(body.get("why") or "the lease was held")
    )
    effects = f"{len(body.get('reconciled') or [])} reconciled, {len(body.get('doubts') or [])} in doubt"
    return ResumeLine(
        number=number,
        href=run_href(row.run_id, row.branch, f"/resumes/{number}"),
        verdict=_ruling(entry),
        when=text.when(entry.at, context.now_ns),
        who=str(body.get("who") or entry.subject),
        source=f"c{body['from_sequence']}" if body.get("from_sequence") else "",
        strictest=text.line(plain.masked(what), 160),
        effects=effects if entry.kind == "resume" else "nothing was done",
    )


def _ruling(entry: EntryRow) -> Pill:
    if entry.kind == "refusal" and entry.mark == "lease":
        return words.pill("blocked", "refused: somebody holds it")
    pill = words.pill(entry.mark)
    return words.pill(
        entry.mark, f"refused: {pill.word}" if entry.kind == "refusal" else f"verdict: {pill.word}"
    )


def resume_page(context: Context, row: RunRow, number: int) -> ResumePage:
    """One attempt, whole."""
    found = _entries(context, row)
    if not 1 <= number <= len(found):
        raise UnknownCheckpoint(f"Resume {number} of {row.run_id}", f"resume {len(found)}")
    _, entry, body = found[number - 1]
    stored = Stored(context.source, context.connection)
    findings = _findings(body)
    sequence = int(body.get("from_sequence") or row.head_sequence)
    calls = read.calls(context.connection, row.run_id, row.branch)
    identity = around.identity(context, row, stored, entry, body)
    changed = sum(line.before != line.after for line in identity)
    evidence, total = around.evidence(context, row, stored, sequence)
    ruling = entry.mark if entry.mark in GLYPHS else "abort"
    return ResumePage(
        shell=context.shell(
            f"Resume {number} · {row.run_id}",
            crumbs=(*crumbs(row, f"resume {number} of {len(found)}"),),
            keys=(("j k", "resume"), ("d", "diff across it")),
            count=f"{text.count(len(findings), 'finding')}, {text.count(total, 'piece')} of evidence",
        ),
        run_id=row.run_id,
        number=number,
        verdict=_ruling(entry),
        glyph=GLYPHS[ruling],
        tone=words.tone_of(ruling),
        sentence=_sentence(entry, findings, body),
        who=str(body.get("who") or entry.subject or "somebody"),
        when=text.moment(entry.at),
        source=Link(f"checkpoint {sequence}", run_href(row.run_id, row.branch, c=sequence)),
        gap=_gap(context, row, entry),
        why=plain.masked(str(body.get("why") or "")),
        actions=_actions(row, number, len(found), sequence),
        findings=tuple(_finding(f, row.run_id) for f in findings),
        became=around.became(context, row, entry, body, calls),
        evidence=evidence,
        evidence_counts=(words.pill("recorded", f"{total} recorded", "plain"),) if total else (),
        evidence_shown=Shown(len(evidence), total, "recorded"),
        identity=identity,
        identity_note=f"{changed} of {len(identity)} changed" if identity else "not recorded by a refusal",
        then=_then(context, row, entry, body, calls),
        traces=_traces(body) if entry.kind == "resume" else (),
        strips=_strips(entry, row),
    )


def _sentence(entry: EntryRow, findings: list[Finding], body: dict[str, Any]) -> str:
    if entry.kind == "refusal":
        stops = [f for f in findings if f.ruling.strictness > Ruling.CONTINUE.strictness]
        if not stops:
            return "Somebody else holds the run, so nothing was done."
        why = text.count(len(stops), "finding")
        return f"The gate said no because of {why}; nothing was sent and nothing was called."
    settled, doubts = len(body.get("reconciled") or []), len(body.get("doubts") or [])
    parts = []
    if settled:
        parts.append(f"{text.count(settled, 'call')} in doubt settled by asking")
    if doubts:
        parts.append(
            f"{text.count(doubts, 'call')} in doubt kept with {'its' if doubts == 1 else 'their'} stored key"
        )
    changed = sum(bool(f.before or f.after) for f in findings)
    if changed:
        parts.append(f"{text.count(changed, 'change')} accepted by the policy")
    return (
        f"The run went on: {', '.join(parts)}."
        if parts
        else "Nothing had changed and nothing was in doubt; the run went on."
    )


def _gap(context: Context, row: RunRow, entry: EntryRow) -> str:
    before = [
        s
        for s in read.segments(context.connection, row.run_id, row.branch)
        if s.started_at < entry.at and s.ended_at
    ]
    if not before:
        return ""
    last = before[-1]
    ended = last.ended_at or entry.at
    word = {"interrupted": "its process died", "lost": "its heartbeat stopped", "paused": "it paused"}.get(
        last.outcome or "", "it ended"
    )
    return f"{text.duration(max(0, entry.at - ended))} after {word}"


def _actions(row: RunRow, number: int, total: int, sequence: int) -> tuple[Link, ...]:
    links = []
    if sequence < row.head_sequence:
        pair = f"{ref_of(row.branch, sequence)}...{ref_of(row.branch, min(row.head_sequence, sequence + 2))}"
        links.append(Link("Diff across it", run_href(row.run_id, tail=f"/diff/{pair}"), "changed", key="d"))
    if number > 1:
        links.append(
            Link(f"Resume {number - 1}", run_href(row.run_id, row.branch, f"/resumes/{number - 1}"), key="k")
        )
    if number < total:
        links.append(
            Link(f"Resume {number + 1}", run_href(row.run_id, row.branch, f"/resumes/{number + 1}"), key="j")
        )
    return tuple(links)


def _finding(found: Finding, run_id: str) -> FindingLine:
    icon, title = words.CLAUSES.get(str(found.clause), ("alert", str(found.clause)))
    style = "plain" if found.ruling.strictness <= Ruling.CONTINUE.strictness else ""
    change = (plain.masked(found.before), plain.masked(found.after)) if found.before and found.after else None
    return FindingLine(
        icon,
        title,
        words.pill(str(found.ruling), style="plain" if style else ""),
        plain.masked(found.what),
        change,
        found.remedy.replace(" RUN ", f" {run_id} "),
        found.waived_by,
    )


def _then(
    context: Context, row: RunRow, entry: EntryRow, body: dict[str, Any], calls: list[CallRow]
) -> tuple[Fact, ...]:
    if entry.kind != "resume":
        return (Fact("Outcome", "nothing was started"), Fact("Lease", "given back"))
    segments = {s.segment: s for s in read.segments(context.connection, row.run_id, row.branch)}
    segment = segments.get(entry.segment)
    before = segments.get(entry.segment - 1)
    mine = [call for call in calls if call.segment == entry.segment]
    first = mine[0] if mine else None
    facts = [
        Fact(
            "First action",
            f"{first.tool} {text.line(first.target, 40)}" if first else "no call yet",
            text.clock(first.planned_at) if first else "",
            mono=first is not None,
        ),
        Fact(
            "Segment",
            str(entry.segment),
            f"epoch {before.epoch if before else '?'} → {segment.epoch if segment else '?'}",
        ),
        Fact("Where", f"{segment.host} pid {segment.pid}" if segment else "unknown"),
    ]
    if before is not None:
        facts.append(Fact("Fenced", owner_name(before.owner)))
    facts.append(Fact("Migrations", ", ".join(map(str, body.get("migrations") or [])) or "none"))
    facts.append(Fact("Renamed types", ", ".join(map(str, body.get("renamed") or [])) or "none"))
    used = read.entries(
        context.connection, row.run_id, row.branch, kinds=("decision used",), after=entry.entry
    )
    mine_used = [e for e in used if e.segment == entry.segment]
    facts.append(Fact("Decisions used", str(len(mine_used)), ", ".join(e.mark for e in mine_used[:4])))
    waived = [f for f in _findings(body) if f.waived_by]
    facts.append(Fact("Waivers", ", ".join(f"{f.clause} by {f.waived_by}" for f in waived) or "none"))
    facts.append(
        Fact(
            "Gate took",
            text.duration(int(body.get("gate_ns") or 0)),
            "no model and no tool was called before it",
        )
    )
    facts.append(
        Fact("Outcome", (segment.outcome if segment and segment.outcome else context.source.standing(row)))
    )
    return tuple(facts)


def _traces(body: dict[str, Any]) -> tuple[Fact, ...]:
    before, after = body.get("trace_before"), body.get("trace_after")
    return (
        Fact("Before", text.short(str(before)) if before else "none", mono=bool(before)),
        Fact("After", text.short(str(after)) if after else "none", mono=bool(after)),
        Fact("Link", "resumed_from" if before and after else "none"),
    )


def _strips(entry: EntryRow, row: RunRow) -> tuple[Strip, ...]:
    if entry.kind == "refusal" and entry.mark != "lease":
        link = Link("Inbox", f"/inbox?run={row.run_id}")
        return (
            Strip(
                "wait",
                "Refused.",
                "A finding that can be waived waits in the inbox; the next resume looks again.",
                link,
            ),
        )
    return ()
