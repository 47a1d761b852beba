"""How are ids made? By the client, time-ordered, safe to repeat."""

from __future__ import annotations

import os
import re
import time
from typing import Final

RUN_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")


def new_id() -> bytes:
    """16 bytes: 48 bits of milliseconds, then 80 random bits."""
    return (time.time_ns() // 1_000_000).to_bytes(6, "big") + os.urandom(10)


def valid_run_id(run_id: object) -> bool:
    """Whether *run_id* may name a run: `[A-Za-z0-9][A-Za-z0-9_.-]{0,127}`."""
    return isinstance(run_id, str) and RUN_ID.fullmatch(run_id) is not None
