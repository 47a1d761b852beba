"""Which few distributions of this very environment are enough to show something, and quick to audit?"""

from __future__ import annotations

from functools import cache

from examples.licence_audit.evidence import shown_by
from examples.licence_audit.harness import FEWEST
from examples.licence_audit.inventory import distributions_of
from examples.licence_audit.licence import judge


@cache
def few() -> tuple[str, ...]:
    """Names of the first distributions that have enough problems together, and one that has none."""
    judged = {dist.name: len(judge(shown_by(dist)).problems) for dist in distributions_of()}
    chosen, found = [next(name for name, problems in judged.items() if not problems)], 0
    for name, problems in judged.items():
        if problems and found < FEWEST:
            chosen.append(name)
            found += problems
    return tuple(chosen)
