"""Which runs are listed, and what is said about each?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from inspector import text, words
from inspector.build.context import FORWARD, Context, run_href, title_of
from inspector.build.timeline import last_sign
from inspector.pages.runs import Filter, FilterProblem, RunGroup, RunLine, RunsPage
from inspector.pages.shared import Link, Live, Pill, Shown, Tone
from inspector.query import Query, address, completions, parse
from tracer import standing
from tracer.store import read
from tracer.store.rows import RunRow

PAGE: Final = 50
BATCH: Final = 200
TARGET_NS: Final = 180 * 10**9
"""Work at risk that fills the bar: three minutes."""
SAVED: Final = (
    ("All", ""),
    ("Needs a person", "state:awaiting,interrupted,lost,failed"),
    ("Running", "state:running"),
    ("Paused", "state:paused,awaiting"),
    ("Last 24 h", "since:24h"),
    ("Diverged", "alerts:>0"),
    ("Done", "state:done"),
)
EXAMPLE: Final = """from tracer import run

with run("my-agent", id="first-run", objective="…") as r:
    r.state["found"] = 3
    r.checkpoint("first step")"""
NEEDS: Final = ("awaiting", "interrupted", "lost", "failed", "quarantined")
MOVING: Final = ("running", "paused")


def runs_page(context: Context, line: str, before: tuple[int, str] | None) -> RunsPage:
    """The list under one filter line, one page of it."""
    query = parse(line)
    total = read.count_runs(context.connection)
    census = _census(context)
    rows: list[RunRow] = []
    matching = 0
    if query.problem is None:
        matching = _count(context, query)
        rows = list(_matching(context, query, before, PAGE + 1))
    older = _older(query, rows[:PAGE]) if len(rows) > PAGE else ""
    shown = Shown(len(rows[:PAGE]), matching, "runs", older, address(query.line) if before else "")
    lines = [_line(context, row) for row in rows[:PAGE]]
    needs = sum(census.get(state, 0) for state in NEEDS)
    return RunsPage(
        shell=context.shell(
            "Runs",
            keys=FORWARD,
            count=f"{shown.shown:,} of {total:,} runs",
            live=Live(address(query.line, before=_cursor(before)), 2) if query.problem is None else None,
        ),
        total=total,
        needs=needs,
        filter=_filter(context, query, census),
        groups=_groups(lines, [context.shown_state(row) for row in rows[:PAGE]]),
        shown=shown,
        checks=_checks(context) if not total else (),
        example=EXAMPLE,
    )


def _arguments(context: Context, query: Query) -> dict[str, object]:
    from_ns = context.now_ns - query.since_s * 10**9 if query.since_s else 0
    return {
        "agents": query.agents,
        "states": query.stored_states(),
        "not_states": query.stored_not_states(),
        "text": query.words,
        "since": from_ns,
        "alerts_over": query.alerts_over,
        "waiting": query.waiting,
    }


def _matching(context: Context, query: Query, before: tuple[int, str] | None, limit: int) -> Iterator[RunRow]:
    """Rows by keyset; states that are read off a row are looked at here."""
    left = limit
    while left:
        size = BATCH if query.derived else left
        rows = read.runs(context.connection, before=before, limit=size, **_arguments(context, query))  # type: ignore[arg-type]
        for row in rows:
            if not query.derived or query.keeps(context.shown_state(row)):
                yield row
                left -= 1
                if not left:
                    return
        if len(rows) < size:
            return
        before = (rows[-1].created_at, rows[-1].run_id)


def _count(context: Context, query: Query) -> int:
    if not query.derived:
        return read.count_runs(context.connection, **_arguments(context, query))  # type: ignore[arg-type]
    return sum(1 for _ in _matching(context, query, None, 1_000_000))


def _census(context: Context) -> dict[str, int]:
    """State as shown -> runs. Only runs that may move are looked at one by one."""
    stored = read.counts_by_state(context.connection)
    census = {state: n for state, n in stored.items() if state not in MOVING}
    if stored.keys() & set(MOVING):
        everyone = Query(states=(*MOVING, "awaiting", "interrupted", "lost"))
        for row in _matching(context, everyone, None, 1_000_000):
            if row.state in MOVING:
                state = context.shown_state(row)
                census[state] = census.get(state, 0) + 1
    return census


def _older(query: Query, rows: list[RunRow]) -> str:
    last = rows[-1]
    return address(query.line, before=_cursor((last.created_at, last.run_id)))


def _cursor(before: tuple[int, str] | None) -> str:
    return f"{before[0]}:{before[1]}" if before else ""


def parse_cursor(value: str) -> tuple[int, str] | None:
    """The keyset of an address; None for the first page."""
    at, colon, run_id = value.partition(":")
    return (int(at), run_id) if colon and at.isdigit() and len(at) < 20 else None


def _filter(context: Context, query: Query, census: dict[str, int]) -> Filter:
    agents = read.agents(context.connection)
    problem = None
    if query.problem is not None:
        found = query.problem
        link = Link(found.instead, address(found.instead)) if found.instead else None
        problem = FilterProblem(found.word, found.text, link, found.known)
    saved = []
    for name, line in SAVED:
        count = _count(context, parse(line))
        saved.append(Link(name, address(line), count=f"{count:,}", current=line == query.line))
    chips = tuple(
        Link(word, address(whole), count=count)
        for whole, word, count in completions(query.line, agents, census)
    )
    return Filter(query.line, chips, tuple(saved), problem)


def _groups(lines: list[RunLine], states: list[str]) -> tuple[RunGroup, ...]:
    kinds: dict[str, list[RunLine]] = {"Needs a person": [], "Moving": [], "Settled": []}
    for line, state in zip(lines, states, strict=True):
        needs = state in NEEDS
        kind = "Needs a person" if needs else "Moving" if state in MOVING else "Settled"
        kinds[kind].append(line)
    return tuple(RunGroup(title, tuple(group)) for title, group in kinds.items() if group)


def _line(context: Context, row: RunRow) -> RunLine:
    state = context.shown_state(row)
    risk, share, tone = risk_of(context, row, state)
    action, note = _next(context, row)
    return RunLine(
        run_id=row.run_id,
        href=run_href(row.run_id, row.branch),
        title=title_of(row),
        agent=row.agent,
        note="" if row.branch == read.MAIN else f"branch {row.branch}",
        state=words.pill(state),
        flags=flags_of(row),
        since=text.rough(max(0, context.now_ns - since(context, row, state))),
        next=action,
        next_note=note,
        risk=risk,
        risk_share=share,
        risk_tone=tone,
        checkpoints=row.head_sequence,
        resumes=row.resumes,
        alerts=row.alerts,
        alerts_href=run_href(row.run_id, row.branch, "/divergence"),
        stored=text.size(row.size),
        started=text.when(row.created_at, context.now_ns),
        started_iso=text.iso(row.created_at),
    )


def since(context: Context, row: RunRow, state: str) -> int:
    """Since when a run is in the state shown: a dead owner was last seen at its last sign of life."""
    return _life_sign(context, row) if state in ("interrupted", "lost") else row.state_at


def _life_sign(context: Context, row: RunRow) -> int:
    """When somebody last worked on a run that nobody works on; a refused resume is no work."""
    segments = read.segments(context.connection, row.run_id, row.branch)
    if not segments:
        return row.created_at
    last = max(0, read.last_call_number(context.connection, row.run_id, row.branch) - 4)
    calls = read.calls(context.connection, row.run_id, row.branch, after=last)
    return segments[-1].ended_at or last_sign(row, segments[-1], calls)


def risk_of(context: Context, row: RunRow, state: str) -> tuple[str, int, Tone]:
    """(time since the last durable checkpoint, percent of three minutes, tone); nothing while nobody works."""
    durable = row.checkpoint_at or row.created_at
    if state == "running":
        gap = context.now_ns - durable
    elif state in ("interrupted", "lost"):
        gap = _life_sign(context, row) - durable
    else:
        return "0 s", 0, "mute"
    gap = max(0, gap)
    share = min(100, round(gap / TARGET_NS * 100))
    tone: Tone = "info" if state == "running" else "bad"
    if state == "running" and share > 50:
        tone = "wait"
    return text.rough(gap), share, tone


def flags_of(row: RunRow) -> tuple[Pill, ...]:
    """What stands beside the state."""
    flags = []
    if row.degraded:
        flags.append(words.pill("degraded"))
    if row.alerts:
        href = run_href(row.run_id, row.branch, "/divergence")
        flags.append(words.pill("diverged", text.count(row.alerts, "alert"), href=href))
    if row.unknown:
        flags.append(words.pill("unknown", f"{text.count(row.unknown, 'call')} unknown"))
    return tuple(flags)


def _next(context: Context, row: RunRow) -> tuple[Link | None, str]:
    """What to press, and the line that does the same at a terminal; nothing while there is nothing to do."""
    action = standing.next_action(row, context.now_ns)
    if action.kind in ("none", "wait"):
        if row.alerts:
            return Link("Read the alert", run_href(row.run_id, row.branch, "/divergence")), ""
        return None, ""
    hrefs = {
        "answer": f"/inbox?run={row.run_id}",
        "settle": run_href(row.run_id, row.branch, "/calls", state="unknown"),
    }
    word = action.text[:1].upper() + action.text[1:]
    return Link(word, hrefs.get(action.kind, run_href(row.run_id, row.branch))), action.command


def _checks(context: Context) -> tuple[tuple[Pill, str], ...]:
    schema = context.source.store.schema()
    return (
        (words.pill("done", "store"), f"open, schema {schema}, read only"),
        (words.pill("planned", "runs"), "none in it"),
        (words.pill("planned", "writers"), "none holds a lease"),
    )
