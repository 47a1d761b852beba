"""What waits for a person, and what was decided?"""

from __future__ import annotations

from typing import Any, Final

from inspector import plain, text, words
from inspector.actions import shown_digest
from inspector.build.context import Context, run_href, title_of
from inspector.pages.inbox import InboxLine, InboxPage, Request
from inspector.pages.shared import Fact, Link, Live, Pill, Shown, Strip, Text
from inspector.stored import Stored
from tracer import alerts, approvals
from tracer.errors import UnknownRun
from tracer.store import read
from tracer.store.rows import ApprovalRow, RunRow

PAGE: Final = 100
PREVIEW: Final = 64 * 1024
SOON_NS: Final = 600 * 10**9
EXAMPLE: Final = """answer = run.ask("publish the report?", timeout_s=3600)
if answer.approved: publish(report)"""
DONE: Final = {
    "approved": ("ok", "Approved.", "The next resume uses it once."),
    "denied": ("bad", "Denied.", "The agent is told so at the next resume."),
    "waived": ("wait", "Waived.", "The next resume accepts exactly this finding."),
}


def inbox_page(context: Context, *, chosen: str = "", run_id: str = "", done: str = "") -> InboxPage:
    """Everything that waits, most urgent first, and one request open."""
    rows = read.approvals(context.connection, run_id=run_id or None)
    now = context.now_ns
    waiting = [row for row in rows if approvals.effective(row, now) == approvals.PENDING]
    waiting.sort(key=lambda row: (row.deadline or 1 << 62, row.asked_at))
    settled = sorted(
        (row for row in rows if approvals.effective(row, now) != approvals.PENDING),
        key=lambda row: -(row.decided_at or row.deadline or row.asked_at),
    )
    if not chosen:
        chosen = next((row.approval_id for row in (*waiting, *settled)), "")
    soon = sum(row.deadline is not None and row.deadline - now < SOON_NS for row in waiting)
    live = Live(f"/inbox?run={run_id}" if run_id else "/inbox", 3) if not chosen or not waiting else None
    return InboxPage(
        shell=context.shell(
            "Inbox",
            section="inbox",
            keys=(("j k", "request"), ("a", "approve"), ("w", "waive"), ("x", "deny"), ("Esc", "not yet")),
            count=f"{len(waiting):,} open, {len(settled):,} decided",
            live=live,
        ),
        open=tuple(_line(context, row, chosen, run_id) for row in waiting[:PAGE]),
        open_shown=Shown(min(PAGE, len(waiting)), len(waiting), "requests"),
        decided=tuple(_line(context, row, chosen, run_id) for row in settled[:PAGE]),
        decided_shown=Shown(min(PAGE, len(settled)), len(settled), "requests"),
        due=f"{soon} due within 10 minutes" if soon else "",
        request=_request(context, chosen) if chosen else None,
        notice=_notice(done, context, chosen),
        example=EXAMPLE,
        others=_others(context, {row.run_id for row in waiting}),
    )


def _notice(done: str, context: Context, chosen: str) -> Strip | None:
    if done not in DONE or not chosen:
        return None
    tone, head, said = DONE[done]
    return Strip(
        "ok" if tone == "ok" else "bad" if tone == "bad" else "wait",
        head,
        f"{said} Signed as {context.user}.",
    )


def _line(context: Context, row: ApprovalRow, chosen: str, run_id: str) -> InboxLine:
    href = f"/inbox/{row.approval_id}" + (f"?run={run_id}" if run_id else "")
    return InboxLine(
        href=href,
        title=_title(row),
        pill=_pill(row, context.now_ns),
        what=text.line(row.prompt, 90),
        note=_note(row, context.now_ns),
        current=row.approval_id == chosen,
    )


def _title(row: ApprovalRow) -> str:
    return {
        "tool": row.subject,
        "gate": f"gate: {row.subject}",
        "effect": "outcome unknown",
        alerts.QUESTION: "alert",
    }.get(row.kind, "question")


def _pill(row: ApprovalRow, now: int) -> Pill:
    state = approvals.effective(row, now)
    if state != approvals.PENDING:
        word = {"used": "used"}.get(state, "")
        return words.pill(_shown(row, state), word, "plain")
    if row.deadline is None:
        return words.pill("pending", "no deadline")
    return words.pill("pending", f"due in {text.rough(row.deadline - now)}")


def _shown(row: ApprovalRow, state: str) -> str:
    """A yes to a finding of the gate is a waiver."""
    return "waived" if row.kind == "gate" and state == approvals.APPROVED else state


def _note(row: ApprovalRow, now: int) -> str:
    asked = f"{row.run_id} · asked {text.when(row.asked_at, now)}"
    if row.decided_by and row.decided_at:
        why = f" · “{text.line(row.why, 60)}”" if row.why else ""
        return f"{row.run_id} · by {row.decided_by} {text.when(row.decided_at, now)}{why}"
    return asked


