"""What can go wrong, and what is to be done about it?

One tree. The docstring of a class is the first sentence of its message, so documentation and message cannot
disagree; what was seen and where is added, and kept as plain attributes that survive pickling.

    BaseException
    ├── Paused                    the run waits for something outside; not an error
    └── WaypostError
        ├── NotStorable           a value cannot be kept exactly
        │   └── LimitExceeded     … because it is too deep or too large
        ├── UnknownType           stored data names a type that nobody registered
        ├── BadReference          a run, a checkpoint or a path is named wrongly
        │   └── BadRunFile        … or a file holds no run that can be compared
        ├── ConfigError
        │   ├── KeyMissing        a key that sealed data needs is not there
        │   ├── ChainKeyMissing   a run is signed with a key that is not configured
        │   ├── KeyUnsafe         others can read the key file
        │   ├── PortTaken         the inspector cannot listen there
        │   └── SecretMissing     a Secret reference does not resolve
        ├── StoreError
        │   ├── StoreFull, StoreLocked
        │   ├── StoreMissing      there is none
        │   │   └── StoreGone     … any more
        │   ├── SchemaTooOld, SchemaTooNew
        │   └── UnknownRun, UnknownCheckpoint, UnknownCall
        ├── IntegrityError        what is stored is not what was written
        │   └── Malformed         … it is not even strict JSON of ours
        ├── ResumeError
        │   ├── AlreadyResumed, Fenced
        │   └── ResumeRefused, StateChanged
        ├── LedgerError
        │   ├── UnknownEffect, AmbiguousCall, CallKeyReused, NotInDoubt
        │   └── Denied, WriteOutsideRun
        ├── Diverged              the resumed agent does something else
        ├── SegmentPoisoned       an earlier refusal still holds
        ├── ForkedRun             a forked child used its parent's run
        └── AgentError            the agent's own code breaks a rule of resuming
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def _sentence(cls: type[BaseException], detail: str) -> str:
    # Under `python -OO` there are no docstrings; the name is then the best sentence left.
    doc = " ".join((cls.__doc__ or cls.__name__).split("\n\n")[0].split())
    return f"{doc} {detail}".rstrip()


def _revive(cls: type[BaseException], args: tuple[object, ...], state: dict[str, object]) -> BaseException:
    # Not through the constructor: its parameters are ids, while `args` is the finished message.
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class WaypostError(Exception):
    """Waypost cannot go on."""

    def __init__(self, detail: str = "") -> None:
        super().__init__(_sentence(type(self), detail))

    def __reduce__(self) -> tuple[Any, ...]:
        return _revive, (type(self), self.args, self.__dict__)


class Paused(BaseException):
    """The run is paused: its state is stored and the process may end; a later resume goes on from here."""

    def __init__(self, run_id: str, reason: str, detail: str = "") -> None:
        super().__init__(_sentence(type(self), f"Run {run_id}, {reason}. {detail}"))
        self.run_id, self.reason = run_id, reason

    def __reduce__(self) -> tuple[Any, ...]:
        return _revive, (type(self), self.args, self.__dict__)


# -- values --------------------------------------------------------------------------------------------------


class NotStorable(WaypostError):
    """This value cannot be stored exactly, so nothing was written."""

    def __init__(self, path: str, type: str, why: str) -> None:
        shown = path if len(path) < 200 else f"{path[:100]} … {path[-60:]}"
        super().__init__(f"{shown} is {type}: {why}")
        self.path, self.type, self.why = path, type, why


class LimitExceeded(NotStorable):
    """This value is over a limit, so nothing was written."""


class UnknownType(WaypostError):
    """Stored data names a type that this program has not registered, or that no longer fits."""

    def __init__(self, path: str, type: str, why: str = "") -> None:
        remedy = why or "register the class, or the old name as an alias: `register(NewClass, aliases=[…])`."
        super().__init__(f"{path} is {type}: {remedy}")
        self.path, self.type, self.why = path, type, why


class BadReference(WaypostError):
    """This cannot be read. A run is `RUN`, a checkpoint `RUN@17` or `RUN@BRANCH:17`, a path `$.plan[0].title`."""

    def __init__(self, text: str, why: str) -> None:
        super().__init__(f"{text!r}: {why}")
        self.text, self.why = text, why


class BadRunFile(BadReference):
    """This file cannot be compared. It must hold chat messages with tool calls, OTLP JSON, or records of runs."""


# -- configuration -------------------------------------------------------------------------------------------


class ConfigError(WaypostError):
    """The configuration cannot be used."""


class KeyMissing(ConfigError):
    """Sealed data cannot be opened, because the key is not there. Restore the key file from its backup."""

    def __init__(self, where: str, why: str = "") -> None:
        super().__init__(f"{where}: {why or 'no such file.'}")
        self.where, self.why = where, why


class ChainKeyMissing(ConfigError):
    """This run is signed, and without its key nothing can be added to it; nothing was written.

    Set WAYPOST_CHAIN_KEY as it was where the run began.
    """

    def __init__(self, run_id: str, why: str) -> None:
        super().__init__(f"Run {run_id}: {why}. Set WAYPOST_CHAIN_KEY as it was where the run began.")
        self.run_id, self.why = run_id, why


class PortTaken(ConfigError):
    """The inspector cannot listen there. Choose another port with --port."""

    def __init__(self, host: str, port: int, why: str) -> None:
        super().__init__(f"{host}:{port}: {why}.")
        self.host, self.port, self.why = host, port, why


class KeyUnsafe(ConfigError):
    """Other users of this machine can read the key file, so it is not used."""

    def __init__(self, path: str, mode: int) -> None:
        super().__init__(
            f"{path} has mode {mode:04o}. Run `chmod 600 {path}`, and rotate if anyone may have read it."
        )
        self.path, self.mode = path, mode


class SecretMissing(ConfigError):
    """A secret that the run refers to cannot be resolved here."""

    def __init__(self, reference: str, why: str) -> None:
        super().__init__(f"{reference}: {why}")
        self.reference, self.why = reference, why


# -- the store -----------------------------------------------------------------------------------------------


class StoreError(WaypostError):
    """The store refused."""


class StoreFull(StoreError):
    """The store has no room left. Free disk space and resume; acknowledged steps are safe."""

    def __init__(self, where: str, detail: str = "") -> None:
        super().__init__(f"{where}. {detail}")
        self.where = where


class StoreLocked(StoreError):
    """Another process holds the store's write lock for too long. Look for a stuck writer, then try again."""

    def __init__(self, where: str, waited: float) -> None:
        super().__init__(f"{where}, waited {waited:.1f} s.")
        self.where, self.waited = where, waited


