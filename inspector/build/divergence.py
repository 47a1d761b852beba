"""What is said about one divergence: the alert, its reasons, the tapes, what a person may say to it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from inspector import plain, text, words
from inspector.build.alerts import DECIDED_WORD, mute_line, state_pill
from inspector.build.compare_runs import Judged, judged
from inspector.build.context import Context, crumbs, run_href
from inspector.build.reasons import ATTEMPT, View, asked_of, count_of, formula, reason_line, size_strip
from inspector.build.tape import Lane, distance, lay, marks_of, slots
from inspector.pages.divergence import Acknowledge, DivergencePage
from inspector.pages.shared import Fact, Link, Pill, Shown, Strip
from inspector.pages.tape import TapePart
from inspector.stored import Stored
from tracer import approvals, comparing
from tracer.alertrecord import DECIDED, OPEN
from tracer.course import Course, Made, course, whole
from tracer.divergence import ALARM
from tracer.errors import UnknownRun
from tracer.holding import Held
from tracer.store import read, read_alerts
from tracer.store.rows import AlertRow, RunRow

KEYS: Final = (("← →", "pair"), ("J K", "next difference"), ("Enter", "select"))
SHOWN: Final = 50
MODELS: Final = 5
"""Earlier runs that are offered to lay beside a run."""
_RULINGS: Final = {
    "continue": "It is recorded, and the run goes on.",
    "not judged": "It is recorded, and the run goes on.",
    "revalidate": "A write that would alarm is held, and the next one after an alarm: a person is asked.",
    "reapprove": "A write that would alarm is held, and the next one after an alarm: a person is asked.",
    "abort": "The run ends before a write that would alarm, or before the next one after an alarm.",
}


def divergence_page(context: Context, row: RunRow, view: View, *, done: str = "") -> DivergencePage:
    """One run around a resume: live alert where there is one, else judged anew."""
    alert, stored = _alert(context, row, view)
    segment = alert.segment if alert is not None else view.segment or (row.segment if row.segment > 1 else 0)
    found = course(context.connection, row, segment)
    known = comparing.started(context.connection, row, segment)
    identity: Mapping[str, Sequence[str]] = known.get("identity", {})
    names = [str(name) for name in known.get("compared_with", ())] or comparing.models_of(
        context.connection, row
    )
    anew = judged(context, row, found, names, identity) if alert is None else None
    reasons: Sequence[Mapping[str, Any]] = (
        stored.get("reasons", ()) if alert is not None else anew.reasons if anew else ()
    )
    held = Held.in_alert(stored)
    if held is not None and not any(held.may_be(one.row) for one in found.after):
        # Its number belongs to another call, or to none.
        reasons = [{**one, "number": 0} for one in reasons]
    muted = read_alerts.mute_rows(context.connection, agent=row.agent, plan=row.plan or "")
    tape = _tape(context, row, found, names, reasons, identity, view)
    score = alert.score / 1000 if alert is not None else anew.score if anew else None
    alarm = (alert is not None and alert.state != "withdrawn") or (score or 0) >= ALARM
    return DivergencePage(
        shell=context.shell(
            f"Divergence of {row.run_id}",
            section="alerts",
            crumbs=_crumbs(row, segment),
            keys=KEYS,
            count=count_of(tape),
        ),
        title=_title(alert, anew, found),
        pills=_pills(row, alert, alarm, held),
        lead=_lead(row, alert, reasons, segment, held),
        actions=_actions(row, segment, found),
        strips=_strips(context, row, known, anew, alert, found, done),
        segments=_segments(row, segment),
        tape=tape,
        reasons=tuple(reason_line(row, alert, one, tape, muted, view) for one in reasons[:SHOWN]),
        reasons_shown=Shown(min(SHOWN, len(reasons)), int(stored.get("count", len(reasons))), "reasons"),
        formula=formula(reasons),
        score="" if score is None else text.score(score),
        score_tone="odd" if alarm else "ok",
        verdict="alarm" if alarm else anew.verdict if anew else "quiet",
        facts=_facts(context, row, alert, stored, known, names, found),
        acknowledge=_acknowledge(context, alert, held),
        mutes=tuple(mute_line(one, context.now_ns) for one in muted),
        command=f"waypost divergence {row.run_id}",
    )


# -- the tapes --------------------------------------------------------------------------------------------------


def _tape(
    context: Context,
    row: RunRow,
    found: Course,
    names: Sequence[str],
    reasons: Sequence[Mapping[str, Any]],
    identity: Mapping[str, Sequence[str]],
    view: View,
) -> TapePart | None:
    after = Lane("This run", "to the last call", (*found.kept, *found.after))
    lanes: dict[str, tuple[Lane, Lane]] = {}
    if found.lost:
        note = f"{text.count(len(found.lost), 'call')} after its last checkpoint"
        made = _until(found)
        total = text.count(len(found.after), "call")
        only = Lane(
            "After the resume", total if made == found.after else f"first {len(made):,} of {total}", made
        )
        lanes[ATTEMPT] = Lane("Interrupted attempt", note, found.lost), only
    for name in names[-MODELS:]:
        model = read.run_by_id(context.connection, name)
        if model is not None:
            all_ = whole(context.connection, model)
            made = all_ if row.state == "done" else _so_far(all_, after.made)
            note = f"earlier run, {text.count(len(all_), 'call')}"
            note += "" if made == all_ else f", {len(made):,} so far"
            lanes[name] = Lane(name, note, made), after
    if not lanes:
        lanes[""] = Lane("Nothing", "to compare with", ()), after
    models = [name for name in lanes if name not in (ATTEMPT, "")]
    nearest = min(models, key=lambda name: distance(slots(lanes[name][0].made, after.made)), default="")
    chosen = view.against if view.against in lanes else nearest or next(iter(lanes))
    asked = asked_of(run_href(row.run_id, row.branch, "/divergence"), view, {"with": view.against})
    choices = tuple(
        Link(
            "Interrupted attempt" if name == ATTEMPT else text.line(name, 28),
            asked.here(**{"with": name, "pair": "", "start": -1}),
            current=name == chosen,
        )
        for name in lanes
        if name
    )
    return lay(context, *lanes[chosen], marks_of(reasons), identity, asked, choices)


def _until(found: Course) -> tuple[Made, ...]:
    """The calls after the resume as far as the interrupted attempt had come; what follows it could not have."""
    whole_ = slots(found.lost, found.after)
    last = max((n for n, slot in enumerate(whole_) if slot.before is not None), default=-1)
    come = [slot.after for slot in whole_[: last + 1] if slot.after is not None]
    return found.after[: max(come) + 1] if come else found.after


def _so_far(model: tuple[Made, ...], made: tuple[Made, ...]) -> tuple[Made, ...]:
    """The calls of a model as far as an unfinished run has come; what follows is not missing yet."""
    whole_ = slots(model, made)
    last = max((n for n, slot in enumerate(whole_) if slot.after is not None), default=-1)
    come = [slot.before for slot in whole_[: last + 1] if slot.before is not None]
    return model[: max(come) + 1] if come else model


# -- the alert --------------------------------------------------------------------------------------------------


def _alert(context: Context, row: RunRow, view: View) -> tuple[AlertRow | None, dict[str, Any]]:
    """The alert that is asked for; else the newest open one, else the newest of the segment."""
    rows = read.alerts(context.connection, run_id=row.run_id, name=row.branch)
    wanted = [one for one in rows if one.alert_id == view.alert] if view.alert else rows
    if view.alert and not wanted:
        raise UnknownRun(f"alert {view.alert[:64]}", f"the alerts of {row.run_id}")
    if view.segment:
        wanted = [one for one in wanted if one.segment == view.segment]
    wanted.sort(key=lambda one: one.state != OPEN)
    if not wanted:
        return None, {}
    found = read.alert_by_id(context.connection, wanted[0].alert_id)
    assert found is not None
    stored = context.source.opened(found[1], f"alert {found[0].alert_id}")
    return found[0], dict(stored)


def _title(alert: AlertRow | None, anew: Judged | None, found: Course) -> str:
    if alert is not None:
        return alert.sentence.removesuffix(".")
    if anew is None:
        return "No alarm was raised"
    if anew.verdict == "quiet":
        return "The run keeps its course"
    return anew.sentence.removesuffix(".")


def _pills(row: RunRow, alert: AlertRow | None, alarm: bool, held: Held | None) -> tuple[Pill, ...]:
    pills = []
    if alert is not None:
        pills.append(words.pill("diverged") if alert.state == OPEN else state_pill(alert.state))
    elif alarm:
        pills.append(words.pill("diverged"))
    if row.reason == "divergence" and row.state == "paused" and alert is not None and alert.state == OPEN:
        pills.append(words.pill("pending", "the next write waits" if held is None else "the call waits"))
    return tuple(pills)


def _lead(
    row: RunRow,
    alert: AlertRow | None,
    reasons: Sequence[Mapping[str, Any]],
    segment: int,
    held: Held | None,
) -> str:
    if alert is None:
        if row.segment < 2:
            return "This run was never resumed: all of it is laid beside what it can be compared with."
        return f"Every call after resume {segment - 1} was compared while the run went on." if segment else ""
    first = reasons[0] if reasons else {}
    about = f"`{first.get('tool', '')} {first.get('target', '')}`".replace(" `", "`")
    if held is not None:
        at = f"before {about} was sent"
    else:
        at = f"at call {first['number']}, {about}" if first.get("number") else "at the end of the run"
    said = {
        "open": "Nobody has looked at it yet.",
        "acknowledged": f"{alert.decided_by} has acknowledged it.",
        "expected": f"{alert.decided_by} says that the agent acted as it should.",
        "muted": "Its shape is muted, so it alarms nobody.",
        "withdrawn": "What it saw was taken back later, so it was withdrawn.",
    }[alert.state]
    return f"Raised after resume {alert.segment - 1}, {at}. {said}"


def _acknowledge(context: Context, alert: AlertRow | None, held: Held | None) -> Acknowledge | None:
    if alert is None:
        return None
    decided = alert.state in DECIDED
    asked = read.approvals(context.connection, run_id=alert.run_id, name=alert.branch)
    answers = [one.state for one in asked if one.subject == alert.alert_id]
    return Acknowledge(
        action="" if decided else f"/alerts/{alert.alert_id}/acknowledge",
        waits=approvals.PENDING in answers,
        sends=held is not None and approvals.DENIED not in answers,
        said=f"by {alert.decided_by} {text.when(alert.decided_at, context.now_ns)} UTC"
        if decided and alert.decided_at
        else "",
        note=alert.note or "",
        state=state_pill(alert.state) if decided else None,
    )


# -- around it --------------------------------------------------------------------------------------------------


def _crumbs(row: RunRow, segment: int) -> tuple[Link, ...]:
    here = f"after resume {segment - 1}" if segment > 1 else "the whole run"
    return (Link("Alerts", "/alerts"), *crumbs(row, here)[2:])


def _actions(row: RunRow, segment: int, found: Course) -> tuple[Link, ...]:
    actions = []
    if segment > 1:
        actions.append(
            Link(f"Resume {segment - 1}", run_href(row.run_id, row.branch, "/resumes", segment=segment))
        )
    actions.append(Link("Calls", run_href(row.run_id, row.branch, "/calls")))
    actions.append(Link("Run", run_href(row.run_id, row.branch)))
    return tuple(actions)


def _segments(row: RunRow, segment: int) -> tuple[Link, ...]:
    if row.segment < 3:
        return ()
    return tuple(
        Link(
            f"resume {n - 1}",
            run_href(row.run_id, row.branch, "/divergence", segment=n),
            current=n == segment,
        )
        for n in range(max(2, row.segment - 9), row.segment + 1)
    )


def _strips(
    context: Context,
    row: RunRow,
    known: Mapping[str, Any],
    anew: Judged | None,
    alert: AlertRow | None,
    found: Course,
    done: str,
) -> tuple[Strip, ...]:
    strips = []
    if done in DECIDED_WORD:
        tone, head, said = DECIDED_WORD[done]
        strips.append(Strip(tone, head, f"{said} Signed as {context.user}."))
    stopped = [
        context.source.opened(body, "entry")
        for entry, body in read.entries_with_bodies(
            context.connection, row.run_id, row.branch, kinds=("divergence",)
        )
        if entry.mark == "stopped" and found.segment in (0, entry.segment)
    ]
    if stopped:
        strips.append(Strip("wait", "Not compared to the end.", str(stopped[-1].get("said", ""))))
    if alert is None:
        strips += size_strip(anew, f"waypost divergence {row.run_id}")
    return tuple(strips)


def _facts(
    context: Context,
    row: RunRow,
    alert: AlertRow | None,
    stored: Mapping[str, Any],
    known: Mapping[str, Any],
    names: Sequence[str],
    found: Course,
) -> tuple[Fact, ...]:
    facts = []
    if alert is not None:
        facts.append(Fact("Raised", f"{text.when(alert.raised_at, context.now_ns)} UTC"))
    if found.before:
        note = f", {len(found.lost):,} of them lost" if found.lost else ""
        facts.append(
            Fact("Compared with", f"{text.count(len(found.before), 'call')} before the resume{note}")
        )
    links = tuple(Link(text.line(name, 40), run_href(name)) for name in names[-MODELS:])
    more = f"and {len(names) - MODELS} more" if len(names) > MODELS else ""
    facts.append(
        Fact("Earlier runs", "" if names else "none of this agent, plan and input", more, links=links)
    )
    said = known.get("identity") or {}
    tools = ", ".join(sorted(map(str, said)))
    facts.append(Fact("Identity", f"declared for {tools}" if said else "learnt from what does not vary"))
    left = [str(one) for one in stored.get("left_out", known.get("left_out", ()))]
    rest = f"and {len(left) - 3} more" if len(left) > 3 else ""
    facts.append(Fact("Left out", plain.masked("; ".join(left[:3])) if left else "nothing", rest))
    ruling = _policy(context, row)
    if ruling:
        facts.append(Fact("Policy", _RULINGS.get(ruling, ruling)))
    return tuple(facts)


def _policy(context: Context, row: RunRow) -> str:
    entry = read.checkpoint(context.connection, row.run_id, row.branch, row.head_sequence)
    if entry is None:
        return ""
    stored = Stored(context.source, context.connection)
    clauses = stored.clauses(stored.body(entry))
    policy = stored.value(clauses.get("policy") or {})
    return str(policy.get("divergence", "")) if isinstance(policy, dict) else ""
