"""What must the state of a run offer, so that a segment can store it?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Holder(Protocol):
    """Its fields by name, its type's name and version.

    It is asked on the thread that called for a checkpoint, of async code that of the event loop, and never by one
    that writes: what it gives is then a state of one moment.
    """

    type_name: str
    version: int
    runtime: dict[str, str]
    """Fields that live only in this process -> why."""

    def fields(self) -> dict[str, Any]:
        """Field name -> live value."""

    def check(self, changed: Mapping[str, Any]) -> None:
        """Refuse values that the declared types forbid (NotStorable)."""
