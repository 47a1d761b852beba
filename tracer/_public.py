"""What can be done with a run by its id alone?"""

from __future__ import annotations

import asyncio
from typing import Any

from ._agent import Agent, AsyncAgent
from .contract import Verdict
from .entrypoint import find_agent
from .errors import UnknownRun
from .hold import find
from .recorder import recorder


def agent_of(run_id: str, entrypoint: str = "") -> Agent[Any] | AsyncAgent[Any]:
    """The agent of a run: as named, or as the run recorded it.

    Raises:
        UnknownRun: there is no such run.
        AgentError: its code cannot be found here.
    """
    if entrypoint:
        return find_agent(entrypoint)
    held = recorder(create=False)
    row = find(held, run_id)
    if row is None:
        raise UnknownRun(run_id, str(held.store.url.database))
    return find_agent(row.entrypoint)


def resume(run_id: str, *, agent: str = "", who: str = "", why: str = "", takeover: bool = False) -> Any:
    """Resume a run through the gate; its final state.

    Args:
        agent: `module:name` of the agent; as the run recorded it when empty.

    Raises:
        Paused, ResumeRefused, AlreadyResumed, UnknownRun, AgentError: see `Agent.start_or_resume`.
    """
    found = agent_of(run_id, agent)
    if isinstance(found, AsyncAgent):
        return asyncio.run(found.start_or_resume(run_id, who=who, why=why, takeover=takeover))
    return found.start_or_resume(run_id, who=who, why=why, takeover=takeover)


def preflight(run_id: str, *, agent: str = "") -> Verdict:
    """What the gate would say of a resume now; nothing is written, nobody is asked.

    Raises:
        UnknownRun, AgentError, IntegrityError: it cannot be judged.
    """
    return agent_of(run_id, agent).preflight(run_id).verdict
