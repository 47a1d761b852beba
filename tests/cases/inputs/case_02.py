"""Case 02: typed state that comes back as a dict or None elsewhere, because the class moved or is nested."""

import dataclasses
import enum
from typing import Any


class Artifact:
    """Only a place for a nested class."""

    class Phase(enum.Enum):
        DRAFT = "draft"
        READY = "ready"


class Mood(str, enum.Enum):  # noqa: UP042 - the kind that is easily flattened to plain text
    CALM = "calm"


@dataclasses.dataclass
class Finding:
    """Its digest is no parameter of the constructor, so a naive revival fails."""

    id: str
    phase: Artifact.Phase
    score: float
    digest: str = dataclasses.field(init=False, default="")

    def __post_init__(self) -> None:
        self.digest = self.id[::-1]


def build() -> dict[str, Any]:
    return {
        "findings": [Finding("f-1", Artifact.Phase.READY, 0.75)],
        "phase_by_id": {"f-1": Artifact.Phase.READY},
        "mood": Mood.CALM,
    }
