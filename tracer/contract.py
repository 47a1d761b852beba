"""What does a checkpoint promise, and what may the gate say about it?

The words of Waypost as data: seven clauses, the default resume policy, findings and verdicts. No I/O, no clock.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final


class _Undeclared(enum.Enum):
    UNDECLARED = "undeclared"

    def __repr__(self) -> str:
        return "UNDECLARED"


UNDECLARED: Final = _Undeclared.UNDECLARED
"""Nobody said anything about this: not empty, not unknown. Stored as null in a contract."""

Undeclared = _Undeclared


class RunState(enum.StrEnum):
    """Where a run stands. `interrupted` and `lost` are read off its lease, never off a clock alone."""

    RUNNING = "running"
    PAUSED = "paused"
    INTERRUPTED = "interrupted"
    LOST = "lost"
    DONE = "done"
    FAILED = "failed"
    ABORTED = "aborted"
    SUPERSEDED = "superseded"
    QUARANTINED = "quarantined"

    @property
    def over(self) -> bool:
        """True when nothing of this run will run again."""
        return self in (RunState.DONE, RunState.ABORTED, RunState.SUPERSEDED)


class CheckpointKind(enum.StrEnum):
    """Why a checkpoint was written. Only the advancing kinds move the position of the agent."""

    STEP = "step"
    INNER = "inner"
    """A step inside an item of `each` that is not finished: after a resume the item begins again, so what was
    called earlier in it must still answer."""
    PAUSE = "pause"
    RESUME = "resume"
    MIGRATION = "migration"
    MANUAL = "manual"
    FINAL = "final"

    @property
    def repeats(self) -> bool:
        """True for kinds that hold the state of the checkpoint before them."""
        return self in (CheckpointKind.PAUSE, CheckpointKind.RESUME)

    @property
    def last(self) -> bool:
        """True for kinds after which nothing may be left to be noticed later."""
        return self in (CheckpointKind.FINAL, CheckpointKind.MANUAL)

    @property
    def advances(self) -> bool:
        """False where the calls made before still belong to the step that a resume begins with."""
        return not self.repeats and self is not CheckpointKind.INNER


class CallKind(enum.StrEnum):
    """What a tool does to the world; undeclared counts as `write`."""

    READ = "read"
    WRITE = "write"
    MODEL = "model"
    HANDOFF = "handoff"
    INTERNAL = "internal"


class CallState(enum.StrEnum):
    """How far a call in the ledger has come."""

    PLANNED = "planned"
    SENT = "sent"
    COMMITTED = "committed"
    FAILED = "failed"
    UNKNOWN = "unknown"
    SUSPENDED = "suspended"
    COMPENSATED = "compensated"


class Ruling(enum.StrEnum):
    """What the gate says of one clause or of the whole, from mildest to strictest."""

    NOT_JUDGED = "not judged"
    CONTINUE = "continue"
    REVALIDATE = "revalidate"
    REAPPROVE = "reapprove"
    ABORT = "abort"

    @property
    def strictness(self) -> int:
        """0 for `not judged` up to 4 for `abort`."""
        return _STRICTNESS[self]


_STRICTNESS: Final = {ruling: n for n, ruling in enumerate(Ruling)}


class Clause(enum.StrEnum):
    """What a finding is about, in the order in which the gate looks."""

    INTEGRITY = "integrity"
    LEASE = "lease"
    STATE_VERSION = "state version"
    PLAN = "plan and objective"
    TOPOLOGY = "topology"
    IDENTITY = "runtime identity"
    EFFECTS = "side effects"
    EVIDENCE = "evidence"
    PERMISSIONS = "permissions"
    RESOURCES = "resources"
    CONTEXT = "context size"
    POLICY = "resume policy"


class DecisionKind(enum.StrEnum):
    """What a person can say."""

    APPROVE = "approve"
    DENY = "deny"
    EDIT = "edit"
    WAIVE = "waive"
    RECONCILE = "reconcile"
    ACKNOWLEDGE = "acknowledge"


@dataclass(frozen=True, slots=True)
class Finding:
    """What the gate found on one clause, and what would mend it."""

    clause: Clause
    ruling: Ruling
    what: str
    remedy: str = "none needed"
    before: str = ""
    after: str = ""
    subject: str = ""
    """Names the thing judged (a package, a call id); with `before` and `after` it identifies a waiver."""
    waived_by: str = ""

    def to_plain(self) -> dict[str, str]:
        """A flat record for the resume log."""
        return {f.name: str(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> Finding:
        """The inverse of `to_plain`."""
        rest = {k: str(v) for k, v in data.items() if k not in ("clause", "ruling")}
        return cls(Clause(data["clause"]), Ruling(data["ruling"]), **rest)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says of a whole resume: the strictest finding wins."""

    findings: tuple[Finding, ...]

    @property
    def ruling(self) -> Ruling:
        """`continue` when nothing was found that is stricter."""
        judged = [f.ruling for f in self.findings if f.ruling is not Ruling.NOT_JUDGED]
        return max(judged, key=lambda ruling: ruling.strictness, default=Ruling.CONTINUE)

    @property
    def admits(self) -> bool:
        """True when the segment may write."""
        return self.ruling is Ruling.CONTINUE

    @property
    def stops(self) -> tuple[Finding, ...]:
        """The findings that keep the run from going on, strictest first."""
        held = [f for f in self.findings if f.ruling.strictness > Ruling.CONTINUE.strictness]
        return tuple(sorted(held, key=lambda f: -f.ruling.strictness))


