"""In which words does the agent describe a problem, if it words it anew at every attempt?

Stands in for a model: the same finding, another sentence. The wording is drawn from a seed *and* the attempt,
so that a repeat after a resume differs in its text, and only the stored key and the identity can tell that it
is the same effect.
"""

from __future__ import annotations

import random

_OPENINGS = (
    "{dist} {version} needs a look:",
    "Please check {dist} {version}.",
    "Licence question about {dist} {version}:",
    "Found while auditing {dist} {version}:",
    "{dist} {version} does not pass the audit.",
)
_CLOSINGS = (
    "Seen: {detail}.",
    "The evidence says: {detail}.",
    "({detail})",
    "What we saw was {detail}.",
)


def worded(dist: str, version: str, rule: str, meaning: str, detail: str, *, seed: int, attempt: int) -> str:
    """Describe one problem. Attempts that follow each other never use the same words."""
    dice = random.Random(f"licence-audit wording {seed} {dist} {rule}")
    opening = _OPENINGS[(dice.randrange(len(_OPENINGS)) + attempt) % len(_OPENINGS)]
    closing = _CLOSINGS[(dice.randrange(len(_CLOSINGS)) + attempt // len(_OPENINGS)) % len(_CLOSINGS)]
    # Not str.format on the details: they are text of whoever built the distribution.
    told = (part.replace("{dist}", dist).replace("{version}", version) for part in (opening, closing))
    first, last = told
    return f"{first} {meaning} {last.replace('{detail}', detail)}"
