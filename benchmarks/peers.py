"""How does LangGraph's SQLite saver write and read the same conversation?

`put` is called as its loop calls it: the whole state, one new message a step. It commits with SQLite's default,
synchronous=FULL, as ours does; `opened` makes sure of it.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypedDict

from .corpus import Message

THREAD = "bench"
FULL = 2


class Chat(TypedDict):
    """The state of a graph whose node appends messages."""

    messages: Annotated[list[dict[str, Any]], operator.add]


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """A SqliteSaver on *path*, set up.

    Raises:
        SystemExit: LangGraph is not installed, or commits with less than FULL.
    """
    try:
        from langgraph.checkpoint.sqlite import SqliteSaver
    except ImportError:
        raise SystemExit(
            "LangGraph's SQLite saver is not installed; `make bench` installs it from requirements-test.lock"
        ) from None
    with SqliteSaver.from_conn_string(str(path)) as saver:
        saver.setup()
        if saver.conn.execute("PRAGMA synchronous").fetchone()[0] != FULL:
            raise SystemExit(
                "SqliteSaver does not commit with synchronous=FULL; the comparison would be unfair"
            )
        yield saver


def put_all(
    saver: Any, messages: Sequence[Any], clock: Callable[[], float] = time.perf_counter, *, more: int = 0
) -> list[float]:
    """Put a checkpoint after every message, and *more* with nothing new; what each `put` took on *clock*."""
    from langgraph.checkpoint.base import empty_checkpoint
    from langgraph.checkpoint.base.id import uuid6

    laps: list[float] = []
    version: str | None = None
    config: Any = {"configurable": {"thread_id": THREAD, "checkpoint_ns": ""}}
    for step in range(len(messages) + more):
        version = saver.get_next_version(version, None)
        checkpoint = empty_checkpoint()
        checkpoint["id"] = str(uuid6(clock_seq=step))
        checkpoint["channel_values"] = {"messages": list(messages[: step + 1])}
        checkpoint["channel_versions"] = {"messages": version}
        checkpoint["versions_seen"] = {"agent": {"messages": version}}
        about = {"source": "loop", "step": step, "parents": {}}
        began = clock()
        config = saver.put(config, checkpoint, about, {"messages": version})
        laps.append(clock() - began)
    return laps


def as_messages(messages: Sequence[Message]) -> list[Any]:
    """The same conversation in LangChain's message objects, which LangGraph's agents hold."""
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    made: list[Any] = []
    for message in messages:
        text, id_ = message["content"], message["id"]
        if message["role"] == "tool":
            made.append(ToolMessage(text, id=id_, tool_call_id=id_[:8]))
        else:
            made.append((HumanMessage if message["role"] == "user" else AIMessage)(text, id=id_))
    return made


def as_dicts(state: dict[str, Any]) -> dict[str, Any]:
    """A state whose messages, if they are objects, are plain dicts."""
    messages = [one if isinstance(one, dict) else one.model_dump() for one in state["messages"]]
    return {**state, "messages": messages}


def graph(saver: Any) -> Any:
    """A graph of one node over the list that `put_all` writes, for `get_state_history`."""
    from langgraph.graph import END, START, StateGraph

    built = StateGraph(Chat)
    built.add_node("agent", lambda state: {"messages": []})
    built.add_edge(START, "agent")
    built.add_edge("agent", END)
    return built.compile(checkpointer=saver)
