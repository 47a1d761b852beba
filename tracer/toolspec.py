"""What has a program declared about a tool?"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .contract import CallKind
from .errors import ConfigError


class _Key(str):
    """The default of a key parameter: says that the runtime fills it in."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "KEY"


KEY: Final[str] = _Key("\0waypost-key")
"""Write it as the default of the parameter that takes the idempotency key; the tool's signature hides it."""

Reconcile = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class NotFound:
    """What a `reconcile` function returns when the effect did not happen."""


NOT_FOUND: Final = NotFound()
"""Returned by a `reconcile` function: the effect did not happen, the call may be sent."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool as the ledger sees it."""

    name: str
    function: Callable[..., Any]
    kind: CallKind
    signature: inspect.Signature
    key_param: str = ""
    """Parameter that takes the idempotency key; empty: the tool has none."""
    key_ttl_s: float = 24 * 3600.0
    """Seconds for which the service honours a key."""
    identity: tuple[str, ...] = ()
    """Parameters that make two calls the same effect; empty: all of them."""
    reconcile: Reconcile | None = None
    """Asked with the call's arguments (and key, when it takes one): the result, or `NOT_FOUND`."""
    failed_on: tuple[type[BaseException], ...] = ()
    """Exceptions that prove that nothing happened."""
    approval: bool = False
    version: str = ""

    def digest(self) -> str:
        """SHA-256 (hex) of what a caller relies on: signature and declarations, not the body."""
        parts = (
            self.name,
            str(self.signature),
            self.kind,
            self.key_param,
            repr(self.identity),
            self.version,
            str(self.approval),
        )
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments by name, defaults filled in, the key left out; TypeError as the function itself would raise."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return dict(bound.arguments)


def spec_of(
    function: Callable[..., Any],
    kind: CallKind,
    *,
    name: str = "",
    key_param: str = "",
    identity: tuple[str, ...] = (),
    **declared: Any,
) -> ToolSpec:
    """Read a function and its declarations.

    Raises:
        ConfigError: a declaration names a parameter that the function does not have.
    """
    signature = inspect.signature(function)
    parameters = dict(signature.parameters)
    shown = name or function.__name__
    for wanted in (*identity, *((key_param,) if key_param else ())):
        if wanted not in parameters:
            raise ConfigError(
                f"tool {shown}: it has no parameter {wanted!r}; its parameters are {', '.join(parameters) or 'none'}."
            )
    parameters.pop(key_param, None)
    visible = signature.replace(parameters=list(parameters.values()))
    return ToolSpec(shown, function, kind, visible, key_param=key_param, identity=identity, **declared)
