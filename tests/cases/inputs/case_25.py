"""Case 25, cut to size: steps with a growing history, an occasional large tool output, a scratchpad that rests."""

import random
from collections.abc import Iterator
from typing import Any

NOTES = ["x" * 2000] * 20


def steps(count: int, seed: int = 7) -> Iterator[dict[str, Any]]:
    source = random.Random(seed)
    for number in range(count):
        size = source.choice([200, 200, 200, 60_000])
        yield {
            "append": [
                {
                    "id": f"m{number}",
                    "role": "assistant",
                    "content": source.randbytes(source.randint(25, 200)).hex(),
                },
                {"id": f"t{number}", "role": "tool", "content": source.randbytes(size // 2).hex()},
            ],
            "notes": NOTES if number % 50 else [*NOTES, f"change {number}"],
        }
