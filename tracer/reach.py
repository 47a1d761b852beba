"""Which tools can the body of an agent reach?

Followed from name to name through the code objects: comprehensions, inner functions, helpers and modules of the
same top-level package. A tool that is only found at run time (by a string) is not seen here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from .toolspec import ToolSpec

MOST: Final = 2_000
"""Functions that are followed, at most."""


def reachable_tools(function: Callable[..., Any]) -> dict[str, ToolSpec]:
    """Tool name -> tool, sorted by name."""
    found: dict[str, ToolSpec] = {}
    start = inspect.unwrap(function)
    package = start.__module__.partition(".")[0]
    waiting: list[Any] = [start]
    seen: set[int] = set()
    while waiting and len(seen) < MOST:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        for value in _named(one, package):
            tool = getattr(value, "__waypost_tool__", None)
            if isinstance(tool, ToolSpec):
                found.setdefault(tool.name, tool)
                value = tool.function
            inner = value.__func__ if isinstance(value, MethodType) else value
            if isinstance(inner, FunctionType) and inner.__module__.partition(".")[0] == package:
                waiting.append(inner)
    return dict(sorted(found.items()))


def _named(function: Any, package: str) -> Iterator[Any]:
    """The values that a function's code names: globals, closure cells, and what it takes from modules beside it."""
    if not isinstance(function, FunctionType):
        return
    names = set(_names(function.__code__))
    modules: list[ModuleType] = []
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType):
            if value.__name__.partition(".")[0] == package:
                modules.append(value)
        elif value is not None:
            yield value
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not filled yet
            continue
    for module in modules:
        yield from (vars(module)[name] for name in names if name in vars(module))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