class StoreMissing(StoreError):
    """There is no store here. Check WAYPOST_STORE and the working directory, or start a run to make one."""

    def __init__(self, where: str) -> None:
        super().__init__(f"Looked at {where}.")
        self.where = where


class StoreGone(StoreMissing):
    """The store was deleted or replaced while this process used it. What it wrote since then is lost, and so it
    writes no more. Put the store back if you can, then start the process again.
    """

    def __init__(self, where: str, how: str) -> None:
        super().__init__(f"{where}: {how}")
        self.how = how


class SchemaTooOld(StoreError):
    """The database is older than this package. Run `waypost db upgrade`."""

    def __init__(self, found: str, wanted: str) -> None:
        super().__init__(f"Found {found}, need {wanted}.")
        self.found, self.wanted = found, wanted


class SchemaTooNew(StoreError):
    """The database was written by a newer package. Upgrade waypost; nothing was changed."""

    def __init__(self, found: str, wanted: str) -> None:
        super().__init__(f"Found {found}, know up to {wanted}.")
        self.found, self.wanted = found, wanted


class UnknownRun(StoreError):
    """There is no such run in this store. `waypost runs` lists them."""

    def __init__(self, run_id: str, where: str = "") -> None:
        super().__init__(f"Run {run_id}" + (f" in {where}." if where else "."))
        self.run_id, self.where = run_id, where


class UnknownCheckpoint(StoreError):
    """There is no such checkpoint. `waypost show RUN` lists them."""

    def __init__(self, checkpoint: str, last: str = "") -> None:
        super().__init__(f"{checkpoint}" + (f"; the last one is {last}." if last else "."))
        self.checkpoint, self.last = checkpoint, last


class UnknownCall(StoreError):
    """There is no such call in this run. `waypost show RUN` lists those without an outcome."""

    def __init__(self, run_id: str, effect_id: str) -> None:
        super().__init__(f"Run {run_id}, call {effect_id}.")
        self.run_id, self.effect_id = run_id, effect_id


