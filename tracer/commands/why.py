"""What stopped a run, what is safe, what is not, what to press?"""

from __future__ import annotations

import time

import click
from rich.text import Text

from ..refs import parse_run
from ..seal import mask
from ..why import explain, gather
from . import shapes
from .opened import program, reading
from .output import clean, emit, json_option, paragraph, run_state, say, say_lines, type_line


@click.command(name="why", short_help="what stopped, what is safe, what to press")
@click.argument("run")
@json_option
def command(run: str, as_json: bool) -> None:
    """Explain RUN in plain English: what stopped, what is safe, what is not, what to press."""
    now = time.time_ns()
    with reading() as store, store.connect() as connection:
        facts = gather(connection, store.run(connection, parse_run(run)), now)
    said = explain(facts, program())
    if as_json:
        emit(
            {
                "run_id": facts.row.run_id,
                "state": str(facts.state),
                "stopped": mask(said.stopped),
                "safe": [mask(one) for one in said.safe],
                "unsafe": [mask(one) for one in said.unsafe],
                "press": [{"command": one.command, "what": mask(one.what)} for one in said.press],
                "in_doubt": [shapes.call(one) for one in facts.doubts],
            }
        )
        return
    head = Text(clean(facts.row.run_id), style="bold")
    say(head.append(" is ").append_text(run_state(facts.state, facts.row.reason)))
    _section("What stopped", (said.stopped,))
    _section("What is safe", said.safe or ("Nothing is stored of it that could be used.",))
    _section("What is not", said.unsafe or ("Nothing is known that is not.",))
    say(Text("\nWhat to press", style="bold"))
    say_lines(
        [type_line(one.command, one.what) for one in said.press] or [type_line("", "Nothing; it is over.")]
    )


def _section(title: str, sentences: tuple[str, ...]) -> None:
    say(Text(f"\n{title}", style="bold"))
    for sentence in sentences:
        say(paragraph(sentence))
