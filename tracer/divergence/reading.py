"""Which effects has one run had so far?

The same reading serves a baseline and the live run: identifiers that the run itself was given are replaced
by where they came from, the fields that matter are picked, and equal effects get equal numbers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal

from .calls import Call, is_identifier, token
from .effects import Registry, amounts, without_amounts
from .heard import Heard
from .identity import Roles, parents
from .leaf import Leaf
from .rows import Fields
from .things import Key, Net, Things
from .told import Memory
from .verbs import noun


@dataclass(frozen=True, slots=True)
class Row:
    """One single effect of a call. `effect` numbers it, `group` numbers it with its amounts left out."""

    tool: str
    fields: Fields
    beside: Fields
    effect: int
    group: int | None
    amounts: dict[str, Decimal]
    net: Net
    """The thing that the effect has to do with, as it stands afterwards."""
    key: Key | None = None
    keyed: frozenset[str] = frozenset()
    """Its arguments whose names are data themselves."""
    message: bool = False
    """Is prose the whole content of this effect, beside whom it goes to?"""


@dataclass(slots=True)
class Totals:
    """What the effects of one group add up to, by path."""

    count: int = 0
    sums: dict[str, Decimal] = field(default_factory=dict)
    values: dict[str, set[Decimal]] = field(default_factory=dict)

    def add(self, parts: dict[str, Decimal], sign: int = 1) -> None:
        """Add (or take back) one effect's amounts."""
        self.count += sign
        for path, value in parts.items():
            self.sums[path] = self.sums.get(path, Decimal(0)) + sign * value
            seen = self.values.setdefault(path, set())
            if sign > 0 and len(seen) < 3:
                seen.add(value)

    def constant(self, path: str) -> Decimal | None:
        """The one value that this amount always had."""
        seen = self.values.get(path, set())
        return next(iter(seen)) if len(seen) == 1 else None


