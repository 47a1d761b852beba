"""Does a run do what matters in the same way as before, and as earlier runs did?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click
from rich.text import Text

from .. import comparing, junit, runfile
from ..comparing import Laid, Report, Side
from ..divergence import Reason
from ..divergence.align import TapeRow
from ..errors import BadRunFile
from ..refs import parse_run
from ..seal import mask_plain
from ..tapetext import ROWS, about, text_of
from .opened import Reading, reading
from .output import clean, emit, json_option, note, say_lines

COLOURS: Final = {"alarm": "bold red", "quiet": "bold green"}
LINES: Final = {"~": "yellow", "+": "green", "−": "red", "⇄": "cyan", "↳": "magenta", "·": "dim"}


@click.command(name="divergence", short_help="does a run keep its course")
@click.argument("run")
@click.option(
    "--against",
    multiple=True,
    metavar="RUN",
    help="Compare with this run or file; may be repeated. Default: earlier successful runs.",
)
@click.option(
    "--junit",
    "junit_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the verdict as a JUnit test case.",
)
@json_option
@click.pass_context
def command(
    ctx: click.Context, run: str, against: tuple[str, ...], junit_file: Path | None, as_json: bool
) -> None:
    """Compare what RUN did after its first resume (or all of it) with earlier runs.

    RUN and --against name runs of the store, or files: OpenAI chat JSON with tool calls, OTLP JSON with GenAI or
    OpenInference spans, plain run records; FILE#2 is the second run of a file. Without --against a run of the store
    is compared with the earlier successful runs of the same agent, plan version and input. A call that was held and
    waits for a person is an alarm.

    Exit 0 when it is quiet, 1 on an alarm, 3 when there is not enough evidence.
    """
    begun = time.monotonic()
    found = _report(run, against)
    if junit_file is not None:
        junit.write(junit_file, junit.junit(found, time.monotonic() - begun))
    if as_json:
        emit(_shape(found))
    else:
        say_lines(_lines(found))
    ctx.exit(found.exit_code)


def _report(run: str, against: Sequence[str]) -> Report:
    left: list[str] = []
    if runfile.looks_like_file(run) and all(map(runfile.looks_like_file, against)):
        return _of_file(run, [side for name in against for side in _sides(name, left)], left)
    with reading() as store, store.connect() as connection:
        models: list[Side] = []
        tree = store.tree(connection)
        for name in against:
            if runfile.looks_like_file(name):
                models += _sides(name, left)
            else:
                row = store.run(connection, parse_run(name))
                models.append(comparing.model(connection, tree, row))
        if runfile.looks_like_file(run):
            return _of_file(run, models, left)
        row = store.run(connection, parse_run(run))
        if not against:
            models = _earlier(store, connection, row)
        _say_left_out(left)
        return comparing.report(connection, tree, row, models)


def _earlier(store: Reading, connection: Any, row: Any) -> list[Side]:
    tree = store.tree(connection)
    return [
        comparing.model(connection, tree, store.run(connection, name))
        for name in comparing.models_of(connection, row)
    ]


def _of_file(text: str, models: list[Side], left: list[str]) -> Report:
    found = _sides(text, left)
    if len(found) != 1:
        raise BadRunFile(text, f"the file holds {len(found)} runs; write {text}#1 for the first.")
    _say_left_out(left)
    return comparing.judge(found[0].name, [], found[0].records, models)


def _sides(text: str, left: list[str]) -> list[Side]:
    found, out = runfile.sides(text)
    left += [f"{text}: {what}" for what in out]
    return found


def _say_left_out(left: Sequence[str]) -> None:
    for what in dict.fromkeys(left):
        note(what)


def _lines(found: Report) -> list[Text]:
    out = []
    for number, line in enumerate(text_of(found)):
        style = COLOURS.get(found.verdict, "bold yellow") if not number else ""
        out.append(Text(line, style=style or LINES.get(line.strip()[:1], "")))
    return out


def _shape(found: Report) -> dict[str, Any]:
    result = found.comparison
    shape: Any = {
        "run": found.name,
        "verdict": found.verdict,
        "score": round(found.score, 4),
        "sentence": found.sentence,
        "final": result.final,
        "compared_with": [{"name": name, "calls": calls} for name, calls in found.compared_with],
        "reasons": [_reason(reason) for reason in result.reasons],
        "held": [
            {"alert": one.alert_id, "sentence": one.sentence, "score": one.score / 1000} for one in found.held
        ],
        "tapes": [_tape(laid) for laid in found.laid],
        "left_out": list(result.left_out),
    }
    masked: Any = mask_plain(shape)
    return dict(masked)


def _reason(reason: Reason) -> dict[str, Any]:
    return {**asdict(reason), "strength": round(reason.strength, 4), "hard": reason.hard}


def _tape(laid: Laid) -> dict[str, Any]:
    return {
        "before": laid.before.name,
        "after": laid.after.name,
        "rows": [_row(laid, row) for row in laid.tape.rows[:ROWS]],
        "total": len(laid.tape.rows),
    }


def _row(laid: Laid, row: TapeRow) -> dict[str, Any]:
    def side(which: Side, place: int | None) -> dict[str, Any] | None:
        if place is None:
            return None
        record = which.records[place]
        return {"call": place, "tool": clean(record.get("name", "")), "about": about(record.get("args"))}

    return {
        "glyph": row.glyph,
        "kind": row.kind,
        "before": side(laid.before, row.before),
        "after": side(laid.after, row.after),
        "moved": row.moved,
        "fields": [asdict(diff) for diff in row.fields],
        "reasons": list(row.reasons),
    }
