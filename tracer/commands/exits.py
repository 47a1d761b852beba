"""How does a command tell a script how it went? One table of exit codes."""

from __future__ import annotations

import enum
from typing import Final

from ..errors import (
    AgentError,
    AlreadyResumed,
    BadReference,
    ConfigError,
    Fenced,
    IntegrityError,
    LedgerError,
    Paused,
    ResumeError,
    StoreError,
    UnknownCall,
    UnknownCheckpoint,
    UnknownRun,
)


class Exit(enum.IntEnum):
    """Exit codes; each member's value never changes."""

    OK = 0
    NO = 1
    USAGE = 2
    REFUSED = 3
    PAUSED = 4
    HELD = 5
    STORE = 6
    INTEGRITY = 7
    FAILED = 8
    INTERRUPTED = 130


MEANING: Final[dict[Exit, str]] = {
    Exit.OK: "it is done, or the answer is yes",
    Exit.NO: "the answer is no: damage found, a check failed, spans left to send, a migration pending",
    Exit.USAGE: "usage or configuration: an option, a setting, or a run, checkpoint or agent that does not exist",
    Exit.REFUSED: "the gate, the ledger or an earlier answer said no; nothing was sent",
    Exit.PAUSED: "the run is paused and waits for a person",
    Exit.HELD: "another process holds the run",
    Exit.STORE: "the store is missing, full, locked, or of another version",
    Exit.INTEGRITY: "what is stored is not what was written",
    Exit.FAILED: "the agent's own code failed, broke a rule of resuming, or met a bug of Waypost",
    Exit.INTERRUPTED: "interrupted at the keyboard",
}
"""What each code means; `docs/commands.md` repeats it, and a test compares the two."""

# The first class that fits decides, so a class stands before its bases.
_OF: Final[tuple[tuple[type[BaseException], Exit], ...]] = (
    (Paused, Exit.PAUSED),
    (AlreadyResumed, Exit.HELD),
    (Fenced, Exit.HELD),
    (ResumeError, Exit.REFUSED),
    (LedgerError, Exit.REFUSED),
    (BadReference, Exit.USAGE),
    (ConfigError, Exit.USAGE),
    (AgentError, Exit.USAGE),
    (UnknownRun, Exit.USAGE),
    (UnknownCheckpoint, Exit.USAGE),
    (UnknownCall, Exit.USAGE),
    (StoreError, Exit.STORE),
    (IntegrityError, Exit.INTEGRITY),
)


def exit_of(error: BaseException) -> Exit:
    """The exit code for an error of ours, or of the agent's own code."""
    return next((code for kind, code in _OF if isinstance(error, kind)), Exit.FAILED)
