"""Who imports whom? The layers of the house, read from the source, and a proof that the reading turns red."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# A module may import its own layer and those above it in this list. A name not listed is on "run":
# it may import nearly everything, and the lower layers may not import it until it is listed where it belongs.
LAYERS = {
    "base": {"contract", "errors", "shapes", "types"},
    "pure": {"codec", "seal", "state", "diff", "gate", "divergence", "tree"}
    | {"integrity", "items", "spanref"},
    "support": {"config", "faults", "ids", "keys"},
    "store": {"store"},
    "journal": {"cleartext", "journal", "readings", "signing", "telemetry"},
    "run": set[str](),
    "edge": {"", "__main__", "cli", "instrument", "savers", "testing"},
}
RANKS = {name: rank for rank, names in enumerate(LAYERS.values()) for name in names}
RUN, INSPECTOR = list(LAYERS).index("run"), len(LAYERS)
PURE = LAYERS["base"] | LAYERS["pure"]
CLOCK_AND_SYSTEM = {"os", "random", "shutil", "socket", "subprocess", "tempfile", "time"}
IMPURE = CLOCK_AND_SYSTEM | {"asyncio", "multiprocessing", "sqlalchemy", "sqlite3", "threading"}
WEB = {"flask", "flask_wtf", "inspector", "plotly", "waitress", "werkzeug", "wtforms"}
MAY_SELECT = re.compile(r"tracer\.store\.(read|write)\w*(\.|$)|tracer\.store\.migrations(\.|$)")
SELECT = re.compile(r"\s*(SELECT|WITH [\w, ]+ AS \()\b")


@dataclass(frozen=True, slots=True)
class Breach:
    """One line that breaks a rule."""

    module: str
    line: int
    rule: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.rule}"


def head(module: str) -> str:
    """The part of `tracer.<part>.…` that the layers name; empty for `tracer` itself."""
    return [*module.split("."), ""][1]


def rank(module: str) -> int:
    return INSPECTOR if module.split(".")[0] == "inspector" else RANKS.get(head(module), RUN)


def imports(tree: ast.AST, package: str, known: frozenset[str]) -> Iterator[tuple[int, str, str]]:
    """Line, module and imported name of every import, also lazy ones and those for types only."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = parts[: len(parts) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                yield (node.lineno, inner, "") if inner in known else (node.lineno, module, alias.name)


