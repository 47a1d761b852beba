"""What is published, so that equal findings give equal bytes and nobody sees a half-written file?"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from examples.licence_audit.licence import RULES


@dataclass(frozen=True, slots=True, order=True)
class Line:
    """One audited distribution."""

    dist: str
    version: str
    category: str
    decided_by: str
    families: tuple[str, ...]
    digests: tuple[tuple[str, str], ...]
    """(path, SHA-256) of every file the judgement rests on, sorted by path."""


@dataclass(frozen=True, slots=True, order=True)
class Ticketed:
    """One problem and the ticket that was opened for it."""

    dist: str
    rule: str
    detail: str
    ticket: int


def as_json(lines: Iterable[Line], ticketed: Iterable[Ticketed]) -> str:
    """Return the report for machines: sorted, indented, one newline at its end."""
    content = {
        "format": "licence-audit/1",
        "distributions": [asdict(line) for line in sorted(lines)],
        "problems": [asdict(problem) for problem in sorted(ticketed)],
    }
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def as_markdown(lines: Iterable[Line], ticketed: Iterable[Ticketed]) -> str:
    """Return the report for people, with the same content in the same order."""
    audited, problems = sorted(lines), sorted(ticketed)
    counts = Counter(line.category for line in audited)
    out = ["# Licence audit", ""]
    out.append(f"{len(audited)} distributions, {len(problems)} problems, each with a ticket.")
    out += ["", "| category | distributions |", "|---|---:|"]
    out += [f"| {category} | {counts[category]} |" for category in sorted(counts)]
    out += ["", "## Problems", "", "| ticket | distribution | rule | seen |", "|---:|---|---|---|"]
    out += [f"| {p.ticket} | {_cell(p.dist)} | `{p.rule}` | {_cell(p.detail)} |" for p in problems]
    out += ["", "## Rules that fired", ""]
    out += [f"- `{rule}`: {RULES[rule]}" for rule in RULES if any(p.rule == rule for p in problems)]
    out += ["", "## Distributions", "", "| distribution | version | category | licences | decided by |"]
    out.append("|---|---|---|---|---|")
    for line in audited:
        families = ", ".join(line.families) or "unknown"
        cells = (line.dist, line.version, line.category, families, line.decided_by)
        out.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    out += ["", "## Evidence", ""]
    out += [f"- `{sha256[:16]}` {_cell(path)}" for line in audited for path, sha256 in line.digests]
    return "\n".join(out) + "\n"


def rendered(path: str, lines: Iterable[Line], ticketed: Iterable[Ticketed]) -> str:
    """Return the report in the format the suffix of *path* asks for: `.json`, else Markdown."""
    make = as_json if path.endswith(".json") else as_markdown
    return make(lines, ticketed)


def publish(path: Path, body: str) -> str:
    """Put *body* at *path* whole or not at all, synced; return its SHA-256 in hex.

    Written beside, synced, renamed, and the folder synced: after a crash at any point *path* holds the old
    report or the new one.
    """
    content = body.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return hashlib.sha256(content).hexdigest()


def digest(body: str) -> str:
    """Return the SHA-256 in hex that `publish` gives for *body*."""
    return hashlib.sha256(body.encode()).hexdigest()


def published(path: Path) -> str:
    """Return the SHA-256 of the report at *path* in hex, empty when there is none."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return ""


def _cell(text: str) -> str:
    # Details quote metadata of strangers: nothing in them may end a cell, a line or start markup.
    plain = "".join(c if c.isprintable() else "�" for c in text)
    for sign in ("\\", "|", "<", "`", "[", "*", "_"):
        plain = plain.replace(sign, "\\" + sign)
    return plain
