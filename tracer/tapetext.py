"""How does a comparison read in a terminal or a test's message: two columns of calls, and reasons beside them?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from .callrecord import CallRecord
from .comparing import Laid, Report
from .divergence import FieldDiff, Reason
from .divergence.align import ARGUMENTS, MISSING, NEW, REORDERED, SAME, TapeRow
from .quantities import counted
from .seal import mask
from .visible import one_line

GLYPHS: Final = {SAME: "=", ARGUMENTS: "~", REORDERED: "⇄", NEW: "+", MISSING: "−"}
WORDS: Final = {
    SAME: "same",
    ARGUMENTS: "arguments differ",
    REORDERED: "reordered",
    NEW: "new",
    MISSING: "missing",
}
WRITE: Final = "▌"
ATTEMPT: Final = "the interrupted attempt"
"""What the engine calls the tape of the process that died."""
WIDTH: Final = 40
"""Columns of a call."""
AROUND: Final = 2
"""Rows of the same that are shown on either side of a difference."""
ROWS: Final = 200
"""Rows of one tape that are shown."""
_EQUAL: Final = ("equal", "notation")


def text_of(report: Report, *, most: int = ROWS) -> Iterator[str]:
    """The whole report, line by line: verdict, what it was compared with, tapes with reasons, what was left out."""
    found = report.comparison
    yield f"{report.name}: {report.verdict}, score {report.score:.2f}"
    yield f"  {clean(report.sentence)}"
    for alert in report.held:
        if alert.sentence != report.sentence:
            yield f"  {clean(alert.sentence)}"
    with_ = ", ".join(f"{name} ({counted(calls, 'call')})" for name, calls in report.compared_with)
    yield f"  Compared with: {clean(with_) or 'nothing; only the rules that need nothing to compare with'}."
    for laid in report.laid:
        yield ""
        yield from tape_of(laid, found.reasons, final=found.final, most=most)
    shown = {place for laid in report.laid for row in laid.tape.rows for place in row.reasons}
    rest = [(place, one) for place, one in enumerate(found.reasons) if place not in shown]
    if rest:
        yield ""
        for _, reason in rest[:most]:
            yield _reason(reason)
    if found.left_out:
        yield ""
        yield (
            "  Left out: "
            + clean("; ".join(found.left_out[:10]))
            + (f"; and {len(found.left_out) - 10} more" if len(found.left_out) > 10 else "")
        )


def tape_of(laid: Laid, reasons: Sequence[Reason], *, final: bool = True, most: int = ROWS) -> Iterator[str]:
    """One tape: glyph, the call before, the call after; equal stretches folded, reasons beneath their calls."""
    yield f"    {_label(laid.before.name):{WIDTH}} {_label(laid.after.name)}"
    rows = laid.tape.rows
    beyond = _beyond(laid, final)
    rows = rows[: len(rows) - beyond]
    shown = 0
    folded = 0
    for place, row in enumerate(rows):
        if not _worth(rows, place):
            folded += 1
            continue
        if folded:
            yield f"  ·  {counted(folded, 'pair')} the same"
            folded = 0
        if shown == most:
            break
        shown += 1
        before = "" if row.before is None else call_text(laid.before.records[row.before])
        after = "" if row.after is None else call_text(laid.after.records[row.after])
        moved = f"  moved by {abs(row.moved)}" if row.moved else ""
        yield f"  {GLYPHS[row.glyph]} {before:{WIDTH}} {after}{moved}".rstrip()
        yield from _fields(row.fields if row.glyph == ARGUMENTS else ())
        for number in row.reasons:
            yield _reason(reasons[number])
            yield from _fields(reasons[number].fields if row.glyph == NEW else ())
    if folded:
        yield f"  ·  {counted(folded, 'pair')} the same"
    if beyond:
        late = laid.before.name if laid.tape.before == ATTEMPT else laid.after.name
        yield f"  ·  {counted(beyond, 'call')} more, to which {clean(late)} had not come"
    counts = ", ".join(f"{n} {WORDS[g]}" for g in GLYPHS if (n := sum(row.glyph == g for row in rows)))
    cut = f"; {shown} of {len(rows)} rows shown" if shown == most < len(rows) else ""
    yield f"     {counts or 'no call on either side'}{cut}"


def call_text(record: CallRecord, width: int = WIDTH) -> str:
    """One call in a column: the edge of a write, its tool, and the first of its arguments."""
    edge = WRITE if record.get("kind") in ("write", "handoff") else " "
    said = f"{edge}{clean(record.get('name', ''))} {about(record.get('args'))}".rstrip()
    return said if len(said) <= width else said[: width - 1] + "…"


def about(args: Any, most: int = 60) -> str:
    """The leading scalars of a call's arguments, for a label."""
    values = args.values() if isinstance(args, Mapping) else [args]
    scalars = [str(one) for one in values if isinstance(one, str | int | float) and str(one)]
    said = clean(" ".join(scalars[:4]))
    return said if len(said) <= most else said[: most - 1] + "…"


def clean(text: object) -> str:
    """One line of text from outside: masked, and free of anything that a terminal would obey."""
    return one_line(mask(" ".join(str(text).split())))


def _label(name: str) -> str:
    said = clean(name)
    return said if len(said) <= WIDTH else "…" + said[1 - WIDTH :]


def _beyond(laid: Laid, final: bool) -> int:
    """Calls at the end of the tape to which one side had not come: the attempt that died, or a run that goes on."""
    glyph = NEW if laid.tape.before == ATTEMPT else "" if final else MISSING
    rows = laid.tape.rows
    count = 0
    while count < len(rows) and rows[-1 - count].glyph == glyph and not rows[-1 - count].reasons:
        count += 1
    return count


def _worth(rows: Sequence[TapeRow], place: int) -> bool:
    near = rows[max(0, place - AROUND) : place + AROUND + 1]
    return any(row.glyph != SAME or row.reasons for row in near) or len(rows) <= 3 * AROUND


def _fields(fields: Sequence[FieldDiff]) -> Iterator[str]:
    for diff in fields:
        if diff.kind not in _EQUAL:
            was, now = (clean(text) or "not given" for text in (diff.before, diff.after))
            yield f"      {clean(diff.path)}: {was} → {now}"


def _reason(reason: Reason) -> str:
    return f"    ↳ {reason.strength:.2f} {reason.code}: {clean(reason.sentence)}"
