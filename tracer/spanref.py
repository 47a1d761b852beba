"""Which span is this row, and under which parent? Trace context as stored bytes."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

_HEAD: Final = struct.Struct(">16s8s8sBBBq")
NO_SPAN: Final = bytes(8)


@dataclass(frozen=True, slots=True)
class SpanRef:
    """Everything needed to export a span later with the ids it was given."""

    trace_id: bytes
    """16 bytes."""
    span_id: bytes
    """8 bytes."""
    parent_id: bytes = NO_SPAN
    """8 bytes; zeros for a root."""
    flags: int = 1
    """The whole flags byte."""
    parent_flags: int = 1
    parent_remote: bool = False
    started_at: int = 0
    """ns since 1970."""
    tracestate: str = ""
    """Verbatim, as in the header."""
    under_agent: bool = False
    """The parent is an agent or workflow span that another instrumentation opened."""

    def pack(self) -> bytes:
        """43 bytes and the tracestate."""
        head = _HEAD.pack(
            self.trace_id,
            self.span_id,
            self.parent_id,
            self.flags,
            self.parent_flags,
            self.parent_remote | self.under_agent << 1,
            self.started_at,
        )
        return head + self.tracestate.encode()

    @classmethod
    def unpack(cls, data: bytes) -> SpanRef:
        """The inverse of `pack`."""
        trace, span, parent, flags, parent_flags, marks, started = _HEAD.unpack_from(data)
        state = data[_HEAD.size :].decode()
        return cls(trace, span, parent, flags, parent_flags, bool(marks & 1), started, state, bool(marks & 2))

    @property
    def is_root(self) -> bool:
        """True without a parent."""
        return self.parent_id == NO_SPAN
