"""What are the bytes behind a digest? Compression, blobs for the large ones, and a check at every read."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Mapping
from typing import Any, Final

import zstandard

from .. import codec
from ..errors import IntegrityError
from .blobs import Blobs

RAW, ZSTD, BLOB = b"\0", b"\1", b"\2"
BLOB_FROM: Final = 256 * 1024
"""Bytes from which an object lies in the blob store and its row only names it."""
SMALL: Final = 64
MOST: Final = 256 * 1024 * 1024
_local: Final = threading.local()


def pack(data: bytes) -> bytes:
    """*data* as a row holds it: one byte for the form, then the bytes."""
    if len(data) <= SMALL:
        return RAW + data
    compressor = getattr(_local, "compressor", None)
    if compressor is None:
        compressor = _local.compressor = zstandard.ZstdCompressor(level=3, write_content_size=True)
    small: bytes = compressor.compress(data)
    return ZSTD + small if len(small) < len(data) else RAW + data


def unpack(stored: bytes, where: str) -> bytes:
    """The inverse of `pack`.

    Raises:
        IntegrityError: the bytes cannot be what was written (*where* names the row).
    """
    form, rest = stored[:1], stored[1:]
    if form == RAW:
        return rest
    if form != ZSTD:
        raise IntegrityError(where, f"unknown form byte {form!r}")
    decompressor = getattr(_local, "decompressor", None)
    if decompressor is None:
        decompressor = _local.decompressor = zstandard.ZstdDecompressor()
    try:
        return bytes(decompressor.decompress(rest, max_output_size=MOST))
    except zstandard.ZstdError as error:
        raise IntegrityError(where, f"compressed bytes are damaged: {error}") from error


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
