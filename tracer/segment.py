"""What does one process life of a run hold, and how does it make a step durable?

A segment owns the epoch. Everything it writes is refused after the first refusal (frameworks swallow exceptions
and let the model try again), in a forked child, and once another process has taken over.

A checkpoint is made in two parts: `prepare` cuts the state in memory, on the thread that owns it, and `commit`
writes it, on any thread. What is prepared goes into the journal in that order, before whatever is appended later.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from . import codec, faults
from .contract import CheckpointKind, Evidence, Identity, Plan, ResumePolicy, RunState
from .cut import Cut, Place
from .errors import Fenced, ForkedRun, SegmentPoisoned
from .holder import Holder
from .items import Items
from .journal import Append, Appended, Draft
from .line import Line
from .recorder import Recorder
from .seal import mask
from .spanref import SpanRef
from .store.tables import NONE, PENDING, UNSAMPLED
from .text import storable
from .tree import TreeWriter, digest_of, is_ref
from .types import REGISTRY

KNOWN_MOST = 50_000


class Segment:
    """The live writer of one branch of one run."""

    def __init__(
        self,
        recorder: Recorder,
        run_id: str,
        branch: str,
        number: int,
        epoch: int,
        *,
        plan: Plan,
        identity: Identity,
        policy: ResumePolicy,
        grants: tuple[str, ...],
        state: Holder,
        root_span: SpanRef,
        sampled: bool,
    ) -> None:
        self.recorder = recorder
        self.run_id = run_id
        self.branch = branch
        self.number = number
        self.epoch = epoch
        self.plan, self.identity, self.policy, self.grants = plan, identity, policy, grants
        self.state = state
        self.root_span = root_span
        self.export = (PENDING if sampled else UNSAMPLED) if recorder.tracing.enabled else NONE
        self.effects: dict[str, Any] = {"committed": 0, "failed": 0, "unknown": [], "last": None}
        self.approvals_used: list[str] = []
        self.evidence: Items[dict[str, Any]] = Items()
        self.over = False
        self._poison: BaseException | None = None
        self._lock = threading.RLock()
        """For what is in memory, and never held while something is written: an event loop may wait for it."""
        self._line = Line(self._lock, self._write, self.poison)
        self._ahead = self._durable = Place()
        """As of the last checkpoint that was prepared, and of the last one that the store has."""
        self._buffer: list[tuple[Draft, list[tuple[str, dict[str, Any]]], dict[str, int]]] = []
        self._new: dict[bytes, bytes] = {}
        self._known: set[bytes] = set()
        self._vault = recorder.vault() if recorder.settings.seal else None
        seal = self._vault.seal_text if self._vault else None
        self.writer = TreeWriter(self._put, seal=seal)
        self._clauses = TreeWriter(self._put, seal=seal)
        self._contract: Any = None
        self._pid = os.getpid()

    # -- where it stands --------------------------------------------------------------------------------------

    @property
    def _place(self) -> Place:
        return self._ahead if self._poison is None else self._durable

    @property
    def sequence(self) -> int:
        """Number of the last checkpoint that was prepared: whatever is appended from now on comes after it."""
        return self._place.sequence

    @property
    def position(self) -> int:
        """Sequence of the last advancing checkpoint that was prepared: see `Place`."""
        return self._place.position

    @property
    def durable(self) -> int:
        """Number of the last checkpoint that the store has."""
        return self._durable.sequence

    @property
    def last_id(self) -> bytes | None:
        """Id of the last checkpoint that was prepared."""
        return self._place.id

    def since(self, scope: str) -> int:
        """Sequence of the checkpoint after which a resume makes the calls of *scope* again."""
        return self._place.since(scope)

    # -- checkpoints ------------------------------------------------------------------------------------------

    def checkpoint(
        self,
        step: str,
        kind: CheckpointKind = CheckpointKind.STEP,
        *,
        changes: Mapping[str, Any] | None = None,
        drafts: list[Draft] | None = None,
        rows: list[tuple[str, dict[str, Any]]] | None = None,
        creates: list[tuple[str, dict[str, Any]]] | None = None,
        scope: str = "",
    ) -> int:
        """Make the state durable after a step; the sequence of the checkpoint.

        Args:
            scope: of an inner checkpoint, below which everything is finished.

        Raises:
            NotStorable: a value cannot be kept exactly (its path is named); the checkpoint before stays the head.
            StoreError, Fenced, SegmentPoisoned, ForkedRun: see `append`.
        """
        return self.commit(
            self.prepare(step, kind, changes=changes, drafts=drafts, rows=rows, creates=creates, scope=scope)
        )

    def prepare(
        self,
        step: str,
        kind: CheckpointKind = CheckpointKind.STEP,
        *,
        changes: Mapping[str, Any] | None = None,
        drafts: list[Draft] | None = None,
        rows: list[tuple[str, dict[str, Any]]] | None = None,
        creates: list[tuple[str, dict[str, Any]]] | None = None,
        scope: str = "",
    ) -> Cut:
        """Cut the state as it is now, to be given to `commit`. Waits for no disk and no network.

        Whoever does not commit it leaves that to the next append.

        Raises:
            NotStorable: a value cannot be kept exactly (its path is named); nothing was prepared.
            Fenced, SegmentPoisoned, ForkedRun: see `append`.
        """
        step = self.shown(storable(step, "$.step"))
        with self._lock:
            self.require_live()
            began = time.time_ns()
            span = self.recorder.tracing.child(began, self.root_span)
            if kind.last:
                self._look()
            before = self._place
            root = before.root if kind.repeats and before.root is not None else self._cut()
            contract = self._contract_ref()
            at = time.time_ns()
            draft = Draft(
                kind="checkpoint",
                mark=str(kind),
                subject=step,
                checkpoint=True,
                changed=root != before.root,
                size=sum(map(_weight, root.values())),
                at=at,
                span=span.pack(),
                export=self.export,
                body={},
            )
            place = before.after(kind, scope, draft.id, root)
            draft.body = {
                "root": root,
                "type": self.state.type_name,
                "version": self.state.version,
                "contract": contract,
                "parent": before.id.hex() if before.id else None,
                **({"inside": place.inside} if place.inside else {}),
            }
            faults.point("checkpoint.encoded")
            append = self._gathered(
                [*(drafts or ()), draft],
                changes={
                    "step": step,
                    "checkpoint_at": at,
                    "position": place.position,
                    **(changes or {}),
                },
                rows=rows,
                creates=creates,
            )
            cut = Cut(place, append, kind, draft.size, began)
            self._ahead = place
            self._line.join(cut)
            return cut

    def commit(self, cut: Cut) -> int:
        """Make durable what was prepared up to and with *cut*, in order; the sequence of its checkpoint.

        Raises:
            StoreError, Fenced, SegmentPoisoned: see `append`. What was prepared later is refused then, because it
                is written as a change of this.
        """
        self._line.through(cut)
        if cut.error is not None:
            if not isinstance(cut.error, Exception):
                self.require_live()  # the thread that wrote it was interrupted, not this one
            raise cut.error
        faults.point("checkpoint.committed")
        return cut.place.sequence

    def _write(self, cut: Cut) -> None:
        self.require_live()
        self._send(cut.append)
        self._durable = cut.place
        self.recorder.metrics.checkpoint(str(cut.kind), (time.time_ns() - cut.began) / 1e9, cut.size)

    def _look(self) -> None:
        """A change through an old alias that no checkpoint has noticed is found by this one, or never."""
        for value in self.state.fields().values():
            if type(value) is Items:
                value.look()

    def _cut(self) -> dict[str, Any]:
        fields = self.state.fields()
        self.state.check(fields)
        return self.writer.write(fields)

    def _contract_ref(self) -> Any:
        """The contract's object; written again only when a clause changed."""
        if self._contract is None:
            # Compared at the gate and shown by it, never given back to the agent: masked, not sealed.
            shown = self.recorder.shown.plain
            clauses = {
                "plan": shown(self.plan.to_plain()),
                "evidence": self.evidence,
                "effects": self.effects,
                "permissions": {"grants": shown(list(self.grants)), "used": self.approvals_used},
                "identity": shown(self.identity.to_plain()),
                "policy": self.policy.to_plain(),
            }
            data = codec.encode(self._clauses.write(clauses))
            digest = digest_of(data)
            self._put(digest, data)
            self._contract = {"$#": digest.hex(), "n": len(data), "s": 1}
        return self._contract

    def contract_changed(self) -> None:
        """A clause is no longer what the last checkpoint says."""
        self._contract = None

    def changed_path(self) -> str | None:
        """The first field that differs from the last checkpoint; None when the state is as recorded."""
        with self._lock:
            before = self._place.root
            if before is None:
                return None
            kept = self._new
            self._new = {}
            try:
                fields = self.state.fields()
                root = self.writer.write(fields)
            finally:
                self._new = {**kept, **self._new}
            for name, part in root.items():
                # What only lives here is opened again by every process; a resume changes nothing twice by that.
                reopened = name in self.state.runtime or REGISTRY.runtime_reason(type(fields[name]))
                if not reopened and before.get(name) != part:
                    return f"$.{name}"
            return None

    def resumed_from(
        self,
        root: dict[str, Any],
        contract: Any,
        last_id: bytes,
        sequence: int,
        position: int,
        inside: Mapping[str, int],
    ) -> None:
        """Take over what the checkpoint says, so that the next one costs what changes from here."""
        self._contract = None
        self._ahead = self._durable = Place(sequence, position, dict(inside), last_id, root)
        reader = self.recorder.reader()
        for name, value in self.state.fields().items():
            part = root.get(name)
            if part is not None and is_ref(part) and "k" in part and isinstance(value, list | dict):
                node = reader.node(part, value)
                if node is not None:
                    self.writer.remember(f"$.{name}", node, value)

    # -- other entries ----------------------------------------------------------------------------------------

    def note(
        self,
        draft: Draft,
        rows: list[tuple[str, dict[str, Any]]] | None = None,
        deltas: Mapping[str, int] | None = None,
    ) -> None:
        """An entry that may wait: it becomes durable with whatever is appended next."""
        with self._lock:
            self._buffer.append((draft, rows or [], dict(deltas or {})))

    def record_evidence(self, evidence: Evidence) -> None:
        """Evidence becomes durable with the next entry, and part of the contract from the next checkpoint."""
        plain = evidence.to_plain()
        # The contract keeps it exactly, sealed where it must be; the entry is for people.
        shown = {
            name: self.shown(value) if isinstance(value, str) else value for name, value in plain.items()
        }
        with self._lock:
            self.evidence.append(plain)
            self.contract_changed()
            self.note(
                Draft(kind="evidence", subject=shown["source"], body=shown, at=time.time_ns()),
                deltas={"evidence": 1},
            )

    def part(self, plain: Any, into: dict[bytes, bytes]) -> Any:
        """*plain*, or a reference to the objects that were put *into* for it."""
        return TreeWriter(into.__setitem__).whole(plain)

    def kept(self, plain: Any) -> Any:
        """*plain*, or a reference to objects that become durable with the next entry."""
        return TreeWriter(self._put).whole(plain)

    def shown(self, text: str) -> str:
        """*text* as lists, spans and pages may show it: a secret in it is masked."""
        return self._vault.mask(text) if self._vault else mask(text)

    def seal_text(self) -> Callable[[str, str], Any] | None:
        """What `codec.lower` takes to keep secrets out of clear text; None when sealing is off."""
        return self._vault.seal_text if self._vault else None

    def append(
        self,
        drafts: list[Draft],
        *,
        changes: Mapping[str, Any] | None = None,
        rows: list[tuple[str, dict[str, Any]]] | None = None,
        objects: Mapping[bytes, bytes] | None = None,
        creates: list[tuple[str, dict[str, Any]]] | None = None,
    ) -> Appended:
        """Make entries durable under this segment's epoch, with all that was noted before.

        Raises:
            SegmentPoisoned: something was refused before.
            Fenced: another process has taken over.
            StoreError: the store refused; in both cases nothing was written and nothing will pass after it.
        """
        return self._appended(drafts, changes=changes, rows=rows, objects=objects, creates=creates)

    def _appended(
        self,
        drafts: list[Draft],
        *,
        changes: Mapping[str, Any] | None = None,
        rows: list[tuple[str, dict[str, Any]]] | None = None,
        objects: Mapping[bytes, bytes] | None = None,
        creates: list[tuple[str, dict[str, Any]]] | None = None,
        last: bool = False,
    ) -> Appended:
        self.require_live()
        append: Append | None = None

        def made() -> Append:
            nonlocal append
            self.require_live()
            append = self._gathered(drafts, changes=changes, rows=rows, creates=creates)
            append.objects.update(objects or {})
            return append

        try:
            done = self._send(self._line.start(made))
            self.over = self.over or last
            return done
        except BaseException as error:
            if append is not None:  # interrupted on the way: what was gathered is in no buffer any more
                self.poison(error)
            raise
        finally:
            if append is not None:
                self._line.land(append)

    def _gathered(
        self,
        drafts: list[Draft],
        *,
        changes: Mapping[str, Any] | None,
        rows: list[tuple[str, dict[str, Any]]] | None,
        creates: list[tuple[str, dict[str, Any]]] | None,
    ) -> Append:
        """*drafts* with all that was noted and put before; the caller holds the lock."""
        buffered, self._buffer = self._buffer, []
        new, self._new = self._new, {}
        merged = dict(changes or {})
        all_rows: list[tuple[str, dict[str, Any]]] = []
        for _, noted, deltas in buffered:
            all_rows += noted
            for name, delta in deltas.items():
                merged[name] = merged.get(name, 0) + delta
        return Append(
            self.run_id,
            self.branch,
            [*(draft for draft, _, _ in buffered), *drafts],
            segment=self.number,
            epoch=self.epoch,
            changes=merged,
            objects={digest: data for digest, data in new.items() if digest not in self._known},
            sealed={
                bytes.fromhex(one.fingerprint): one.blob
                for one in (self._vault.pending() if self._vault else ())
            },
            rows=[*all_rows, *(rows or ())],
            creates=creates or [],
        )

    def _send(self, append: Append) -> Appended:
        try:
            done = self.recorder.journal.append(append)
        except BaseException as error:
            with self._lock:
                self.writer.forget()
                self._clauses.forget()
                self.contract_changed()
                self._known.clear()
            self.poison(error)
            raise
        with self._lock:
            if len(self._known) > KNOWN_MOST:
                self._known.clear()
            self._known.update(append.objects)
            if self._vault:
                self._vault.confirm(fingerprint.hex() for fingerprint in append.sealed)
        if self.export == PENDING:
            self.recorder.outbox.notify()
        return done

    def poison(self, error: BaseException) -> None:
        """The first refusal holds for the rest of the segment."""
        if self._poison is None:
            self._poison = error

    def require_live(self) -> None:
        """Raise unless this segment may still write."""
        if os.getpid() != self._pid:
            raise ForkedRun(self.run_id, self._pid, os.getpid())
        if self._poison is not None:
            if isinstance(self._poison, Fenced):
                raise self._poison
            raise SegmentPoisoned(
                self.run_id, f"{type(self._poison).__name__}: {self._poison}"
            ) from self._poison
        if self.over:
            raise SegmentPoisoned(self.run_id, "the segment has ended")

    def end(
        self, outcome: str, state: RunState, reason: str = "", *, drafts: list[Draft] | None = None
    ) -> None:
        """Give the lease back; the run stands at *state* from now on."""
        now = time.time_ns()
        row = {
            "at_run_id": self.run_id,
            "at_branch": self.branch,
            "at_segment": self.number,
            "ended_at": now,
            "outcome": outcome,
        }
        entry = Draft(kind="end", mark=outcome, subject=str(state), at=now, body={"reason": reason})
        self._appended(
            [*(drafts or ()), entry],
            changes={"state": str(state), "reason": reason, "state_at": now, "owner": None},
            rows=[("end segment", row)],
            last=True,
        )
        self.recorder.ended(self.run_id, self.branch)

    def interrupt(self, reason: str) -> None:
        """The process was told to end: say so in the journal, if this segment may still write."""
        if not self.over and self._poison is None and os.getpid() == self._pid:
            self.end("interrupted", RunState.INTERRUPTED, reason)

    def _put(self, digest: bytes, data: bytes) -> None:
        if digest not in self._known:
            self._new[digest] = data


def _weight(part: Any) -> int:
    return int(part["n"]) if is_ref(part) else len(codec.encode(part))
