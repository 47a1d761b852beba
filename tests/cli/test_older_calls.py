"""Does an effect stay one when its answer was lost steps ago, and somebody settles or repeats it only now?

The agent swallows the lost answer, goes on past a checkpoint, and tries again later, in other words.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

pytestmark = pytest.mark.kill

AGENT = """
import os
import signal

from tracer import KEY, NOT_FOUND, Run, State, agent, write


def sent(what, words, key):
    with open("sent.log", "a") as log:
        log.write(f"{what} {key}\\n")
    if not os.path.exists("healed"):
        raise TimeoutError("the answer was lost")
    return 7


@write(key_param="key", identity=("what",))
def keyed(what: str, words: str, *, key: str = KEY) -> int:
    return sent(what, words, key)


@write(identity=("what",))
def keyless(what: str, words: str) -> int:
    return sent(what, words, "none")


def look(what: str, words: str) -> object:
    return 7 if os.path.exists("sent.log") else NOT_FOUND


@write(identity=("what",), reconcile=look)
def asked(what: str, words: str) -> int:
    return sent(what, words, "none")


class Steps(State, version=1):
    tool: str
    step: int = 0
    got: list[int] = []


@agent("older", plan="1")
def older(run: Run, state: Steps) -> Steps:
    while state.step < 5:
        if state.step in (0, 3):
            try:
                tool = {"keyed": keyed, "keyless": keyless, "asked": asked}[state.tool]
                state.got.append(tool("x", f"in the words of step {state.step}"))
            except TimeoutError:
                pass
            if os.environ.get("DIE_AT") == str(state.step):
                os.kill(os.getpid(), signal.SIGKILL)
        state.step += 1
        run.checkpoint("step")
        if os.environ.get("DIE_AFTER") == str(state.step):
            os.kill(os.getpid(), signal.SIGKILL)
    return state


if __name__ == "__main__":
    import sys
    older.start_or_resume("r", Steps(tool=sys.argv[1]))
"""


def live(folder: Path, tool: str, **environment: str) -> int:
    (folder / "older.py").write_text(AGENT)
    done = subprocess.run(
        [sys.executable, "older.py", tool], cwd=folder, env={**os.environ, **environment},
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    return done.returncode


def effects(folder: Path) -> set[str]:
    """What a service that honours keys has done; without a key every request is an effect of its own."""
    lines = (folder / "sent.log").read_text().splitlines()
    keyless = [line for line in lines if line.endswith(" none")]
    assert len(keyless) <= 1, "sent again without a key"
    return set(lines)


def test_a_repeat_that_was_heard_is_not_repeated_after_a_crash_in_its_step(tmp_path: Path, cli: Cli) -> None:
    assert live(tmp_path, "keyed", DIE_AFTER="2") == -9
    (tmp_path / "healed").touch()
    assert live(tmp_path, "keyed", DIE_AT="3") == -9
    assert cli("resume", "r").code == 0
    assert len(effects(tmp_path)) == 1, "one key, however often it was sent"
    assert cli("cat", "r", "--path", "got", "--json").json["value"] == [7]


def test_what_a_person_settled_is_given_to_the_attempt_that_comes_steps_later(
    tmp_path: Path, cli: Cli
) -> None:
    assert live(tmp_path, "keyless", DIE_AFTER="1") == -9
    (tmp_path / "healed").touch()
    (call,) = cli("show", "r", "--json").json["in_doubt"]
    assert cli("approve", "r", "--effect", call["effect_id"], "--happened", "8").code == 0
    assert live(tmp_path, "keyless", DIE_AFTER="2") == -9, "and it is not forgotten over another crash"
    assert live(tmp_path, "keyless", DIE_AT="3") == -9, "nor over one after it was heard"
    assert cli("resume", "r").code == 0
    assert effects(tmp_path) == {"x none"}
    assert cli("cat", "r", "--path", "got", "--json").json["value"] == [8]


def test_what_the_service_said_at_the_gate_is_given_to_the_attempt_that_comes_steps_later(
    tmp_path: Path, cli: Cli
) -> None:
    assert live(tmp_path, "asked", DIE_AFTER="1") == -9
    (tmp_path / "healed").touch()
    assert live(tmp_path, "asked", DIE_AFTER="2") == -9
    assert cli("resume", "r").code == 0
    assert effects(tmp_path) == {"x none"}
    assert cli("cat", "r", "--path", "got", "--json").json["value"] == [7]


def test_a_settled_call_answers_once(tmp_path: Path, cli: Cli) -> None:
    assert live(tmp_path, "keyless", DIE_AFTER="1") == -9
    (tmp_path / "healed").touch()
    (call,) = cli("show", "r", "--json").json["in_doubt"]
    assert cli("approve", "r", "--effect", call["effect_id"], "--happened", "8").code == 0
    assert cli("resume", "r").code == 0
    shown = [line for line in cli("export", "r").out.splitlines() if '"kind": "answer"' in line]
    assert len(shown) == 1


def test_what_did_not_happen_is_sent(tmp_path: Path, cli: Cli) -> None:
    assert live(tmp_path, "keyless", DIE_AFTER="1") == -9
    (tmp_path / "sent.log").unlink()
    (tmp_path / "healed").touch()
    (call,) = cli("show", "r", "--json").json["in_doubt"]
    assert cli("approve", "r", "--effect", call["effect_id"], "--did-not-happen").code == 0
    assert cli("resume", "r").code == 0
    assert effects(tmp_path) == {"x none"}
