"""What if the answer of the database is lost, before or after it did what it was asked?

Claim (RELIABILITY 5): every commit, one after the other, ends with an error although it happened: success is
reported, nothing is doubled. The same with errors before the commit: a typed error or success, never a false
one, and the next process finishes.
"""

from __future__ import annotations

import pytest

from tests.kill.conftest import Zygote
from tests.kill.test_matrix import EFFECTS, sink

pytestmark = pytest.mark.kill


def test_a_commit_whose_acknowledgement_is_lost_is_success_and_nothing_is_doubled(
    zygote: Zygote, clean: dict[str, object]
) -> None:
    points = clean["points"]
    assert isinstance(points, list)
    wrong, ambiguous = [], 0
    for nth in range(1, points.count("journal.after_commit") + 1):
        home = zygote.home()
        code, life = zygote.do("live", home, lose=["journal.after_commit", nth])
        ambiguous += life["ambiguous"]
        if (code, life["outcome"], life["state"]) != (0, "done", clean["state"]):
            wrong.append(f"commit {nth}: {life['outcome']} {life['state']}")
        if life["left"]["problems"] or sink(home) != EFFECTS:
            wrong.append(f"commit {nth}: {life['left']['problems']} {sink(home)}")
    assert wrong == []
    assert ambiguous == points.count("journal.after_commit"), (
        "a lost answer that nobody had to look up was not lost"
    )


@pytest.mark.parametrize("point", ["journal.objects_written", "journal.before_commit"])
def test_an_error_before_the_commit_is_told_and_the_next_process_finishes(
    zygote: Zygote, clean: dict[str, object], point: str
) -> None:
    points = clean["points"]
    assert isinstance(points, list)
    wrong = []
    for nth in range(1, points.count(point) + 1):
        home = zygote.home()
        code, life = zygote.do("live", home, lose=[point, nth])
        if code or not life["outcome"].startswith(("StoreError", "SegmentPoisoned", "done")):
            wrong.append(f"statement {nth}: {life['outcome']}")
        code, life = zygote.do("live", home)
        if (code, life["outcome"], life["state"]) != (0, "done", clean["state"]):
            wrong.append(f"after {nth}: {life['outcome']} {life['state']}")
        if life["left"]["problems"] or sink(home) != EFFECTS or life["left"]["unknown"]:
            wrong.append(f"after {nth}: {life['left']} {sink(home)}")
    assert wrong == []
