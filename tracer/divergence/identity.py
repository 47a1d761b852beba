"""Which arguments say *what* a call does, and which only say how it was put?

Declared by the tool (`identity=`), or learnt from runs that ended well: what never varies is required, what
varies in wording is free, what is new in every run is volatile. Free text is never identity.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from .calls import Call, token
from .leaf import Leaf
from .lexicon import words
from .rows import Fields, name_of
from .sameness import agree
from .verbs import family

VOLATILE: Final = words(
    "requestid reqid idempotencykey idemkey idempotencytoken idempotency clienttoken clientrequestid "
    "requesttoken dedupekey deduplicationid dedupeid traceid spanid correlationid nonce ts timestamp "
    "sentat requestedat createdat updatedat now attempt retry retrycount retrie toolcallid callid"
)
"""Names (as `name_of` folds them) that differ in every run by design."""

PASSING: Final = (
    "requestid",
    "correlationid",
    "traceid",
    "clientt",
    "clienttoken",
    "clientref",
    "clientrequestid",
    "clienttimestamp",
    "idempotencykey",
)
"""Endings of such names."""
HOW: Final = words(
    "timeout timeoutm timeoutsec timeoutsecond contenttype mimetype verbose pagesize maxretrie"
)
"""Names that say how a call is carried out, and nothing of its effect."""

PROSE: Final = words(
    "note memo comment description summary message body text reasontext subject title remark thought "
    "explanation justification detail instruction content prompt narrative rationale caption query "
    "expression reason"
)
"""Names under which several words are prose, whatever they say."""

SPOKEN: Final = words(
    "note memo comment summary thought explanation justification remark rationale reasontext"
)
"""Names under which even one word is prose."""

Mark = tuple[str, tuple[tuple[str, str], ...]]
"""A tool and the hard values of one row."""

LONG: Final = 8
"""So many words are prose under any name."""


@dataclass(slots=True)
class Roles:
    """The part each argument plays, by tool family and path."""

    declared: Mapping[str, frozenset[str]] = field(default_factory=dict)
    known: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Paths that the baselines use, by tool; a path beyond them is an addition, not a difference."""
    free: set[tuple[str, str]] = field(default_factory=set)
    volatile: set[tuple[str, str]] = field(default_factory=set)
    maps: set[tuple[str, str]] = field(default_factory=set)
    """Arguments (by tool and path) whose keys are data: there, a new key is another effect."""
    days: set[str] = field(default_factory=set)
    """Paths of days that another run has another of; what one tool shows of them holds for all."""
    names: set[tuple[str, str]] = field(default_factory=set)
    """Arguments that are identifiers at least once: without a prefix they look like numbers."""
    everywhere: set[str] = field(default_factory=set)
    """Paths that every kind of call carries, never twice with one value."""

    def split(self, tool: str, row: Fields, keyed: Collection[str] = ()) -> tuple[Fields, Fields]:
        """(what the effect is, what was said beside it); volatile fields are in neither.

        *keyed* are the paths of the call that lie in an argument whose keys are data.
        """
        declared = self.declared.get(tool)
        known = self.known.get(tool)
        core: list[tuple[str, Leaf]] = []
        beside: list[tuple[str, Leaf]] = []
        for path, found in row:
            if declared is not None:
                (core if path in declared or path.rpartition(".")[2] in declared else beside).append(
                    (path, found)
                )
            elif self.is_volatile(tool, path):
                continue
            elif self.is_prose(tool, path, found) or (
                known is not None and path not in known and path not in keyed
            ):
                beside.append((path, found))
            else:
                core.append((path, found))
        return tuple(core), tuple(beside)

    def is_volatile(self, tool: str, path: str) -> bool:
        """Does this argument differ in every run by design?"""
        name = path.rpartition(".")[2]
        return (
            path in self.everywhere
            or name in VOLATILE
            or name.endswith(PASSING)
            or name in HOW
            or (tool, path) in self.volatile
            or path in self.days
        )

    def is_prose(self, tool: str, path: str, found: Leaf) -> bool:
        """Is this wording, which never makes another effect?"""
        if (tool, path) in self.free:
            return found.kind in {"text", "word", "flag", "id"}
        name = path.rpartition(".")[2]
        if found.kind == "text":
            return name in PROSE or len(found.words) >= LONG
        return name in SPOKEN and found.kind in {"word", "id"}


def declare(identity: Mapping[str, Iterable[str]] | None) -> dict[str, frozenset[str]]:
    """The declared identities under the folded names of tools and fields."""
    return {family(tool): frozenset(name_of(f) for f in fields) for tool, fields in (identity or {}).items()}


