"""How is something printed, for a person and for a script?

Whatever comes from the store passes `clean`: secrets masked, control and bidi characters spelt out. Nothing is
read as markup. Results go to standard output, progress and errors to standard error.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TextIO

import click
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from ..contract import RunState
from ..seal import mask
from ..visible import one_line, visible

EVERY_S: Final = 2.0
"""Seconds between two lines of progress where no bar can be drawn."""
GLYPHS: Final[dict[str, tuple[str, str]]] = {
    "running": ("▶", "cyan"),
    "paused": ("‖", "yellow"),
    "interrupted": ("✕", "red"),
    "lost": ("?", "red"),
    "done": ("✓", "green"),
    "failed": ("✕", "red"),
    "aborted": ("■", "red"),
    "superseded": ("→", "dim"),
    "quarantined": ("!", "magenta"),
    "continue": ("✓", "green"),
    "revalidate": ("~", "yellow"),
    "reapprove": ("!", "yellow"),
    "abort": ("■", "red"),
    "not judged": ("·", "dim"),
    "ok": ("✓", "green"),
    "warn": ("!", "yellow"),
    "fail": ("✕", "red"),
    "unknown": ("?", "magenta"),
    "sent": ("?", "magenta"),
}
"""Word -> (glyph, colour). The word always stands beside them."""


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--json`."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print JSON with stable keys instead of tables."
    )(command)


def clean(text: object) -> str:
    """*text* from the store, for one line: masked, and free of anything that a terminal would obey."""
    return one_line(mask(str(text)))


def cell(text: object, style: str = "") -> Text:
    """A table cell of cleaned text; ids and words are folded, never cut."""
    return Text(clean(text), style=style, overflow="fold")


def word(state: str) -> Text:
    """A state as glyph and word; the colour only repeats them."""
    glyph, colour = GLYPHS.get(state, ("·", ""))
    return Text(f"{glyph} {clean(state)}", style=colour)


def console(file: TextIO | None = None) -> Console:
    """A console on standard output, made when it is needed: tests and pipes change the stream."""
    return Console(file=file or sys.stdout, markup=False, emoji=False, highlight=False, soft_wrap=False)


def table(*columns: str, right: Sequence[str] = (), whole: Sequence[str] = (), title: str = "") -> Table:
    """A table without lines, fit for 80 columns; *right* names the columns of numbers, *whole* those of ids."""
    made = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    made.title, made.title_justify, made.title_style = title or None, "left", "bold"
    for name in columns:
        stays = name in right or name in whole
        made.add_column(name, justify="right" if name in right else "left", overflow="fold", no_wrap=stays)
    return made


def paragraph(text: str) -> Padding:
    """A cleaned sentence, indented by two, its later lines too."""
    return Padding(Text(clean(text)), (0, 0, 0, 2))


def pairs(rows: Iterable[tuple[str, object]]) -> Table:
    """A table of names and values."""
    made = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows:
        made.add_row(name, value if isinstance(value, Text) else cell(value))
    return made


def say(*parts: Any) -> None:
    """Print tables, texts and cleaned strings to standard output."""
    out = console()
    for part in parts:
        out.print(Text(visible(mask(part))) if isinstance(part, str) else part)


def type_line(command: str, what: str) -> Text:
    """A line to copy, never wrapped, with what it does."""
    made = Text()
    if command:
        made.append(f"  {one_line(command)}", style="bold")
        made.append(f"   # {clean(what)}" if what else "", style="dim")
    else:
        made.append(f"  {clean(what)}")
    return made


def say_lines(lines: Iterable[Text]) -> None:
    """Print without wrapping, so that a line can be copied."""
    out = console()
    for line in lines:
        out.print(line, soft_wrap=True)


def emit(document: object, *, indent: int | None = 2) -> None:
    """Print one JSON document; ASCII only, so that nothing in it can steer a terminal."""
    sys.stdout.write(json.dumps(document, indent=indent, ensure_ascii=True) + "\n")


def emit_line(document: object) -> None:
    """Print one line of JSON lines."""
    emit(document, indent=None)


def complain(text: str) -> None:
    """One line on standard error."""
    sys.stderr.write(f"waypost: {clean(text)}\n")


def note(text: str) -> None:
    """What a person may want to know besides the result; on standard error."""
    sys.stderr.write(f"{clean(text)}\n")
    sys.stderr.flush()


def run_state(state: RunState, reason: str = "") -> Text:
    """A run's state with its reason."""
    made = word(str(state))
    return made.append(f" ({clean(reason)})") if reason else made


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Progress on standard error: a bar on a terminal, else a line every few seconds and one at the end.

    Gives a function that takes (done so far, of how many).
    """
    if sys.stderr.isatty():
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, console=console(sys.stderr), transient=True) as bar:
            task = bar.add_task(what, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
        return
    last, shown = time.monotonic(), (0, 0)

    def step(done: int, total: int) -> None:
        nonlocal last, shown
        shown = done, total
        if time.monotonic() - last >= EVERY_S:
            last = time.monotonic()
            note(f"{what}: {done:,} of {total:,}")

    yield step
    if shown[1]:
        note(f"{what}: {shown[0]:,} of {shown[1]:,}")
