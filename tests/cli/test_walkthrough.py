"""Does what the README and the ten-minute start show run as it stands?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block of a page."""

    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    return [Block(language, text) for language, text in found]


def lay_out(page: Path, folder: Path) -> None:
    """Write every Python block that names a file in its first line."""
    for block in blocks(page):
        if block.language == "python" and (name := re.match(r"# (\w+\.py)\n", block.text)):
            (folder / name[1]).write_text(block.text)


def lines(page: Path) -> Iterator[tuple[str, int]]:
    """(line to type, exit code it is said to have), of those that begin with `$`."""
    for block in blocks(page):
        for line in block.text.splitlines() if block.language == "console" else ():
            if line.startswith("$ "):
                code = re.search(r"# .*?\bexit (\d+)", line)
                yield line[2:], int(code[1]) if code else 0


def type_in(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    here = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", f"{line}\nexit $?"], cwd=folder, env={**os.environ, "PATH": here},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_the_readme_runs_as_it_stands(tmp_path: Path) -> None:
    page = ROOT / "README.md"
    lay_out(page, tmp_path)
    typed = list(lines(page))
    assert len(typed) >= 4
    for line, code in typed:
        done = type_in(line, tmp_path)
        assert done.returncode == code, (line, done.stderr)
    again = type_in("python audit.py", tmp_path)
    assert again.stdout.endswith(" tickets\n")


@pytest.mark.kill
@pytest.mark.slow
def test_the_ten_minute_start_runs_as_it_stands(tmp_path: Path) -> None:
    page = ROOT / "docs/start.md"
    lay_out(page, tmp_path)
    for line, code in lines(page):
        done = type_in(line, tmp_path)
        assert done.returncode == code, (line, done.stderr)
    why = type_in("waypost why november", tmp_path).stdout
    (effect,) = re.findall(r"--effect (\w+) --happened", why)
    rest = [
        (f"waypost approve november --effect {effect} --happened '\"posted\"'", 0),
        ("waypost resume november", 4),
        ("waypost approve november", 0),
        ("waypost resume november", 0),
        ("waypost diff november@1 november@3", 0),
        ("waypost verify november", 0),
    ]
    for line, code in rest:
        done = type_in(line, tmp_path)
        assert done.returncode == code, (line, done.stderr)
    world = (tmp_path / "world.txt").read_text().splitlines()
    assert [line.split(" under ")[0] for line in world] == [
        "paid A-1", "letter for A-1", "paid A-2", "letter for A-2", "paid A-3", "letter for A-3",
    ]  # fmt: skip