def learn(roles: Roles, baselines: Sequence[Sequence[Call]], sample: Sequence[Call]) -> None:
    """Fill *roles* from successful runs and from what the interrupted run had already done well."""
    for run in baselines:
        for call in run:
            if call.kind in {"write", "handoff"}:
                for row in call.rows:
                    roles.known[call.tool].update(path for path, _ in row)
    for run in [*baselines, sample]:
        roles.names.update((c.tool, p) for c in run for row in c.rows for p, f in row if f.kind == "id")
    keys: dict[tuple[str, str], list[frozenset[str]]] = {}
    for run in [*baselines, sample]:
        _everywhere(roles, run)
        _maps(roles, run, keys)
    whole = [run for run in [*baselines, sample] if any(c.effective for c in run)]
    runs = [[c for c in run if c.effective] for run in whole]
    if len(runs) > 1:
        _volatile(roles, runs, [set().union(*(c.heard for c in run)) for run in whole])
        _wordings(roles, runs)


def _maps(roles: Roles, run: Sequence[Call], seen: dict[tuple[str, str], list[frozenset[str]]]) -> None:
    for call in run:
        if call.kind == "write":
            for parent, keys in parents(call).items():
                sets = seen.setdefault((call.tool, parent), [])
                if len(sets) < 6 and keys not in sets:
                    sets.append(keys)
                    if any(not (a <= b or b <= a) for a in sets for b in sets):
                        roles.maps.add((call.tool, parent))


def parents(call: Call) -> dict[str, frozenset[str]]:
    """The nested arguments of a call and the keys that each was given."""
    out: dict[str, set[str]] = {}
    for path, _ in call.scalars:
        parent, dot, key = path.rpartition(".")
        if dot:
            out.setdefault(parent, set()).add(key)
    return {parent: frozenset(keys) for parent, keys in out.items()}


def _everywhere(roles: Roles, run: Sequence[Call]) -> None:
    seen: dict[str, tuple[set[str], set[str], int]] = {}
    for call in run:
        for path, found in call.scalars:
            values, tools, count = seen.get(path, (set(), set(), 0))
            values.add(found.norm)
            tools.add(call.tool)
            seen[path] = (values, tools, count + 1)
    for path, (values, tools, count) in seen.items():
        if count >= 5 and len(values) == count and len(tools) >= 3:
            roles.everywhere.add(path)


def _volatile(roles: Roles, runs: Sequence[Sequence[Call]], heard_by: Sequence[set[str]]) -> None:
    values: dict[tuple[str, str], list[set[str]]] = defaultdict(lambda: [set() for _ in runs])
    totals: dict[tuple[str, str], list[Decimal]] = defaultdict(lambda: [Decimal(0) for _ in runs])
    for place, run in enumerate(runs):
        heard = heard_by[place]
        for call in run:
            for row in call.rows:
                for path, found in row:
                    if found.hard and token(found) not in heard:  # What the run was given is a reference.
                        values[call.tool, path][place].add(found.key)
                        if found.number is not None:
                            totals[call.tool, path][place] += found.number
    recurring: set[str] = set()
    apart: list[tuple[str, str]] = []
    for (tool, path), sets in values.items():
        filled = [s for s in sets if s]
        if len(filled) < 2:
            continue
        if sum(map(len, filled)) == len(set().union(*filled)):
            sums = [t for t, s in zip(totals[tool, path], sets, strict=True) if s]
            amounts = any(sums)
            # Parts that add up to one whole differ in every number, and mean the same.
            if (
                not amounts
                or (len(set(sums)) == len(sums) and min(map(len, filled)) >= 3)
                or len(filled) >= 3
            ):
                apart.append((tool, path))
        else:
            recurring.add(tool)
    roles.volatile.update((tool, path) for tool, path in apart if tool in recurring)
    roles.days.update(
        p for t, p in apart if t in recurring and all(k.startswith("t") for s in values[t, p] for k in s)
    )


def _wordings(roles: Roles, runs: Sequence[Sequence[Call]]) -> None:
    """Compare the wording of rows that are surely the same: alike in several values, and one of a kind in each run."""
    first: dict[Mark, Fields] = {}
    counted: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    prose: set[tuple[str, str]] = set()
    for run in runs:
        mine: dict[Mark, Fields | None] = {}
        for call in run:
            for row in call.rows:
                hard = tuple((p, f.key) for p, f in row if f.hard and not roles.is_volatile(call.tool, p))
                if len(hard) >= 2 or any(token(f) for _, f in row if f.hard):
                    mark = (call.tool, hard)
                    mine[mark] = None if mark in mine else row
        for mark, mine_row in mine.items():
            if mine_row is None:
                continue
            other = first.setdefault(mark, mine_row)
            if other is not mine_row:
                _compare_words(mark[0], dict(other), dict(mine_row), counted, prose)
    for place, (total, differing) in counted.items():
        if place in prose or (differing >= 2 and differing >= 0.5 * total):
            roles.free.add(place)


def _compare_words(
    tool: str,
    one: Mapping[str, Leaf],
    two: Mapping[str, Leaf],
    counted: dict[tuple[str, str], list[int]],
    prose: set[tuple[str, str]],
) -> None:
    for path, found in one.items():
        if not found.hard and path in two:
            tally = counted[tool, path]
            tally[0] += 1
            if not agree(found, two[path]):
                tally[1] += 1
                if "text" in {found.kind, two[path].kind}:
                    prose.add((tool, path))
