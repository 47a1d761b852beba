"""Are the packages that this process imports ours, or did another distribution put its files over them?

The package index holds unrelated projects named `tracer` and `inspector`. Installed beside Waypost they overwrite
its files without a word, and removing them removes ours.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackagePath, distributions
from pathlib import Path
from typing import Final

OURS: Final = "waypost"
PACKAGES: Final = ("tracer", "inspector")


@dataclass(frozen=True, slots=True)
class Clash:
    """One thing that is not as Waypost was installed."""

    package: str
    owner: str
    """The other distribution; empty when the files themselves differ from what we installed."""
    what: str
    remedy: str


def clashes(path: Sequence[str] | None = None) -> list[Clash]:
    """What stands in our way among the installed distributions; *path* as `sys.path` (the default)."""
    found = [*distributions()] if path is None else [*distributions(path=list(path))]
    return [*_foreign(found), *_overwritten(found)]


def _foreign(found: Iterable[Distribution]) -> Iterable[Clash]:
    for distribution in found:
        name = distribution.metadata["Name"] or "a distribution without a name"
        if name.lower() == OURS:
            continue
        for package in PACKAGES:
            if _ships(distribution, package):
                yield Clash(
                    package,
                    name,
                    f"{name} {distribution.version} also installs a package named `{package}`.",
                    f"`pip uninstall {name}`, then `pip install --force-reinstall --no-deps {OURS}`, because "
                    "uninstalling removes files of ours",
                )


def _ships(distribution: Distribution, package: str) -> bool:
    top = (distribution.read_text("top_level.txt") or "").split()
    if package in top:
        return True
    return any(file.parts[:1] in ((package,), (f"{package}.py",)) for file in distribution.files or ())


def _overwritten(found: Iterable[Distribution]) -> Iterable[Clash]:
    for distribution in found:
        if (distribution.metadata["Name"] or "").lower() != OURS:
            continue
        changed = [file for file in distribution.files or () if _is_module(file) and not _as_recorded(file)]
        for package in PACKAGES:
            mine = [file for file in changed if file.parts[0] == package]
            if mine:
                yield Clash(
                    package,
                    "",
                    f"{len(mine)} files of `{package}` are not as installed, such as {mine[0]}.",
                    f"`pip install --force-reinstall --no-deps {OURS}`",
                )


def _is_module(file: PackagePath) -> bool:
    return file.parts[0] in PACKAGES and file.suffix == ".py" and file.hash is not None


def _as_recorded(file: PackagePath) -> bool:
    try:
        data = Path(str(file.locate())).read_bytes()
    except OSError:
        return False
    assert file.hash is not None
    digest = hashlib.new(file.hash.mode, data).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == file.hash.value
