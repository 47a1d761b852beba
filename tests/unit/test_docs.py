"""Do the documents say what there is, and nothing else? (`tests/cli/test_walkthrough.py` runs what they show.)"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import click
import pytest

from tracer.cli import waypost
from tracer.commands.exits import MEANING
from tracer.config import Settings

ROOT = Path(__file__).resolve().parents[2]
DOCS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
EVERYWHERE = {"--json", "--help", "-h"}
"""Options that every command takes, documented once."""


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block of a page."""

    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    return [Block(language, text) for language, text in found]


def sections(page: str) -> dict[str, str]:
    """Heading of the second level -> what stands below it."""
    parts = re.split(r"^## (.+)$", (ROOT / page).read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def commands() -> Iterator[tuple[str, click.Command]]:
    """(name, command), the members of groups by both words."""
    ctx = click.Context(waypost)
    for name in waypost.list_commands(ctx):
        command = waypost.get_command(ctx, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", found) for inner, found in command.commands.items())
        else:
            yield name, command


# -- what is shown --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("document", DOCS, ids=named)
def test_every_python_block_is_python(document: Path) -> None:
    for block in blocks(document):
        if block.language == "python":
            ast.parse(block.text)


@pytest.mark.parametrize("document", DOCS, ids=named)
def test_every_command_line_of_the_documents_is_one_that_there_is(document: Path) -> None:
    known = {name.split()[0]: command for name, command in commands()} | {
        "db": dict(commands())["db upgrade"]
    }
    for line in re.findall(r"waypost ((?:[a-z]+)[^`\n#|]*)", document.read_text()):
        words = line.split()
        assert words[0] in known, line
        options = {
            part for option in known[words[0]].params for part in (*option.opts, *option.secondary_opts)
        }
        for option in re.findall(r"(?<!\S)--[a-z-]+", line):
            assert option in options | EVERYWHERE, line


# -- what there is ----------------------------------------------------------------------------------------------


def test_every_command_and_every_option_is_documented() -> None:
    found = sections("docs/commands.md")
    seen = set()
    for name, command in commands():
        section = found[name.split()[0]]
        seen.add(name.split()[0])
        assert f"`waypost {name}" in section
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                for option in (*parameter.opts, *parameter.secondary_opts):
                    assert option in EVERYWHERE or f"`{option}" in section or f"/{option}" in section, (
                        name,
                        option,
                    )
            else:
                assert parameter.make_metavar(click.Context(command)) in section, (name, parameter.name)
    assert set(found) - {"Exit codes"} == seen, "a section about a command that there is not"


def test_the_options_of_the_program_itself_are_documented() -> None:
    head = (ROOT / "docs/commands.md").read_text().partition("## ")[0]
    for parameter in waypost.params:
        for option in parameter.opts:
            assert f"`{option}" in head


def test_every_exit_code_is_documented_with_its_meaning() -> None:
    table = re.findall(r"^\| (\d+) \| (.+) \|$", sections("docs/commands.md")["Exit codes"], re.MULTILINE)
    assert [(int(code), meaning) for code, meaning in table] == [
        (int(code), MEANING[code]) for code in MEANING
    ]


def test_every_setting_is_documented_and_no_other() -> None:
    page = (ROOT / "docs/settings.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| `(WAYPOST_\w+)` \|", page, re.MULTILINE)
    assert rows == [(field.name, f"WAYPOST_{field.name.upper()}") for field in fields(Settings)]


def test_every_variable_that_the_code_reads_is_documented() -> None:
    page = (ROOT / "docs/settings.md").read_text()
    sources = [*(ROOT / "tracer").rglob("*.py"), *(ROOT / "inspector").rglob("*.py")]
    read = {
        name
        for path in sources
        for name in re.findall(r"\b(?:WAYPOST|OTEL)_[A-Z][A-Z_]*[A-Z]\b", path.read_text())
    }
    unknown = {name for name in read if f"`{name}`" not in page and not name.startswith("OTEL_")}
    assert unknown == set()


def test_every_page_of_the_inspector_is_documented_and_no_other(tmp_path: Path) -> None:
    from inspector.app import Config, create_app
    from tracer.store.engine import Store

    Store.open(tmp_path / "waypost.db").close()
    app = create_app(Config(settings=Settings(store=str(tmp_path / "waypost.db"), home=str(tmp_path))))
    app.extensions["waypost"].close()
    rules = {
        re.sub(r"<\w+:", "<", rule.rule) for rule in app.url_map.iter_rules() if rule.endpoint != "static"
    }
    rules = {rule.replace("<run_id>", "<run>").replace("<ref>", "<checkpoint>") for rule in rules}
    page = (ROOT / "docs/inspector.md").read_text()
    assert set(re.findall(r"^\| `(/[^`]*)` \|", page, re.MULTILINE)) == rules


def test_every_link_leads_somewhere_and_every_page_is_linked() -> None:
    linked = {ROOT / "README.md"}
    for page in DOCS:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in target:
                path = (page.parent / target).resolve()
                assert path.exists(), f"{named(page)} links to {target}"
                linked.add(path)
    assert set(DOCS) - linked == set()


def test_no_document_names_a_folder_of_somebodys_machine() -> None:
    for page in DOCS:
        assert not re.search(r"/(work|root|home|Users)/", page.read_text()), named(page)
