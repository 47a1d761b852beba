"""Which agent does `module:name` mean?"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

from ._agent import Agent, AsyncAgent
from .errors import AgentError


def find_agent(entrypoint: str) -> Agent[Any] | AsyncAgent[Any]:
    """The agent at `package.module:name` or `path/to/file.py:name`.

    Raises:
        AgentError: it cannot be imported, or is no agent; the message says which of the two.
    """
    where, _, name = entrypoint.rpartition(":")
    if not where or not name:
        raise AgentError(
            entrypoint or "the run", "name the agent as `module:name`, for example `audit.agent:audit`."
        )
    try:
        module = _import(where)
    except (ImportError, OSError) as error:
        raise AgentError(
            entrypoint,
            f"{where} cannot be imported here: {error}. Run this where the agent's code is importable.",
        ) from error
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, Agent | AsyncAgent):
        raise AgentError(entrypoint, f"{name} is {type(found).__name__}, not a function under `@agent(…)`.")
    return found


def _import(where: str) -> Any:
    if not where.endswith(".py"):
        if "" not in sys.path and str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))
        return importlib.import_module(where)
    path = Path(where).resolve()
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == str(path):
            return module
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
