"""What does the body of an agent hold? A run: steps, evidence, questions."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import ContextVar, Token
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from . import codec
from ._async import settled
from .approvals import Answer
from .asking import ask_person, take_answer
from .calls import Calls
from .contract import CheckpointKind, Evidence, RunState
from .cut import Cut
from .each import SCOPE, AsyncEach, Each, Path
from .errors import AgentError, Paused
from .ledger import Ledger
from .segment import Segment
from .text import storable

T = TypeVar("T")

_current: ContextVar[Run | None] = ContextVar("waypost_run", default=None)
_live: list[Run] = []


class Run:
    """One run as its agent sees it. Made by `@agent` or `run(…)`, never directly."""

    def __init__(self, segment: Segment, ledger: Ledger) -> None:
        self._segment = segment
        self._ledger = ledger
        self._calls = Calls(segment, ledger, self._pause)
        self._loops: dict[Path, int] = {}
        self._open: list[Path] = []
        """The items that loops of this body are working on; while there is one, the position stands still."""
        self._asks: dict[tuple[str, bytes], int] = {}
        segment.recorder.began(segment.run_id, segment.branch, segment)

    @property
    def id(self) -> str:
        """The run's id."""
        return self._segment.run_id

    @property
    def sequence(self) -> int:
        """Number of the last checkpoint of this branch that is durable."""
        return self._segment.durable

    @property
    def segment(self) -> int:
        """Number of this process life, from 1."""
        return self._segment.number

    @property
    def resumed(self) -> bool:
        """True when another process life went before this one."""
        return self._segment.number > 1

    def checkpoint(self, step: str) -> int:
        """Make the state durable now, after the step *step*; the checkpoint's sequence.

        Inside an item of `each` the item begins again after a resume, so what was called in it before this
        checkpoint is answered then and not made again.

        Raises:
            NotStorable: a value cannot be kept exactly; the message names its path.
        """
        return self._step(step, "/".join(SCOPE.get()))

    async def acheckpoint(self, step: str) -> int:
        """As `checkpoint`, for async code: the state is cut at once, and written without holding up the event loop.

        What is stored is the state as this coroutine finds it when it begins: no other task runs until it is cut.
        Several at once are written in the order in which they were cut. A caller who is cancelled stops waiting;
        the checkpoint is written in its turn all the same.

        The cut itself holds up the loop. Of 5,000 items of 1 KB, one of them changed: 2 ms when they are a list of
        the state, 15 ms when they are a dict. When nothing is known of them (new in the state, or after a refusal):
        150 ms and 500 ms. What other threads of the program change meanwhile is for the program to lock.

        Raises:
            NotStorable: a value cannot be kept exactly; the message names its path.
        """
        return await settled(self._segment.commit, self._cut(step, "/".join(SCOPE.get())))

    def each(self, items: list[T], *, step: str | Callable[[T], str] = "") -> Iterator[T]:
        """Take the first item, run the body, remove it, checkpoint; until *items*, a list of the state, is empty.

        Raises:
            StateChanged: the state was changed since the last checkpoint, so a resume would change it twice.
            AgentError: *items* is not a list of the state, or the body put another in its place.
        """
        return Each(self, items, step)

    def aeach(self, items: list[T], *, step: str | Callable[[T], str] = "") -> AsyncIterator[T]:
        """As `each`, for `async for`."""
        return AsyncEach(self, items, step)

    def evidence(self, evidence: Evidence) -> None:
        """Record something that was read and relied on; durable with the next entry."""
        if not evidence.read_at:
            evidence = replace(evidence, read_at=datetime.now(UTC).isoformat())
        self._segment.record_evidence(evidence)

    def ask(self, prompt: str, *, detail: Any = None, timeout_s: float | None = None) -> Answer:
        """The answer of a person; when there is none yet, the run pauses and the process may end.

        Args:
            timeout_s: seconds after which the answer is `expired`, on the store's clock.

        Raises:
            Paused: nobody has answered; the next resume comes back to this line.
        """
        scope = "/".join(SCOPE.get())
        storable(prompt, "$.prompt")
        seed = codec.canonical([self._segment.branch, scope, prompt])
        digest = hashlib.sha256(seed).digest()
        ordinal = self._asks.get((scope, digest), 0)
        self._asks[scope, digest] = ordinal + 1
        position = self._segment.since(scope).to_bytes(8, "big")
        binding = self._segment.recorder.keys.arg_digest(digest + position + ordinal.to_bytes(4, "big"))
        answer = take_answer(self._segment, "ask", scope, binding)
        if answer is not None:
            return answer
        plain = codec.lower(detail, path="$.detail", seal=self._segment.seal_text())
        question = {"kind": "ask", "subject": scope, "binding": binding, "prompt": prompt}
        raise ask_person(self._segment, self._pause, "approval", question, {"detail": plain}, timeout_s)

    def pause(self, reason: str) -> None:
        """Stop here: checkpoint, give the lease back and end.

        Raises:
            Paused: always; the next resume starts from the last step.
        """
        raise self._pause(storable(reason, "$.reason"), "")

    # -- inside -----------------------------------------------------------------------------------------------

    def _pause(self, reason: str, detail: str) -> Paused:
        segment = self._segment
        reason, detail = segment.shown(reason), segment.shown(detail)
        drafts, rows = self._calls.suspended()
        segment.checkpoint(reason, CheckpointKind.PAUSE, drafts=drafts, rows=rows)
        segment.end("paused", RunState.PAUSED, reason)
        return Paused(self.id, reason, detail)

    def _step(self, step: str, scope: str) -> int:
        return self._segment.commit(self._cut(step, scope))

    def _cut(self, step: str, scope: str) -> Cut:
        """Cut the state; everything below *scope* is finished, and all of it when no item is being worked on."""
        inner = bool(self._open)
        if not inner:
            scope = ""
        kind = CheckpointKind.INNER if inner else CheckpointKind.STEP
        cut = self._segment.prepare(step, kind, scope=scope)
        # Now, not when it is durable: what other tasks call meanwhile comes after it, and is written after it.
        if scope or not inner:
            self._ledger.advance(scope)
            below = f"{scope}/" if scope else ""
            self._asks = {place: n for place, n in self._asks.items() if not place[0].startswith(below)}
        return cut

    # -- for its loops ----------------------------------------------------------------------------------------

    def _finished(self, step: str, loop: Path) -> int:
        return self._step(step, "/".join(loop))

    async def _afinished(self, step: str, loop: Path) -> int:
        return await settled(self._segment.commit, self._cut(step, "/".join(loop)))

    def _field_of(self, items: Any) -> str:
        for name, value in self._segment.state.fields().items():
            if value is items:
                return name
        raise AgentError(
            self.id,
            "`run.each` consumes a list of the state, so that what is left is the position; give it `state.<field>`.",
        )

    def _holds(self, name: str, items: Any) -> bool:
        return self._segment.state.fields().get(name) is items

    def _changed(self) -> str | None:
        return self._segment.changed_path()

    def _numbered(self, path: Path) -> int:
        number = self._loops.get(path, 0)
        self._loops[path] = number + 1
        return number

    def _label(self, item: Any) -> str:
        # Keyed: a plain digest of a short item, such as a PIN, is found by trying all.
        return self._segment.recorder.keys.arg_digest(codec.canonical(item)).hex()[:8]

    def _entered(self, path: Path) -> None:
        self._open.append(path)

    def _left(self, path: Path) -> None:
        if path in self._open:
            self._open.remove(path)
        # An equal item that follows counts its loops from the start, as it would after a resume.
        self._loops = {place: n for place, n in self._loops.items() if place[: len(path)] != path}


class Entered:
    """A run made current for the code inside `with`."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._tokens: list[tuple[ContextVar[Any], Token[Any]]] = []
        self._trace: object = None

    def __enter__(self) -> Run:
        run = self._run
        self._tokens = [(_current, _current.set(run)), (SCOPE, SCOPE.set(()))]
        self._trace = run._segment.recorder.tracing.attach(run._segment.root_span)
        _live.append(run)
        return run

    def __exit__(self, *_error: object) -> None:
        _live.remove(self._run)
        self._run._segment.recorder.tracing.detach(self._trace)
        for variable, token in reversed(self._tokens):
            _reset(variable, token, None if variable is _current else ())


def current() -> Run | None:
    """The run that this code is part of.

    A thread that was started without the caller's context finds it when this process has only one run.
    """
    run = _current.get()
    if run is None and len(_live) == 1:
        return _live[0]
    return run


def scope() -> str:
    """Where in the body this code is: the items of the `each` loops around it."""
    return "/".join(SCOPE.get())


def _reset(variable: ContextVar[Any], token: Token[Any], before: Any) -> None:
    try:
        variable.reset(token)
    except ValueError:  # the generator is closed from another context than the one it ran in
        variable.set(before)
