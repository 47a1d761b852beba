"""What do the earlier successful runs have in common?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from .calls import Call, token
from .effects import Registry
from .heard import Heard, Source, said_of, valued
from .identity import Roles, declare, learn
from .index import Index
from .loops import Turns
from .nearest import equivalent, nearest, telling
from .order import OrderRules, common_records, learn_order
from .reading import Reading, Totals
from .things import Net, Things
from .told import Rules

BASELINES: Final = 24
"""Baselines that are compared; of more, the last ones (the newest) are taken and the rest is said to be left out."""


@dataclass(slots=True)
class Pattern:
    """The common model of the baselines; with none, an empty one that only carries the shared registries."""

    effects: Registry
    index: Index
    count: int = 0
    groups: Registry = field(default_factory=Registry)
    roles: Roles = field(default_factory=Roles)
    rules: Rules = field(default_factory=Rules)
    heard: Heard = field(default_factory=Heard)
    order: OrderRules = field(default_factory=OrderRules)
    common: frozenset[str] = frozenset()
    most: dict[int, int] = field(default_factory=dict)
    """The highest count of each effect in any baseline."""
    least: dict[int, int] = field(default_factory=dict)
    """The lowest count of each effect over all baselines; 0 where one does without."""
    stands: dict[int, int] = field(default_factory=dict)
    """The highest number of equal things at the end of any baseline."""
    alias: dict[int, int] = field(default_factory=dict)
    """A thing of one baseline -> the thing of an earlier one that says the same in another way."""
    always: dict[int, int] = field(default_factory=dict)
    """The lowest number of equal things over the ends of all baselines."""
    totals: list[dict[int, Totals]] = field(default_factory=list)
    group_of: dict[int, int] = field(default_factory=dict)
    """The group (amounts left out) that an effect belongs to."""
    tools: set[str] = field(default_factory=set)
    """Tool families of the baselines' writes and hand-overs."""
    names: dict[str, str] = field(default_factory=dict)
    """How each tool family was called."""
    every_tool: set[str] = field(default_factory=set)
    messages: set[int] = field(default_factory=set)
    """Effects whose whole content is prose: that they come counts, not how often."""
    hand_overs: set[str] = field(default_factory=set)
    tokens: Counter[str] = field(default_factory=Counter)
    """In how many baselines an identifier occurs."""
    orders: set[str] = field(default_factory=set)
    """What look-ups are about that told the values of a write before it was made: they say what is to be done, not
    what was done."""
    fed: dict[tuple[str, str], set[Source]] = field(default_factory=lambda: defaultdict(set))
    """(tool, path) -> the places of answers that its values come from."""
    prepared: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    """(tool, path) -> [identifiers given, of these looked up before]."""
    answers: bool = False
    """Do the baselines' writes have results? A plan has none, and does not know what was handed out."""
    seen: set[str] = field(default_factory=set)
    """Identifiers and days that look-ups named or answers gave, or that stand under several paths."""
    turns: int = 0
    reads: bool = False
    """Do the baselines hold look-ups at all? A plan of writes does not."""
    left_out: list[str] = field(default_factory=list)


def learn_pattern(
    baselines: Sequence[Sequence[Call]],
    sample: Sequence[Call],
    *,
    identity: Mapping[str, Iterable[str]] | None = None,
    idle: int = 0,
) -> Pattern:
    """Read the baselines. *idle* of them are empty and declared successful: nothing was to be done.

    *sample* is what the interrupted run had done up to its checkpoint, taken to be right.
    """
    effects = Registry()
    pattern = Pattern(effects, Index(effects), roles=Roles(declared=declare(identity)))
    runs = [run for run in baselines if any(call.tool for call in run)]
    unread = len(baselines) - len(runs) - idle
    if unread:
        pattern.left_out.append(f"{unread} of {len(baselines)} baselines hold no readable call")
    runs += [[]] * idle
    if len(runs) > BASELINES:
        pattern.left_out.append(
            f"{len(runs) - BASELINES} older baselines; the newest {BASELINES} were compared"
        )
        runs = runs[-BASELINES:]
    for place, run in enumerate(runs):
        said = [what for call in run for what in call.left_out]
        pattern.left_out += [f"baseline {place + 1}: {what}" for what in said[:5]]
    pattern.count = len(runs)
    learn(pattern.roles, runs, sample)
    own = Counter(t for call in sample for t in call.mentions | call.heard)
    for run in runs:
        pattern.tokens.update(set().union(*(call.mentions | call.heard for call in run)))
    for run in runs:
        _read(pattern, run, own)
    pattern.common = frozenset().union(*(common_records(run) for run in runs))
    pattern.order = learn_order(runs, pattern.common)
    return pattern


