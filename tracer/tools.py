"""How does a function become a tool whose effects are known?"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar, overload

from . import _run
from ._async import in_executor
from .calls import WRITES, Ticket, inside
from .contract import CallKind
from .errors import ConfigError, Paused, WriteOutsideRun
from .toolspec import Reconcile, ToolSpec, spec_of

P = ParamSpec("P")
R = TypeVar("R")

CALL_KEY = "call_key"


@overload
def read(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def read(*, name: str = "") -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def read(function: Callable[..., Any] | None = None, /, *, name: str = "") -> Any:
    """Declare a tool that changes nothing. After a resume a finished read is given back, not made again."""
    return _declare(function, CallKind.READ, {"name": name})


@overload
def model(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def model(*, name: str = "") -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def model(function: Callable[..., Any] | None = None, /, *, name: str = "") -> Any:
    """Declare a model turn. A finished one is given back after a resume, so that a crash does not pay twice."""
    return _declare(function, CallKind.MODEL, {"name": name})


@overload
def write(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def write(
    *,
    name: str = "",
    key_param: str = "",
    key_ttl_s: float = 86_400.0,
    identity: tuple[str, ...] = (),
    reconcile: Reconcile | None = None,
    failed_on: tuple[type[BaseException], ...] = (),
    approval: bool = False,
    version: str = "",
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def write(function: Callable[..., Any] | None = None, /, **declared: Any) -> Any:
    """Declare a tool that changes the world; its intent is durable before it is called.

    Args:
        key_param: the parameter that takes the idempotency key (give it the default `KEY`); it is hidden from the
            tool's signature and filled in by the runtime.
        key_ttl_s: seconds for which the service honours a key.
        identity: the parameters that make two calls the same effect; never free text.
        reconcile: called with the same arguments; says what became of a call: its result or `NOT_FOUND`.
        failed_on: exceptions that prove that nothing happened; any other leaves the call `unknown`.
        approval: a person must have said yes to exactly these arguments.

    Raises:
        ConfigError: a declaration names a parameter that the function does not have.
    """
    return _declare(function, CallKind.WRITE, declared)


def _declare(function: Callable[..., Any] | None, kind: CallKind, declared: Mapping[str, Any]) -> Any:
    def decorate(inner: Callable[..., Any]) -> Callable[..., Any]:
        return wrap(spec_of(inner, kind, **declared))

    return decorate if function is None else decorate(function)


def wrap(spec: ToolSpec) -> Callable[..., Any]:
    """The callable that goes through the ledger of the current run.

    It also takes `call_key=`: the id under which a framework or a program knows this very call.
    """
    function = spec.function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        key = kwargs.pop(CALL_KEY, None)
        run = _current(spec)
        if run is None:
            return function(*args, **kwargs)
        ticket = run._calls.begin(spec, spec.bind(args, kwargs), _run.scope(), key)
        if ticket.answered:
            return ticket.value
        tracing = run._segment.recorder.tracing
        token = tracing.attach(ticket.span)
        within = inside.set((*inside.get(), ticket.row.effect_id))
        try:
            args, kwargs = _given(spec, ticket)
            value = function(*args, **kwargs)
        except BaseException as error:
            if not isinstance(error, Paused):
                run._calls.raised(ticket, error)
            raise
        finally:
            inside.reset(within)
            tracing.detach(token)
        return run._calls.committed(ticket, value)

    @functools.wraps(function)
    async def acall(*args: Any, **kwargs: Any) -> Any:
        key = kwargs.pop(CALL_KEY, None)
        run = _current(spec)
        if run is None:
            return await function(*args, **kwargs)
        bound = spec.bind(args, kwargs)
        ticket = await _begun(run, spec, bound, key)
        if ticket.answered:
            return ticket.value
        tracing = run._segment.recorder.tracing
        token = tracing.attach(ticket.span)
        within = inside.set((*inside.get(), ticket.row.effect_id))
        try:
            args, kwargs = _given(spec, ticket)
            value = await function(*args, **kwargs)
        except BaseException as error:
            if not isinstance(error, Paused):
                # Not awaited: a cancelled task must not lose the outcome to its own cancellation.
                run._calls.raised(ticket, error)
            raise
        finally:
            inside.reset(within)
            tracing.detach(token)
        return await in_executor(run._calls.committed, ticket, value)

    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ConfigError(f"tool {spec.name}: a generator has no one outcome; return the values instead.")
    if not inspect.isfunction(function) and inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004
        raise ConfigError(
            f"tool {spec.name}: an object with an async __call__; decorate an `async def` instead."
        )
    made: Any = acall if inspect.iscoroutinefunction(function) else call
    made.__signature__ = spec.signature
    made.__waypost_tool__ = spec
    return made  # type: ignore[no-any-return]


def _current(spec: ToolSpec) -> _run.Run | None:
    run = _run.current()
    if run is None and spec.kind in WRITES:
        from .recorder import settings

        if settings().mode == "enforce":
            raise WriteOutsideRun(spec.name)
    return run


async def _begun(run: _run.Run, spec: ToolSpec, bound: Mapping[str, Any], key: str | None) -> Ticket:
    """The ticket of an async call. A caller who is cancelled meanwhile leaves no intent without an outcome."""
    future = asyncio.ensure_future(in_executor(run._calls.begin, spec, bound, _run.scope(), key))
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        future.add_done_callback(functools.partial(_withdraw, run))
        raise


def _withdraw(run: _run.Run, future: asyncio.Future[Ticket]) -> None:
    if not future.cancelled() and future.exception() is None:
        withdrawing = asyncio.ensure_future(in_executor(run._calls.withdrawn, future.result()))
        # A segment that has ended meanwhile cannot say it; the next resume finds the call without an outcome.
        withdrawing.add_done_callback(lambda done: None if done.cancelled() else done.exception())


def _given(spec: ToolSpec, ticket: Ticket) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and named arguments for the function itself, the stored key filled in."""
    bound = inspect.BoundArguments(spec.signature, OrderedDict(ticket.args))
    kwargs = dict(bound.kwargs)
    if spec.key_param:
        kwargs[spec.key_param] = ticket.row.idempotency_key
    return bound.args, kwargs
