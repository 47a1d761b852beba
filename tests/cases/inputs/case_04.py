"""Case 04: a provider's raw object, a lock, a generator and an open file ride along with bytes that matter."""

import io
import threading
from collections.abc import Iterator
from typing import Any


def stream() -> Iterator[str]:
    yield "chunk-1"
    yield "chunk-2"


class RawPart:
    """Stands for a generated class that cannot be imported by its name."""

    __module__ = "vendor_pb2_not_importable"

    def __init__(self) -> None:
        self.payload = b"\xff\xfe\x00\x01"


def build() -> dict[str, Any]:
    return {
        "messages": [{"role": "assistant", "content": "ok", "raw": RawPart()}],
        "tool_returns": [{"tool_call_id": "c1", "content": b"\xff\xfe"}],
        "scratch": {"lock": threading.Lock(), "stream": stream(), "fh": io.BytesIO(b"x" * 10)},
    }