@dataclass(frozen=True, slots=True)
class ResumePolicy:
    """What a change means, clause by clause. Stored with every checkpoint, shown as one paragraph.

    A field holds the ruling for the case that the thing *changed* (or is unknown, lost, expired).
    """

    integrity: Ruling = Ruling.ABORT
    lease: Ruling = Ruling.ABORT
    state_version: Ruling = Ruling.REAPPROVE
    state_newer: Ruling = Ruling.ABORT
    objective: Ruling = Ruling.REAPPROVE
    plan: Ruling = Ruling.REAPPROVE
    topology: Ruling = Ruling.REAPPROVE
    position_gone: Ruling = Ruling.ABORT
    packages: Ruling = Ruling.CONTINUE
    environment: Ruling = Ruling.CONTINUE
    prompt: Ruling = Ruling.CONTINUE
    model: Ruling = Ruling.REAPPROVE
    tools: Ruling = Ruling.REAPPROVE
    policy_bundle: Ruling = Ruling.REAPPROVE
    principal: Ruling = Ruling.REAPPROVE
    unknown_effect: Ruling = Ruling.REAPPROVE
    evidence: Ruling = Ruling.REVALIDATE
    evidence_gone: Ruling = Ruling.REAPPROVE
    approval: Ruling = Ruling.REAPPROVE
    resources: Ruling = Ruling.REAPPROVE
    context_shorter: Ruling = Ruling.ABORT
    divergence: Ruling = Ruling.CONTINUE
    """What an alarm means while the resumed run goes on: record it, ask a person before a write is sent, or end.

    A ruling above `CONTINUE` tries each new write first: one that would alarm is held and not sent. What shows only
    afterwards holds the next write.
    """

    def to_plain(self) -> dict[str, str]:
        """Field name -> ruling."""
        return {f.name: str(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_plain(cls, data: Mapping[str, str]) -> ResumePolicy:
        """The inverse of `to_plain`; fields a newer release added keep their default."""
        names = {f.name for f in fields(cls)}
        return cls(**{k: Ruling(v) for k, v in data.items() if k in names})

    def paragraph(self) -> str:
        """The whole policy as English, for a person who must decide at night."""
        by: dict[Ruling, list[str]] = {}
        for f in fields(self):
            by.setdefault(getattr(self, f.name), []).append(f.name.replace("_", " "))
        said = {
            Ruling.NOT_JUDGED: "is recorded only",
            Ruling.CONTINUE: "is recorded and the run goes on",
            Ruling.REVALIDATE: "must be looked at again before anything is written",
            Ruling.REAPPROVE: "needs a person",
            Ruling.ABORT: "ends the run",
        }
        parts = [
            f"a change of {', '.join(by[ruling])} {said[ruling]}"
            for ruling in sorted(by, key=lambda ruling: -ruling.strictness)
        ]
        text = "; ".join(parts)
        return f"{text[:1].upper()}{text[1:]}. The strictest finding wins."


@dataclass(frozen=True, slots=True)
class Evidence:
    """Something the agent read and relied on."""

    __waypost_atom__ = True

    source: str
    """Where it is: a path, URL or query."""
    version: str = ""
    digest: str = ""
    """Of the bytes that were read, as `sha256:…`."""
    read_at: str = ""
    """ISO 8601 with zone; filled by the run when empty."""
    kind: str = "file"
    repeatable: bool = True
    """False when asking again legitimately gives something else."""
    max_age_s: float = 0.0
    """Seconds after which it counts as stale; 0 = never by age."""

    def to_plain(self) -> dict[str, Any]:
        """A flat record."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True, slots=True)
class Plan:
    """Clause 1: what the run is for, and by which plan."""

    objective: str | Undeclared = UNDECLARED
    version: str | Undeclared = UNDECLARED

    def to_plain(self) -> dict[str, str | None]:
        """Undeclared is null."""
        return {"objective": declared(self.objective), "version": declared(self.version)}


@dataclass(frozen=True, slots=True)
class Identity:
    """Clause 5: who and what was running. Digests are hex SHA-256."""

    agent: str
    topology: str
    """Fingerprint of the body: its syntax tree without positions and docstrings."""
    tools: Mapping[str, str] = field(default_factory=dict)
    """Tool name -> digest of signature and declarations."""
    packages: Mapping[str, str] = field(default_factory=dict)
    state: str = ""
    """Fingerprint of the fields of the state and their types; empty when it declares none."""
    python: str = ""
    host: str = ""
    environment: str | Undeclared = UNDECLARED
    model: str | Undeclared = UNDECLARED
    prompt: str | Undeclared = UNDECLARED
    policy_bundle: str | Undeclared = UNDECLARED
    principal: str | Undeclared = UNDECLARED

    def to_plain(self) -> dict[str, Any]:
        """Undeclared is null; mappings sorted by name."""
        out: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            out[f.name] = dict(sorted(value.items())) if isinstance(value, Mapping) else declared(value)
        return out


def declared(value: str | Undeclared) -> str | None:
    """The stored form of a value that may be undeclared."""
    return None if isinstance(value, _Undeclared) else value


def undeclare(value: str | None) -> str | Undeclared:
    """The inverse of `declared`."""
    return UNDECLARED if value is None else value
