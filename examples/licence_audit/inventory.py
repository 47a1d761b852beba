"""Which distributions does an interpreter see, and where does each keep its metadata?

This interpreter is read in place; another one is asked by running it, because only it knows its `sys.path`.
"""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from examples.licence_audit.errors import InterpreterUnusable

PROBE_SECONDS = 60.0


@dataclass(frozen=True, slots=True, order=True)
class Distribution:
    """One installed distribution."""

    name: str
    """Normalised: lower case, runs of `-_.` as one `-`."""
    version: str
    """Empty when nothing says which."""
    where: str
    """Absolute path of its `.dist-info` or `.egg-info` (a folder, or one file for old installs)."""


def normalised(name: str) -> str:
    """Return *name* the way package indexes compare names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def distributions_of(
    python: str | None = None, *, only: Sequence[str] = (), limit: int = 0
) -> list[Distribution]:
    """List the distributions *python* sees (None: the running interpreter), sorted by name.

    *only* keeps those names; *limit* > 0 keeps the first so many. A name found twice on `sys.path` is listed
    once, where the interpreter would import it from. Raises InterpreterUnusable.
    """
    rows = listed() if python is None or _is_this(python) else _asked(python)
    wanted = {normalised(name) for name in only}
    kept = [d for d in _first_wins(rows) if not wanted or d.name in wanted]
    return kept[:limit] if limit > 0 else kept


def listed() -> list[tuple[str, str, str]]:
    """Return (name, version, place) of every distribution on `sys.path`, in its order.

    Its source also runs inside the other interpreter, so it needs nothing but itself and Python 3.8. The folder
    of a wheel says name and version; only older installs have to be opened for them.
    """
    import importlib.metadata
    import os
    import sys

    found = []
    for dist in importlib.metadata.distributions(path=[entry for entry in sys.path if entry]):
        place = str(getattr(dist, "_path", ""))
        folder = os.path.basename(place)
        name, dash, version = folder[: -len(".dist-info")].rpartition("-")
        if not folder.endswith(".dist-info") or not dash:
            name, version = dist.metadata["Name"] or "", dist.version or ""
        if place:
            found.append((name, version, place))
    return found


def _is_this(python: str) -> bool:
    # Not resolve(): the interpreter of a virtual environment is a link to one that sees other distributions.
    return Path(python).absolute() == Path(sys.executable).absolute()


def _asked(python: str) -> list[tuple[str, str, str]]:
    header = "from __future__ import annotations\nimport json, sys\n"
    probe = f"{header}{inspect.getsource(listed)}\nsys.stdout.write(json.dumps(listed()))\n"
    try:
        done = subprocess.run(
            [python, "-I", "-c", probe], capture_output=True, text=True, timeout=PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InterpreterUnusable(python, str(error)) from error
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or ["nothing on stderr"]
        raise InterpreterUnusable(python, f"exit {done.returncode}, {last[0]}")
    try:
        return [(str(name), str(version), str(where)) for name, version, where in json.loads(done.stdout)]
    except (ValueError, TypeError) as error:
        raise InterpreterUnusable(python, f"output that is not a list of distributions ({error})") from error


def _first_wins(rows: Iterable[tuple[str, str, str]]) -> list[Distribution]:
    seen: dict[str, Distribution] = {}
    for name, version, where in rows:
        # Metadata without a name still is an installed thing that somebody has to look at.
        known = normalised(name or Path(where).name.split("-")[0])
        seen.setdefault(known, Distribution(known, version, str(Path(where).absolute())))
    return sorted(seen.values())
