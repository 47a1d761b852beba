"""Where are the things of the baselines found that share a value?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Final

from .effects import Registry
from .leaf import Leaf

POSTINGS: Final = 256
"""Things remembered for one value of one argument."""


@dataclass(slots=True)
class Index:
    """Things by the values that they hold."""

    effects: Registry
    by_field: dict[tuple[str, str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    """(tool, path, value); ("tool", "", "") is every thing of the tool."""
    by_value: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Under whatever name."""
    _known: set[int] = field(default_factory=set)

    def add(self, things: Iterable[int], besides: Collection[str] = ()) -> None:
        """Take things in, but for those of the tools *besides*."""
        for number in things:
            effect = self.effects.effects[number]
            if number in self._known or effect.tool in besides:
                continue
            self._known.add(number)
            values = {(path, posted(found)) for path, found in effect.fields if posted(found)}
            places = [self.by_field[effect.tool, path, value] for path, value in values]
            places += [self.by_value[value] for value in {value for _, value in values}]
            for posting in (*places, self.by_field[effect.tool, "", ""]):
                if len(posting) < POSTINGS:
                    posting.append(number)


def posted(found: Leaf) -> str:
    """Under what a value is looked up; "" for prose."""
    return found.key or (found.norm if found.kind in {"word", "flag"} else "")
