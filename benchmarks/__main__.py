"""Run benchmarks: `python -m benchmarks [NAME …] [--json]`; without a name, list them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from .catalogue import FIGURES, of
from .line import Line
from .measure import say


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0, also when a target is missed (that is what `ok` says); 2 for a name that is none."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a figure, or `all`")
    parser.add_argument("--json", action="store_true", help="one JSON line per figure")
    parser.add_argument("--markdown", action="store_true", help="rows of the table in docs/benchmarks.md")
    asked = parser.parse_args(arguments)
    if not asked.names:
        width = max(len(figure.name) for figure in FIGURES)
        for figure in FIGURES:
            print(f"{figure.name:{width}}  {figure.target:12}  {figure.what}")
        return 0
    names = [figure.name for figure in FIGURES] if asked.names == ["all"] else asked.names
    unknown = [name for name in names if of(name) is None]
    if unknown:
        print(f"there is no benchmark {', '.join(unknown)}; python -m benchmarks lists them", file=sys.stderr)
        return 2
    done: set[str] = set()
    for wanted in filter(None, map(of, names)):
        if wanted.module in done:
            continue
        done.add(wanted.module)
        say(f"{wanted.module.replace('_', '-')} …")
        for line in wanted.lines():
            shown = json.dumps(line) if asked.json else _row(line) if asked.markdown else _shown(line)
            print(shown, flush=True)
    return 0


def _row(line: Line) -> str:
    reached = "yes" if line["ok"] else "**no**"
    return f"| {line['name']} | {line['value']:g} {line['unit']} | {line['target']} | {reached} |"


def _shown(line: Line) -> str:
    mark = "ok  " if line["ok"] else "MISS"
    head = f"{mark} {line['name']:22} {line['value']:>10g} {line['unit']:7} target {line['target']}"
    said = ", ".join(f"{key} {value}" for key, value in line["detail"].items())
    return f"{head}\n     {said}"


if __name__ == "__main__":
    sys.exit(main())
