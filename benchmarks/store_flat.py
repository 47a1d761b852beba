"""Does a checkpoint cost more when the history behind it has grown?

A disk's fsync swings between minutes, and first and last decile cannot be interleaved: so the run is made several
times, and the processor's share, which does not swing, is shown beside the time.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from . import corpus, ours
from .corpus import Message
from .line import Line, line
from .measure import CPU, WALL, decile, quiet, say

N: Final = 5_000
ROUNDS: Final = 3
TARGET: Final = 1.5

Chat = Callable[[Sequence[Message], Callable[[], float]], list[float]]


def lines() -> Iterator[Line]:
    """p50 of the last tenth of the checkpoints over p50 of the first; a typed state, then a plain dict."""
    words = corpus.words(N)
    yield _figure("store-flat", words, ours.chat, ROUNDS)
    yield _figure("store-flat plain dict", words, ours.plain_chat, 1)


def _figure(name: str, words: corpus.Corpus, chat: Chat, rounds: int) -> Line:
    found: list[float] = []
    p50s: list[tuple[float, float]] = []
    for number in range(rounds):
        laps = _run(words, chat, WALL)
        p50s.append((decile(laps, 0), decile(laps, -1)))
        found.append(p50s[-1][1] / p50s[-1][0])
        say(f"  {name}: round {number + 1} of {rounds}")
    spent = _run(words, chat, CPU)
    detail = {
        **words.said(),
        "rounds": rounds,
        "ratios": [round(one, 3) for one in found],
        "first_p50_ms": round(statistics.median(first for first, _ in p50s) * 1e3, 3),
        "last_p50_ms": round(statistics.median(last for _, last in p50s) * 1e3, 3),
        "cpu_first_p50_ms": round(decile(spent, 0) * 1e3, 3),
        "cpu_last_p50_ms": round(decile(spent, -1) * 1e3, 3),
    }
    return line(name, statistics.median(found), TARGET, "at most", detail)


def _run(words: corpus.Corpus, chat: Chat, clock: Callable[[], float]) -> list[float]:
    with ours.scratch("flat") as folder, ours.home(folder), quiet():
        return chat(words.messages, clock)