def selects(tree: ast.AST, package: str) -> Iterator[int]:
    """Lines that build a SELECT: the imported function, the attribute of an sqlalchemy name, or its text."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            source = getattr(node, "module", None) or ""
            for alias in node.names:
                if (source or alias.name).split(".")[0] == "sqlalchemy":
                    names.add((alias.asname or alias.name).split(".")[0])
                    if alias.name in {"select", "exists"} and source:
                        yield node.lineno
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in {"select", "exists"}:
            if isinstance(node.value, ast.Name) and node.value.id in names:
                yield node.lineno
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and SELECT.match(node.value):
            yield node.lineno


def breaches(module: str, source: str, *, package: bool, known: frozenset[str]) -> Iterator[Breach]:
    """Every rule that one module breaks, whatever else there is."""
    tree = ast.parse(source, filename=module)
    inside = module if package else module.rpartition(".")[0]
    ours = module.split(".")[0]
    for line, target, name in imports(tree, inside, known):
        top = target.split(".")[0]
        if ours == "tracer" and top in WEB:
            yield Breach(module, line, f"tracer never imports {top}")
        elif top == "tracer" and rank(target) > rank(module):
            yield Breach(module, line, f"{target} is above it in the layers")
        elif ours == "tracer" and head(module) in PURE and top in IMPURE:
            yield Breach(module, line, f"a pure module imports {top}")
        elif head(module) == "instrument" and target.startswith("tracer.store"):
            yield Breach(module, line, "framework hooks see the run, not the store")
        elif ours == "inspector" and re.match(r"tracer\.store\.(write\b|tables\.[a-z])", f"{target}.{name}"):
            yield Breach(module, line, "the inspector reads rows through tracer.store.read and writes none")
    if not MAY_SELECT.match(module):
        for line in selects(tree, inside):
            yield Breach(module, line, "a SELECT outside tracer/store/read.py")


def check(root: Path) -> list[Breach]:
    """All breaches under `root`/tracer and `root`/inspector."""
    modules: dict[str, Path] = {}
    for path in sorted([*root.glob("tracer/**/*.py"), *root.glob("inspector/**/*.py")]):
        parts = path.relative_to(root).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    known = frozenset(modules)
    found = (
        breach
        for module, path in modules.items()
        for breach in breaches(module, path.read_text(), package=path.stem == "__init__", known=known)
    )
    return list(dict.fromkeys(found))


def test_the_house_keeps_its_layers() -> None:
    assert (ROOT / "tracer").is_dir()
    assert [str(breach) for breach in check(ROOT)] == []


BAD = {
    "pure imports the store": ("tracer/gate.py", "from tracer.store import read"),
    "pure imports the store, relatively": ("tracer/gate.py", "from .store.read import runs"),
    "pure imports the run, lazily": ("tracer/codec.py", "def f():\n    import tracer.ledger"),
    "pure imports the whole": ("tracer/diff.py", "from tracer import Run"),
    "pure reads the clock": ("tracer/tree.py", "import time"),
    "pure reads the disk, in a package": ("tracer/divergence/rules.py", "from os import path"),
    "base imports pure": ("tracer/errors.py", "from .codec import encode"),
    "the store imports telemetry": ("tracer/store/write.py", "from tracer import telemetry"),
    "the store imports the journal, relatively": ("tracer/store/read.py", "from ..journal import Entry"),
    "the journal imports a run part": ("tracer/journal.py", "from tracer.approvals import Inbox"),
    "a run part imports the command line": ("tracer/_run.py", "from tracer.cli import main"),
    "for types only": (
        "tracer/journal.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import tracer.cli",
    ),
    "tracer imports the inspector": ("tracer/cli.py", "import inspector.app"),
    "tracer imports plotly": ("tracer/telemetry/spans.py", "import plotly.graph_objects as go"),
    "a hook sees the store": ("tracer/instrument/langgraph.py", "from tracer.store import read"),
    "the inspector writes rows": ("inspector/actions.py", "from tracer.store.write import insert"),
    "the inspector names tables": ("inspector/pages.py", "from tracer.store.tables import entry"),
    "a select in the journal": ("tracer/journal.py", "from sqlalchemy import select"),
    "a select by attribute": ("tracer/ledger.py", "import sqlalchemy as sa\nsa.select(1)"),
    "a select as text": ("tracer/lease.py", "SQL = '''\n  SELECT 1 FROM run'''"),
}

GOOD = {
    "tracer/__init__.py": "from tracer._run import Run",
    "tracer/errors.py": "",
    "tracer/_run.py": "import os, threading\nfrom tracer import journal, errors\nfrom .store import read",
    "tracer/store/read.py": "from sqlalchemy import select\nselect(1)",
    "tracer/store/write.py": "import time\nfrom ..codec import encode\nfrom sqlalchemy import insert",
    "tracer/codec.py": "import math\nfrom tracer.errors import NotStorable\nSELECTED = 'SELECTED rows'",
    "tracer/journal.py": "from tracer.store import read, write\nfrom tracer.telemetry import names",
    "tracer/savers/langgraph.py": "from tracer.store import read",
    "inspector/pages.py": "import flask\nfrom tracer.store.read import runs\nfrom tracer import Run",
}


def build(root: Path, files: dict[str, str]) -> Path:
    for name, source in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source + "\n")
    return root


def test_a_house_in_order_is_green(tmp_path: Path) -> None:
    assert check(build(tmp_path, GOOD)) == []


@pytest.mark.parametrize("case", BAD)
def test_one_bad_import_turns_it_red(case: str, tmp_path: Path) -> None:
    others = dict.fromkeys(("tracer/telemetry/__init__.py", "tracer/store/tables.py"), "")
    name, source = BAD[case]
    (breach,) = check(build(tmp_path, {**GOOD, **others, name: source}))
    assert breach.module == name.removesuffix(".py").replace("/", ".")
    assert breach.line == source[: source.rfind("\n") + 1].count("\n") + 1 or "SELECT" in source
