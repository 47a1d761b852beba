"""What has a program declared about an agent?"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, get_type_hints

from . import schema
from .carried import carried
from .config import Settings
from .contract import UNDECLARED, Identity, Plan, ResumePolicy, Undeclared
from .errors import AgentError
from .identity import fingerprint, identity, text_digest
from .reach import reachable_tools
from .state import State
from .toolspec import ToolSpec


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """One agent: its name, its body and its declarations."""

    name: str
    function: Callable[..., Any] | None
    model: type[State] | None
    plan: Plan = field(default_factory=Plan)
    grants: tuple[str, ...] = ()
    policy: ResumePolicy = field(default_factory=ResumePolicy)
    topology: str = ""
    entrypoint: str = ""
    """`module:name`, by which `waypost resume` finds the agent; empty when it cannot be imported."""
    model_name: str | Undeclared = UNDECLARED
    prompt: str | Undeclared = UNDECLARED
    policy_bundle: str | Undeclared = UNDECLARED

    def tools(self) -> dict[str, ToolSpec]:
        """The tools that the body can reach: by name, through its own helpers and through modules beside it."""
        return {} if self.function is None else reachable_tools(self.function)

    def identity(self, settings: Settings) -> Identity:
        """Who and what runs here and now."""
        found = identity(
            self.name,
            self.topology,
            ((name, spec.digest()) for name, spec in self.tools().items()),
            environment=settings.environment,
            principal=settings.principal,
            model=self.model_name,
            prompt=text_digest(self.prompt) if isinstance(self.prompt, str) else UNDECLARED,
            policy_bundle=self.policy_bundle,
        )
        return replace(found, state=schema.fingerprint(self.model) if self.model else "")


def spec_of(function: Callable[..., Any], name: str, **declared: Any) -> AgentSpec:
    """Read the body of an agent.

    Raises:
        AgentError: it is not a function of a run and a `State`.
    """
    parameters = list(inspect.signature(function).parameters)
    if len(parameters) != 2:
        raise AgentError(
            name, "the body takes a run and a state: `def audit(run: Run, state: Audit) -> Audit`."
        )
    try:
        model = get_type_hints(function).get(parameters[1])
    except NameError as error:
        raise AgentError(name, f"the annotations of the body cannot be read: {error}.") from error
    if not (isinstance(model, type) and issubclass(model, State)):
        raise AgentError(name, f"annotate `{parameters[1]}` with a class derived from `State`.")
    kept = carried(function)
    if kept:
        said = ", ".join(f"`{one.name}` (line {one.line}, {one.how})" for one in kept)
        raise AgentError(
            name,
            f"{said} is carried from one item of `each` to the next, and a resume would lose it; keep it in the state.",
        )
    return AgentSpec(
        name,
        function,
        model,
        topology=fingerprint(function),
        entrypoint=_entrypoint(function),
        **declared,
    )


def _entrypoint(function: Callable[..., Any]) -> str:
    module = function.__module__
    if module == "__main__":
        spec = getattr(inspect.getmodule(function), "__spec__", None)
        if spec is None:
            file = inspect.getsourcefile(function)
            return f"{file}:{function.__qualname__}" if file else ""
        module = spec.name
    return "" if "<locals>" in function.__qualname__ else f"{module}:{function.__qualname__}"
