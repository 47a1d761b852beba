"""How does a program declare an agent, and run it so that the same line starts, resumes or returns?"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar, overload

from . import _resume, agentspec
from ._async import in_executor, settled
from ._run import Entered, Run
from .agentspec import AgentSpec
from .contract import UNDECLARED, CheckpointKind, Plan, ResumePolicy, RunState, Undeclared
from .cut import Cut
from .errors import AgentError, Paused, ResumeError
from .hold import acquire, find, release
from .ids import new_id
from .opening import input_digest
from .recorder import Recorder, recorder
from .schema import fingerprint
from .segment import Segment
from .state import FreeState, State, TypedState, load_state
from .watch import Watch

S = TypeVar("S", bound=State)


class _Base(Generic[S]):
    """What sync and async agents share."""

    def __init__(self, spec: AgentSpec) -> None:
        self.spec = spec
        self.__doc__ = spec.function.__doc__ if spec.function else None
        self.__name__ = spec.name

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.spec.name

    def preflight(self, run_id: str) -> _resume.Preflight:
        """What the gate would say of a resume now; changes nothing."""
        return _resume.preflight(recorder(create=False), self.spec, run_id)

    def _open(
        self, run_id: str, state: S | None, how: Mapping[str, Any], *, copied: bool = False
    ) -> tuple[Run, S] | S:
        """(a run that may work, its state), or the state of a run that is done."""
        _resume.require_id(self.name, run_id)
        held = recorder(create=state is not None)  # who only resumes makes no store where there is none
        row = find(held, run_id)
        if row is None:
            if state is None:
                raise AgentError(
                    self.name, f"there is no run {run_id} to resume, and no state to start it with."
                )
            if type(state) is not self.spec.model:
                raise AgentError(
                    self.name,
                    f"the state is {type(state).__name__}, the body takes {_named(self.spec.model)}.",
                )
            state = state if copied else _own(state)
            typed = TypedState(state)
            begun = _resume.begin(held, self.spec, run_id, typed, labels=how.get("labels"))
            return Run(begun.segment, begun.ledger), state
        if state is not None:
            self._same_input(held, run_id, state)
        if row.state == RunState.DONE:
            return self._load(held, row)
        before, epoch = acquire(held, run_id, takeover=bool(how.get("takeover")))
        if before.state == RunState.DONE:
            # Somebody has finished it since we looked: its body must not run again.
            release(held, before, epoch)
            return self._load(held, before)
        try:
            loaded = _resume.loaded_head(held, before)
            model = self.spec.model
            assert model is not None
            mine = loaded.type_name == model.__name__ and loaded.version == model.__waypost_version__
            restored = load_state(model, loaded.fields) if mine else None
            typed = TypedState(restored) if restored is not None else FreeState(dict(loaded.fields))  # type: ignore[assignment]
            begun = _resume.resume(
                held,
                self.spec,
                before,
                epoch,
                loaded,
                typed,
                who=how.get("who") or "",
                why=how.get("why") or "",
            )
        except ResumeError:
            raise
        except BaseException:
            release(held, before, epoch)
            raise
        assert restored is not None
        run = Run(begun.segment, begun.ledger)
        run._calls.watch = Watch(begun.segment, self.spec, before, run._pause)
        return run, restored  # type: ignore[return-value]

    def _load(self, held: Recorder, row: Any) -> S:
        loaded = _resume.loaded_head(held, row)
        model = self.spec.model
        assert model is not None
        stored, mine = (
            f"{loaded.type_name} v{loaded.version}",
            f"{model.__name__} v{model.__waypost_version__}",
        )
        if stored != mine:
            raise AgentError(
                self.name,
                f"run {row.run_id} is done and its state is {stored}, this code has {mine}. Read it with the code that"
                f" wrote it, or as plain data: `waypost export {row.run_id}`.",
            )
        was = (loaded.contract.get("identity") or {}).get("state")
        if was and was != fingerprint(model):
            raise AgentError(
                self.name,
                f"run {row.run_id} is done and its state is {stored} with other fields than this code's {mine}; a"
                " change of the fields needs a new version. Read it with the code that wrote it, or as plain data:"
                f" `waypost export {row.run_id}`.",
            )
        return load_state(model, loaded.fields)  # type: ignore[return-value]

    def _same_input(self, held: Recorder, run_id: str, state: S) -> None:
        from .store import read

        with held.store.reader.connect() as connection:
            found = read.run_settings(connection, run_id)
        if found is not None and found[1] != input_digest(held, TypedState(state)):
            raise AgentError(
                self.name,
                f"run {run_id} was started with another initial state. Give this one another id, or resume that one"
                " without a state.",
            )

    def _own_state(self, given: S, result: Any) -> None:
        if result is not None and result is not given:
            raise AgentError(
                self.name,
                "the body returned another object than the state it was given, so its checkpoints missed every"
                " change; change the state in place and return it.",
            )


class Agent(_Base[S]):
    """An agent whose body is a plain function."""

    def __call__(self, run: Run, state: S) -> S:
        """The body itself, for tests without a run."""
        assert self.spec.function is not None
        result: S = self.spec.function(run, state)
        return result

    def start_or_resume(
        self,
        run_id: str,
        state: S | None = None,
        *,
        who: str = "",
        why: str = "",
        takeover: bool = False,
        labels: Mapping[str, str] | None = None,
    ) -> S:
        """Start the run, resume it through the gate, or return its finished state.

        Args:
            state: the initial state; None only resumes.
            takeover: wait out the lease of a holder whose heartbeat has stopped.

        Raises:
            Paused: the run waits for something; the process may end.
            ResumeRefused: the gate says no; its findings name the remedies.
            AlreadyResumed: another process runs it.
        """
        opened = self._open(run_id, state, {"who": who, "why": why, "takeover": takeover, "labels": labels})
        if not isinstance(opened, tuple):
            return opened
        run, given = opened
        with Entered(run):
            try:
                result = self(run, given)
            except BaseException as error:
                failed(run, error)
                raise
            self._own_state(given, result)
            _compared(run)
            _finish(run._segment, _final(run))
            return given


class AsyncAgent(_Base[S]):
    """An agent whose body is a coroutine function."""

    async def __call__(self, run: Run, state: S) -> S:
        """The body itself, for tests without a run."""
        assert self.spec.function is not None
        result: S = await self.spec.function(run, state)
        return result

    async def start_or_resume(
        self,
        run_id: str,
        state: S | None = None,
        *,
        who: str = "",
        why: str = "",
        takeover: bool = False,
        labels: Mapping[str, str] | None = None,
    ) -> S:
        """As `Agent.start_or_resume`."""
        how = {"who": who, "why": why, "takeover": takeover, "labels": labels}
        # Copied here: the caller's other tasks may go on with what it gave us.
        given = None if state is None else _own(state)
        opened = await in_executor(self._open, run_id, given, how, copied=True)
        if not isinstance(opened, tuple):
            return opened
        run, given = opened
        with Entered(run):
            try:
                result = await self(run, given)
            except BaseException as error:
                failed(run, error)
                raise
            self._own_state(given, result)
            await in_executor(_compared, run)
            # Cut here: tasks that the body has left behind may still change the state.
            await settled(_finish, run._segment, _final(run))
            return given


class _Decorator:
    def __init__(self, name: str, declared: Mapping[str, Any]) -> None:
        self._name, self._declared = name, declared

    @overload
    def __call__(self, function: Callable[[Run, S], Awaitable[S]]) -> AsyncAgent[S]: ...
    @overload
    def __call__(self, function: Callable[[Run, S], S]) -> Agent[S]: ...
    def __call__(self, function: Callable[..., Any]) -> Any:
        spec = agentspec.spec_of(function, self._name, **self._declared)
        return AsyncAgent(spec) if inspect.iscoroutinefunction(function) else Agent(spec)


def agent(
    name: str,
    *,
    plan: str | Undeclared = UNDECLARED,
    objective: str | Undeclared = UNDECLARED,
    grants: Sequence[str] = (),
    policy: ResumePolicy | None = None,
    model: str | Undeclared = UNDECLARED,
    prompt: str | Undeclared = UNDECLARED,
    policy_bundle: str | Undeclared = UNDECLARED,
) -> _Decorator:
    """Declare an agent: `@agent("licence-audit", plan="3", objective="No copyleft in the wheelhouse")`.

    Raises:
        AgentError: the body is not a function of a run and a `State`, or carries values past a checkpoint.
    """
    declared = {
        "plan": Plan(objective, plan),
        "grants": tuple(grants),
        "policy": policy or ResumePolicy(),
        "model_name": model,
        "prompt": prompt,
        "policy_bundle": policy_bundle,
    }
    return _Decorator(name, declared)


def _compared(run: Run) -> None:
    if run._calls.watch is not None:
        run._calls.watch.finish()


def _final(run: Run) -> Cut:
    return run._segment.prepare("final", CheckpointKind.FINAL)


def _finish(segment: Segment, final: Cut) -> None:
    segment.commit(final)
    segment.end("done", RunState.DONE)


def failed(run: Run, error: BaseException) -> None:
    """The body ended with an error: say so in the journal, if this segment may still write."""
    segment = run._segment
    if segment.over or (isinstance(error, Paused) and error.run_id == segment.run_id):
        return
    from .seal import mask

    try:
        if isinstance(error, Paused):  # a run inside this one waits, so this one does
            run._pause(f"waits for run {error.run_id}", error.reason)
            return
        segment.end("failed", RunState.FAILED, mask(f"{type(error).__name__}: {error}"))
    except Exception:  # the first refusal is the one to be raised; the next resume records the death
        segment.recorder.ended(segment.run_id, segment.branch)


@contextmanager
def free_run(
    name: str, *, id: str | None = None, state: dict[str, Any] | None = None, objective: str = ""
) -> Iterator[FreeRun]:
    """A run without a body, for notebooks and scripts: `with run("name") as r: r.checkpoint("step", {…})`.

    Args:
        id: a new one when None; an existing one resumes that run through the gate.

    What was changed after the last checkpoint is kept when the block ends without an error.
    """
    if id is None:
        id = new_id().hex()
    _resume.require_id(name, id)
    held = recorder()
    spec = AgentSpec(name, None, None, plan=Plan(objective or UNDECLARED))
    row = find(held, id)
    if row is None:
        holder = FreeState(dict(state or {}))
        begun = _resume.begin(held, spec, id, holder)
    else:
        before, epoch = acquire(held, id)
        try:
            loaded = _resume.loaded_head(held, before)
            holder = FreeState(dict(loaded.fields))
            begun = _resume.resume(held, spec, before, epoch, loaded, holder)
        except ResumeError:
            raise
        except BaseException:
            release(held, before, epoch)
            raise
    made = FreeRun(begun.segment, begun.ledger, holder)
    if row is not None:
        made._calls.watch = Watch(begun.segment, spec, before, made._pause)
    with Entered(made):
        try:
            yield made
        except BaseException as error:
            failed(made, error)
            raise
        _compared(made)
        if made._segment.changed_path() is not None:
            made._segment.checkpoint("final", CheckpointKind.FINAL)
        made._segment.end("done", RunState.DONE)


class FreeRun(Run):
    """A run of a notebook or script: its state is a dict that every checkpoint may replace."""

    def __init__(self, segment: Any, ledger: Any, holder: FreeState) -> None:
        super().__init__(segment, ledger)
        self._holder = holder

    @property
    def state(self) -> dict[str, Any]:
        """The state as of the last checkpoint, or as changed since."""
        return self._holder.values

    def checkpoint(self, step: str, state: dict[str, Any] | None = None) -> int:
        """Make *state* (or what was changed in place) durable; the checkpoint's sequence."""
        if state is not None:
            self._holder.values = state
        return super().checkpoint(step)


def _named(model: type[State] | None) -> str:
    return model.__name__ if model else "no state"


def _own(state: S) -> S:
    """The run's own copy, so that the caller's initial state stays what the next call is compared with."""
    try:
        return state.model_copy(deep=True)
    except Exception:
        # It holds something that only lives here (a lock, a client); then the caller's object it is.
        return state
