"""How long does a run wait for its checkpoints, against LangGraph's saver for the same conversation?"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from typing import Final

from . import corpus, ours, peers
from .line import Line, line
from .measure import CPU, WALL, interleaved, quiet, ratio

N: Final = 1_000
ROUNDS: Final = 5
TARGET: Final = 2.0


def lines() -> Iterator[Line]:
    """Total time of `SqliteSaver.put` over that of `run.checkpoint`; both commit with synchronous=FULL."""
    words = corpus.words(N)

    def mine(clock: Callable[[], float]) -> list[float]:
        with ours.scratch("time") as folder, ours.home(folder), quiet():
            return ours.chat(words.messages, clock)

    def theirs(clock: Callable[[], float]) -> list[float]:
        with ours.scratch("time") as folder, peers.opened(folder / "peer.db") as saver, quiet():
            return peers.put_all(saver, words.messages, clock)

    our_laps, their_laps = interleaved(ROUNDS, lambda: mine(WALL), lambda: theirs(WALL))
    our_totals, their_totals = list(map(sum, our_laps)), list(map(sum, their_laps))
    # Beside it the processor's share alone, which does not wait for the disk or for other processes.
    our_cpu, their_cpu = sum(mine(CPU)), sum(theirs(CPU))
    detail = {
        **words.said(),
        "rounds": ROUNDS,
        "ours_s": [round(total, 3) for total in our_totals],
        "peer_s": [round(total, 3) for total in their_totals],
        "ours_p50_ms": round(statistics.median(map(statistics.median, our_laps)) * 1e3, 3),
        "peer_p50_ms": round(statistics.median(map(statistics.median, their_laps)) * 1e3, 3),
        "ratio_cpu": round(their_cpu / our_cpu, 3),
    }
    yield line("store-time", ratio(their_totals, our_totals), TARGET, "at least", detail)
