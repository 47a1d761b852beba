"""Is this journal what was written? The record format and the digest chain.

A record is the byte string below, fixed from the first release. A tag covers the record and the tag before it;
with a key the digest becomes an HMAC and nothing else changes.

    "waypost-entry-1" 0x00, then each field as a 4-byte big-endian length and its bytes, in this order:
    run, branch, entry, sequence (0 = no checkpoint), kind, mark, id, segment, epoch, at, subject,
    SHA-256 of the body, span context
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

MAGIC: Final = b"waypost-entry-1\0"
_INT: Final = struct.Struct(">q")
_LENGTH: Final = struct.Struct(">I")

Tagger = Callable[[bytes, bytes], bytes]
"""(previous tag, record) -> 32 bytes."""


@dataclass(frozen=True, slots=True)
class Record:
    """One journal entry as the chain sees it."""

    run_id: str
    branch: str
    entry: int
    sequence: int
    kind: str
    mark: str
    id: bytes
    segment: int
    epoch: int
    at: int
    subject: str
    body: bytes
    """Uncompressed canonical bytes."""
    span: bytes = b""

    def to_bytes(self) -> bytes:
        """The record as it is hashed."""
        fields = (
            self.run_id.encode(),
            self.branch.encode(),
            _INT.pack(self.entry),
            _INT.pack(self.sequence),
            self.kind.encode(),
            self.mark.encode(),
            self.id,
            _INT.pack(self.segment),
            _INT.pack(self.epoch),
            _INT.pack(self.at),
            self.subject.encode("utf-8", "surrogatepass"),
            hashlib.sha256(self.body).digest(),
            self.span,
        )
        out = [MAGIC]
        for data in fields:
            out += (_LENGTH.pack(len(data)), data)
        return b"".join(out)


def tagger(key: bytes | None = None) -> Tagger:
    """How to compute the next tag: SHA-256, or HMAC-SHA-256 under *key*."""
    if key is None:
        return lambda previous, record: hashlib.sha256(previous + record).digest()
    secret = key
    return lambda previous, record: hmac.digest(secret, previous + record, "sha256")


def genesis(run_id: str, branch: str, forked_from: bytes = b"") -> bytes:
    """The tag before entry 1: it binds the chain to its run, its branch and what it was forked from."""
    data = b"\0".join((b"waypost-genesis-1", run_id.encode(), branch.encode(), forked_from))
    return hashlib.sha256(data).digest()
