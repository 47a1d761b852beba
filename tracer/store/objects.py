"""What are the bytes behind a digest? Packed rows, blobs for the large ones, and a check at every read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from .. import codec
from ..errors import IntegrityError
from .blobs import Blobs
from .packing import BLOB, pack, unpack

__all__ = ["BLOB_FROM", "from_rows", "pack", "pack_record", "to_row", "unpack", "unpack_record"]

BLOB_FROM: Final = 256 * 1024
"""Bytes from which an object lies in the blob store and its row only names it."""


def pack_record(record: Mapping[str, Any]) -> bytes:
    """A record of ours as a row holds it."""
    return pack(codec.encode({**record}))


def unpack_record(stored: bytes, where: str) -> dict[str, Any]:
    """The inverse of `pack_record`.

    Raises:
        IntegrityError: the bytes are damaged, or hold no record (*where* names the row).
    """
    record = codec.decode(unpack(stored, where))
    if not isinstance(record, dict):
        raise IntegrityError(where, f"a record is a JSON object, this is {type(record).__name__}")
    return record


def to_row(digest: bytes, data: bytes, blobs: Blobs | None) -> bytes:
    """What the object row of *data* holds; a large one is durable in the blob store before its row exists."""
    if len(data) >= BLOB_FROM and blobs is not None:
        blobs.put(digest.hex(), data)
        return BLOB + len(data).to_bytes(8, "big")
    return pack(data)


def from_rows(wanted: Iterable[bytes], rows: dict[bytes, bytes], blobs: Blobs | None) -> dict[bytes, bytes]:
    """Digest -> bytes for every digest in *wanted*, each checked.

    Raises:
        IntegrityError: one is missing, damaged, or is not what its digest says.
    """
    out: dict[bytes, bytes] = {}
    for digest in wanted:
        where = f"object {digest.hex()}"
        stored = rows.get(digest)
        if stored is None:
            raise IntegrityError(where, "it is not in the store")
        if stored[:1] == BLOB:
            if blobs is None:
                raise IntegrityError(where, "it lies in a blob store and none is configured")
            data = blobs.get(digest.hex())
        else:
            data = unpack(stored, where)
        if hashlib.sha256(data).digest() != digest:
            raise IntegrityError(where, "its bytes have another digest")
        out[digest] = data
    return out
