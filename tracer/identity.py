"""What exactly is running? Fingerprints of code, tools and packages."""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import inspect
import platform
import socket
import textwrap
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import Any

from .contract import UNDECLARED, Identity, Undeclared


def fingerprint(function: Callable[..., Any]) -> str:
    """SHA-256 (hex) of a function's syntax tree, without positions, docstrings and decorators.

    A body whose source cannot be read is fingerprinted by its byte code and constants.
    """
    function = inspect.unwrap(function)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        code = function.__code__
        parts = (code.co_code, repr(code.co_names).encode(), repr(code.co_varnames).encode())
        return hashlib.sha256(b"code\0" + b"\0".join(parts)).hexdigest()
    return hashlib.sha256(ast.dump(_bare(tree), annotate_fields=False).encode()).hexdigest()


def _bare(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            node.decorator_list = []
            first = node.body[0] if node.body else None
            held = first.value if isinstance(first, ast.Expr) else None
            if isinstance(held, ast.Constant) and isinstance(held.value, str):
                node.body = node.body[1:] or [ast.Pass()]
    return tree


@cache
def packages() -> dict[str, str]:
    """Installed distributions of this interpreter: name -> version, sorted by name."""
    found: dict[str, str] = {}
    for distribution in importlib.metadata.distributions():
        name = distribution.metadata["Name"]
        if name:
            found.setdefault(name, distribution.version or "unknown")
    return dict(sorted(found.items()))


def identity(
    agent: str,
    topology: str,
    tools: Iterable[tuple[str, str]],
    *,
    environment: str = "",
    principal: str = "",
    model: str | Undeclared = UNDECLARED,
    prompt: str | Undeclared = UNDECLARED,
    policy_bundle: str | Undeclared = UNDECLARED,
) -> Identity:
    """The runtime identity of this process for one agent."""
    return Identity(
        agent=agent,
        topology=topology,
        tools=dict(tools),
        packages=packages(),
        python=platform.python_version(),
        host=socket.gethostname(),
        environment=environment or UNDECLARED,
        model=model,
        prompt=prompt,
        policy_bundle=policy_bundle,
        principal=principal or UNDECLARED,
    )


@lru_cache(maxsize=64)
def text_digest(text: str) -> str:
    """SHA-256 (hex) of a text such as a prompt, so that identities compare without carrying it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
