"""What does it say that an effect differs from those of the baselines?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Final

from .calls import Call, token
from .index import posted
from .leaf import Leaf
from .nearest import Difference, Match, as_fields
from .pattern import Pattern
from .reading import Reading, Row
from .reason import Finding, say, shown
from .things import DID

LACKS: Final = {"id": 0.35, "number": 0.25, "date": 0.25}
"""What it says that a thing was never given a value that all baselines give it."""
LEFT_UNDONE: Final = 0.7
"""… that a step was left out which all baselines take."""
THIN: Final = 0.4
"""What a difference says that one baseline cannot tell from a value that is new in every run."""


@dataclass(slots=True)
class Differing:
    """Words and strengths for the differences of one run from its baselines."""

    pattern: Pattern
    reading: Reading
    confirmed: set[tuple[str, str]] = field(default_factory=set)
    """Arguments whose value was that of the baselines at least once: they do not change from run to run."""
    waiting: dict[tuple[str, str], list[tuple[Finding, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """Findings about arguments that one single baseline cannot say this of, and their full strength."""

    def versus(self) -> str:
        """What a comparison with the baselines is called."""
        return "1 earlier run" if self.pattern.count == 1 else f"{self.pattern.count} earlier runs"

    def extra(self, call: Call, row: Row) -> list[Finding]:
        """What there is to say of an effect that is near to none of the baselines."""
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

    def changed(
        self, call: Call, row: Row, match: Match, keyed: Collection[str], then: list[Callable[[], object]]
    ) -> list[Finding]:
        """What there is to say of a thing and the effect that it is nearest to; *then* is for when it is done."""
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
            then.append(lambda: self.waiting[call.tool, first.path].append((finding, full)))
        return [finding]

    def added(self, call: Call, row: Row) -> list[Finding]:
        """An option that no baseline gives is a hint; an address that nobody mentioned is another addressee."""
        known = self.pattern.roles.known.get(row.tool)
        for path, found in row.beside:
            if known is None or path in known or found.kind == "text":
                continue
            away = ("@" in found.norm or "://" in found.norm) and found.norm not in self.reading.known
            said = f"{call.name} has {call.path(path)} = {shown(found)}, which no baseline gives."
            return [say("argument.added", 0.6 if away else 0.12, said, call, self.versus())]
        return []

    def lacking(self, call: Call | None, row: Row, match: Match, lacking: list[Difference]) -> Finding:
        """What a thing was never given, though every baseline gives it."""
        names = ", ".join(d.path for d in lacking[:5])
        strength = max(
            LEFT_UNDONE if d.path.startswith(DID) else LACKS.get(d.before.kind if d.before else "", 0.12)
            for d in lacking
        )
        said = f"What {row.tool} made was never given {names}, which every baseline gives."
        fields = as_fields(call, tuple(lacking)) if call is not None else ()
        finding = say("argument.left_out", strength, said, call, self.versus(), fields)
        finding.partner = match.effect
        return finding

    def confirm(self, row: Row) -> None:
        """An effect was that of the baselines: its arguments do not change from run to run."""
        for path, found in row.fields:
            if found.kind in {"id", "date"} and (row.tool, path) not in self.confirmed:
                self.confirmed |= {(row.tool, path), ("", path)}
                for finding, strength in self.waiting.pop((row.tool, path), ()):
                    finding.reason = replace(finding.reason, strength=strength)

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

    def _unborn(self, before: Leaf, after: Leaf) -> float:
        """One run names what it was given, the other something else: telling where the other was given one, too."""
        if before.kind != "born":
            return 0.6 if self.pattern.answers else 0.05
        origin = before.norm.partition("/")[0]
        given = any(found.norm.partition("/")[0] == origin for found in self.reading.born.values())
        return 0.8 if given and token(after) not in self.reading.born else 0.1

    def _follows(self, row: Row, found: Difference) -> bool:
        """Does a difference from the baselines follow what look-ups say?"""
        if self.reading.heard.follows(found.before, found.after, self.pattern.heard):
            return True
        for p, leaf in row.fields:
            if p == found.path and leaf is found.after:
                ruled = self.pattern.rules.expected(row.tool, p, row.fields, leaf, self.reading.memory, 2)
                return ruled is not None and ruled[0].norm == leaf.norm
        return False

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
