"""How is a run taken, so that one wins, and given back?"""

from __future__ import annotations

import secrets
import time
from dataclasses import replace

from . import faults
from .errors import AlreadyResumed, Fenced, UnknownRun
from .journal import Append, Draft
from .lease import Owner, Standing, me, mine, standing, stopped_beating
from .recorder import Recorder, holds
from .store import read
from .store.read import MAIN
from .store.rows import RunRow


def find(recorder: Recorder, run_id: str, branch: str = MAIN) -> RunRow | None:
    """The run, or None."""
    with recorder.store.reader.connect() as connection:
        return read.run_by_id(connection, run_id, branch)


def acquire(
    recorder: Recorder, run_id: str, *, branch: str = MAIN, takeover: bool = False
) -> tuple[RunRow, int]:
    """Take the lease; (the run as it stood before, our epoch).

    Raises:
        UnknownRun: there is no such run.
        KeyMissing: the key file is not here; nothing was written.
        AlreadyResumed: a living process holds it, or was quicker; the refusal is in the journal.
    """
    row = find(recorder, run_id, branch)
    if row is None:
        raise UnknownRun(run_id, str(recorder.store.url.database))
    _ = recorder.keys  # without them no call of this run would be recognised
    held, seen = standing_of(recorder, row), row
    if held in (Standing.ALIVE, Standing.ELSEWHERE):

        def beat() -> int:
            with recorder.store.reader.connect() as connection:
                head = read.head(connection, run_id, branch)
            return -1 if head is None or head.epoch != seen.epoch else head.beat

        if not takeover or not stopped_beating(beat, row.ttl / 1e9):
            raise _refused(recorder, row)
        row = find(recorder, run_id, branch) or row
    owner = me(secrets.token_hex(8))
    draft = Draft(
        kind="lease",
        mark=str(held),
        subject=owner.name,
        at=time.time_ns(),
        body={"owner": str(owner), "from": row.owner, "epoch": row.epoch + 1},
    )
    faults.point("resume.before_lease")
    with recorder.opening(run_id, branch):
        _take(recorder, row, owner, draft)
        recorder.heart.start(run_id, branch, row.epoch + 1, recorder.settings.lease_ttl_s)
    # Read again: until the lease moved, the holder before us may still have written.
    now = find(recorder, run_id, branch) or row
    return replace(now, owner=row.owner, epoch=row.epoch, beat=row.beat, beat_at=row.beat_at), row.epoch + 1


def standing_of(recorder: Recorder, row: RunRow) -> Standing:
    """What can be said of the holder of a run.

    A lease of this very process for which it neither runs a segment nor beats is that of a segment that could not
    say good-bye (it was interrupted while it wrote, or the store failed): dead, though its process lives.
    """
    found = standing(row.owner)
    if found is Standing.ALIVE and row.owner and mine(row.owner) and not holds(row.run_id, row.branch):
        return Standing.DEAD
    return found


def _take(recorder: Recorder, row: RunRow, owner: Owner, draft: Draft) -> None:
    run_id, branch = row.run_id, row.branch
    try:
        recorder.journal.append(
            Append(
                run_id,
                branch,
                [draft],
                segment=row.segment,
                guards={"epoch": row.epoch, "owner": row.owner}
                if row.owner is not None
                else {"epoch": row.epoch},
                changes={
                    "epoch": row.epoch + 1,
                    "owner": str(owner),
                    "beat": 0,
                    "beat_at": draft.at,
                    "ttl": int(recorder.settings.lease_ttl_s * 1e9),
                },
            )
        )
    except (AlreadyResumed, Fenced):
        raise _refused(recorder, find(recorder, run_id, branch) or row) from None


def release(recorder: Recorder, row: RunRow, epoch: int) -> None:
    """Give the lease back without a segment: something failed before the gate could speak."""
    recorder.heart.stop(row.run_id, row.branch)
    draft = Draft(kind="release", subject=me("").name, at=time.time_ns(), body={"epoch": epoch})
    recorder.journal.append(
        Append(row.run_id, row.branch, [draft], segment=row.segment, epoch=epoch, changes={"owner": None})
    )


def _refused(recorder: Recorder, row: RunRow) -> AlreadyResumed:
    """Append the loser's refusal, the only thing it may write, and say who won."""
    with recorder.store.reader.connect() as connection:
        lease = read.last_entry(connection, row.run_id, row.branch, "lease")
    # A winner that was quick has given the run back already; its lease entry still says who it was.
    winner = holder_name(row.owner) if row.owner or lease is None else lease.subject
    body = {"owner": row.owner, "winner": winner, "epoch": row.epoch, "by": me("").name}
    draft = Draft(kind="refusal", mark="lease", subject=winner, at=time.time_ns(), body=body)
    recorder.journal.append(
        Append(row.run_id, row.branch, [draft], segment=row.segment, changes={"refusals": 1})
    )
    return AlreadyResumed(row.run_id, winner, row.epoch, since=0 if lease is None else lease.at)


def holder_name(owner: str | None) -> str:
    return "nobody" if owner is None else Owner.parse(owner).name
