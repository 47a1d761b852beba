"""How does a person say what became of a call that nobody knows the outcome of?

The decision, the outcome and the answer to the open question are one append: all of it is durable, or nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from . import approvals, codec, lease
from .contract import CallState, DecisionKind
from .errors import AlreadyResumed, NotInDoubt, UnknownCall, UnknownRun
from .journal import Append, Draft
from .lease import Owner, Standing
from .ledger import UNHEARD, in_doubt, stored_values
from .recorder import Recorder
from .store import objects, read
from .store.rows import ApprovalRow, CallRow, RunRow
from .toolspec import NOT_FOUND, NotFound
from .tree import TreeWriter

FLAG: Final = "reconciled"
SHORTEST: Final = 6
"""Characters of an effect id that are enough, when only one call in doubt begins with them."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What a settlement came to."""

    call: CallRow
    """The ledger row as it stands now: `committed`, or `failed` for a call that did not happen."""
    questions: tuple[str, ...]
    """Approval ids of the questions that this answered."""


def settle(
    recorder: Recorder,
    run_id: str,
    effect_id: str,
    result: Any = NOT_FOUND,
    *,
    who: str,
    why: str = "",
    how: str = "",
    branch: str = read.MAIN,
) -> Settled:
    """Record that a call happened, with its *result*, or that it did not (`NOT_FOUND`).

    Args:
        effect_id: 32 hex digits, or the first few of a call that is in doubt.
        result: what the agent is given back instead of a second call; must be storable.
        who: the person's name as the session or the system knows it.
        how: how they were authenticated, in words.

    Raises:
        UnknownRun, UnknownCall: there is no such run, or no such call in it.
        NotInDoubt: the outcome is known already.
        AlreadyResumed: a process holds the run and may still learn the outcome itself.
        NotStorable: the result cannot be kept exactly; nothing was written.
    """
    row, call, questions = _found(recorder, run_id, branch, effect_id)
    if lease.standing(row.owner) in (Standing.ALIVE, Standing.ELSEWHERE):
        raise AlreadyResumed(run_id, Owner.parse(row.owner or "").name, row.epoch)
    now = time.time_ns()
    happened = not isinstance(result, NotFound)
    vault = recorder.vault() if recorder.settings.seal else None
    parts: dict[bytes, bytes] = {}
    plain = _lowered(result, vault.seal_text if vault else None, parts) if happened else None
    after = replace(
        call,
        state=CallState.COMMITTED if happened else CallState.FAILED,
        flags=" ".join(dict.fromkeys([*call.flags.split(), FLAG, UNHEARD])),
        error="" if happened else f"{who} looked: it did not happen",
        ended_at=now,
    )
    said = {"effect_id": call.effect_id, "happened": happened, "result": plain}
    decision = {**said, "who": who, "why": why, "how": how, "answers": [one.approval_id for one in questions]}
    outcome = {
        **{"tool": call.tool, "kind": call.kind, "effect_id": call.effect_id, "call_key": call.call_key},
        **{"attempt": call.attempts, "error": after.error, "reconciled": True, "result": plain},
    }
    changes = {"unknown": -int(call.state == CallState.UNKNOWN), "waiting": -len(questions)}
    recorder.journal.append(
        Append(
            run_id,
            branch,
            [
                Draft(
                    kind="decision",
                    mark=str(DecisionKind.RECONCILE),
                    subject=call.effect_id,
                    at=now,
                    body=decision,
                ),
                Draft(kind="outcome", mark=str(after.state), subject=call.effect_id, at=now, body=outcome),
            ],
            segment=row.segment,
            # A resume that begins between our look and this append moves the epoch: then nothing is written.
            guards={"epoch": row.epoch},
            changes={name: delta for name, delta in changes.items() if delta},
            objects=parts,
            sealed={bytes.fromhex(one.fingerprint): one.blob for one in vault.pending()} if vault else {},
            rows=[
                (
                    "upsert call",
                    stored_values(after, None if plain is None else objects.pack(codec.encode(plain))),
                ),
                *(("decide approval", _answered(one, happened, who, why, now)) for one in questions),
            ],
        )
    )
    return Settled(after, tuple(one.approval_id for one in questions))


def _found(
    recorder: Recorder, run_id: str, branch: str, effect_id: str
) -> tuple[RunRow, CallRow, list[ApprovalRow]]:
    with recorder.store.reader.connect() as connection:
        row = read.run_by_id(connection, run_id, branch)
        if row is None:
            raise UnknownRun(run_id, str(recorder.store.url.database))
        call = read.call_by_id(connection, run_id, effect_id)
        if call is None and len(effect_id) >= SHORTEST:
            doubts = read.calls(connection, run_id, branch, states=(CallState.SENT, CallState.UNKNOWN))
            close = [one for one in doubts if one.effect_id.startswith(effect_id)]
            call = close[0] if len(close) == 1 else None
        if call is None or call.branch != branch:
            raise UnknownCall(run_id, effect_id)
        if not in_doubt(call):
            raise NotInDoubt(call.tool, call.effect_id, f"it is {call.state}, nothing was changed.")
        asked = read.approvals(connection, run_id=run_id, name=branch, states=(approvals.PENDING,))
    return row, call, [one for one in asked if one.kind == "effect" and one.subject == call.effect_id]


def _lowered(result: Any, seal: Callable[[str, str], Any] | None, parts: dict[bytes, bytes]) -> Any:
    plain = codec.lower(result, path="$.result", seal=seal)
    return TreeWriter(parts.__setitem__).whole(plain)


def _answered(row: ApprovalRow, happened: bool, who: str, why: str, now: int) -> dict[str, Any]:
    """The answer to "did it happen?", used up at once: its effect is in the same append."""
    return {
        "at_approval_id": row.approval_id,
        "at_state": approvals.PENDING,
        "state": approvals.APPROVED,
        "decided_at": now,
        "decided_by": who,
        "why": why,
        "used_at": now,
    }
