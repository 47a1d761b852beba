"""Under which keys was a run written, and are they the ones at hand?

The first entry of a run names its keys by public ids: the digest key, without which no call is recognised again,
and the chain key, if there was one. A run goes on as it began: signed, or unsigned whatever is configured since.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .errors import ChainKeyMissing, IntegrityError, KeyMissing, WaypostError
from .integrity import Record, Tagger, genesis, tagger
from .keys import Keys
from .store import objects
from .store.rows import EntryRow

KEY: Final = "keys"
"""The name in the body of a first entry under which the ids stand."""


@dataclass(frozen=True, slots=True)
class Judged:
    """How one run is tagged, and what stands in the way of it."""

    tag: Tagger
    signed: bool
    error: WaypostError | None = None
    """What a process says that may not write to this run."""
    problem: str = ""
    """The same for a report; empty when the keys at hand are the run's."""
    readable: bool = True
    """False when not even the tags can be computed."""


class Signing:
    """The keys of this process, as far as they bind a run."""

    def __init__(
        self, chain: bytes | None = None, name: str = "", keys: Callable[[], Keys | None] = lambda: None
    ) -> None:
        """
        Args:
            chain: the HMAC key of the chain, or None.
            name: what the settings call it (`env:NAME`), for messages; may be empty.
            keys: the digest keys, or None where there is no key file; never makes one.
        """
        self.tag = tagger(chain)
        self.chain_id = "" if chain is None else _chain_id(chain)
        self._name = name
        self._keys = keys

    def names(self, run_id: str, keys: Keys) -> dict[str, str]:
        """What the first entry of a run says. That it is unsigned is said under the digest key, or anybody could."""
        return {
            "digest": keys.public_id,
            "chain": self.chain_id,
            "name": self._name,
            "proof": _proof(keys, run_id, self.chain_id),
        }

    def judge(self, run_id: str, start: Mapping[str, Any]) -> Judged:
        """What the body of the first entry of a run, *start*, means for this process."""
        said = start.get(KEY)
        if not isinstance(said, dict):
            return Judged(self.tag, bool(self.chain_id))
        keys, chain = self._keys(), str(said.get("chain"))
        if chain and chain != self.chain_id:
            problem = f"the chain key {_named(said.get('name'), chain)} is not configured here"
            if self.chain_id:
                problem += f", but {_named(self._name, self.chain_id)}"
            return Judged(self.tag, True, ChainKeyMissing(run_id, problem), problem, readable=False)
        tag = self.tag if chain else tagger()
        if keys is None:
            # A person's decision needs none; whoever resumes or relies on what is stored does.
            problem = f"the key file that it was written with ({said.get('digest')}) is not here; restore it"
            return Judged(tag, bool(chain), None, problem)
        if said.get("digest") != keys.public_id:
            problem = (
                f"it was written with the key file {said.get('digest')}, and {keys.where} is {keys.public_id};"
                " restore the one that belongs to this store"
            )
            return Judged(tag, bool(chain), KeyMissing(keys.where, f"run {run_id}: {problem}."), problem)
        if not hmac.compare_digest(str(said.get("proof")), _proof(keys, run_id, chain)):
            problem = "it says that it is unsigned, and nobody with the key file has said so"
            return Judged(tag, bool(chain), IntegrityError(run_id, problem), problem)
        return Judged(tag, bool(chain))


def unfit(run_id: str, branch: str, judged: Judged, last: list[tuple[EntryRow, bytes]]) -> str:
    """Why the newest entry of a branch is not what somebody with the run's keys wrote; empty when it is.

    Args:
        last: the newest entry with its stored body, after the one before it, if there is one.
    """
    if not last:
        return "it is missing"
    entry, stored = last[-1]
    before = last[-2][0].tag if len(last) > 1 else genesis(run_id, branch)
    if (
        judged.tag(before, record_bytes(entry, objects.unpack(stored, f"{run_id} entry {entry.entry}")))
        != entry.tag
    ):
        return "its tag does not fit what it holds"
    return ""


def record_bytes(entry: EntryRow, body: bytes) -> bytes:
    """The record of an entry as it is hashed; empty when a column holds what no writer of ours puts there."""
    record = Record(
        run_id=entry.run_id,
        branch=entry.branch,
        entry=entry.entry,
        sequence=entry.sequence or 0,
        kind=entry.kind,
        mark=entry.mark,
        id=entry.id,
        segment=entry.segment,
        epoch=entry.epoch,
        at=entry.at,
        subject=entry.subject,
        body=body,
        span=entry.span or b"",
    )
    try:
        return record.to_bytes()
    except (AttributeError, TypeError, ValueError, struct.error):
        return b""


def _chain_id(key: bytes) -> str:
    return hmac.digest(key, b"waypost-chain-key-id", "sha256").hex()[:16]


def _proof(keys: Keys, run_id: str, chain: str) -> str:
    data = b"\0".join((b"waypost-chain-1", run_id.encode(), chain.encode()))
    return hashlib.blake2b(data, key=keys.digest, digest_size=16).hexdigest()


def _named(name: Any, public_id: str) -> str:
    return f"{name} ({public_id})" if name else public_id
