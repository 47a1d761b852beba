"""How is everything that a store owes sent now, by somebody who waits for it?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ..journal import Journal
from ..store import read
from ..store.engine import Store, translated
from .claim import claim
from .drain import Drain, Refusal
from .owed import MaskKey
from .provider import Tracing
from .recovery import Dead

BUSY_S: Final = 0.25
"""Between looks while another process sends."""


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What `export_pending` came to."""

    sent: int
    left: int
    refused: tuple[Refusal, ...]
    reason: str = ""
    """Why it stopped before the end; empty when nothing is left to send."""


def export_pending(
    store: Store,
    journal: Journal,
    tracing: Tracing,
    *,
    progress: Callable[[int, int], None] | None = None,
    wait_s: float = 10.0,
    dead: Dead | None = None,
    mask_key: MaskKey | None = None,
) -> ExportReport:
    """Send everything that a store owes, now and in this thread.

    Args:
        progress: called with (sent so far, owed at the start) after every batch.
        wait_s: how long to wait for another process that is sending.
        dead, mask_key: as for `Outbox`.

    Raises:
        StoreError: the store cannot be read or written.
    """
    with translated(store.url), store.reader.connect() as connection:
        owed = read.count_pending(connection)
    if tracing.endpoint is None:
        return ExportReport(0, owed, (), "no endpoint: set OTEL_EXPORTER_OTLP_ENDPOINT" if owed else "")
    drain = Drain(store, journal, tracing, dead=dead, mask_key=mask_key)
    sent, refused, reason = 0, list[Refusal](), ""
    until = time.monotonic() + wait_s
    try:
        while True:
            with claim(store) as mine:
                done = drain.round() if mine else None
            if done is None:
                if time.monotonic() > until:
                    reason = "another process is sending"
                    break
                time.sleep(BUSY_S)
                continue
            sent += done.sent
            refused += done.refused
            if progress is not None:
                progress(sent, owed)
            if done.trouble is not None:
                reason = f"{tracing.endpoint}: {done.trouble.reason}"
                break
            if not done.more:
                break
    finally:
        if drain.wire is not None:
            drain.wire.close()
    with translated(store.url), store.reader.connect() as connection:
        left = read.count_pending(connection)
    return ExportReport(sent, left, tuple(refused), reason)
