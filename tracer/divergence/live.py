"""Does the resumed run still do what matters, call by call, while it goes on?

`Live` is told every call once. A call costs the same at the start and after ten thousand others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from . import outcome as outcomes
from .calls import Call, canonical, family, is_identifier, token
from .ending import at_the_end
from .judge import Judge
from .loops import Turns
from .order import Touched, records_of
from .pattern import Pattern, learn_pattern
from .reading import Reading, Row
from .reason import Finding, Reason, combined

KEPT: Final = 2_000
"""Findings kept; the score has long reached 1 by then, and what is beyond is counted."""


UNHEARD: Final = (0.2, 0.25, 0.28, 0.29)
"""What look-ups of one, two, … records that nobody mentioned say; reads never alarm by themselves."""


@dataclass(slots=True)
class Live:
    """The state of one comparison. Make one with `Live.start`, then `add` each call, then `finish`."""

    pattern: Pattern
    reading: Reading
    judge: Judge
    grant: frozenset[str] | None = None
    findings: list[Finding] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    calls: int = 0
    finished: bool = False
    comparable: bool = True
    """False while no call of the run uses a tool of the baselines, or when they act on other records."""
    _met: bool = False
    _turns: Turns = field(default_factory=Turns)
    _circle: Finding | None = None
    _touched: Touched = field(default_factory=Touched)
    _kept: Counter[tuple[str, str]] = field(default_factory=Counter)
    _keys: dict[str, Call] = field(default_factory=dict)
    _in_flight: dict[int, Call] = field(default_factory=dict)
    _flying: dict[str, list[int]] = field(default_factory=dict)
    _redo: Counter[str] = field(default_factory=Counter)
    _strange: set[str] = field(default_factory=set)
    _familiar: int = 0
    """Calls that named a record the run or the baselines knew; `_stray` counts the others."""
    _stray: int = 0
    _unseen: dict[str, tuple[Finding, float]] = field(default_factory=dict)
    _looked: set[int] = field(default_factory=set)
    _failures: dict[str, Call] = field(default_factory=dict)
    _done: set[str] = field(default_factory=set)
    _writes: int = 0

    @classmethod
    def start(
        cls,
        baselines: Sequence[object],
        pre: Sequence[object],
        *,
        identity: Mapping[str, Iterable[str]] | None = None,
        grant: Collection[str] | None = None,
    ) -> Live:
        """Compare with *baselines* (runs: lists of calls, or `{"tools": [calls]}`) what follows *pre* (the interrupted attempt, oldest first).

        *identity* names, per tool, the arguments that say what an effect is; *grant* the tools that may be called.
        """
        before = [canonical(record, n) for n, record in enumerate(pre)]
        runs = [[canonical(record, n) for n, record in enumerate(calls_of(run))] for run in baselines]
        idle = sum(
            1
            for run in baselines
            if isinstance(run, Mapping) and run.get("success") is True and not calls_of(run)
        )
        committed = [call for call in before if call.phase != "lost"]
        pattern = learn_pattern(runs, committed, identity=identity, idle=idle)
        reading = Reading(
            pattern.effects, pattern.groups, pattern.roles, lambda name: pattern.tokens[name] > 0
        )
        live = cls(
            pattern,
            reading,
            Judge(pattern, reading),
            grant=None if grant is None else frozenset(family(t) for t in grant),
        )
        live.left_out += pattern.left_out
        live._met = idle > 0 or not pattern.reads
        live._before(before)
        return live

    def add(self, record: object) -> list[Reason]:
        """Take in the next call after the resume; the reasons that it adds."""
        call = canonical(record, self.calls)
        self.calls += 1
        if call.left_out and len(self.left_out) < 100:
            self.left_out += call.left_out
        new = self._hard(call)
        rows = self.reading.rows(call) if call.kind in {"write", "handoff"} else []
        if call.effective:
            new += self._effective(call, rows)
        elif call.outcome == outcomes.UNKNOWN:
            for row in rows:
                self.judge.accept(call, row)
        elif call.outcome == outcomes.FAILED and rows:
            self._failures.setdefault(_mark(call, rows), call)
        if call.outcome in {outcomes.DONE, outcomes.NOTHING, outcomes.REPLAYED} and rows:
            self._done.add(_mark(call, rows))
        strange = self._reads(call)
        new += strange
        self._look(call)
        self.reading.after(call, rows, believe=not strange)
        self._met = self._met or call.tool in self.pattern.every_tool
        if len(self.findings) < KEPT:
            self.findings += new
        return [f.reason for f in new if f.alive and self._counts(f)]

    def finish(self) -> list[Reason]:
        """The run has ended: what only shows at the end."""
        if self.finished:
            return []
        self.finished = True
        new = at_the_end(self.judge, self.findings, self._failures, self._done)
        if self._stray and (not self._familiar or self._stray >= max(3, self._familiar)):
            strength = 0.5 if self._familiar else 0.7 if self._stray > 1 else 0.55
            said = f"{self._stray} of {self._stray + self._familiar} calls that name a record name one that neither this run"
            new.append(self._end("run.other_records", strength, f"{said} nor a baseline had mentioned."))
        self.findings += new
        return [f.reason for f in new if f.alive and self._counts(f)]

    def _end(self, code: str, strength: float, sentence: str) -> Finding:
        return Finding(Reason(code, strength, sentence, None, "", self.judge.versus()))

    @property
    def reasons(self) -> list[Reason]:
        """All reasons that stand, strongest first."""
        found = [f.reason for f in self.findings if f.alive and self._counts(f)]
        return sorted(found, key=lambda r: -r.strength)

    @property
    def score(self) -> float:
        """1 − ∏(1 − strength) over the reasons that stand."""
        return combined(self.reasons)

    @property
    def evidence(self) -> bool:
        """Is there anything that the run's effects can be compared with?"""
        return self.pattern.count > 0 and self.comparable and self._met

    def _counts(self, finding: Finding) -> bool:
        versus = finding.reason.compared_with
        return not versus.endswith(("earlier run", "earlier runs")) or (self.comparable and self._met)

    def _before(self, before: Sequence[Call]) -> None:
        strange = judged = 0
        self._redo.update(call.shape for call in before if call.phase == "lost" and call.kind == "read")
        for call in before:
            if call.left_out:
                self.left_out += [f"before the resume: {what}" for what in call.left_out]
            rows = self.reading.rows(call) if call.kind in {"write", "handoff"} else []
            if call.effective or (call.outcome == outcomes.UNKNOWN and rows):
                for row in rows:
                    judged += 1
                    strange += not self.judge.accept(call, row)
                    if call.effective and not self.pattern.count:
                        self.pattern.rules.learn(row.tool, row.fields, self.reading.memory)
                self._touch(call)
                if call.outcome == outcomes.UNKNOWN:
                    self._fly(call, rows)
            if call.key and call.outcome in {outcomes.DONE, outcomes.UNKNOWN}:
                self._keys[call.key] = call
            self.reading.after(call, rows)
            self._met = self._met or call.tool in self.pattern.every_tool
        told: set[str] = set()
        named: set[str] = set()
        for call in before:
            named |= self._named(call) - told
            told |= call.heard
        elsewhere = (
            self.pattern.reads and len(named) >= 2 and not any(t in self.pattern.tokens for t in named)
        )
        if self.pattern.count and ((judged >= 3 and strange == judged) or elsewhere):
            self.comparable = False
            self.left_out.append(
                "the baselines act on other records than this run; only rules without a baseline were used"
            )

    def _hard(self, call: Call) -> list[Finding]:
        new: list[Finding] = []
        if self.grant is not None and call.tool not in self.grant and call.kind != "internal":
            new.append(
                Finding(
                    Reason(
                        "write.outside_grant",
                        0.9,
                        f"{call.name} is not in the grant.",
                        call.index,
                        call.name,
                        "the grant",
                    )
                )
            )
        weight = self._turns.step(call)
        usual = self.pattern.turns + 2 if self.pattern.turns else 0
        if weight >= 0.6 and self._turns.streak > usual:
            strength = 0.85 if weight >= 1 else 0.5 if weight >= 0.8 else 0.25
            if self._circle is None or not self._circle.alive or strength > self._circle.reason.strength:
                if self._circle is not None:
                    self._circle.alive = False
                self._circle = Finding(
                    Reason(
                        "run.turns_in_circles",
                        strength,
                        f"{self._turns.streak} calls in a row brought back only what was "
                        "known: the same arguments, the same answers.",
                        self._turns.first,
                        call.name,
                        "this run",
                    )
                )
                new.append(self._circle)
        return new

    def _effective(self, call: Call, rows: list[Row]) -> list[Finding]:
        earlier = self._keys.get(call.key) if call.key else None
        if earlier is not None:
            return self._key_again(call, earlier, rows)
        if call.key:
            self._keys[call.key] = call
        new: list[Finding] = []
        for row in rows:
            if row.effect in self._in_flight:
                new += self._in_flight_again(call, row)
                continue
            new += self.judge.judge(call, row)
            if not self.pattern.count:
                self.pattern.rules.learn(row.tool, row.fields, self.reading.memory)
        new += self._order(call, rows)
        return _one_per_code(new)

    def _key_again(self, call: Call, earlier: Call, rows: list[Row]) -> list[Finding]:
        if earlier.tool != call.tool or {r.effect for r in self.reading.rows(earlier)} != {
            r.effect for r in rows
        }:
            return [
                Finding(
                    Reason(
                        "replay.differs",
                        0.7,
                        f"The key of call {earlier.index} ({earlier.name}) came back with other arguments.",
                        call.index,
                        call.name,
                        "the interrupted attempt",
                    )
                )
            ]
        fresh = {token(f.leaf) for f in call.told if is_identifier(f.path, f.leaf)} - call.mentions
        known = {token(f.leaf) for f in earlier.told if is_identifier(f.path, f.leaf)} - earlier.mentions
        if fresh and known and not fresh & known:
            return [
                Finding(
                    Reason(
                        "write.key_executed_again",
                        0.95,
                        f"{call.name} was executed again under a key that was "
                        "already used; the answer names a new record.",
                        call.index,
                        call.name,
                        "the interrupted attempt",
                    )
                )
            ]
        return [
            Finding(
                Reason(
                    "key.resent",
                    0.02,
                    f"{call.name} was sent again under its own key.",
                    call.index,
                    call.name,
                    "the interrupted attempt",
                )
            )
        ]

    def _in_flight_again(self, call: Call, row: Row) -> list[Finding]:
        first = self._in_flight.pop(row.effect)
        if row.effect in self._looked:
            return []  # Somebody looked whether it had arrived; doing it once more was a decision.
        return [
            Finding(
                Reason(
                    "write.blind_reissue",
                    0.9,
                    f"{call.name} was sent again, though nobody knew whether call "
                    f"{first.index} before the resume had arrived.",
                    call.index,
                    call.name,
                    "the interrupted attempt",
                )
            )
        ]

    def _order(self, call: Call, rows: list[Row]) -> list[Finding]:
        new: list[Finding] = []
        early = self._touch(call)
        if early is not None:
            other, kept, records = early
            # A run that keeps the order on its other records breaks it here; one that never does has another way.
            elsewhere = kept > 1 and records >= 4 and self._kept[call.tool, other] > 0
            new.append(
                Finding(
                    Reason(
                        "write.out_of_order",
                        0.65 if elsewhere else self.pattern.order.strength(kept, records),
                        f"{call.name} came after {other} on one record; every baseline has it before.",
                        call.index,
                        call.name,
                        self.judge.versus(),
                    )
                )
            )
        for row in rows:
            for path, found in row.fields:
                name = token(found) if found.hard else ""
                given, known = self.pattern.prepared.get((row.tool, path), (0, 0))
                if name and given and given == known and name not in self.reading.memory.looked:
                    sure = 0.35 if given > 1 else 0.25
                    new.append(
                        Finding(
                            Reason(
                                "write.before_lookup",
                                0.15,
                                f"{call.name} acts on {name} without the look-up that "
                                "comes first in the baselines.",
                                call.index,
                                call.name,
                                self.judge.versus(),
                            )
                        )
                    )
                    self._unseen[name] = (new[-1], sure)
                    break
        return new

    def _touch(self, call: Call) -> tuple[str, int, int] | None:
        found = None
        for record in records_of(call, self.pattern.common):
            earlier = self._touched.touch(record, call.tool)
            self._kept.update((first, call.tool) for first in earlier)
            found = found or self.pattern.order.broken_by(call.tool, earlier)
        return found

    def _fly(self, call: Call, rows: list[Row]) -> None:
        for row in rows:
            self._in_flight[row.effect] = call
            for name in call.mentions:
                self._flying.setdefault(name, []).append(row.effect)

    def _look(self, call: Call) -> None:
        if self._unseen and call.kind == "read":
            for name in call.mentions & self._unseen.keys():
                finding, strength = self._unseen.pop(name)
                finding.reason = replace(
                    finding.reason,
                    strength=strength,
                    sentence=f"{finding.reason.sentence} It came after the write.",
                )
        if self._flying and call.kind == "read" and call.outcome == outcomes.DONE:
            if self._redo[call.shape] > 0:
                self._redo[call.shape] -= 1  # Redoing what was lost is no look at what became of the write.
                return
            for name in call.mentions | (call.heard & self._flying.keys()):
                self._looked.update(self._flying.get(name, ()))

    def _named(self, call: Call) -> set[str]:
        """The records that a call names itself, without what is new in every run by design."""
        if call.kind == "internal":
            return set()
        fields = [
            (p, f) for p, f in call.scalars if f.hard and not self.pattern.roles.is_volatile(call.tool, p)
        ]
        return {token(f) for _, f in fields} - {""}

    def _reads(self, call: Call) -> list[Finding]:
        if not self.pattern.count or not self.pattern.reads or not call.mentions or call.kind == "internal":
            return []
        named = self._named(call)
        strange = [t for t in named if t not in self.reading.known and t not in self.pattern.tokens]
        if not strange:
            self._familiar += bool(named)
            return []
        self._stray += 1
        if call.kind != "read":
            return []
        self._strange.update(strange[:50])
        strength = UNHEARD[min(len(self._strange), len(UNHEARD)) - 1]
        return [
            Finding(
                Reason(
                    "read.unheard_record",
                    strength,
                    f"{call.name} looks up {strange[0]}, which neither this run "
                    "nor a baseline had mentioned.",
                    call.index,
                    call.name,
                    self.judge.versus(),
                )
            )
        ]


def calls_of(run: object) -> Sequence[object]:
    """The calls of one run record; empty for anything else."""
    if isinstance(run, Mapping):
        run = run.get("tools", run.get("calls", ()))
    return sequence(run)


def sequence(value: object) -> Sequence[object]:
    """The value if it is a list or tuple; empty otherwise."""
    return value if isinstance(value, (list, tuple)) else ()


def _one_per_code(findings: list[Finding]) -> list[Finding]:
    """A batch gives one reason per code, the strongest; the others stay silent beside it."""
    best: dict[str, Finding] = {}
    for finding in findings:
        kept = best.get(finding.reason.code)
        if kept is None or finding.reason.strength > kept.reason.strength:
            best[finding.reason.code] = finding
    return [f for f in findings if best[f.reason.code] is f]


def _mark(call: Call, rows: list[Row]) -> str:
    return f"{call.tool}:{rows[0].group if rows[0].group is not None else rows[0].effect}"
