"""What is said about the calls of a run?"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from inspector import plain, text, words
from inspector.build.context import Context, crumbs, run_href
from inspector.pages.calls import CallLine, CallPage, CallsPage
from inspector.pages.shared import Fact, Link, Live, Pill, Shown, Strip, Text
from inspector.stored import Stored
from tracer.errors import UnknownCheckpoint
from tracer.store import read
from tracer.store.rows import CallRow, RunRow

PAGE: Final = 200
PREVIEW: Final = 256 * 1024
KINDS: Final = ("read", "write", "model", "handoff", "internal")
STATES: Final = ("planned", "sent", "committed", "failed", "unknown", "suspended", "compensated")
DEAD: Final = "its process died before the answer; the next resume settles it"
EXAMPLE: Final = """from tracer import KEY, write

@write(key_param="key", identity=("order",))
def refund(order: str, amount: int, *, key: str = KEY) -> str: ..."""


def calls_page(context: Context, row: RunRow, kind: str, state: str, after: int) -> CallsPage:
    """The ledger of a run, oldest first."""
    counts = read.call_states(context.connection, row.run_id, row.branch)
    kind, state = (kind if kind in KINDS else ""), (state if state in STATES else "")
    total = sum(n for (k, s), n in counts.items() if (not kind or k == kind) and (not state or s == state))
    rows = read.calls(
        context.connection,
        row.run_id,
        row.branch,
        kinds=(kind,) if kind else (),
        states=(state,) if state else (),
        after=after,
        limit=PAGE + 1,
    )
    shown = rows[:PAGE]
    base = {"kind": kind, "state": state}
    here = run_href(row.run_id, row.branch, "/calls", **base)
    older = (
        run_href(row.run_id, row.branch, "/calls", **base, after=shown[-1].number) if len(rows) > PAGE else ""
    )
    standing = context.source.standing(row)
    return CallsPage(
        shell=context.shell(
            f"Calls of {row.run_id}",
            crumbs=crumbs(row, "calls"),
            keys=(("j k", "move"), ("Enter", "open")),
            count=f"{len(shown):,} of {total:,} calls",
            live=Live(here) if standing == "running" and not after else None,
        ),
        run_id=row.run_id,
        run_href=run_href(row.run_id, row.branch),
        kinds=_filters(row, counts, 0, KINDS, kind, {"state": state}, "kind"),
        states=_filters(row, counts, 1, STATES, state, {"kind": kind}, "state"),
        lines=tuple(call_line(call, context.now_ns, standing in ("interrupted", "lost")) for call in shown),
        shown=Shown(len(shown), total, "calls", older, here if after else ""),
        example=EXAMPLE,
    )


def _filters(
    row: RunRow,
    counts: dict[tuple[str, str], int],
    place: int,
    names: tuple[str, ...],
    current: str,
    keep: dict[str, str],
    word: str,
) -> tuple[Link, ...]:
    out = []
    for name in names:
        n = sum(count for key, count in counts.items() if key[place] == name)
        if n or name == current:
            value = {} if name == current else {word: name}
            href = run_href(row.run_id, row.branch, "/calls", **keep, **value)
            out.append(Link(name, href, count=f"{n:,}", current=name == current))
    return tuple(out)


def call_line(call: CallRow, now_ns: int, dead: bool = False) -> CallLine:
    """One row of the ledger, without its values; *dead* says that the process which waits for it is gone."""
    outcome = call.ended_at is not None and call.sent_at is not None
    return CallLine(
        number=call.number,
        href=run_href(call.run_id, call.branch, f"/calls/{call.number}"),
        state=words.pill(call.state),
        flags=flags_of(call),
        kind=call.kind,
        tool=call.tool,
        position=f"after c{call.after_sequence}" if call.after_sequence else "before c1",
        target=call.target,
        happened=DEAD if dead and call.state in ("sent", "planned") else happened(call),
        key=call.idempotency_key or "",
        sent=text.when(call.sent_at, now_ns) if call.sent_at else "never",
        took=text.duration((call.ended_at or 0) - (call.sent_at or 0)) if outcome else "",
        segment=call.segment,
    )


def flags_of(call: CallRow) -> tuple[Pill, ...]:
    """The flags of a call, as pills."""
    known = [flag for flag in ("reconciled", "blocked", "partial") if flag in call.flags.split()]
    rest = call.flags
    for flag in known:
        rest = rest.replace(flag, "")
    more = (words.pill("partial", rest.strip()),) if rest.strip() else ()
    return (*(words.pill(flag) for flag in known), *more)


def happened(call: CallRow) -> str:
    """What became of a call, in words."""
    said = {
        "planned": "not sent yet",
        "sent": "no answer yet",
        "committed": "done once",
        "failed": "did not happen",
        "unknown": "nobody knows whether it happened; it is not sent again as a new effect",
        "suspended": "waits for a person",
        "compensated": "undone",
    }.get(call.state, call.state)
    parts = [said]
    if call.state == "committed" and call.attempts > 1:
        parts = [f"sent {call.attempts} times under one key, done once" if call.idempotency_key else "done"]
    if "reconciled" in call.flags:
        parts = ["the service was asked: it had happened"]
    if call.taken_from and call.taken_from != f"segment {call.segment}":
        parts.append(f"taken over from {call.taken_from}")
    if call.answers:
        parts.append(f"answered {text.count(call.answers, 'later call')} from the ledger")
    if call.error:
        parts.append(text.line(call.error, 90))
    return "; ".join(parts)


def call_page(context: Context, row: RunRow, number: int) -> CallPage:
    """One call with its values, masked."""
    found = read.calls(context.connection, row.run_id, row.branch, after=number - 1, limit=1)
    if not found or found[0].number != number:
        last = read.last_call_number(context.connection, row.run_id, row.branch)
        raise UnknownCheckpoint(f"Call {number} of {row.run_id}", f"call {last}")
    call = found[0]
    stored = Stored(context.source, context.connection)
    args, result = read.call_values(context.connection, row.run_id, row.branch, call.effect_id)
    where = f"call {call.effect_id}"
    base = run_href(row.run_id, row.branch, f"/calls/{number}")
    return CallPage(
        shell=context.shell(
            f"{call.tool} · {row.run_id}", crumbs=crumbs(row, f"call {number}"), count="1 call"
        ),
        run_id=row.run_id,
        title=f"{call.tool} {text.line(call.target, 60)}".strip(),
        state=words.pill(call.state),
        flags=flags_of(call),
        strips=_strips(row, call),
        facts=_facts(context, row, call),
        args=_value(stored, args, f"arguments of {where}", f"{base}/args"),
        result=_value(stored, result, f"result of {where}", f"{base}/result") if result is not None else None,
        error=Text(call.error) if call.error else None,
        history=_history(context, call),
        links=_links(row, call),
    )


def _value(stored: Stored, packed: bytes, where: str, href: str) -> Text:
    value = plain.pretty(stored.value(stored.source.opened(packed, where)))
    shown, note = text.clip(value, PREVIEW)
    return Text(shown, note, href if note else "")


def call_value(context: Context, row: RunRow, number: int, part: str) -> str:
    """The arguments or the result of one call, whole and masked, for a download."""
    found = read.calls(context.connection, row.run_id, row.branch, after=number - 1, limit=1)
    if not found or found[0].number != number:
        raise UnknownCheckpoint(f"Call {number} of {row.run_id}")
    args, result = read.call_values(context.connection, row.run_id, row.branch, found[0].effect_id)
    packed = args if part == "args" else result
    stored = Stored(context.source, context.connection)
    return (
        ""
        if packed is None
        else plain.pretty(stored.value(context.source.opened(packed, f"{part} of call {number}")))
    )


def _strips(row: RunRow, call: CallRow) -> tuple[Strip, ...]:
    if call.state == "unknown":
        command = f"waypost approve {row.run_id} --effect {call.effect_id} --happened RESULT_JSON"
        said = f"Look outside whether it happened, then say so: `{command}`, or `--did-not-happen`."
        return (Strip("odd", "No known outcome.", said),)
    if call.state == "sent":
        return (
            Strip(
                "info",
                "No answer yet.",
                "If its process dies now, the next resume asks, sends the same key again, or parks it.",
            ),
        )
    return ()


def _facts(context: Context, row: RunRow, call: CallRow) -> tuple[Fact, ...]:
    def at(ns: int | None) -> str:
        return text.when(ns, context.now_ns) if ns else "never"

    expires = f"until {text.moment(call.key_expires_at)}" if call.key_expires_at else ""
    return (
        Fact("Kind", call.kind),
        Fact("Segment", str(call.segment)),
        Fact("Scope", call.scope or "the body itself", mono=bool(call.scope)),
        Fact("Ordinal", str(call.ordinal), "among equal calls of its scope"),
        Fact("Call key", call.call_key or "none", mono=bool(call.call_key)),
        Fact("Key sent out", call.idempotency_key or "none", expires, mono=bool(call.idempotency_key)),
        Fact("Arguments", text.short(call.args_digest.hex()), "keyed digest", mono=True),
        Fact("Identity", text.short(call.identity_digest.hex()), "what makes it the same effect", mono=True),
        Fact("Planned", at(call.planned_at)),
        Fact("Sent", at(call.sent_at), text.count(call.attempts, "attempt")),
        Fact("Outcome", at(call.ended_at)),
        Fact("Answered", text.count(call.answers, "later call"), "from the ledger, not sent again"),
        Fact("Effect id", call.effect_id, mono=True),
    )


def _history(context: Context, call: CallRow) -> tuple[tuple[str, Pill, str], ...]:
    out: list[tuple[str, Pill, str]] = [
        (
            text.clock(call.planned_at),
            words.pill("planned"),
            f"in segment {call.segment}, after c{call.after_sequence}",
        )
    ]
    if call.sent_at:
        again = f"attempt {call.attempts}" + (
            f", taken over from {call.taken_from}" if call.taken_from else ""
        )
        out.append((text.clock(call.sent_at), words.pill("sent"), again))
    if call.ended_at:
        out.append((text.clock(call.ended_at), words.pill(call.state), happened(call)))
    elif call.state not in ("planned", "sent"):
        out.append(("", words.pill(call.state), happened(call)))
    return tuple(out)


def _links(row: RunRow, call: CallRow) -> tuple[Link, ...]:
    links = []
    if call.after_sequence:
        links.append(
            Link(f"Checkpoint {call.after_sequence}", run_href(row.run_id, row.branch, c=call.after_sequence))
        )
    if call.state == "suspended":
        links.append(Link("Decide", f"/inbox?run={quote(row.run_id)}", "awaiting", main=True))
    return tuple(links)
