"""Does the resumed agent now do something else that matters?"""

from .live import Live
from .reason import ALARM, CODES, HARD, FieldDiff, Reason
from .score import score

__all__ = ["ALARM", "CODES", "HARD", "FieldDiff", "Live", "Reason", "score"]
