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
    """p50 of the last tenth of the checkpoints over p50 of the first.

    The figure is that of a typed state whose list is appended to. Two harder ways to hold the same list are shown
    beside it: an agent that goes through all of its messages at every step, so that any may have been changed in
    place, and the plain dict of `run(…)`, which cannot tell either. Both are compared item by item.
    """
    words = corpus.words(N)
    found: list[float] = []
    p50s: list[tuple[float, float]] = []
    for number in range(ROUNDS):
        laps = _run(words, ours.chat, WALL)
        p50s.append((decile(laps, 0), decile(laps, -1)))
        found.append(p50s[-1][1] / p50s[-1][0])
        say(f"  round {number + 1} of {ROUNDS}")
    detail = {
        **words.said(),
        "rounds": ROUNDS,
        "ratios": [round(one, 3) for one in found],
        "first_p50_ms": round(statistics.median(first for first, _ in p50s) * 1e3, 3),
        "last_p50_ms": round(statistics.median(last for _, last in p50s) * 1e3, 3),
    }
    for name, chat in (
        ("cpu", ours.chat),
        ("cpu_read_every_step", ours.read_chat),
        ("cpu_plain_dict", ours.plain_chat),
    ):
        spent = _run(words, chat, CPU)
        detail[f"{name}_first_p50_ms"] = round(decile(spent, 0) * 1e3, 3)
        detail[f"{name}_last_p50_ms"] = round(decile(spent, -1) * 1e3, 3)
        say(f"  {name.replace('_', ' ')}")
    yield line("store-flat", statistics.median(found), TARGET, "at most", detail)


def _run(words: corpus.Corpus, chat: Chat, clock: Callable[[], float]) -> list[float]:
    with ours.scratch("flat") as folder, ours.home(folder), quiet():
        return chat(words.messages, clock)