class IntegrityError(WaypostError):
    """What is stored is not what was written. Do not resume; `waypost verify` says how far it is sound."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}")
        self.where, self.why = where, why


class Malformed(IntegrityError):
    """These bytes are not strict JSON of ours."""


# -- resuming ------------------------------------------------------------------------------------------------


class ResumeError(WaypostError):
    """The run was not resumed."""


class AlreadyResumed(ResumeError):
    """Another process already runs this run. Nothing was done here."""

    def __init__(self, run_id: str, owner: str, epoch: int, since: int = 0) -> None:
        at = datetime.fromtimestamp(since / 1e9, UTC).isoformat(timespec="seconds") if since else ""
        super().__init__(
            f"Run {run_id} is held by {owner} (epoch {epoch})" + (f" since {at}." if at else ".")
        )
        self.run_id, self.owner, self.epoch, self.since = run_id, owner, epoch, since


class Fenced(ResumeError):
    """This process has lost its run to another one; what it tried to write was not written. Stop it."""

    def __init__(self, run_id: str, epoch: int, current: int) -> None:
        super().__init__(f"Run {run_id}: this segment has epoch {epoch}, the run is at {current}.")
        self.run_id, self.epoch, self.current = run_id, epoch, current


class ResumeRefused(ResumeError):
    """The gate refused to continue. `waypost preflight RUN` shows every finding with its remedy."""

    def __init__(self, run_id: str, verdict: str, findings: tuple[str, ...] = ()) -> None:
        super().__init__(f"Run {run_id}: {verdict}. " + " ".join(findings))
        self.run_id, self.verdict, self.findings = run_id, verdict, findings


class StateChanged(ResumeError):
    """The state differs from the last checkpoint where it must not. Set it up before, or checkpoint first."""

    def __init__(self, path: str, detail: str = "") -> None:
        super().__init__(f"{path} changed. {detail}")
        self.path = path


# -- calls ---------------------------------------------------------------------------------------------------


class LedgerError(WaypostError):
    """The call was not dispatched."""

    def __init__(self, tool: str, call_id: str = "", detail: str = "") -> None:
        call = f"{tool} (call {call_id})" if call_id else tool
        super().__init__(f"{call}: {detail}" if detail else f"{call}.")
        self.tool, self.call_id, self.detail = tool, call_id, detail


class UnknownEffect(LedgerError):
    """Nobody knows whether this call took effect, so it is not sent again. Look, then `waypost approve`."""


class AmbiguousCall(LedgerError):
    """Parallel calls are the same in tool and arguments. Tell them apart with `call_key=`."""


class CallKeyReused(LedgerError):
    """This call key was used for other arguments before. A key names one call; give this one its own."""


class NotInDoubt(LedgerError):
    """The outcome of this call is known, so there is nothing to settle."""


class Denied(LedgerError):
    """A person said no, or nobody has said yes."""


class WriteOutsideRun(LedgerError):
    """A write was called outside a run. Call it inside an `@agent` body or `with run(…)`."""


class Diverged(WaypostError):
    """The resumed agent does something else, or is about to, and the policy ends the run before a write goes out."""

    def __init__(self, run_id: str, sentence: str) -> None:
        super().__init__(f"Run {run_id}: {sentence} `waypost divergence {run_id}` shows all of it.")
        self.run_id, self.sentence = run_id, sentence


class SegmentPoisoned(WaypostError):
    """An earlier refusal in this segment still holds; no later call and no later checkpoint passes."""

    def __init__(self, run_id: str, cause: str) -> None:
        super().__init__(f"Run {run_id}, refused with: {cause}")
        self.run_id, self.cause = run_id, cause


class ForkedRun(WaypostError):
    """A forked child process used its parent's run. Start a run of its own in the child."""

    def __init__(self, run_id: str, owner_pid: int, pid: int) -> None:
        super().__init__(f"Run {run_id} belongs to process {owner_pid}, this is {pid}.")
        self.run_id, self.owner_pid, self.pid = run_id, owner_pid, pid


class AgentError(WaypostError):
    """The agent's code would not survive a resume as it is written."""

    def __init__(self, agent: str, detail: str) -> None:
        super().__init__(f"{agent}: {detail}")
        self.agent, self.detail = agent, detail