def _request(context: Context, approval_id: str) -> Request:
    found = read.approval_by_id(context.connection, approval_id)
    if found is None:
        raise UnknownRun(f"request {approval_id}", context.source.name)
    row, packed = found
    now = context.now_ns
    state = approvals.effective(row, now)
    run = context.run(row.run_id, row.branch)
    stored = Stored(context.source, context.connection)
    detail = stored.value(context.source.opened(packed, f"request {approval_id}"))
    is_open = state == approvals.PENDING
    decidable = is_open and row.kind in ("ask", "tool", "gate", alerts.QUESTION)
    shown, note = text.clip(row.prompt, PREVIEW)
    return Request(
        approval_id=approval_id,
        title=_title(row),
        state=words.pill(_shown(row, state)),
        left=text.rough(row.deadline - now) if row.deadline and is_open else "",
        until=text.moment(row.deadline) if row.deadline else "",
        until_iso=text.iso(row.deadline) if row.deadline else "",
        prompt=Text(shown, note),
        args=_args(row, detail),
        args_title="Exactly this will run"
        if row.kind == "tool" or (row.kind == alerts.QUESTION and isinstance(detail, dict) and "args" in detail)
        else "Shown with the question",
        digest=shown_digest(row.kind, row.binding),
        facts=_facts(row, run, detail),
        history=_history(row, now, state),
        action=f"/inbox/{approval_id}/decide" if decidable else "",
        waivable=row.kind == "gate",
        strips=_strips(row, is_open),
        after="" if is_open else f"waypost resume {row.run_id}",
    )


def _args(row: ApprovalRow, detail: Any) -> Text | None:
    if isinstance(detail, dict) and (
        row.kind == "tool" or (row.kind == alerts.QUESTION and "args" in detail)
    ):
        shown, note = text.clip(plain.pretty(detail.get("args")), PREVIEW)
        return Text(f"{detail.get('tool') or row.subject}\n{shown}", note)
    value = detail.get("detail") if row.kind == "ask" and isinstance(detail, dict) else None
    if value is None:
        return None
    shown, note = text.clip(plain.pretty(value), PREVIEW)
    return Text(shown, note)


def _facts(row: ApprovalRow, run: RunRow, detail: Any) -> tuple[Fact, ...]:
    facts = [
        Fact(
            "Run", text.line(title_of(run), 80), links=(Link(run.run_id, run_href(run.run_id, run.branch)),)
        ),
        Fact(
            "Asked by", f"{run.agent} › segment {run.segment} › {row.subject or 'the body itself'}", mono=True
        ),
        Fact(
            "At",
            "",
            links=(
                Link(
                    f"checkpoint {run.head_sequence}", run_href(run.run_id, run.branch, c=run.head_sequence)
                ),
            ),
        ),
    ]
    if row.kind == "gate" and isinstance(detail, dict):
        facts.append(Fact("Before", plain.masked(str(detail.get("before") or "undeclared")), mono=True))
        facts.append(Fact("After", plain.masked(str(detail.get("after") or "undeclared")), mono=True))
        facts.append(Fact("Remedy", str(detail.get("remedy") or "").replace(" RUN ", f" {row.run_id} ")))
    facts.append(Fact("Words", "written by the program or a model, not checked"))
    return tuple(facts)


def _history(row: ApprovalRow, now: int, state: str) -> tuple[tuple[str, Pill, str], ...]:
    out = [(text.when(row.asked_at, now), words.pill("pending", "asked"), "by the run")]
    if row.decided_at:
        word = _shown(row, "approved" if row.state == "used" else state)
        out.append(
            (
                text.when(row.decided_at, now),
                words.pill(word),
                f"by {row.decided_by}" + (f": {row.why}" if row.why else ""),
            )
        )
    elif state == approvals.EXPIRED and row.deadline:
        out.append(
            (
                text.when(row.deadline, now),
                words.pill("expired"),
                "nobody decided in time, which counts as no",
            )
        )
    if row.used_at:
        out.append((text.when(row.used_at, now), words.pill("used"), "by the run, once"))
    return tuple(out)


def _strips(row: ApprovalRow, is_open: bool) -> tuple[Strip, ...]:
    if is_open and row.kind == "effect":
        command = f"`waypost approve {row.run_id} --effect {row.subject} --happened RESULT_JSON`, or `--did-not-happen`"
        link = Link("The call", f"/effects/{row.subject}")
        return (
            Strip(
                "odd", "Look outside first.", f"Only you can say whether it happened. Then: {command}", link
            ),
        )
    return ()


def _others(context: Context, asked: set[str]) -> tuple[Link, ...]:
    """Runs that wait without a question: interrupted ones, and calls nobody knows the outcome of."""
    rows = read.runs(context.connection, states=("running", "interrupted", "paused"), limit=200)
    out = []
    for row in rows:
        state = context.shown_state(row)
        if row.run_id in asked or not (
            (row.unknown and state != "running") or state in ("interrupted", "lost")
        ):
            continue
        why = (
            f"{text.count(row.unknown, 'call')} without an outcome" if row.unknown else f"{state}: resume it"
        )
        out.append(Link(title_of(row), run_href(row.run_id, row.branch), count=f"{row.run_id} · {why}"))
    return tuple(out[:20])
