"""What does a benchmark write? Messages of about 1 KB, the same on every machine or named by their digest.

`words` is made: pseudo-words under Zipf's law, as compressible as prose. `licences` is real: the licence texts of
the distributions that are installed here, cut into messages, no two equal.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from itertools import accumulate
from pathlib import PurePosixPath
from typing import Any, Final

import orjson

SEED: Final = 1
VOCABULARY_SEED: Final = 7
VOCABULARY: Final = 8_000
"""Pseudo-words; the n-th is drawn with a weight of 1/n."""
MESSAGE: Final = 1_024
"""Bytes of one message as JSON, as near as ASCII text can be cut."""
ENVELOPE: Final = 80
"""Bytes of a message around its text: its id, its role and the braces."""
ROLES: Final = ("user", "assistant", "tool")
NOT_TEXT: Final = frozenset({".py", ".pyc", ".js", ".json", ".so"})

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Messages, and what identifies them."""

    name: str
    messages: list[Message]
    seed: int

    @property
    def unique_bytes(self) -> int:
        """Bytes of all different messages as compact JSON: what has to be kept, uncompressed."""
        return sum(map(len, {orjson.dumps(message) for message in self.messages}))

    @property
    def digest(self) -> str:
        """SHA-256 of the messages as JSON lines, its first 16 hex digits."""
        total = hashlib.sha256()
        for message in self.messages:
            total.update(orjson.dumps(message) + b"\n")
        return total.hexdigest()[:16]

    def said(self) -> dict[str, Any]:
        """What a figure says of its corpus."""
        return {
            "corpus": self.name,
            "n": len(self.messages),
            "seed": self.seed,
            "digest": self.digest,
            "unique_bytes": self.unique_bytes,
        }


def words(n: int, *, seed: int = SEED) -> Corpus:
    """*n* chat messages of pseudo-words."""
    vocabulary = _vocabulary()
    weights = list(accumulate(1 / rank for rank in range(1, len(vocabulary) + 1)))
    source = random.Random(seed)
    messages = [
        {
            "id": f"{source.getrandbits(128):032x}",
            "role": ROLES[number % len(ROLES)],
            "content": _text(MESSAGE - ENVELOPE, source, vocabulary, weights),
        }
        for number in range(n)
    ]
    return Corpus("words", messages, seed)


def licences(most: int, *, seed: int = SEED) -> Corpus:
    """At most *most* messages of licence text; as many as the installed distributions yield.

    Texts that several distributions ship are taken once; all of them, one after another, are cut where a message
    is full.

    Raises:
        SystemExit: no installed distribution ships a licence file.
    """
    source = random.Random(seed)
    text = "\n\n".join(dict.fromkeys(_licence_texts()))
    size = MESSAGE - ENVELOPE
    pieces = list(dict.fromkeys(text[at : at + size] for at in range(0, len(text) - size, size)))[:most]
    if not pieces:
        raise SystemExit(
            "no installed distribution ships a licence file; set the environment up with `make test`"
        )
    messages = [
        {"id": f"{source.getrandbits(128):032x}", "role": ROLES[number % len(ROLES)], "content": piece}
        for number, piece in enumerate(pieces)
    ]
    return Corpus("licences", messages, seed)


def _vocabulary() -> list[str]:
    source = random.Random(VOCABULARY_SEED)
    consonants, vowels = "bcdfghklmnprstvwz", "aeiou"
    return [
        "".join(source.choice(consonants) + source.choice(vowels) for _ in range(source.randint(1, 4)))
        for _ in range(VOCABULARY)
    ]


def _text(size: int, source: random.Random, vocabulary: list[str], weights: list[float]) -> str:
    drawn: list[str] = []
    length = 0
    while length < size:
        word = source.choices(vocabulary, cum_weights=weights)[0]
        drawn.append(word)
        length += len(word) + 1
    return " ".join(drawn)[:size]


def _licence_texts() -> Iterator[str]:
    found = sorted(metadata.distributions(), key=lambda one: (one.metadata["Name"] or "", one.version))
    for distribution in found:
        for file in sorted(distribution.files or (), key=str):
            name = PurePosixPath(str(file)).name.lower()
            named = any(word in name for word in ("licen", "copying", "notice"))
            if not named or PurePosixPath(name).suffix in NOT_TEXT:
                continue
            try:
                yield file.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                continue
