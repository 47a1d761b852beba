"""Which alerts are there, and what was said to each?"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from inspector import text, words
from inspector.build.context import Context, run_href
from inspector.pages.alerts import AlertLine, AlertsPage
from inspector.pages.divergence import MuteLine
from inspector.pages.shared import Link, Live, Pill, Shown, Strip, Tone
from tracer.store import read, read_alerts
from tracer.store.rows import AlertRow, MuteRow

PAGE: Final = 100
STATES: Final = ("open", "acknowledged", "expected", "muted", "withdrawn")
EXAMPLE: Final = """from tracer import ResumePolicy, Ruling, agent

@agent("my-agent", plan="1", policy=ResumePolicy(divergence=Ruling.REAPPROVE))
def work(run, state): ..."""
DECIDED_WORD: Final[dict[str, tuple[Tone, str, str]]] = {
    "acknowledged": ("ok", "Acknowledged.", "A run that waits for it goes on at its next resume."),
    "expected": ("ok", "Expected.", "This run may be a model for later ones."),
    "muted": ("wait", "Muted.", "Reasons of this shape are kept and shown, and alarm nobody."),
    "unmuted": ("ok", "Not muted any more.", "Reasons of this shape raise alerts again."),
}


def alerts_page(context: Context, state: str, *, done: str = "") -> AlertsPage:
    """Every alert, newest first, those that wait in front."""
    counts = read_alerts.alert_counts(context.connection)
    state = state if state in STATES else ""
    total = sum(counts.values()) if not state else counts.get(state, 0)
    rows = read.alerts(context.connection, states=(state,) if state else (), limit=PAGE)
    if not state:
        waiting = read.alerts(context.connection, states=("open",), limit=PAGE)
        rest = [row for row in rows if row.state != "open"]
        rows = [*waiting, *rest][:PAGE]
    mutes = read_alerts.mute_rows(context.connection)
    here = f"/alerts?state={state}" if state else "/alerts"
    notice = DECIDED_WORD.get(done)
    return AlertsPage(
        shell=context.shell(
            "Alerts",
            section="alerts",
            keys=(("j k", "move"), ("Enter", "open")),
            count=f"{len(rows):,} of {total:,} alerts",
            live=Live(here, 3),
        ),
        states=tuple(
            Link(
                words.STATES[name][1] if name in words.STATES else name,
                "/alerts" if name == state else f"/alerts?state={name}",
                count=f"{counts.get(name, 0):,}",
                current=name == state,
            )
            for name in STATES
            if counts.get(name) or name == "open"
        ),
        lines=tuple(_line(context, row) for row in rows),
        shown=Shown(len(rows), total, "alerts"),
        open=counts.get("open", 0),
        total=sum(counts.values()),
        mutes=tuple(mute_line(one, context.now_ns) for one in mutes),
        notice=Strip(*notice) if notice else None,
        example=EXAMPLE,
    )


def state_pill(state: str) -> Pill:
    """The state of an alert."""
    return words.pill(state, "", "")


def mute_line(row: MuteRow, now_ns: int) -> MuteLine:
    """One muted shape."""
    return MuteLine(
        agent=row.agent,
        plan=f"plan v{row.plan}" if row.plan else "no plan declared",
        plan_value=row.plan,
        shape=row.shape,
        said=f"by {row.muted_by} {text.when(row.muted_at, now_ns)} UTC: {row.note or 'no note'}",
    )


def alert_href(row: AlertRow) -> str:
    """The page of an alert."""
    return run_href(row.run_id, row.branch, "/divergence", alert=row.alert_id)


def _line(context: Context, row: AlertRow) -> AlertLine:
    run = read.run_by_id(context.connection, row.run_id, row.branch)
    said = ""
    if row.decided_by and row.decided_at:
        note = f": “{text.line(row.note or '', 80)}”" if row.note else ""
        said = f"by {row.decided_by} {text.when(row.decided_at, context.now_ns)}{note}"
    return AlertLine(
        href=alert_href(row),
        state=state_pill(row.state),
        sentence=text.line(row.sentence, 160),
        run_id=row.run_id,
        run_href=run_href(quote(row.run_id), row.branch),
        agent=run.agent if run is not None else "",
        where=f"after resume {row.segment - 1}, compared with {row.compared_with or 'nothing'}",
        score=text.score(row.score / 1000),
        when=text.when(row.raised_at, context.now_ns),
        when_iso=text.iso(row.raised_at),
        said=said,
    )