@dataclass(slots=True)
class Reading:
    """One run, read call by call. The registries are shared by all runs that are compared.

    An effect is counted as the call said it, and the thing that it has to do with as it stands after it.
    """

    effects: Registry
    groups: Registry
    things: Things
    roles: Roles
    foreign: Callable[[str], bool]
    """Does another run know this identifier too? Then it was not born in this one."""
    memory: Memory = field(default_factory=Memory)
    heard: Heard = field(default_factory=Heard)
    seen: set[str] = field(default_factory=set)
    """Identifiers and days that look-ups named or answers gave."""
    known: set[str] = field(default_factory=set)
    counts: Counter[int] = field(default_factory=Counter)
    totals: dict[int, Totals] = field(default_factory=lambda: defaultdict(Totals))
    born: dict[str, Leaf] = field(default_factory=dict)
    _counted: list[int] = field(default_factory=list)
    """Things of the current call, in the order of its effects."""

    def rows(self, call: Call) -> list[Row]:
        """The single effects of a call, numbered; nothing is counted yet."""
        keyed = {
            k
            for parent, keys in parents(call).items()
            if (call.tool, parent) in self.roles.maps
            for k in keys
        }
        whole: dict[Key, list[tuple[str, Leaf]]] = defaultdict(list)
        plain: list[tuple[Row, Fields]] = []
        for raw in call.rows:
            key = self.things.key(call, raw)
            mine = self.things.find(key)
            named = [
                (p, self._named(call.tool, p, f), self.things.made.get(token(f)) == mine) for p, f in raw
            ]
            core, beside = self.roles.split(call.tool, tuple((p, f) for p, f, _ in named), keyed)
            own = {id(f) for _, f, its_name in named if its_name and mine is not None}
            said = tuple((p, f) for p, f in core if id(f) not in own)
            parts = amounts(core)
            group = self.groups.intern(call.tool, without_amounts(core)) if parts else None
            prose = call.tool not in self.roles.declared and any(f.kind == "text" for _, f in beside)
            message = prose and not any(f.kind in {"number", "flag", "date"} for _, f in core)
            effect = self.effects.intern(call.tool, core)
            row = Row(
                call.tool,
                core,
                beside,
                effect,
                group,
                parts,
                self.things.net(call.tool, core),
                key,
                frozenset(keyed),
                message,
            )
            plain.append((row, said))
            if key is not None:
                whole[key] += said
        # All that one call says of a thing holds at once.
        nets = {key: self.things.merged(call, key, tuple(said)) for key, said in whole.items()}
        return [replace(row, net=nets[row.key]) if row.key is not None else row for row, _ in plain]

    def count(self, row: Row) -> int:
        """Count an effect in; the number of the thing that it has to do with."""
        self.counts[row.effect] += 1
        if row.group is not None:
            self.totals[row.group].add(row.amounts)
        number = self.things.put(row.key, row.net)
        self._counted.append(number)
        return number

    def strike(self, row: Row, number: int) -> None:
        """Count an effect out again, and the thing that it made: it was taken back."""
        self.counts[row.effect] -= 1
        if row.group is not None:
            self.totals[row.group].add(row.amounts, -1)
        self.things.drop(number)

    def with_row(self, row: Row) -> Totals:
        """What the row's group would add up to with it; nothing is counted."""
        assert row.group is not None
        so_far = self.totals.get(row.group, Totals())
        values = {path: set(seen) for path, seen in so_far.values.items()}
        out = Totals(so_far.count, dict(so_far.sums), values)
        out.add(row.amounts)
        return out

    def after(self, call: Call, rows: list[Row], believe: bool = True) -> None:
        """Take in what the call mentioned and was told; what a strange look-up brought back is not believed known."""
        if call.effective and rows:
            # Of a batch, the row that comes first by its values, so that the order of its members does not count.
            maker = min(rows, key=lambda r: [(p, f.norm) for p, f in r.fields]).effect
            given: dict[str, list[str]] = defaultdict(list)
            for fact in call.told:
                name = token(fact.leaf) if is_identifier(fact.path, fact.leaf) else ""
                if name and name not in self.known and name not in call.mentions and not self.foreign(name):
                    self.born.setdefault(name, Leaf("born", "", f"{noun(call.tool)}/{fact.path}/{maker}"))
                    given[fact.path].append(name)
            for names in given.values():
                for place, name in enumerate(names):
                    whose = self._counted if len(names) == len(self._counted) else self._counted[:1]
                    if place < len(whose):
                        self.things.made.setdefault(name, whose[place])
        self._counted.clear()
        self.memory.hear(call)
        self.heard.hear(call)
        self.seen.update(f.leaf.key for f in call.told if f.leaf.kind in {"id", "date"})
        if call.kind == "read":
            self.seen.update(f.key for _, f in call.scalars if f.kind in {"id", "date"})
        self.known |= call.mentions
        if believe:
            self.known |= call.heard

    def _named(self, tool: str, path: str, found: Leaf) -> Leaf:
        if found.kind == "number" and not found.unit and (tool, path) in self.roles.names:
            found = replace(found, kind="id", number=None, words=(found.norm,))
        return self._origin(found) if self.born else found

    def _origin(self, found: Leaf) -> Leaf:
        name = token(found) if found.kind in {"id", "number"} else ""
        origin = self.born.get(name) if name else None
        return found if origin is None else replace(origin, raw=found.raw or found.norm)


def compared(mine: Totals, theirs: Totals) -> str:
    """whole, part or over: do amounts add up to those of a baseline? A constant amount (a rate) must be equal."""
    whole, part = True, True
    for path in {*mine.sums, *theirs.sums}:
        have, want = mine.sums.get(path), theirs.sums.get(path)
        if have is None or want is None:
            return "over"
        if have == want:
            continue
        rate = mine.constant(path)
        if rate is not None and rate == theirs.constant(path) and len(theirs.sums) > 1:
            continue
        whole = False
        part = part and abs(have) < abs(want) and (have < 0) == (want < 0)
    return "whole" if whole else "part" if part else "over"
