"""What is a checkpoint between the moment the state was cut and the moment it is durable?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .contract import CheckpointKind
from .journal import Append


@dataclass(frozen=True, slots=True)
class Place:
    """Where a segment stands after a checkpoint."""

    sequence: int = 0
    position: int = 0
    """Sequence of the last advancing checkpoint: calls after it are the tail that a crash loses."""
    inside: Mapping[str, int] = field(default_factory=dict)
    """Scope -> sequence of the last inner checkpoint there: the items below it that were made before it are
    finished, although the position stands still."""
    id: bytes | None = None
    root: dict[str, Any] | None = None

    def after(self, kind: CheckpointKind, scope: str, id: bytes, root: dict[str, Any]) -> Place:
        """The place after one more checkpoint.

        Args:
            scope: of an inner checkpoint, below which everything is finished.
        """
        sequence = self.sequence + 1
        if kind.advances:
            return Place(sequence, sequence, {}, id, root)
        inside = self.inside
        if scope and not kind.repeats:
            kept = {one: n for one, n in inside.items() if not one.startswith(f"{scope}/")}
            inside = {**kept, scope: sequence}
        return Place(sequence, self.position, inside, id, root)

    def since(self, scope: str) -> int:
        """Sequence of the checkpoint after which a resume makes the calls of *scope* again."""
        below = (n for one, n in self.inside.items() if scope.startswith(f"{one}/"))
        return max(self.position, max(below, default=0))


@dataclass(slots=True)
class Cut:
    """A checkpoint whose state has been taken, and that waits for its turn to be written."""

    place: Place
    append: Append
    kind: CheckpointKind
    size: int
    """Bytes of the state behind it."""
    began: int
    """When it was asked for, ns since the epoch."""
    done: bool = False
    """It is durable, or refused: see *error*."""
    error: BaseException | None = None
