"""What does every test start from? No inherited settings, a folder of its own, and the system's Chromium."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
BROWSER = {"playwright", "browser_type", "browser", "context", "new_context", "page"}

# Cores are shared, so a deadline would measure the neighbours.
settings.register_profile("waypost", deadline=None, print_blob=True)
settings.load_profile("waypost")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever drives a browser carries the marker, because `make test` runs those apart."""
    for item in items:
        if BROWSER.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(autouse=True)
def no_inherited_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Settings come from the environment and the working folder; a test gets neither from its caller."""
    for name in list(os.environ):
        if name.startswith(("WAYPOST_", "OTEL_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """Overrides pytest-playwright's: the system's Chromium (`make test` installs it), calling nobody."""
    return {
        "executable_path": os.environ.get("CHROMIUM", "/usr/bin/chromium"),
        "args": [
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ],
    }
