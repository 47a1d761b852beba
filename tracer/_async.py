"""How does an async caller wait for the store? In threads of ours, with the caller's context."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_pools: dict[int, ThreadPoolExecutor] = {}


def _pool() -> ThreadPoolExecutor:
    """Our own: behind a dozen sync tools in asyncio's default one an append waited two seconds."""
    pool = _pools.get(os.getpid())
    if pool is None:
        _pools.clear()
        pool = _pools[os.getpid()] = ThreadPoolExecutor(max_workers=8, thread_name_prefix="waypost-append")
    return pool


async def in_executor(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Await *function* in a thread of ours; span and run stay current there."""
    return await _begun(functools.partial(function, *args, **kwargs))


async def settled(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """As `in_executor`; a caller who is cancelled meanwhile stops waiting, and *function* is done all the same."""
    future = _begun(functools.partial(function, *args, **kwargs))
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        # Nobody is left to be told of a refusal; the segment remembers it.
        future.add_done_callback(lambda done: None if done.cancelled() else done.exception())
        raise


def _begun(function: Callable[[], R]) -> asyncio.Future[R]:
    context = contextvars.copy_context()
    call = functools.partial(context.run, function)
    return asyncio.get_running_loop().run_in_executor(_pool(), call)
