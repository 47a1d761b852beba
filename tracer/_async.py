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
    context = contextvars.copy_context()
    call = functools.partial(context.run, functools.partial(function, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_pool(), call)