def _read(pattern: Pattern, run: Sequence[Call], own: Counter[str]) -> None:
    reading = Reading(
        pattern.effects,
        pattern.groups,
        Things(pattern.effects, lambda effect: not pattern.totals or effect in pattern.most),
        pattern.roles,
        lambda name: pattern.tokens[name] > 1 or name in own,
    )
    turns = Turns()
    for call in run:
        turns.step(call)
        if call.kind != "internal":
            pattern.every_tool.add(call.tool)
        pattern.names.setdefault(call.tool, call.name)
        pattern.reads = pattern.reads or call.kind == "read"
        rows = reading.rows(call) if call.effective else []
        pattern.answers = pattern.answers or (call.effective and bool(call.told))
        if call.kind == "handoff":
            pattern.hand_overs.add(call.tool)
        for row in rows:
            pattern.tools.add(row.tool)
            reading.count(row)
            if row.group is not None:
                pattern.group_of[row.effect] = row.group
            if row.message:
                pattern.messages.add(row.effect)
            pattern.rules.learn(row.tool, row.fields, reading.memory)
            said = said_of(row.fields)
            pattern.orders.update(
                n for n, told in reading.heard.by_noun.items() if len(said) > 1 and said <= told
            )
            for path, found in row.fields:
                pattern.fed[row.tool, path] |= reading.heard.feeds(valued(found))
                name = token(found) if found.hard else ""
                if name:
                    known = pattern.prepared[row.tool, path]
                    known[0] += 1
                    known[1] += name in reading.memory.looked
        reading.after(call, rows)
        pattern.heard.hear(call)
    pattern.seen |= reading.seen
    places: dict[str, set[str]] = defaultdict(set)
    for effect in reading.counts:
        for path, found in pattern.effects.effects[effect].fields:
            if found.kind in {"id", "date"}:
                places[found.key].add(path)
    pattern.seen.update(key for key, paths in places.items() if len(paths) > 1)
    pattern.turns = max(pattern.turns, turns.longest)
    standing = _standing(pattern, [thing.net for thing in reading.things.all if thing.alive])
    _extremes(pattern.most, pattern.least, reading.counts, first=not pattern.totals)
    _extremes(pattern.stands, pattern.always, standing, first=not pattern.totals)
    pattern.index.add(standing, besides=pattern.hand_overs)
    pattern.totals.append(dict(reading.totals))


def _standing(pattern: Pattern, nets: Sequence[Net]) -> Counter[int]:
    """How often each thing stands at the end of a baseline; what an earlier one says in other words is the same."""
    out: Counter[int] = Counter()
    others: list[Net] = []
    for net in nets:
        known = pattern.alias.get(net.effect, net.effect)
        if not pattern.totals or known in pattern.stands:
            out[known] += 1
        else:
            others.append(net)
    for net in others:
        match = nearest(net, pattern.index, lambda e: out[e] < pattern.stands.get(e, 0))
        if match is None or telling(match):
            match = equivalent(net, pattern.index, lambda e: out[e] < pattern.stands.get(e, 0))
        if match is not None and not telling(match):
            pattern.alias[net.effect] = match.effect
            out[match.effect] += 1
        else:
            out[net.effect] += 1
    return out


def _extremes(most: dict[int, int], least: dict[int, int], here: Counter[int], *, first: bool) -> None:
    """Take one more baseline's counts into the highest and the lowest."""
    for effect, count in here.items():
        most[effect] = max(most.get(effect, 0), count)
    if first:
        least.update(here)
    else:
        for effect in list(least):
            least[effect] = min(least[effect], here[effect])
            if not least[effect]:
                del least[effect]
