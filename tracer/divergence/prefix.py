"""Is the replayed prefix, call by call, what was recorded?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from .calls import canonical
from .fields import field_diffs
from .identity import Roles
from .reason import Reason


def replayed(recorded: Sequence[object], again: Sequence[object]) -> tuple[Reason, ...]:
    """One reason per call of a replay that is not the recorded one. Notation is no difference; thoughts do not count.

    The comparison is strict and by place: a replay has no freedom. It stops at the first missing or extra call.
    """
    one = [c for c in (canonical(r, n) for n, r in enumerate(recorded)) if c.kind != "internal"]
    two = [c for c in (canonical(r, n) for n, r in enumerate(again)) if c.kind != "internal"]
    out: list[Reason] = []
    roles = Roles()
    for was, now in zip_longest(one[: len(two) + 1], two):
        if was is not None and now is not None and was.shape == now.shape:
            continue
        if now is None:
            break  # The replay is not through yet.
        if was is None or was.tool != now.tool:
            said = f"The replay calls {now.name} where {was.name if was else 'nothing'} was recorded."
            out.append(Reason("replay.differs", 0.9, said, now.index, now.name, "the recorded prefix"))
            break
        diffs = tuple(d for d in field_diffs(was, now, roles) if d.kind not in {"equal", "notation"})
        if diffs:
            first = diffs[0]
            said = f"The replay calls {now.name} with {first.path} = {first.after} instead of {first.before}."
            out.append(Reason("replay.differs", 0.9, said, now.index, now.name, "the recorded prefix", diffs))
    return tuple(out)
