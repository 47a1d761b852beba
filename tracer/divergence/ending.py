"""What can only be said when the run has ended?"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from typing import Final

from .calls import Call
from .effects import Effect, amounts, without_amounts
from .heard import said_of, shows, valued
from .judge import Judge, Mark
from .nearest import Match, telling, text_of
from .reading import Totals, compared
from .reason import Finding, Reason, say, shown
from .things import DID
from .verbs import SETS

LOOSE: Final = 1_000
ROUNDS: Final = 4
"""Things that are settled anew at the end, and how often one is that found its place taken."""
NAMED: Final = 20
"""Missing effects that are named one by one."""


def at_the_end(
    judge: Judge, findings: list[Finding], failures: dict[str, Call], done: set[str]
) -> list[Finding]:
    """The end-of-run findings. Earlier findings that turn out to net to nothing fall here."""
    out: list[Finding] = []
    if judge.pattern.count:
        out += _settle(judge)
        _together(judge, [*findings, *out])
        out += _partial(judge)
        out += _missing(judge)
    out += _below(judge)
    out += _gave_up(judge, failures, done, bool(out))
    return out


def _settle(judge: Judge) -> list[Finding]:
    """Give every thing the baseline effect that it is nearest to, now that all have come, and say what differs.

    While the run goes on each takes what is nearest at the moment; a thing that is complete only later may find its
    place taken.
    """
    out: list[Finding] = []
    spare: list[Mark] = []
    loose: list[tuple[float, int, Mark, Match | None]] = []
    for number, mark in judge.marks.items():
        net = judge.reading.things.all[number].net
        if mark.row is None or mark.explained or not judge.reading.things.all[number].alive:
            continue
        if mark.partner == judge.pattern.alias.get(net.effect, net.effect):
            continue
        if len(loose) < LOOSE:
            loose.append((0.0, number, mark, None))
    for _, _, mark, _ in loose:
        judge.release(mark)
    for again in range(ROUNDS):
        tried = []
        for _, number, mark, _ in loose:
            assert mark.row is not None
            match = judge.match(replace(mark.row, net=judge.reading.things.all[number].net))
            tried.append((match.cost if match is not None else 9.0, number, mark, match))
        loose = []
        for cost, number, mark, match in sorted(tried, key=lambda t: (t[0], _order(judge, t[1]))):
            if match is not None and not judge.take(mark, match.effect) and again < ROUNDS - 1:
                loose.append((cost, number, mark, match))
                continue
            out += _said(judge, mark, match)
            if match is None or telling(match):
                spare.append(mark)
    return out + _doubled(judge, spare)


def _order(judge: Judge, number: int) -> tuple[object, ...]:
    """The place of a thing among those that fit equally well, whatever order they came in within a call."""
    mark = judge.marks[number]
    call = mark.call.index if mark.call is not None else -1
    return call, text_of(judge.reading.things.all[number].net.fields), number


def _said(judge: Judge, mark: Mark, match: Match | None) -> list[Finding]:
    if mark.explained or mark.row is None:
        return []
    whole = judge.adds_up(mark.row)
    found = [] if whole else judge.unlike(mark, match)
    lacking = [d for d in match.differences if d.after is None] if match is not None else []
    lacking = [d for d in lacking if not whole or d.path.startswith(DID)]
    if match is not None and lacking and judge.pattern.always.get(match.effect):
        found = [*found, judge.differing.lacking(mark.call, mark.row, match, lacking)]
    for finding in found:
        finding.effect, finding.group = mark.row.effect, mark.row.group
        mark.findings.append(finding)
    return found


def _doubled(judge: Judge, spare: list[Mark]) -> list[Finding]:
    """Things without a place of their own that say what another one has said already."""
    out: list[Finding] = []
    for mark in spare:
        if mark.explained or mark.row is None or judge.adds_up(mark.row):
            continue
        twin = judge.closed(mark.row)
        if twin is None:
            continue
        other = next(
            (m for m in judge.marks.values() if m.partner == twin.effect and m.call is not None), None
        )
        call = mark.call or (other.call if other is not None else None)
        if call is None:
            continue
        for finding in mark.findings:
            finding.alive = False
        judge.release(mark)
        said = f"{call.name} did once more what had been done; the baselines do it as often as it was done before."
        out.append(say("write.repeated", 0.9, said, call, judge.differing.versus()))
        out[-1].effect = mark.row.effect
    return out


def _missing(judge: Judge) -> list[Finding]:
    pattern, reading = judge.pattern, judge.reading
    lost: dict[str, list[Effect]] = defaultdict(list)
    groups: set[int] = set()
    for number, least in pattern.always.items():
        effect = pattern.effects.effects[number]
        if effect.tool in pattern.hand_overs:
            continue
        if judge.taken[number] >= (1 if number in pattern.messages else least):
            continue
        if amounts(effect.fields):
            group = pattern.groups.intern(effect.tool, without_amounts(effect.fields))
            mine = reading.totals.get(group)
            if mine is not None and mine.count > 0 and group in judge.parts:
                continue
            if group in groups or (mine is not None and _whole(judge, group, mine)):
                continue  # Its amounts came in other parts.
            groups.add(group)
        if any(judge.reading.heard.gone(valued(f), pattern.heard) for _, f in effect.fields if f.hard):
            continue  # The world does not have it any more.
        if _seen_done(judge, effect):
            continue
        lost[effect.tool].append(effect)
    lost.update(_whole_groups(judge, groups))
    out: list[Finding] = []
    strength = 0.9 if pattern.count > 1 else 0.8
    for tool, effects in lost.items():
        about = "; ".join(", ".join(shown(f) for _, f in e.fields[:3]) for e in effects[:3])
        more = f" and {len(effects) - 3} more" if len(effects) > 3 else ""
        name = pattern.names.get(tool, tool)
        said = f"{name} did not come for {about}{more}, which every baseline has."
        out.append(say("effect.missing", strength, said, None, judge.differing.versus()))
        out[-1].reason, out[-1].family = replace(out[-1].reason, tool=name), tool
        if _never(judge, tool):
            out[
                -1
            ].family = f"{tool} at all"  # Baselines that differ in some effects of a kind all have some.
    return out[:NAMED]


def _never(judge: Judge, tool: str) -> bool:
    """Did the run nothing at all of this kind?"""
    return not any(
        count > 0 and judge.pattern.effects.effects[effect].tool == tool
        for effect, count in judge.taken.items()
    )


def _seen_done(judge: Judge, effect: Effect) -> bool:
    """Did a look-up after the resume show that somebody had done it?"""
    said = said_of(effect.fields)
    return judge.pattern.reads and any(
        about not in judge.pattern.orders and shows(told, asked, said)
        for about, asked, told in judge.reading.heard.answers
    )


def _whole(judge: Judge, group: int, mine: Totals) -> bool:
    return any(group in t and compared(mine, t[group]) == "whole" for t in judge.pattern.totals)


def _whole_groups(judge: Judge, found: set[int]) -> dict[str, list[Effect]]:
    """Groups that every baseline has, in whatever parts, and this run has not at all."""
    pattern = judge.pattern
    out: dict[str, list[Effect]] = defaultdict(list)
    if pattern.count < 2:
        return out
    met = {pattern.group_of.get(effect) for effect, count in judge.reading.counts.items() if count > 0}
    for group in set(pattern.totals[0]).intersection(*pattern.totals[1:]):
        mine = judge.reading.totals.get(group)
        tool = pattern.groups.effects[group].tool
        if tool in pattern.hand_overs or tool.partition("_")[0] in SETS:
            continue  # What is set is compared thing by thing.
        if (
            group not in found
            and group not in met
            and (mine is None or mine.count <= 0)
            and not _stood_in(judge, group)
        ):
            if any(pattern.totals[n][group].count <= 0 for n in range(pattern.count)):
                continue
            out[pattern.groups.effects[group].tool].append(pattern.groups.effects[group])
    return out


def _stood_in(judge: Judge, group: int) -> bool:
    for effect in judge.taken:
        known = judge.pattern.effects.effects[effect]
        if (
            amounts(known.fields)
            and judge.pattern.groups.intern(known.tool, without_amounts(known.fields)) == group
        ):
            return True
    return False


def _partial(judge: Judge) -> list[Finding]:
    """Parts that never added up."""
    out: list[Finding] = []
    for group, parts in judge.parts.items():
        live = [p for p in parts if p.alive and p.reason.code == "effect.partial"]
        mine = judge.reading.totals[group]
        if not live or mine.count <= 0:
            continue
        theirs = [t[group] for t in judge.pattern.totals if group in t]
        if any(compared(mine, t) == "whole" for t in theirs):
            continue
        live[-1].alive = False
        last, total = live[-1].reason, theirs[0]
        said = ", ".join(
            f"{p or 'the value'} {v} instead of {total.sums.get(p, Decimal(0))}"
            for p, v in mine.sums.items()
            if v != total.sums.get(p)
        )
        out.append(
            Finding(
                replace(
                    last,
                    code="effect.partial",
                    strength=0.85 if judge.pattern.count > 1 else 0.8,
                    sentence=f"What {last.tool} did adds up to {said}.",
                ),
                group=group,
            )
        )
    return out


def _together(judge: Judge, findings: list[Finding]) -> None:
    """One call for a batch may carry the sum of what the baselines do one by one."""
    by_tool: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if (
            finding.alive
            and finding.group is not None
            and finding.reason.code in {"argument.changed", "effect.partial"}
        ):
            by_tool[finding.reason.tool].append(finding)
    for some in by_tool.values():
        groups = {f.group for f in some if f.group is not None}
        calls: dict[int, dict[str, Decimal]] = {}
        for finding in some:
            if finding.reason.call is not None and finding.effect is not None:
                fields = judge.pattern.effects.effects[finding.effect].fields
                calls[finding.reason.call] = amounts(fields)
        for theirs in judge.pattern.totals:
            if not groups <= set(theirs) or len(calls) >= len(groups):
                continue
            want, have = Totals(), Totals()
            for group in groups:
                want.add(theirs[group].sums)
            for parts in calls.values():
                have.add(parts)
            if want.sums == have.sums:
                for finding in some:
                    finding.alive = False
                return


def _below(judge: Judge) -> list[Finding]:
    out: list[Finding] = []
    for row, path, said, call, told in judge.below[:200]:
        if row.group is None or judge.reading.counts[row.effect] < 1:
            continue
        total = judge.reading.totals[row.group].sums.get(path)
        if total is not None and format(total.normalize(), "f") != told:
            out.append(
                Finding(Reason("argument.stale", 0.7, said, call, row.tool, "the last look-up of the record"))
            )
    return out[:NAMED]


def _gave_up(judge: Judge, failures: dict[str, Call], done: set[str], explained: bool) -> list[Finding]:
    out: list[Finding] = []
    for mark, call in failures.items():
        if mark in done or explained:
            continue
        strength = 0.05 if judge.pattern.count else 0.55 if call.passing else 0.25
        out.append(
            say(
                "write.gave_up",
                strength,
                f"{call.name} failed and was not done in any later call.",
                call,
                "this run",
            )
        )
    return out[:NAMED]
