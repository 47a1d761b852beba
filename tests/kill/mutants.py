"""Which guard is taken away? Each mutant removes one line of ours that the kill tests must miss at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from tracer import calls, integrity, journal, ledger
from tracer.store import engine


def _no_intent(patch: pytest.MonkeyPatch) -> None:
    """The intent is never made durable before the effect."""

    def intend(self: calls.Calls, ticket: calls.Ticket) -> None:
        ticket.stored_args = b""

    patch.setattr(calls.Calls, "_intend", intend)


def _no_ledger(patch: pytest.MonkeyPatch) -> None:
    """No call is ever found in the ledger."""
    patch.setattr(ledger.Ledger, "_match", lambda _self, _asked, _ordinal: None)


def _no_epoch(patch: pytest.MonkeyPatch) -> None:
    """The head moves for whoever knows its number, whatever his epoch."""
    move = journal.write.move_head

    def unguarded(connection: Any, run: str, branch: str, at: int, changes: Any, _guards: Any = ()) -> bool:
        return move(connection, run, branch, at, changes, ())

    patch.setattr(journal.write, "move_head", unguarded)
    patch.setattr(journal.Journal, "_check_guards", lambda *_: None)


def _no_subject_in_tag(patch: pytest.MonkeyPatch) -> None:
    """The tag leaves the subject of an entry out."""
    whole = integrity.Record.to_bytes
    patch.setattr(
        integrity.Record,
        "to_bytes",
        lambda self: whole(replace(self, subject="")),
    )


def _no_immediate(patch: pytest.MonkeyPatch) -> None:
    """Writers begin as readers do, and find out too late."""
    patch.setattr(engine, "BEGIN_WRITE", "BEGIN")


MUTANTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "no intent": _no_intent,
    "no ledger": _no_ledger,
    "no epoch": _no_epoch,
    "no subject in the tag": _no_subject_in_tag,
    "no immediate": _no_immediate,
}


@contextmanager
def applied(name: str) -> Iterator[None]:
    """The named mutant holds inside the block; the empty name is the program as it is."""
    with pytest.MonkeyPatch.context() as patch:
        if name:
            MUTANTS[name](patch)
        yield
