"""What differs between two values, path by path?"""

from .changes import ABSENT, IDS, NOTHING, TIMESTAMPS, Diff, Entry, Ignore, ListNote, Op, diff
from .wording import Word, words

__all__ = [
    "ABSENT",
    "IDS",
    "NOTHING",
    "TIMESTAMPS",
    "Diff",
    "Entry",
    "Ignore",
    "ListNote",
    "Op",
    "Word",
    "diff",
    "words",
]
