"""Is this effect one that the baselines have, and not one too many?"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from .calls import Call
from .differing import Differing
from .effects import is_amount
from .history import Done, History
from .nearest import Match, equivalent, nearest, telling
from .pattern import Pattern
from .reading import Reading, Row, compared
from .reason import Finding, say, shown
from .sameness import agree
from .verbs import SETS

WRITTEN: Final = frozenset({"append", "write"})
"""Verbs that put text where more text is expected."""
_CODE = re.compile(
    r"[;={}|<>$`]|^(insert|update|delete|merge|select|create|alter|drop|begin|git|kubectl|curl|terraform|sudo)\b"
)
RULE_FROM_BASELINES: Final = 3
RULE_FROM_THE_RUN: Final = 5
"""Writes that must have followed a look-up before it is a rule."""


@dataclass(slots=True)
class Opinion:
    """What there is to say of one effect, and what to note once it is really done. Giving one changes nothing."""

    findings: list[Finding] = field(default_factory=list)
    then: list[Callable[[], object]] = field(default_factory=list)
    undone: bool = False
    """Does the effect take an earlier one back?"""
    about: list[Finding] = field(default_factory=list)
    """Of the findings, those about the thing; they fall when it is compared anew."""
    partner: int | None = None
    """The effect of the baselines that the thing stands for."""
    explained: bool = False


@dataclass(slots=True)
class Mark:
    """What a thing stands for as far as is known, and what was said of it."""

    partner: int | None = None
    findings: list[Finding] = field(default_factory=list)
    call: Call | None = None
    """The last call after the resume that had to do with it."""
    row: Row | None = None
    keyed: frozenset[str] = frozenset()
    """Arguments of its calls whose names are data themselves."""
    explained: bool = False
    """Was the last of its effects one too many, or a part of a sum? Then that is what there is to say."""


@dataclass(slots=True)
class Judge:
    """Judges the effects of one run as they come. Cost per effect does not grow with the run."""

    pattern: Pattern
    reading: Reading
    differing: Differing
    taken: Counter[int] = field(default_factory=Counter)
    """Baseline effects for which another effect stands in."""
    lost: Counter[int] = field(default_factory=Counter)
    """Effects of the interrupted attempt that its checkpoint does not know."""
    parts: dict[int, list[Finding]] = field(default_factory=lambda: defaultdict(list))
    """Findings about groups whose amounts do not add up yet."""
    marks: dict[int, Mark] = field(default_factory=dict)
    """By thing."""
    below: list[tuple[Row, str, str, int, str]] = field(default_factory=list)
    """Amounts below what a look-up said; they may be parts."""
    history: History = field(default_factory=History)

    def accept(self, call: Call, row: Row) -> bool:
        """Count an effect that happened before the resume, unjudged; False if no baseline has anything like it."""
        self.lost[row.effect] += call.phase == "lost"
        undoing = Opinion()
        if self._taken_back(call, row, undoing) is not None:
            for note in undoing.then:
                note()
            return True
        known = self.reading.counts[row.effect] + 1 <= self.pattern.most.get(row.effect, 0)
        if known:
            self.differing.confirm(row)
        opinion = Opinion()
        opinion.explained = call.kind == "handoff"
        if self.pattern.count and not opinion.explained:
            match = self.match(row)
            opinion.partner = match.effect if match is not None else None
            known = known or match is not None or self._adds_up(row) != "none"
        self._note(call, row, opinion, judged=False)
        return known

    def judge(self, call: Call, row: Row) -> list[Finding]:
        """Count one effect that was executed after the resume, and say what is wrong with it."""
        opinion = self.opinion(call, row)
        for note in opinion.then:
            note()
        if opinion.undone:
            return opinion.findings
        for finding in opinion.findings:
            finding.effect, finding.group = row.effect, row.group
            if row.group is not None:
                self.parts[row.group].append(finding)
        self._note(call, row, opinion)
        return opinion.findings

    def opinion(self, call: Call, row: Row) -> Opinion:
        """What `judge` would say, had this effect been executed now."""
        opinion = Opinion()
        opinion.findings = self._against(call, row, opinion)
        if not opinion.undone:
            opinion.findings += self.differing.added(call, row) if not opinion.findings else []
            stale = self._stale(call, row, opinion)
            opinion.findings += [stale] if stale is not None else []
        return opinion

    def _note(self, call: Call, row: Row, opinion: Opinion, *, judged: bool = True) -> None:
        """Count an effect, and remember what its thing stands for now."""
        number = self.reading.count(row)
        mark = self.marks.setdefault(number, Mark())
        self.release(mark)
        mark.partner, mark.findings = opinion.partner, opinion.about
        if mark.partner is not None:
            self.taken[mark.partner] += 1
        mark.keyed |= row.keyed
        mark.call, mark.row, mark.explained = call if judged else mark.call, row, opinion.explained
        self.history.remember(call, row, number, opinion.findings)

    def release(self, mark: Mark) -> None:
        for finding in mark.findings:
            finding.alive = False
        if mark.partner is not None:
            self.taken[mark.partner] -= 1
        mark.partner, mark.findings = None, []

    def _against(self, call: Call, row: Row, opinion: Opinion) -> list[Finding]:
        pattern, had = self.pattern, self.reading.counts[row.effect] + 1
        if call.kind == "handoff":
            opinion.explained = True
            return self._hand_over(call, row)
        most = pattern.most.get(row.effect, 0)
        if not pattern.count:
            back = self._taken_back(call, row, opinion)
            if back is None and had > 1:
                return [self._repeated(call, row, had, "this run before")]
            return back or []
        match = self.match(row)
        opinion.partner = match.effect if match is not None else None
        if had <= most:
            opinion.then.append(lambda: self.differing.confirm(row))
            return []
        if not most and had == 1 and self._as_told(row):
            return self._thing(call, row, match, opinion)
        state = (
            self._adds_up(row)
            if not most or self.parts.get(row.group if row.group is not None else -1)
            else "none"
        )
        opinion.explained = state != "none" or had > 1
        back = self._taken_back(call, row, opinion) if state != "whole" else None
        if back is not None:
            return back
        if most and state != "whole":
            return [self._repeated(call, row, had, self.differing.versus())]
        if state == "whole":
            opinion.then.append(lambda: self._settle(row.group))
            return []
        if state == "part" and had <= 2 + len(pattern.totals):
            said = f"{call.name} does a part of what the baselines do; the rest is open."
            opinion.about = [say("effect.partial", 0.1, said, call, self.differing.versus())]
            return list(opinion.about)
        if had > 1:
            return [self._repeated(call, row, had, "this run before")]
        return self._thing(call, row, match, opinion)

    def match(self, row: Row) -> Match | None:
        """The effect of the baselines that is nearest to the thing of this effect, as it stands after it."""
        effect = self.pattern.alias.get(row.net.effect, row.net.effect)
        number = self.reading.things.find(row.key) if row.key is not None else None
        mark = self.marks.get(number) if number is not None else None
        own = mark.partner if mark is not None else None
        if effect in self.pattern.stands and self._open(effect, own):
            return Match(effect, (), len(row.net.fields))
        found = nearest(row.net, self.pattern.index, lambda e: self._open(e, own))
        if found is None or any(d.after is not None and d.strength >= 0.5 for d in found.differences):
            return equivalent(row.net, self.pattern.index, lambda e: self._open(e, own)) or found
        return found

    def closed(self, row: Row) -> Match | None:
        """The effect of the baselines that a thing says anew, though all of its places are taken; None if it is new."""
        effect = self.pattern.alias.get(row.net.effect, row.net.effect)
        if effect in self.pattern.stands:
            return Match(effect, (), len(row.net.fields))
        for look in (nearest, equivalent):
            found = look(row.net, self.pattern.index, lambda _: True)
            if found is not None and not telling(found):
                return found
        return None

    def _open(self, effect: int, own: int | None) -> bool:
        """Is there still room for this effect of the baselines? *own* is what the thing stands for so far."""
        return self.taken[effect] - (effect == own) < self.pattern.stands.get(effect, 0)

    def _thing(self, call: Call, row: Row, match: Match | None, opinion: Opinion) -> list[Finding]:
        """What there is to say of the thing that an effect has to do with."""
        if match is None:
            opinion.about = self.differing.extra(call, row)
        else:
            number = self.reading.things.find(row.key) if row.key is not None else None
            mark = self.marks.get(number) if number is not None else None
            keyed = row.keyed | mark.keyed if mark is not None else row.keyed
            opinion.about = self.differing.changed(call, row, match, keyed, opinion.then)
        return list(opinion.about)

    def take(self, mark: Mark, effect: int) -> bool:
        """Let a thing stand for an effect of the baselines; False when there is no room left."""
        if not self._open(effect, None):
            return False
        mark.partner = effect
        self.taken[effect] += 1
        return True

    def adds_up(self, row: Row) -> bool:
        """Do the amounts of this effect's group add up to those of a baseline?"""
        if row.group is None:
            return False
        mine = self.reading.totals[row.group]
        return any(row.group in t and compared(mine, t[row.group]) == "whole" for t in self.pattern.totals)

    def unlike(self, mark: Mark, match: Match | None) -> list[Finding]:
        """What there is to say of a thing at the end of the run; empty for one that the run did not touch."""
        if mark.call is None or mark.row is None:
            return []
        opinion = Opinion()
        return self._thing(mark.call, mark.row, match, opinion)

    def _taken_back(self, call: Call, row: Row, opinion: Opinion) -> list[Finding] | None:
        back = self.history.take_back(call, row, self.reading)
        if back is None:
            return None
        opinion.undone = True
        opinion.then.append(lambda: self._strike(back.done))
        return [back.finding]

    def _strike(self, done: list[Done]) -> None:
        self.history.undone[done[0].row.effect] += 1
        for one in done:
            self.reading.strike(one.row, one.thing)
            for finding in one.findings:
                finding.alive = False
            mark = self.marks.get(one.thing)
            if mark is not None and not self.reading.things.all[one.thing].alive:
                self.release(mark)

    def _hand_over(self, call: Call, row: Row) -> list[Finding]:
        if not self.pattern.count or row.tool in self.pattern.tools:
            return []
        return [
            say(
                "handoff.unexpected",
                0.3,
                f"{call.name} hands over, which no baseline does.",
                call,
                self.differing.versus(),
            )
        ]

    def _repeated(self, call: Call, row: Row, had: int, versus: str) -> Finding:
        most = self.pattern.most.get(row.effect, 0)
        if row.message and not self.history.said_before(row):
            again = self._again(row, most)
            return say(
                "message.again",
                again,
                f"{call.name} was done {had} times for one record, in other words.",
                call,
                versus,
            )
        usual = (
            f"the baselines do it {most} time{'s' * (most != 1)} at most"
            if most
            else "once is all that is known"
        )
        return say(
            "write.repeated",
            0.9,
            f"{call.name} was done {had} times with equivalent arguments; {usual}.",
            call,
            versus,
        )

    def _again(self, row: Row, most: int) -> float:
        """How much another message to the same addressee says."""
        if row.tool.partition("_")[0] in WRITTEN or any(_CODE.search(f.norm) for _, f in row.beside):
            return 0.15  # More text where text is put, and statements that act on something else each time.
        if self.lost[row.effect]:
            return 0.6
        steady = self.pattern.count > 1 and self.pattern.least.get(row.effect, 0) == most
        return 0.55 if steady and most == 1 else 0.15

    def _adds_up(self, row: Row) -> str:
        """whole, part or none: do the amounts of this group so far add up to those of a baseline?"""
        if row.group is None or not row.amounts or row.tool.partition("_")[0] in SETS:
            return "none"
        mine = self.reading.with_row(row)
        best = "none"
        for totals in self.pattern.totals:
            theirs = totals.get(row.group)
            if theirs is None:
                continue
            state = compared(mine, theirs)
            if state == "whole":
                return state
            best = "part" if state == "part" else best
        return best

    def _settle(self, group: int | None) -> None:
        if group is not None:
            for finding in self.parts.pop(group, []):
                finding.alive = False

    def _as_told(self, row: Row) -> bool:
        """Does an amount differ from the baselines because the last look-up of its record does?"""
        rules, memory = self.pattern.rules, self.reading.memory
        told = [
            rules.expected(row.tool, path, row.fields, found, memory, RULE_FROM_BASELINES)
            for path, found in row.fields
            if is_amount(path, found)
        ]
        known = [t[0].number for t in told if t is not None]
        return bool(known) and set(known) <= set(row.amounts.values())

    def _stale(self, call: Call, row: Row, opinion: Opinion) -> Finding | None:
        least = RULE_FROM_BASELINES if self.pattern.count else RULE_FROM_THE_RUN
        for path, found in row.fields:
            if found.kind not in {"number", "word"}:
                continue
            ruled = self.pattern.rules.expected(row.tool, path, row.fields, found, self.reading.memory, least)
            if ruled is None or agree(ruled[0], found):
                continue
            told, source, _ = ruled
            last = f"{source[0]} last said {source[1]} = {shown(told)}"
            said = f"{call.name} has {call.path(path)} = {shown(found)}, but {last}."
            if (
                is_amount(path, found)
                and row.group is not None
                and found.number is not None
                and told.number is not None
            ):
                total = self.reading.with_row(row).sums.get(path)
                if total == told.number:
                    continue
                if abs(found.number) < abs(told.number):
                    part = (row, path, said, call.index, told.norm)
                    opinion.then.append(partial(self.below.append, part))
                    continue
            return say("argument.stale", 0.75, said, call, "the last look-up of the record")
        return None
