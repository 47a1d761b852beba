"""What is said about any two runs beside each other? The first is what the second is compared with."""

from __future__ import annotations

from urllib.parse import quote

from inspector import text, words
from inspector.build.compare_runs import judged
from inspector.build.context import Context, run_href
from inspector.build.divergence import KEYS, SHOWN
from inspector.build.reasons import View, asked_of, count_of, formula, reason_line, size_strip
from inspector.build.tape import Lane, lay, marks_of
from inspector.pages.divergence import DivergencePage
from inspector.pages.shared import Fact, Link, Shown
from tracer import comparing
from tracer.course import Course, whole
from tracer.divergence import ALARM
from tracer.store.rows import RunRow


def compare_page(context: Context, one: RunRow, other: RunRow, view: View) -> DivergencePage:
    """Any two runs beside each other; the first is what the second is compared with."""
    before, after = whole(context.connection, one), whole(context.connection, other)
    identity = comparing.declared(context.connection, other).identity
    found = Course(other, 0, (), after)
    anew = judged(context, other, found, [one.run_id], identity)
    address = f"/compare/{quote(one.run_id)}...{quote(other.run_id)}"
    asked = asked_of(address, view, {})
    reasons = anew.reasons if anew else ()
    tape = lay(
        context,
        Lane(one.run_id, text.count(len(before), "call"), before),
        Lane(other.run_id, text.count(len(after), "call"), after),
        marks_of(reasons),
        identity,
        asked,
        (),
    )
    turned = f"/compare/{quote(other.run_id)}...{quote(one.run_id)}"
    score = anew.score if anew else None
    alarm = (score or 0) >= ALARM
    return DivergencePage(
        shell=context.shell(
            f"{other.run_id} beside {one.run_id}",
            section="runs",
            crumbs=(Link("Runs", "/"), Link(one.run_id, run_href(one.run_id)), Link("compared", "")),
            keys=KEYS,
            count=count_of(tape),
        ),
        title=f"{other.run_id} beside {one.run_id}",
        pills=(words.pill("diverged"),) if alarm else (),
        lead=anew.sentence if anew else "",
        actions=(
            Link("Other way round", turned, "moved"),
            Link(one.run_id, run_href(one.run_id)),
            Link(other.run_id, run_href(other.run_id)),
        ),
        strips=size_strip(anew, f"waypost divergence {other.run_id} --against {one.run_id}"),
        segments=(),
        tape=tape,
        reasons=tuple(reason_line(other, None, one_, tape, (), view, address) for one_ in reasons[:SHOWN]),
        reasons_shown=Shown(min(SHOWN, len(reasons)), len(reasons), "reasons"),
        formula=formula(reasons),
        score="" if score is None else text.score(score),
        score_tone="odd" if alarm else "ok",
        verdict=anew.verdict if anew else "not judged",
        facts=(
            Fact(
                "Agents",
                one.agent if one.agent == other.agent else f"{one.agent} and {other.agent}",
                mono=True,
            ),
            Fact("Plans", f"v{one.plan or '?'} and v{other.plan or '?'}"),
            Fact("Model", one.run_id, "is taken to be right", mono=True),
        ),
        acknowledge=None,
        mutes=(),
        command=f"waypost divergence {other.run_id} --against {one.run_id}",
    )
