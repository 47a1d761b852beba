"""What is said about one run?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from inspector import charts, text, words
from inspector.build.calls import call_line
from inspector.build.checkpoint import detail
from inspector.build.context import RUN_KEYS, Context, crumbs, ref_of, run_href, title_of
from inspector.build.figure import figure
from inspector.build.rail import rail
from inspector.build.runs import flags_of, risk_of, since
from inspector.build.timeline import owner_name, resumed_by, timeline
from inspector.pages.figure import Figure
from inspector.pages.run import LedgerPart, RunPage
from inspector.pages.shared import Fact, Link, Live, Shown, Strip
from inspector.places import COLUMNS
from tracer import standing
from tracer.store import read
from tracer.store.rows import CallRow, EntryRow, RunRow, SegmentRow
from tracer.store.tables import PENDING

LEDGER: Final = 12
RESUMES: Final = 8


def run_page(
    context: Context,
    row: RunRow,
    *,
    selected: int = 0,
    axis: str = "step",
    window: tuple[int, int] | None = None,
    traces: Mapping[str, str] | None = None,
) -> RunPage:
    """One run with one checkpoint open; the newest where none is asked for."""
    selected = selected if 1 <= selected <= row.head_sequence else row.head_sequence
    state = context.shown_state(row)
    segments = read.segments(context.connection, row.run_id, row.branch)
    checkpoints = read.checkpoints(context.connection, row.run_id, row.branch)
    calls = read.calls(context.connection, row.run_id, row.branch)
    live = state == "running"
    shown_calls = f"{len(calls):,} of {len(calls):,} calls"
    return RunPage(
        shell=context.shell(
            row.run_id,
            crumbs=crumbs(row),
            keys=RUN_KEYS,
            count=f"{row.head_sequence:,} of {row.head_sequence:,} checkpoints, {shown_calls}",
            live=Live(run_href(row.run_id, row.branch, axis=axis if axis != "step" else ""))
            if live
            else None,
            figure=bool(checkpoints),
        ),
        run_id=row.run_id,
        title=title_of(row),
        state=context.state_pill(
            row, text.rough(max(0, context.now_ns - since(context, row, state))) if not live else ""
        ),
        flags=flags_of(row),
        actions=_actions(row, state, selected),
        facts=_facts(context, row, state, segments, traces or {}),
        strips=_strips(context, row, state, segments),
        rail=rail(context, row, segments, selected),
        figure=_figure(context, row, segments, checkpoints, calls, selected, axis, window)
        if checkpoints
        else None,
        ledger=_ledger(context, row, calls, state in ("interrupted", "lost")),
        resumes=_resumes(context, row),
        detail=detail(context, row, selected, "contract") if selected else None,
    )


def figure_spec(context: Context, row: RunRow, axis: str, window: tuple[int, int] | None) -> str:
    """The Plotly JSON of a run's timeline."""
    segments = read.segments(context.connection, row.run_id, row.branch)
    checkpoints = read.checkpoints(context.connection, row.run_id, row.branch)
    calls = read.calls(context.connection, row.run_id, row.branch)
    said = resumed_by(context, row)
    data = timeline(context, row, segments, checkpoints, calls, said, selected=0, window=window)
    return charts.spec(data, "clock" if axis == "clock" else "step")


def _figure(
    context: Context,
    row: RunRow,
    segments: Sequence[SegmentRow],
    checkpoints: Sequence[EntryRow],
    calls: Sequence[CallRow],
    selected: int,
    axis: str,
    window: tuple[int, int] | None,
) -> Figure:
    data = timeline(
        context, row, segments, checkpoints, calls, resumed_by(context, row), selected=selected, window=window
    )
    kept: dict[str, str | int] = {"axis": axis if axis != "step" else ""}
    if window:
        kept |= {"from": window[0], "to": window[1]}

    def href(**query: str | int) -> str:
        here: dict[str, str | int] = {"c": selected if selected != row.head_sequence else 0}
        return run_href(row.run_id, row.branch, "", **(here | kept | query))

    axes = (
        Link("By step", href(axis=""), current=axis == "step"),
        Link("By clock", href(axis="clock"), current=axis == "clock"),
    )
    # What is still open grows with time, not only with entries.
    moving = context.source.standing(row) in ("running", "paused")
    revision = f"{row.head_entry}-{context.now_ns // 10**10 if moving else 0}"
    src = run_href(row.run_id, row.branch, "/figure", **kept, rev=revision)
    return figure(data, src, axes, _windows(row, window, href))


def _windows(row: RunRow, window: tuple[int, int] | None, href: object) -> tuple[Link, ...]:
    """Ways to look closer where marks stand for many checkpoints."""
    assert callable(href)
    head = row.head_sequence
    if window is None:
        return (
            (Link(f"Newest {COLUMNS}", href(**{"from": head - COLUMNS + 1, "to": head})),)
            if head > COLUMNS
            else ()
        )
    links = [Link("Whole run", href(**{"from": "", "to": ""}))]
    if window[0] > 1:
        first = max(1, window[0] - COLUMNS)
        links.append(Link("Older", href(**{"from": first, "to": first + COLUMNS - 1})))
    if window[1] < head:
        last = min(head, window[1] + COLUMNS)
        links.append(Link("Newer", href(**{"from": max(1, last - COLUMNS + 1), "to": last})))
    return tuple(links)


