"""Which runs does a file hold: chat messages, OTLP JSON, or plain records, whole or one document a line?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from .comparing import Side
from .divergence.baselines import runs_of
from .errors import BadRunFile

MOST: Final = 256 * 1024 * 1024
"""Bytes of a file that are read."""


def looks_like_file(text: str) -> bool:
    """True for what cannot name a run, or is there as a file: `runs/a.json`, `trace.json#2`."""
    path, _, _ = text.partition("#")
    return "/" in path or path.endswith((".json", ".jsonl")) or Path(path).is_file()


def sides(text: str) -> tuple[list[Side], list[str]]:
    """(the runs of the file that *text* names, what was left out); `FILE#2` is the second alone.

    Raises:
        BadRunFile: there is no such file, it is too large or not JSON, or holds no such run.
    """
    path, hash_, number = text.partition("#")
    found = runs_of(_document(text, Path(path)))
    runs = [
        Side(path if len(found.runs) == 1 else f"{path}#{n}", tuple(run["tools"]))
        for n, run in enumerate(found.runs, 1)
    ]
    if not runs:
        raise BadRunFile(text, found.left_out[-1] if found.left_out else "it holds no run")
    if not hash_:
        return runs, found.left_out
    if not number.isdigit() or not 1 <= int(number) <= len(runs):
        raise BadRunFile(text, f"the file holds {len(runs)} runs; write {path}#1 for the first.")
    return [runs[int(number) - 1]], found.left_out


def _document(text: str, path: Path) -> Any:
    try:
        size = path.stat().st_size
        if size > MOST:
            raise BadRunFile(text, f"it has {size:,} bytes; at most {MOST:,} are read.")
        content = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRunFile(text, f"{error}.") from None
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        lines = [line for line in content.splitlines() if line.strip()]
        if len(lines) < 2:
            raise BadRunFile(text, f"it is not JSON: {error}.") from None
    out = []
    for number, line in enumerate(lines, 1):
        try:
            out.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise BadRunFile(text, f"line {number} is not JSON: {error}.") from None
    return out
