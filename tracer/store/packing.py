"""How does a row hold bytes in few bytes?

Most of what is stored are small records of ours: JSON of known shapes around digests in hex. Digests are kept as
the bytes they are, and the compressor begins with a text that holds the shapes, so that a record costs what is
new in it. These forms are final: a store that was written with them is read with them for ever.
"""

from __future__ import annotations

import re
import threading
from typing import Final

import zstandard

from ..errors import IntegrityError
from .vocabulary import VOCABULARY

RAW, ZSTD, BLOB, TERSE = b"\0", b"\1", b"\2", b"\3"
"""First byte of a row: as it is; a zstd frame; in the blob store; folded, and compressed with `VOCABULARY`."""
LEVEL: Final = 4
SMALL: Final = 64
"""Bytes up to which nothing is tried."""
MOST: Final = 256 * 1024 * 1024
"""Bytes that a row may unfold to."""

_MAGIC: Final = (0xFD2FB528).to_bytes(4, "little")
_HEX: Final = re.compile(rb'"((?:[0-9a-f]{32}){1,2})"')
_BYTES: Final = re.compile(rb"\xff(.{32})|\xfe(.{16})", re.DOTALL)
_DICTIONARY: Final = zstandard.ZstdCompressionDict(VOCABULARY, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


class _Tools(threading.local):
    """A thread's own compressors, made at first use; they must not be shared."""

    def __init__(self) -> None:
        self.terse = zstandard.ZstdCompressor(
            level=LEVEL,
            dict_data=_DICTIONARY,
            write_content_size=True,
            write_checksum=False,
            write_dict_id=False,
        ).compress
        self.plain = zstandard.ZstdCompressor(level=LEVEL, write_content_size=True).compress
        self.from_terse = zstandard.ZstdDecompressor(dict_data=_DICTIONARY).decompress
        self.from_plain = zstandard.ZstdDecompressor().decompress


_DICTIONARY.precompute_compress(level=LEVEL)
_tools: Final = _Tools()


def pack(data: bytes) -> bytes:
    """*data* as a row holds it: one byte for the form, then the bytes."""
    if len(data) <= SMALL:
        return RAW + data
    if b"\xff" in data or b"\xfe" in data:  # not UTF-8, so the marks of a fold could not be told apart
        small = ZSTD + _tools.plain(data)
    else:
        small = TERSE + _tools.terse(_HEX.sub(_fold, data))[4:]
    return small if len(small) <= len(data) else RAW + data


def unpack(stored: bytes, where: str) -> bytes:
    """The inverse of `pack`.

    Raises:
        IntegrityError: the bytes cannot be what was written (*where* names the row).
    """
    form, rest = stored[:1], stored[1:]
    if form == RAW:
        return rest
    try:
        if form == TERSE:
            return _BYTES.sub(_unfold, _tools.from_terse(_MAGIC + rest, max_output_size=MOST))
        if form == ZSTD:
            return _tools.from_plain(rest, max_output_size=MOST)
    except zstandard.ZstdError as error:
        raise IntegrityError(where, f"compressed bytes are damaged: {error}") from error
    raise IntegrityError(where, f"unknown form byte {form!r}")


def _fold(match: re.Match[bytes]) -> bytes:
    digest = bytes.fromhex(match[1].decode())
    return (b"\xff" if len(digest) == 32 else b"\xfe") + digest


def _unfold(match: re.Match[bytes]) -> bytes:
    return b'"%b"' % (match[1] or match[2]).hex().encode()