def _actions(row: RunRow, state: str, selected: int) -> tuple[Link, ...]:
    links = []
    if selected > 1:
        pair = f"{ref_of(row.branch, selected - 1)}...{ref_of(row.branch, selected)}"
        links.append(Link("Diff", run_href(row.run_id, tail=f"/diff/{pair}"), "changed"))
    links.append(Link("Calls", run_href(row.run_id, row.branch, "/calls"), "effects"))
    if row.resumes or row.refusals:
        links.append(Link("Resume log", run_href(row.run_id, row.branch, "/resumes"), "revalidate"))
    if row.resumes or row.alerts:
        word = "Read the alert" if row.alerts else "Divergence"
        links.append(Link(word, run_href(row.run_id, row.branch, "/divergence"), "diverged"))
    if row.waiting:
        links.append(Link("Decide", f"/inbox?run={row.run_id}", "awaiting", main=True))
    return tuple(links)


def _facts(
    context: Context, row: RunRow, state: str, segments: Sequence[SegmentRow], traces: Mapping[str, str]
) -> tuple[Fact, ...]:
    risk, _, _ = risk_of(context, row, state)
    durable = f"c{row.head_sequence} is durable" if row.head_sequence else "nothing is durable yet"
    holder = (
        f"epoch {row.epoch}, held by {owner_name(row.owner)}"
        if row.owner and state == "running"
        else f"epoch {row.epoch}, nobody holds it"
    )
    facts = [
        Fact("Work at risk", risk, durable),
        Fact("Plan", f"v{row.plan}" if row.plan else "undeclared"),
        Fact("Segments", str(len(segments)), holder),
        Fact("Resumes", str(row.resumes), f"{row.refusals} refused" if row.refusals else ""),
        Fact("Agent", row.agent, mono=True),
        Fact("Started", f"{text.when(row.created_at, context.now_ns)} UTC"),
        Fact("Stored", text.size(row.size)),
    ]
    last = segments[-1].span[:16].hex() if segments else row.trace_id.hex()
    links = tuple(
        Link(name, address.replace("{trace_id}", last), "link") for name, address in sorted(traces.items())
    )
    facts.append(Fact("Trace", text.short(last), mono=True, links=links))
    if row.conversation_id:
        facts.append(Fact("Conversation", plain_label(row.conversation_id), mono=True))
    return tuple(facts)


def plain_label(value: str) -> str:
    """A label of the program's own, short."""
    return text.line(value, 40)


def _strips(context: Context, row: RunRow, state: str, segments: Sequence[SegmentRow]) -> tuple[Strip, ...]:
    strips = []
    if state in ("interrupted", "lost"):
        what = (
            "Its process is gone."
            if state == "interrupted"
            else "Its heartbeat stopped; nobody here can see its process."
        )
        action = standing.next_action(row, context.now_ns)
        if row.reason:
            what = f"It was {row.reason}."
        strips.append(
            Strip(
                "bad",
                "Nobody works on this run.",
                f"{what} {action.text[:1].upper()}{action.text[1:]}: `{action.command}`.",
            )
        )
    if row.degraded:
        strips.append(
            Strip("wait", "Degraded.", f"Not everything could be kept: {text.line(row.degraded, 200)}")
        )
    if row.unknown:
        link = Link("See them", run_href(row.run_id, row.branch, "/calls", state="unknown"))
        strips.append(
            Strip(
                "odd",
                f"{text.count(row.unknown, 'call')} without a known outcome.",
                "They are not sent again as new effects.",
                link,
            )
        )
    pending = read.exported(context.connection, row.run_id, row.branch).get(PENDING, 0)
    if pending:
        strips.append(
            Strip(
                "wait",
                "Incomplete trace.",
                f"{text.count(pending, 'span')} not yet acknowledged by a collector. The store has everything; "
                "`waypost export --pending` sends them.",
            )
        )
    return tuple(strips)


def _ledger(context: Context, row: RunRow, calls: Sequence[CallRow], dead: bool) -> LedgerPart:
    writes = [call for call in calls if call.kind in ("write", "handoff")]
    states: dict[str, int] = {}
    for call in writes:
        states[call.state] = states.get(call.state, 0) + 1
    counted = ", ".join(f"{n:,} {words.pill(state).word}" for state, n in sorted(states.items()))
    summary = f"{text.count(len(writes), 'write')}" + (f": {counted}" if counted else "")
    shown = writes[-LEDGER:]
    return LedgerPart(
        lines=tuple(call_line(call, context.now_ns, dead) for call in shown),
        shown=Shown(len(shown), len(writes), "writes"),
        summary=summary,
        all=Link(f"All {text.count(len(calls), 'call')}", run_href(row.run_id, row.branch, "/calls")),
    )


def _resumes(context: Context, row: RunRow) -> tuple[Link, ...]:
    entries = read.entries(context.connection, row.run_id, row.branch, kinds=("resume", "refusal"))
    links = []
    for number, entry in reversed(list(enumerate(entries, 1))):
        said = f"{text.when(entry.at, context.now_ns)} by {text.line(entry.subject, 40)}: {entry.mark}"
        links.append(
            Link(
                f"Resume {number}" if entry.kind == "resume" else f"Refused {number}",
                run_href(row.run_id, row.branch, f"/resumes/{number}"),
                count=said,
            )
        )
    if len(links) > RESUMES:
        rest = Link(f"{len(links) - RESUMES} more", run_href(row.run_id, row.branch, "/resumes"))
        return (*links[:RESUMES], rest)
    return tuple(links)
