"""Small made-up installations, as an installer would have left them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from examples.licence_audit.inventory import Distribution
from examples.licence_audit.ticket_process import TicketProcess

MIT = """MIT License

Copyright (c) 2024 Ada Example

Permission is hereby granted, free of charge, to any person obtaining a copy of this software …
The above copyright notice and this permission notice shall be included in all copies.
"""
GPL = "GNU GENERAL PUBLIC LICENSE\n   Version 3, 29 June 2007\n\nEveryone is permitted to copy …\n"

Install = Callable[..., Distribution]


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """Lay down a distribution: headers of METADATA, and files by path inside its dist-info or beside it."""
    site = tmp_path / "site-packages"

    def laid(
        headers: str = "", files: dict[str, str] | None = None, *, beside: dict[str, str] | None = None
    ) -> Distribution:
        place = site / "thing-1.0.dist-info"
        place.mkdir(parents=True)
        (place / "METADATA").write_text(
            f"Metadata-Version: 2.4\nName: thing\nVersion: 1.0\n{headers}\nBody\n"
        )
        for name, text in (files or {}).items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
        for name, text in (beside or {}).items():
            (site / name).parent.mkdir(parents=True, exist_ok=True)
            (site / name).write_text(text)
        (place / "RECORD").write_text("".join(f"{name},,\n" for name in (beside or {})))
        return Distribution("thing", "1.0", str(place))

    return laid


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TicketProcess]:
    """A service that a whole module may ask, as long as nothing ever opens a ticket there."""
    with TicketProcess.start(tmp_path_factory.mktemp("untouched") / "tickets.db", max_seconds=60) as process:
        yield process


@pytest.fixture
def service(tmp_path: Path) -> Iterator[TicketProcess]:
    """A real ticket service in a process of its own."""
    with TicketProcess.start(tmp_path / "tickets.db", max_seconds=60) as process:
        yield process
