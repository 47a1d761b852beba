"""Do the two lock files cover what pyproject.toml asks for, agree with each other, and name no host?"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RUN, TEST = "requirements.lock", "requirements-test.lock"
GROUPS = PROJECT["dependency-groups"]
ASKED = {
    RUN: [
        *PROJECT["project"]["dependencies"],
        *PROJECT["project"]["optional-dependencies"]["inspector"],
        *PROJECT["build-system"]["requires"],
        *GROUPS["build"],
    ],
    TEST: [*GROUPS["test"], *GROUPS["bench"]],
}


def pins(lock: str) -> dict[str, set[str]]:
    """Versions by distribution; more than one where the Python version decides."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==([^ ;\\]+)", (ROOT / lock).read_text(), re.MULTILINE):
        found.setdefault(canonicalize_name(name), set()).add(version)
    return found


@pytest.mark.parametrize("lock", [RUN, TEST])
def test_a_lock_pins_every_declared_dependency_within_its_range(lock: str) -> None:
    pinned = pins(lock)
    for asked in map(Requirement, ASKED[lock]):
        versions = pinned.get(canonicalize_name(asked.name))
        assert versions, f"{asked.name} is missing: run `make lock`"
        assert all(asked.specifier.contains(version, prereleases=True) for version in versions)


@pytest.mark.parametrize("lock", [RUN, TEST])
def test_a_lock_gives_a_hash_for_every_pin_and_names_no_host(lock: str) -> None:
    text = (ROOT / lock).read_text()
    entries = re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]
    assert entries
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in text
    assert not re.search(r"^\s*--(?!hash)", text, re.MULTILINE)


def test_the_two_locks_agree_where_they_overlap() -> None:
    run, test = pins(RUN), pins(TEST)
    assert {name for name in run.keys() & test.keys() if run[name] != test[name]} == set()
