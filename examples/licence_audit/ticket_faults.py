"""After which requests does the ticket service act and then keep its answer, or cut the line?"""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass

HOLD_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """What goes wrong in one trial, by number of the request that reaches the service, from 1."""

    withhold: int
    """This one is committed and its answer held back: here the agent is killed. 0: none."""
    drop: tuple[int, ...]
    """These are committed and their connection is cut: lost acknowledgements. Sorted."""

    @classmethod
    def of(cls, seed: int, tickets: int) -> FaultPlan:
        """Draw the plan of *seed* for a run that opens *tickets* ≥ 1; the same seed draws the same plan.

        One to three acknowledgements get lost, and one seed in three also loses that of the first request
        after the kill, which is the resumed agent's repeat. Every number drawn is reached: a run of n tickets
        makes at least n requests, and each fault adds one.
        """
        dice = random.Random(f"licence-audit faults {seed}")
        withhold = dice.randint(1, tickets)
        others = [number for number in range(1, tickets + 1) if number != withhold]
        drop = set(dice.sample(others, min(len(others), dice.randint(1, 3))))
        if dice.randrange(3) == 0:
            drop.add(withhold + 1)
        return cls(withhold, tuple(sorted(drop)))

    def fates(self) -> dict[int, str]:
        """Return the fate of each request that has one of its own."""
        fates = dict.fromkeys(self.drop, "drop")
        if self.withhold:
            fates[self.withhold] = "withhold"
        return fates


class Faults:
    """The fates set through POST /faults, and the requests held back right now; shared by the handlers."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._fates: dict[int, str] = {}
        self._held: set[int] = set()
        self._released = False

    def set(self, fates: dict[int, str]) -> None:
        """Replace what will happen to requests from now on."""
        with self._changed:
            self._fates, self._released = dict(fates), False

    def fates(self) -> dict[int, str]:
        """Return what will happen, by request number."""
        with self._changed:
            return dict(self._fates)

    def release(self) -> None:
        """Let every held answer go out."""
        with self._changed:
            self._released = True
            self._changed.notify_all()

    def holding(self, number: int) -> None:
        """Say that request *number* is committed and its answer held back."""
        with self._changed:
            self._held.add(number)
            self._changed.notify_all()

    def let_go(self, number: int) -> None:
        """Say that request *number* is held no longer: answered, or its client is gone."""
        with self._changed:
            self._held.discard(number)
            self._changed.notify_all()

    def released_within(self, seconds: float) -> bool:
        """Wait up to *seconds* for a release; say whether it came."""
        with self._changed:
            return self._changed.wait_for(lambda: self._released, seconds)

    def held_within(self, seconds: float) -> list[int]:
        """Wait up to *seconds* until an answer is held; return the numbers held, perhaps none."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._held), seconds)
            return sorted(self._held)
