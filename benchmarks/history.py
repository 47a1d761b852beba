"""How long does it take to list a run's checkpoints and to compare two of them, and how much memory?

Ours is what the inspector's pages do: rows without payloads, then the two roots, of which only what their digests
do not prove equal is opened. The peer's way is `get_state_history`, which opens every state. Both read the same
conversation. The figure is against LangChain's message objects, which LangGraph's agents hold; plain dicts, which
its serializer reads ten times faster, are measured beside it.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from tracer.config import Settings

from . import corpus, ours, peers
from .line import Line, line
from .measure import apart, high_water, interleaved, ratio, resident_bytes, say

N: Final = 500
LISTED: Final = 502
"""Ours: the first checkpoint, one for each message, and the final one."""
OLD: Final = 251
"""Compared with the one after it, as a reader steps through a run."""
ROUNDS: Final = 5
TARGET: Final = 50.0
TARGET_RSS: Final = 0.2

Work = Callable[[], tuple[int, int]]
"""Lists and compares; (checkpoints, differences)."""


def lines() -> Iterator[Line]:
    """Time, then memory, of both sides."""
    words = corpus.words(N)
    with ours.scratch("history") as folder:
        say(f"  writing {N} messages on both sides")
        _write(folder, words)
        yield _time(folder, words)
        yield _memory(folder, words)


def _write(folder: Path, words: corpus.Corpus) -> None:
    with ours.home(folder):
        ours.chat(words.messages)
    for kind, messages in (("dicts", words.messages), ("messages", peers.as_messages(words.messages))):
        with peers.opened(folder / f"{kind}.db") as saver:
            # Two more with nothing new, so that both sides list as many.
            peers.put_all(saver, messages, more=LISTED - N)


def _time(folder: Path, words: corpus.Corpus) -> Line:
    with ExitStack() as stack:
        works = [
            stack.enter_context(_ours(folder)),
            *(stack.enter_context(_peer(folder, kind)) for kind in ("dicts", "messages")),
        ]
        for work in works:
            if work() != (LISTED, 1):
                raise SystemExit(f"a side did other work than it should: {work()}, not {(LISTED, 1)}")
        mine, dicts, messages = interleaved(ROUNDS, *(lambda work=work: _timed(work) for work in works))
    detail = {
        **words.said(),
        "rounds": ROUNDS,
        "listed": LISTED,
        "ours_ms": round(statistics.median(mine) * 1e3, 2),
        "peer_ms": round(statistics.median(messages) * 1e3, 1),
        "peer_plain_dicts_ms": round(statistics.median(dicts) * 1e3, 1),
        "ratio_plain_dicts": round(ratio(dicts, mine), 1),
    }
    return line("history", ratio(messages, mine), TARGET, "at least", detail)


def _memory(folder: Path, words: corpus.Corpus) -> Line:
    mine, dicts, messages = interleaved(
        ROUNDS,
        *(
            lambda side=side: int(apart(__name__, side, str(folder)))
            for side in ("ours", "dicts", "messages")
        ),
    )
    detail = {
        **words.said(),
        "rounds": ROUNDS,
        "listed": LISTED,
        "ours_bytes": statistics.median(mine),
        "peer_bytes": statistics.median(messages),
        "peer_plain_dicts_bytes": statistics.median(dicts),
        "ratio_plain_dicts": round(ratio(mine, dicts), 4),
    }
    return line("history-rss", ratio(mine, messages), TARGET_RSS, "at most", detail)


@contextmanager
def _ours(folder: Path) -> Iterator[Work]:
    from inspector.build.compare import compare
    from inspector.source import Source
    from inspector.stored import Stored
    from tracer.diff import Ignore
    from tracer.store import read

    home = folder / "waypost"
    source = Source.open(Settings(home=str(home), store=str(home / "waypost.db")))

    def work() -> tuple[int, int]:
        with source.connect() as connection:
            listed = read.checkpoints(connection, ours.RUN)
            stored = Stored(source, connection)
            old, new = (stored.body(listed[number - 1])["root"] for number in (OLD, OLD + 1))
            found = compare(stored, old, new, Ignore())
        return len(listed), sum(len(part.found.changes) for part in found.changed)

    try:
        yield work
    finally:
        source.close()


@contextmanager
def _peer(folder: Path, kind: str) -> Iterator[Work]:
    from tracer.diff import diff

    with peers.opened(folder / f"{kind}.db") as saver:
        graph = peers.graph(saver)

        def work() -> tuple[int, int]:
            listed = list(graph.get_state_history({"configurable": {"thread_id": peers.THREAD}}))
            # Newest first.
            old, new = (listed[LISTED - number].values for number in (OLD, OLD + 1))
            return len(listed), len(diff(peers.as_dicts(old), peers.as_dicts(new)).changes)

        yield work


def _timed(work: Work) -> float:
    """With the garbage collector as every process has it: objects that are made cost its passes, too."""
    gc.collect()
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _grown(side: str, folder: Path) -> int:
    """Bytes by which this process grew at most, beyond its imports and the opened store."""
    with _ours(folder) if side == "ours" else _peer(folder, side) as work:
        before = resident_bytes()
        high_water(anew=True)
        work()
        return high_water() - before


if __name__ == "__main__":
    print(json.dumps(_grown(sys.argv[1], Path(sys.argv[2]))))
