"""Does a run survive SIGKILL wherever its process can die?

Claim: whatever point the process dies at, a new one resumes, every effect has happened exactly once, the final
state is that of a run never killed, and the journal verifies. Kill points: every `faults.point` that a recorded
clean run passes, at every position. Allowed outside: a call that reaches the service twice under one key.
"""

from __future__ import annotations

import ast
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.kill.conftest import Zygote
from tests.kill.small_agent import ITEMS

pytestmark = pytest.mark.kill

EFFECTS = Counter([*(f"book\t{item}" for item in ITEMS), "charge\thouse 12"])
KILLED = -signal.SIGKILL


def sink(home: Path) -> Counter[str]:
    """Effect -> how often it really happened."""
    path = home / "sink"
    return (
        Counter(line.partition("\t")[2] for line in path.read_text("utf-8").splitlines())
        if path.exists()
        else Counter()
    )


def positions(points: list[str]) -> list[tuple[str, int]]:
    """(point, how often it was passed by then) for every pass."""
    seen: Counter[str] = Counter()
    out = []
    for name in points:
        seen[name] += 1
        out.append((name, seen[name]))
    return out


def what_is_wrong(zygote: Zygote, clean: dict[str, Any], kills: list[Any], *, mutant: str = "") -> list[str]:
    """Kill one life after the other as *kills* says, let the next one finish; everything that is not as it must be."""
    home = zygote.home()
    wrong: list[str] = []
    for kill in kills:
        code, _ = zygote.do("live", home, kill=kill, mutant=mutant)
        if code != KILLED:
            wrong.append(f"the process was to die of {KILLED} and ended with {code}")
    path = home / "acknowledged"
    promised = len(path.read_text().splitlines()) if path.exists() else 0
    code, life = zygote.do("live", home, mutant=mutant)
    found, left = life["found"], life["left"]
    if found < promised:
        wrong.append(f"{promised} checkpoints were acknowledged, {found} are there")
    if (code, life["outcome"]) != (0, "done"):
        wrong.append(f"the next process ended with {code}: {life['outcome']}")
    if life["state"] != clean["state"]:
        wrong.append(f"the final state is {life['state']}")
    if sink(home) != EFFECTS:
        wrong.append(f"outside: {dict(sink(home))}")
    if left["problems"]:
        wrong.append(f"the journal: {left['problems']}")
    if left["unknown"] or left["waiting"][0] != left["waiting"][1]:
        wrong.append(f"counted {left['unknown']} unknown, (counted, really) waiting {left['waiting']}")
    return [f"killed at {kills}: {one}" for one in wrong]


def test_the_small_agent_passes_every_point_that_there_is(root: Path, clean: dict[str, Any]) -> None:
    named = set()
    for path in (root / "tracer").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "faults.point":
                assert isinstance(node.args[0], ast.Constant), f"{path}: the name of a point is a literal"
                named.add(node.args[0].value)
    assert len(named) >= 13
    with_a_collector = {name for name in named if name.startswith("export.")}  # see tests/telemetry
    assert named - with_a_collector <= set(clean["points"]), "a point that no run passes is never killed at"


def test_killed_at_any_point_and_position_a_new_process_finishes_as_if_nothing_had_been(
    zygote: Zygote, clean: dict[str, Any]
) -> None:
    wrong = [
        one for name, nth in positions(clean["points"]) for one in what_is_wrong(zygote, clean, [[name, nth]])
    ]
    assert wrong == []


def test_the_resumer_too_may_be_killed_at_each_of_its_points(zygote: Zygote, clean: dict[str, Any]) -> None:
    """The first process dies with an effect that nobody has recorded, the second at each point of the resume."""
    home = zygote.home()
    zygote.do("live", home, kill=["sink.after", 1])
    _, resumed = zygote.do("live", home)
    until = resumed["points"].index("checkpoint.committed", resumed["points"].index("call.after_outcome")) + 1
    assert "resume.opened" in resumed["points"][:until]
    wrong = [
        one
        for passed in range(1, until + 1)
        for one in what_is_wrong(zygote, clean, [["sink.after", 1], passed])
    ]
    assert wrong == []


def test_three_deaths_in_a_row_at_the_same_point_change_nothing(
    zygote: Zygote, clean: dict[str, Any]
) -> None:
    points = ["journal.before_commit", "journal.after_commit", "resume.opened", "call.after_intent"]
    wrong = [
        one for name in points for one in what_is_wrong(zygote, clean, [["sink.after", 1], *[[name, 1]] * 2])
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("mutant", "kill"),
    [
        ("no intent", ["sink.after", 1]),
        ("no ledger", ["call.after_outcome", 2]),
        ("no ledger", ["sink.after", 1]),
    ],
)
def test_without_its_guard_the_same_trial_is_red(
    zygote: Zygote, clean: dict[str, Any], mutant: str, kill: list[Any]
) -> None:
    assert what_is_wrong(zygote, clean, [kill]) == []
    assert any("outside" in one for one in what_is_wrong(zygote, clean, [kill], mutant=mutant))


def test_a_kill_that_does_nothing_is_noticed(zygote: Zygote, clean: dict[str, Any]) -> None:
    wrong = what_is_wrong(zygote, clean, [["no such point", 1]])
    assert [one for one in wrong if "was to die" in one]


def test_an_opaque_effect_is_parked_and_never_sent_again_by_itself(zygote: Zygote) -> None:
    home = zygote.home()
    code, _ = zygote.do("live", home, agent="opaque", kill=["sink.after", 1])
    assert code == KILLED
    for _ in range(2):
        code, life = zygote.do("live", home, agent="opaque")
        assert code == 0
        assert life["outcome"].startswith("ResumeRefused")
        assert "waypost approve" in life["outcome"]
        assert sink(home) == {f"post\t{ITEMS[0]}": 1}
        assert life["left"]["problems"] == []
    code, life = zygote.do("live", zygote.home(), agent="opaque", kill=["call.before_intent", 1])
    assert code == KILLED
