"""What is refused at the door, and in which words?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tracer
from tracer import AlreadyResumed, Clause, NotStorable, Paused, ResumeRefused, Ruling, Run, State, agent, run
from tracer.contract import RunState
from tracer.errors import AgentError, ConfigError, StoreMissing
from tracer.hold import find
from tracer.recorder import Recorder, configure, reset
from tracer.schema import fingerprint
from tracer.store import read as rows
from tracer.types import register


class Plain(State, version=1):
    n: int = 0


def account(version: int, fields: dict[str, Any], *, pauses: bool = False) -> Any:
    """An agent whose state `Account` has these fields."""
    # Of `__main__`, where a class may be defined again.
    body_of_class = {"__annotations__": fields, "__module__": "__main__"}
    state = type("Account", (State,), body_of_class, version=version)

    def body(run: Run, state: State) -> State:
        if pauses and not run.resumed:
            run.pause("for the night")
        return state

    body.__annotations__ = {"run": Run, "state": state, "return": state}
    made: Any = agent("account", plan="1")(body)
    made.model = state
    return made


# -- another state than the one that is stored -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "fields", "words"),
    [
        (2, {"owner": str}, "its state is Account v1, this code has Account v2"),
        (1, {"owner": str, "n": int}, "other fields than this code's Account v1"),
        (1, {"owner": int}, "other fields than this code's Account v1"),
    ],
)
def test_the_finished_state_of_another_version_is_not_given_as_this_one(
    held: Recorder, version: int, fields: dict[str, Any], words: str
) -> None:
    first = account(1, {"owner": str})
    first.start_or_resume("r1", first.model(owner="kim"))
    assert account(1, {"owner": str}).start_or_resume("r1").owner == "kim"
    with pytest.raises(AgentError, match=words):
        account(version, fields).start_or_resume("r1")


def test_changed_fields_under_the_same_version_are_a_finding_that_names_the_remedy(held: Recorder) -> None:
    first = account(1, {"owner": str}, pauses=True)
    with pytest.raises(Paused):
        first.start_or_resume("r1", first.model(owner="kim"))
    changed = account(1, {"owner": str, "n": int}, pauses=True)
    found = next(f for f in changed.preflight("r1").verdict.stops if f.clause is Clause.STATE_VERSION)
    assert found.ruling is Ruling.REAPPROVE
    with pytest.raises(ResumeRefused, match="raise the version and register the migration"):
        changed.start_or_resume("r1")
    assert account(1, {"owner": str}, pauses=True).start_or_resume("r1").owner == "kim"


def test_the_fingerprint_of_a_state_knows_its_fields_and_not_the_names_of_classes() -> None:
    from dataclasses import make_dataclass
    from enum import Enum
    from typing import Literal, Optional

    def of(**fields: Any) -> str:
        return fingerprint(account(1, fields).model)

    one, other = make_dataclass("One", [("x", int)]), make_dataclass("Other", [("x", int)])
    wider = make_dataclass("Wider", [("x", int), ("y", int)])
    colour, shade = Enum("Colour", ["RED"]), Enum("Shade", ["RED", "BLUE"])
    assert of(a=int, b=str) == of(b=str, a=int)
    assert of(a=Optional[int]) == of(a=int | None) == of(a=None | int)  # noqa: UP045 - the older spelling is meant
    assert of(a=list[one]) == of(a=list[other]) != of(a=list[wider])
    assert of(a=colour) != of(a=shade)
    assert of(a=Literal["x", "y"]) == of(a=Literal["y", "x"]) != of(a=Literal["x"])
    assert len({of(a=int), of(a=str), of(b=int), of(a=list[int]), of(a=dict[str, int])}) == 5


class Tree(State, version=1):
    class_of: str = ""
    below: list[Tree] = []  # noqa: RUF012 - pydantic copies it


def test_a_state_that_holds_itself_has_a_fingerprint() -> None:
    assert len(fingerprint(Tree)) == 64


# -- names and labels --------------------------------------------------------------------------------------------


@agent("plain", plan="1")
def plain(run: Run, state: Plain) -> Plain:
    for bad in ("\ud800", None, 3):
        with pytest.raises(NotStorable, match=r"\$\.step"):
            run.checkpoint(bad)  # type: ignore[arg-type]
        with pytest.raises(NotStorable, match=r"\$\.prompt"):
            run.ask(bad)  # type: ignore[arg-type]
        with pytest.raises(NotStorable, match=r"\$\.reason"):
            run.pause(bad)  # type: ignore[arg-type]
    run.checkpoint("after a refusal the next one passes")
    return state


def test_a_step_a_prompt_or_a_reason_that_is_no_text_is_refused_and_poisons_nothing(held: Recorder) -> None:
    plain.start_or_resume("r1", Plain())
    row = find(held, "r1")
    assert row is not None
    assert row.state == RunState.DONE


@pytest.mark.parametrize("bad", ["\ud800", object(), None, 3])
def test_a_label_that_is_no_text_is_refused_with_its_name_and_leaves_no_run(held: Recorder, bad: Any) -> None:
    with pytest.raises(NotStorable, match=r"\$\.labels\['ticket'\]"):
        plain.start_or_resume("r1", Plain(), labels={"ticket": bad})
    with pytest.raises(NotStorable, match=r"\$\.labels"):
        plain.start_or_resume("r1", Plain(), labels={bad: "x"})
    assert find(held, "r1") is None


@pytest.mark.parametrize("bad", [None, 7, b"r1"])
def test_an_id_that_is_no_text_is_refused_as_an_id(held: Recorder, bad: Any) -> None:
    with pytest.raises(AgentError, match="cannot name a run"):
        plain.start_or_resume(bad, Plain())


# -- the store ---------------------------------------------------------------------------------------------------


def test_a_look_ahead_or_a_resume_makes_no_store_where_there_is_none(tmp_path: Path) -> None:
    configure(home=str(tmp_path / "new"))
    with pytest.raises(StoreMissing):
        plain.preflight("r1")
    with pytest.raises(StoreMissing):
        plain.start_or_resume("r1")
    assert not (tmp_path / "new").exists()
    reset()


def test_a_home_that_cannot_be_made_is_named_with_its_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    configure(home=str(tmp_path / "file" / "home"))
    with pytest.raises(ConfigError, match=r"file.*Set WAYPOST_HOME"):
        plain.start_or_resume("r1", Plain())
    reset()


# -- runs without a body -----------------------------------------------------------------------------------------


def test_a_run_without_an_id_gets_a_new_one_every_time(held: Recorder) -> None:
    with run("note", state={"n": 1}) as one, run("note", state={"n": 1}) as other:
        assert one.id != other.id
        with pytest.raises(AlreadyResumed), run("note", id=one.id):
            pass


def test_what_was_changed_after_the_last_checkpoint_of_a_block_is_kept(held: Recorder) -> None:
    with run("note", id="r1") as one:
        one.checkpoint("a", {"x": 1})
        one.state["y"] = 2
    with run("note", id="r2") as one:
        one.checkpoint("a", {"x": 1})
    with run("note", id="r1") as again:
        assert again.state == {"x": 1, "y": 2}
    with held.store.reader.connect() as connection:
        marks = {name: [e.mark for e in rows.checkpoints(connection, name)] for name in ("r1", "r2")}
    assert marks == {"r1": ["step", "step", "final", "resume"], "r2": ["step", "step"]}


def test_the_names_that_a_program_needs_to_catch_and_mark_are_exported() -> None:
    needed = {"Denied", "NotStorable", "RuntimeOnly", "StateChanged", "UnknownEffect", "register_runtime"}
    assert needed <= set(tracer.__all__)
    assert all(hasattr(tracer, name) for name in tracer.__all__)
    assert register in (tracer.register,)
