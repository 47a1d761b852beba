"""Does the resumed run still do what matters, call by call, while it goes on?

`Live` is told every call once. A call costs the same at the start and after ten thousand others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from . import outcome as outcomes
from .calls import Call, canonical
from .differing import Differing
from .ending import at_the_end
from .judge import Judge
from .loops import Turns
from .noise import Noise, learn_noise
from .pattern import Pattern, learn_pattern
from .places import Places
from .reading import Reading, Row
from .reason import Finding, Reason, combined, say
from .reissue import Reissues
from .strangers import Strangers, named_by
from .things import Things
from .verbs import family

KEPT: Final = 2_000
"""Findings kept; the score has long reached 1 by then, and what is beyond is counted."""
STRANGE: Final = 3
"""So many tools without one of the baselines' are another agent's."""
NOTES: Final = 100
"""Notes kept about what was left out."""


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
    beyond: int = 0
    """Findings that were not kept."""
    finished: bool = False
    comparable: bool = True
    """False when the baselines turn out to act on other records."""
    noise: Noise = field(default_factory=Noise)
    foreign: set[str] = field(default_factory=set)
    """Tools of the run that no baseline has, while none of its tools is one of theirs."""
    met: bool = False
    """Did the run use a tool of the baselines?"""
    _turns: Turns = field(default_factory=Turns)
    _circle: Finding | None = None
    _places: Places = field(default_factory=Places)
    _reissues: Reissues = field(default_factory=Reissues)
    _strangers: Strangers = field(default_factory=Strangers)
    _failures: dict[str, Call] = field(default_factory=dict)
    _done: set[str] = field(default_factory=set)

    @classmethod
    def start(
        cls,
        baselines: Sequence[object],
        pre: Sequence[object],
        *,
        identity: Mapping[str, Iterable[str]] | None = None,
        grant: Collection[str] | None = None,
        calibrated: bool = True,
    ) -> Live:
        """Compare what follows *pre* (the interrupted attempt, oldest first) with *baselines*.

        A baseline is a list of calls, or `{"tools": [calls]}`; one that is empty and says `"success": True` means
        that nothing was to be done. *identity* names, per tool, the arguments that say what an effect is; *grant*
        the tools that may be called; *calibrated*, whether to learn how much the baselines differ among themselves.
        """
        before = [canonical(record, n) for n, record in enumerate(pre)]
        runs = [[canonical(record, n) for n, record in enumerate(calls_of(run))] for run in baselines]
        idle = sum(isinstance(r, Mapping) and r.get("success") is True and not calls_of(r) for r in baselines)
        committed = [call for call in before if call.phase != "lost"]
        pattern = learn_pattern(runs, committed, identity=identity, idle=idle)
        things = Things(pattern.effects, lambda effect: effect in pattern.most)
        reading = Reading(
            pattern.effects, pattern.groups, things, pattern.roles, lambda name: pattern.tokens[name] > 0
        )
        granted = None if grant is None else frozenset(family(t) for t in grant)
        live = cls(pattern, reading, Judge(pattern, reading, Differing(pattern, reading)), granted)
        live.left_out += pattern.left_out
        live.met = idle > 0 or not pattern.reads
        live._before(before)
        if calibrated and live.evidence:
            live.noise = learn_noise(runs, committed, lambda *some: _found(*some, identity=identity))
        return live

    def add(self, record: object) -> list[Reason]:
        """Take in the next call after the resume; the reasons that it adds."""
        call = canonical(record, self.calls)
        self.calls += 1
        if call.left_out and len(self.left_out) < NOTES:
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
        strange = self._strangers.step(call, self.pattern, self.reading, self.judge.differing.versus())
        self._places.look(call)
        self._reissues.look(call, self.pattern.orders)
        self.reading.after(call, rows, believe=not strange)
        self._meet(call)
        return self._keep([*new, *strange])

    def trial(self, record: object) -> list[Reason]:
        """What a planned write would add, were it executed now; strongest first. Nothing is taken in.

        The members of a batch are judged each by itself.
        """
        call = canonical(record, self.calls)
        new = self._outside_grant(call)
        if call.effective:
            for row in self._familiar_first(self.reading.rows(call)):
                blind = self._reissues.blind(call, row)
                new += blind if blind is not None else self.judge.opinion(call, row).findings
            new += self._places.early(call, self.pattern, self.judge.differing.versus())
        found = [self.noise.tempered(f) for f in _one_per_code(new) if self._counts(f)]
        return sorted(found, key=lambda r: -r.strength)

    def finish(self) -> list[Reason]:
        """The run has ended: what only shows at the end."""
        if self.finished:
            return []
        self.finished = True
        new = at_the_end(self.judge, self.findings, self._failures, self._done)
        return self._keep([*new, *self._strangers.at_the_end(self.judge.differing.versus())])

    @property
    def reasons(self) -> list[Reason]:
        """All reasons that stand, strongest first."""
        found = [self.noise.tempered(f) for f in self.findings if f.alive and self._counts(f)]
        return sorted(found, key=lambda r: -r.strength)

    @property
    def score(self) -> float:
        """1 − ∏(1 − strength) over the reasons that stand; hints alone stay below the alarm level."""
        return combined(self.reasons)

    @property
    def evidence(self) -> bool:
        """Is there anything that the run's effects can be compared with?"""
        return self.pattern.count > 0 and self.comparable and not self.strange_tools

    @property
    def strange_tools(self) -> bool:
        """Are the baselines another agent's? So it seems when several tools are known, and none is one of theirs."""
        return not self.met and len(self.foreign) >= STRANGE

    def _meet(self, call: Call) -> None:
        if not self.met and call.kind != "internal" and call.tool:
            self.met = call.tool in self.pattern.every_tool
            if not self.met and len(self.foreign) < STRANGE:
                self.foreign.add(call.tool)

    def _keep(self, new: list[Finding]) -> list[Reason]:
        if len(self.findings) + len(new) > KEPT:
            self.findings = [f for f in self.findings if f.alive]
        room = max(0, KEPT - len(self.findings))
        self.findings += new[:room]
        self.beyond += max(0, len(new) - room)
        return [self.noise.tempered(f) for f in new if f.alive and self._counts(f)]

    def _counts(self, finding: Finding) -> bool:
        versus = finding.reason.compared_with
        return not versus.endswith(("earlier run", "earlier runs")) or (
            self.comparable and not self.strange_tools
        )

    def _before(self, before: Sequence[Call]) -> None:
        strange = judged = 0
        told: set[str] = set()
        named: set[str] = set()
        self._reissues.before(before)
        for call in before:
            if call.left_out and len(self.left_out) < NOTES:
                self.left_out += [f"before the resume: {what}" for what in call.left_out]
            rows = self.reading.rows(call) if call.kind in {"write", "handoff"} else []
            if call.effective or (call.outcome == outcomes.UNKNOWN and rows):
                for row in rows:
                    judged += 1
                    strange += not self.judge.accept(call, row)
                    if call.effective and not self.pattern.count:
                        self.pattern.rules.learn(row.tool, row.fields, self.reading.memory)
                self._places.touch(call, self.pattern)
            self._reissues.past(call, rows)
            named |= named_by(call, self.pattern) - told
            told |= call.heard
            self.reading.after(call, rows)
            self._meet(call)
        self.reading.heard.answers.clear()
        elsewhere = (
            self.pattern.reads and len(named) >= 2 and not any(t in self.pattern.tokens for t in named)
        )
        if self.pattern.count and ((judged >= 3 and strange == judged) or elsewhere):
            self.comparable = False
            self.left_out.append(
                "the baselines act on other records; only rules without a baseline were used"
            )

    def _hard(self, call: Call) -> list[Finding]:
        new = self._outside_grant(call)
        weight = self._turns.step(call)
        usual = self.pattern.turns + 2 if self.pattern.turns else 0
        if weight >= 0.6 and self._turns.streak > usual:
            strength = 0.85 if weight >= 1 else 0.5 if weight >= 0.8 else 0.35 if weight >= 0.7 else 0.2
            if self._circle is None or not self._circle.alive or strength > self._circle.reason.strength:
                if self._circle is not None:
                    self._circle.alive = False
                said = (
                    f"{self._turns.streak} calls in a row brought back only what was known: the same again."
                )
                circle = Reason(
                    "run.turns_in_circles", strength, said, self._turns.first, call.name, "this run"
                )
                self._circle = Finding(circle)
                new.append(self._circle)
        return new

    def _outside_grant(self, call: Call) -> list[Finding]:
        if self.grant is None or family(call.name) in self.grant or call.kind == "internal":
            return []
        return [say("write.outside_grant", 0.9, f"{call.name} is not in the grant.", call, "the grant")]

    def _effective(self, call: Call, rows: list[Row]) -> list[Finding]:
        again = self._reissues.key_again(call, rows, self.reading)
        if again is not None:
            return again
        new: list[Finding] = []
        for row in self._familiar_first(rows):
            blind = self._reissues.blind(call, row)
            self._reissues.executed(row)
            new += blind if blind is not None else self.judge.judge(call, row)
            if not self.pattern.count:
                self.pattern.rules.learn(row.tool, row.fields, self.reading.memory)
        new += self._places.judge(call, rows, self.pattern, self.reading, self.judge.differing.versus())
        return _one_per_code(new)

    def _familiar_first(self, rows: list[Row]) -> list[Row]:
        """The effects of one call, those that a baseline has before the others: the order of a list says nothing."""
        if len(rows) < 2:
            return rows
        most = self.pattern.most
        return sorted(rows, key=lambda row: (not most.get(row.effect), repr(row.fields)))


def _found(
    baselines: Sequence[Sequence[Call]],
    run: Sequence[Call],
    whole: bool,
    *,
    identity: Mapping[str, Iterable[str]] | None,
) -> tuple[list[Finding], int]:
    """What would stand against a run if it were a resumed one, and the number of its effects."""
    live = Live.start([list(b) for b in baselines], [], identity=identity, calibrated=False)
    for call in run:
        live.add(call)
    if whole:
        live.finish()
    standing = [f for f in live.findings if f.alive and live._counts(f)]
    return standing, sum(live.judge.reading.counts.values())


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
