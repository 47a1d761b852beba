"""Is this effect one that the baselines have, and not one too many?"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from .calls import Call, token
from .effects import is_amount
from .history import Done, History
from .index import posted
from .leaf import Leaf
from .nearest import Difference, Match, as_fields, equivalent, nearest, telling
from .pattern import Pattern
from .reading import Reading, Row, compared
from .reason import Finding, say, shown
from .sameness import agree
from .things import DID
from .verbs import SETS

LACKS: Final = {"id": 0.35, "number": 0.25, "date": 0.25}
"""What it says that a thing was never given a value that all baselines give it."""
LEFT_UNDONE: Final = 0.7
"""… that a step was left out which all baselines take."""
WRITTEN: Final = frozenset({"append", "write"})
"""Verbs that put text where more text is expected."""
_CODE = re.compile(
    r"[;={}|<>$`]|^(insert|update|delete|merge|select|create|alter|drop|begin|git|kubectl|curl|terraform|sudo)\b"
)
THIN: Final = 0.4
"""What a difference says that one baseline cannot tell from a value that is new in every run."""
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
    confirmed: set[tuple[str, str]] = field(default_factory=set)
    """Arguments whose value was that of the baselines at least once: they do not change from run to run."""
    thin: dict[tuple[str, str], list[tuple[Finding, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """Findings about arguments that one single baseline cannot say this of, and their full strength."""

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
            self._confirm(row)
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
            opinion.findings += self._added(call, row) if not opinion.findings else []
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
            opinion.then.append(lambda: self._confirm(row))
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
            return [self._repeated(call, row, had, self.versus())]
        if state == "whole":
            opinion.then.append(lambda: self._settle(row.group))
            return []
        if state == "part" and had <= 2 + len(pattern.totals):
            said = f"{call.name} does a part of what the baselines do; the rest is open."
            opinion.about = [say("effect.partial", 0.1, said, call, self.versus())]
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

    def _fresh(self, row: Row) -> bool:
        """Is this an effect of a usual kind, on what the usual look-up says of a world that has changed?"""
        pattern, new = self.pattern, False
        for path, found in row.fields:
            value = posted(found)
            if not value or found.kind == "flag" or value in pattern.index.by_value:
                continue
            if not self.reading.heard.fresh(found, pattern.fed[row.tool, path], pattern.heard):
                return False
            new = True
        return new

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
        opinion.about = (
            self._changed(call, row, match, opinion) if match is not None else self._extra(call, row)
        )
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

    def lacking(self, mark: Mark, match: Match, lacking: list[Difference]) -> Finding:
        """What a thing was never given, though every baseline gives it."""
        assert mark.row is not None
        names = ", ".join(d.path for d in lacking[:5])
        strength = max(
            LEFT_UNDONE if d.path.startswith(DID) else LACKS.get(d.before.kind if d.before else "", 0.12)
            for d in lacking
        )
        said = f"What {mark.row.tool} made was never given {names}, which every baseline gives."
        fields = as_fields(mark.call, tuple(lacking)) if mark.call is not None else ()
        finding = say("argument.left_out", strength, said, mark.call, self.versus(), fields)
        finding.partner = match.effect
        return finding

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
                self.versus(),
            )
        ]

    def versus(self) -> str:
        """What a comparison with the baselines is called."""
        return "1 earlier run" if self.pattern.count == 1 else f"{self.pattern.count} earlier runs"

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

    def _extra(self, call: Call, row: Row) -> list[Finding]:
        pattern = self.pattern
        scale = 1.0 if pattern.count > 1 else 0.95
        if row.tool not in pattern.tools:
            code, strength, what = "write.outside_plan", 0.85, "is a tool that neither plan nor baselines use"
        else:
            code, strength, what = "write.extra", 0.85, "has an effect that no baseline has"
        about = ", ".join(shown(f) for _, f in row.fields[:4])
        if self._fresh(row):
            said = f"{call.name} acts on {about}, which look-ups did not name to the baselines."
            return [say("write.follows_read", 0.2, said, call, self.versus())]
        said = f"{call.name} {what}: {about or 'no arguments'}."
        return [say(code, strength * scale, said, call, self.versus())]

    def _changed(self, call: Call, row: Row, match: Match, opinion: Opinion) -> list[Finding]:
        # What is lacking may still come; only the end can tell.
        found = [d for d in match.differences if d.after is not None]
        if not found:
            return []
        telling = [d for d in found if not self._follows(row, d)]
        if not telling:
            said = f"{call.name} differs from the baselines in {len(found)} argument(s), as its last look-up says."
            return [
                say("argument.follows_read", 0.1, said, call, self.versus(), as_fields(call, tuple(found)))
            ]
        number = self.reading.things.find(row.key) if row.key is not None else None
        mark = self.marks.get(number) if number is not None else None
        keyed = row.keyed | mark.keyed if mark is not None else row.keyed
        telling.sort(key=lambda d: -self._weight(call, d, keyed))
        first = telling[0]
        strength = self._weight(call, first, keyed) * (1.0 if self.pattern.count > 1 else 0.95)
        code = "argument.changed" if strength >= 0.3 else "argument.wording"
        if first.lookalike:
            code, strength = "argument.lookalike", 0.9
        before = shown(first.before) if first.before else "nothing"
        after = shown(first.after) if first.after else "nothing"
        only = " (they only look alike)" if first.lookalike else ""
        said = f"{call.name} has {call.path(first.path)} = {after} where the baselines have {before}{only}."
        finding = say(code, strength, said, call, self.versus(), as_fields(call, tuple(telling)))
        finding.partner = match.effect
        finding.stranger = any(
            d.after is not None
            and "@" in d.after.norm
            and d.after.norm not in self.reading.known
            and d.after.norm not in self.pattern.tokens
            for d in telling
        )
        if self._thin(call.tool, first) and strength < first.strength:
            full = 0.95 * first.strength
            opinion.then.append(lambda: self.thin[call.tool, first.path].append((finding, full)))
        return [finding]

    def _weight(self, call: Call, difference: Difference, keyed: Collection[str]) -> float:
        """A new key where keys are data is another effect; elsewhere it is an option."""
        if difference.before is None and difference.path in keyed:
            return max(0.75, difference.strength)
        before, after = difference.before, difference.after
        if (
            before is not None
            and after is not None
            and "born" in {before.kind, after.kind}
            and before.kind != after.kind
        ):
            return self._unborn(before, after)
        if self._thin(call.tool, difference):
            return min(THIN, difference.strength)
        return difference.strength

    def _thin(self, tool: str, difference: Difference) -> bool:
        """Is this a value that a run may make up for itself, as far as one single baseline can tell?"""
        before, after, pattern = difference.before, difference.after, self.pattern
        if before is None or after is None or pattern.count != 1 or not pattern.reads:
            return False
        if not {before.kind, after.kind} <= {"id", "date"} or (tool, difference.path) in self.confirmed:
            return False
        if "date" in {before.kind, after.kind} and (
            ("", difference.path) in self.confirmed or after.norm <= before.norm
        ):
            return False  # Days that are new in every run only grow.
        return before.key not in pattern.seen and after.key not in self.reading.seen

    def _confirm(self, row: Row) -> None:
        for path, found in row.fields:
            if found.kind in {"id", "date"} and (row.tool, path) not in self.confirmed:
                self.confirmed |= {(row.tool, path), ("", path)}
                for finding, strength in self.thin.pop((row.tool, path), ()):
                    finding.reason = replace(finding.reason, strength=strength)

    def _unborn(self, before: Leaf, after: Leaf) -> float:
        """One run names what it was given, the other something else: telling where the other was given one, too."""
        if before.kind != "born":
            return 0.6 if self.pattern.answers else 0.05
        origin = before.norm.partition("/")[0]
        given = any(found.norm.partition("/")[0] == origin for found in self.reading.born.values())
        return 0.8 if given and token(after) not in self.reading.born else 0.1

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

    def _follows(self, row: Row, found: Difference) -> bool:
        """Does a difference from the baselines follow what look-ups say?"""
        if self.reading.heard.follows(found.before, found.after, self.pattern.heard):
            return True
        for p, leaf in row.fields:
            if p == found.path and leaf is found.after:
                ruled = self.pattern.rules.expected(row.tool, p, row.fields, leaf, self.reading.memory, 2)
                return ruled is not None and ruled[0].norm == leaf.norm
        return False

    def _added(self, call: Call, row: Row) -> list[Finding]:
        """An option that no baseline gives is a hint; an address that nobody mentioned is another addressee."""
        known = self.pattern.roles.known.get(row.tool)
        for path, found in row.beside:
            if known is None or path in known or found.kind == "text":
                continue
            away = ("@" in found.norm or "://" in found.norm) and found.norm not in self.reading.known
            said = f"{call.name} has {call.path(path)} = {shown(found)}, which no baseline gives."
            return [say("argument.added", 0.6 if away else 0.12, said, call, self.versus())]
        return []

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
