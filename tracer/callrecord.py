"""How does the divergence engine read a call of the ledger?"""

from __future__ import annotations

from typing import Any

from .contract import CallState
from .store.rows import CallRow

CallRecord = dict[str, Any]
"""`{name, args, kind, ok, result, …}`: plain values, as `tracer.divergence` takes them."""

_OK = {CallState.COMMITTED: True, CallState.FAILED: False}


def call_record(
    row: CallRow, args: Any, result: Any, *, phase: str = "", replayed: bool = False
) -> CallRecord:
    """One recorded call with its plain arguments and result.

    Args:
        phase: of a call before the resume: `committed`, or `lost` with the tail.
        replayed: it was answered from the ledger and not executed again.
    """
    ok = _OK.get(CallState(row.state))
    record: CallRecord = {
        "name": row.tool,
        "args": args,
        "kind": row.kind,
        "ok": ok,
        "result": result if row.state == CallState.COMMITTED else row.error,
    }
    if row.idempotency_key:
        record["idem_key"] = row.idempotency_key
    if phase:
        record["phase"] = phase
    if replayed:
        record["replayed"] = True
    if ok is None:
        record["in_flight"] = True
    return record
