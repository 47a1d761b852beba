"""How does an agent that stopped continue the same task, provably? The public API stands here."""

from ._agent import Agent, AsyncAgent, agent
from ._agent import free_run as run
from ._public import preflight, resume
from ._run import Run
from .approvals import Answer
from .contract import UNDECLARED, Clause, Evidence, Finding, ResumePolicy, Ruling, Verdict
from .errors import (
    AlreadyResumed,
    Denied,
    NotStorable,
    Paused,
    ResumeRefused,
    StateChanged,
    UnknownEffect,
    WaypostError,
)
from .recorder import configure
from .seal import Secret
from .state import State
from .tools import model, read, write
from .toolspec import KEY, NOT_FOUND
from .types import NotAvailable, Opaque, RuntimeOnly, register, register_runtime

__all__ = [
    "KEY",
    "NOT_FOUND",
    "UNDECLARED",
    "Agent",
    "AlreadyResumed",
    "Answer",
    "AsyncAgent",
    "Clause",
    "Denied",
    "Evidence",
    "Finding",
    "NotAvailable",
    "NotStorable",
    "Opaque",
    "Paused",
    "ResumePolicy",
    "ResumeRefused",
    "Ruling",
    "Run",
    "RuntimeOnly",
    "Secret",
    "State",
    "StateChanged",
    "UnknownEffect",
    "Verdict",
    "WaypostError",
    "agent",
    "configure",
    "model",
    "preflight",
    "read",
    "register",
    "register_runtime",
    "resume",
    "run",
    "write",
]
