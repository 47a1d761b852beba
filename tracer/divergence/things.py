"""What has a run made or set, record by record, whatever number of calls it took?

A thing is what a run made (an order, a ticket) with everything that later calls said of it, or what it set on a
record that was there before. Creating and then filling in equals creating it filled in; of two values set one after
the other the last one counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field, replace
from typing import Final

from .calls import NUMERIC_ID, Call, is_identifier, token
from .effects import Registry
from .identity import PASSING, VOLATILE
from .leaf import Leaf
from .rows import Fields, ordered
from .verbs import DROPS, MAKES, SAYS, SETS, STEP

FIELDS: Final = 200
"""Fields kept of one thing."""
RECENT: Final = 4
"""Things set under one identifier that a call may go on with."""
DID: Final = "!"
"""Before the name of a tool that did something to a thing without saying a value."""
_YES: Final = Leaf("flag", "", "true")

Key = Hashable


@dataclass(frozen=True, slots=True)
class Net:
    """A thing as it stands: the tool that made it, its fields, and the number of both among all that were seen."""

    tool: str
    fields: Fields
    effect: int


@dataclass(slots=True)
class Thing:
    """One thing of one run."""

    net: Net
    key: Key | None = None
    alive: bool = True


@dataclass(slots=True)
class Things:
    """The things of one run."""

    effects: Registry
    familiar: Callable[[int], bool]
    """Did a baseline have this effect?"""
    all: list[Thing] = field(default_factory=list)
    made: dict[str, int] = field(default_factory=dict)
    """Identifier that was handed out -> the thing it names."""
    keyed: dict[Key, int] = field(default_factory=dict)
    about: dict[tuple[str, str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    """(noun, argument, identifier) -> the things that were set under it."""

    def key(self, call: Call, raw: Fields) -> Key | None:
        """What tells the thing that this effect has to do with from others; None for a new one.

        *raw* are all fields of the effect with identifiers as they were written.
        """
        verb, _, noun = call.tool.partition("_")
        if verb in DROPS:
            return None
        named = [
            (p, self.made[t]) for p, f in raw if (t := token(f)) in self.made and self.all[self.made[t]].alive
        ]
        sets = verb in SETS and not any(f.number is not None and p.endswith(STEP) for p, f in raw)
        names = [(p, t) for p, t in names_in(raw) if t not in self.made]
        fitting = [n for _, n in named if noun and noun in self.all[n].net.tool]
        if fitting and verb != "create":
            return ("made", fitting[0])
        if named and not names and (sets or len(raw) == 1 or verb not in MAKES | SAYS):
            return ("made", named[0][1])
        if sets and any("." in path for path, _ in call.scalars):
            # set(service, changes={…}): what stands beside the changes names what is changed.
            outer = {path for path, _ in call.scalars if "." not in path}
            named_by = [
                (p, f)
                for p, f in raw
                if p in outer
                and f.kind in {"id", "word", "number"}
                and p not in VOLATILE
                and not p.endswith(PASSING)
            ]
            beside = frozenset((p, token(f) or f.norm) for p, f in named_by)
            if beside:
                return ("set", noun, beside)
        if not sets or not names:
            return None
        own = [(p, t) for p, t in names if p.endswith(NUMERIC_ID) or p in noun.split("_")] or names
        key = ("set", noun, frozenset(t for _, t in own))
        if key not in self.keyed:
            for place in own:
                for number in self.about.get((noun, *place), [])[: -RECENT - 1 : -1]:
                    if self.all[number].alive and not _other(self.all[number].net.fields, names):
                        return ("made", number)
        return key

    def find(self, key: Key | None) -> int | None:
        """The number of the thing of a key; None while there is none."""
        if isinstance(key, tuple) and key[0] == "made":
            return int(key[1])
        return self.keyed.get(key) if key is not None else None

    def merged(self, call: Call, key: Key | None, said: Fields) -> Net:
        """The thing as it stands after a call that says *said* of it."""
        if key is None:
            return self.net(call.tool, said)
        verb, _, noun = call.tool.partition("_")
        sets = verb in SETS
        number = self.find(key)
        tool = self.all[number].net.tool if number is not None else f"set_{noun}" if sets else call.tool
        base = self.all[number].net.fields if number is not None else ()
        new = said if sets else (*said, (f"{DID}{call.tool}", _YES))
        return self.net(tool, merge(base, new, replace=sets))

    def net(self, tool: str, fields: Fields) -> Net:
        """A thing of these fields, numbered."""
        fields = tuple((p, self._referred(f) if f.kind == "born" else f) for p, f in fields)
        return Net(tool, fields, self.effects.intern(tool, fields))

    def _referred(self, found: Leaf) -> Leaf:
        """What made it, where a baseline made it so, too; otherwise only what kind of thing it is."""
        kind, _, maker = found.norm.partition("/")
        number = maker.rpartition("/")[2]
        known = number.isdigit() and self.familiar(int(number))
        return replace(found, norm=f"{kind}/{number}" if known else kind)

    def put(self, key: Key | None, net: Net) -> int:
        """Let a thing stand so; its number."""
        number = self.find(key)
        if number is None:
            number = len(self.all)
            self.all.append(Thing(net, key))
            if isinstance(key, tuple):
                self.keyed[key] = number
                for path, name in names_in(net.fields):
                    self.about[key[1], path, name].append(number)
            return number
        self.all[number].net = net
        return number

    def drop(self, number: int) -> None:
        """Let a thing be no more."""
        thing = self.all[number]
        if thing.alive and thing.key is not None:
            self.keyed.pop(thing.key, None)
        thing.alive = False


def names_in(fields: Fields) -> list[tuple[str, str]]:
    """(argument, token) of every record that the fields name."""
    return [
        (p, token(f)) for p, f in fields if f.hard and token(f) and (f.kind == "id" or is_identifier(p, f))
    ]


def _other(fields: Fields, names: list[tuple[str, str]]) -> bool:
    """Do the fields name another record under one of these arguments?"""
    mine = dict(names_in(fields))
    return any(mine.get(path, name) != name for path, name in names)


def merge(base: Fields, new: Fields, *, replace: bool) -> Fields:
    """The fields of a thing after a call; a call that sets replaces what stood under the same names."""
    paths: Collection[str] = {p for p, _ in new} if replace else ()
    kept = [(p, f) for p, f in base if p not in paths]
    out = {(p, f.kind, f.norm): (p, f) for p, f in (*kept, *new)}
    return ordered(list(out.values())[:FIELDS])
