"""Does the resumed agent now do something else that matters?

`score` gives one number, `compare` the whole result, `Live` the same while the run goes on. Pure: no I/O, no
clock, nothing global.
"""

from .align import GLYPHS, Tape, TapeRow, tape
from .calls import Call, canonical
from .compare import Compared, Comparison, compare, plan, result
from .live import Live
from .prefix import replayed
from .reason import ALARM, CODES, HARD, FieldDiff, Reason
from .score import score

__all__ = [
    "ALARM",
    "CODES",
    "GLYPHS",
    "HARD",
    "Call",
    "Compared",
    "Comparison",
    "FieldDiff",
    "Live",
    "Reason",
    "Tape",
    "TapeRow",
    "canonical",
    "compare",
    "plan",
    "replayed",
    "result",
    "score",
    "tape",
]
