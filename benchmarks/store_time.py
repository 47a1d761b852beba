"""How long does a run wait for its checkpoints, against LangGraph's saver for the same conversation?"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Final

from . import corpus, ours, peers
from .line import Line, line
from .measure import interleaved, quiet, ratio, spent

N: Final = 1_000
ROUNDS: Final = 5
TARGET: Final = 2.0


def lines() -> Iterator[Line]:
    """Total time of `SqliteSaver.put` over that of `run.checkpoint`; both commit with synchronous=FULL."""
    words = corpus.words(N)

    cpu: dict[str, list[float]] = {"ours": [], "peer": []}

    def mine() -> list[float]:
        with ours.scratch("time") as folder, ours.home(folder), quiet(), spent(cpu["ours"]):
            return ours.chat(words.messages)

    def theirs() -> list[float]:
        with (
            ours.scratch("time") as folder,
            peers.opened(folder / "peer.db") as saver,
            quiet(),
            spent(cpu["peer"]),
        ):
            return peers.put_all(saver, words.messages)

    our_laps, their_laps = interleaved(ROUNDS, mine, theirs)
    our_totals, their_totals = list(map(sum, our_laps)), list(map(sum, their_laps))
    detail = {
        **words.said(),
        "rounds": ROUNDS,
        "ours_s": [round(total, 3) for total in our_totals],
        "peer_s": [round(total, 3) for total in their_totals],
        "ours_p50_ms": round(statistics.median(map(statistics.median, our_laps)) * 1e3, 3),
        "peer_p50_ms": round(statistics.median(map(statistics.median, their_laps)) * 1e3, 3),
        # Of the processor alone, which does not wait for a disk or for other processes.
        "ratio_cpu": round(ratio(cpu["peer"], cpu["ours"]), 3),
    }
    yield line("store-time", ratio(their_totals, our_totals), TARGET, "at least", detail)
