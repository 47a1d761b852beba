"""Case 35: what makes a kill test honest. The matrix itself stands in tests/kill; here is what it rests on."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from tests.cases.conftest import World
from tests.cases.lives import KILLED, lives
from tracer import KEY, Run, State, agent, faults, write
from tracer.store.blobs import FolderBlobs


class One(State, version=1):
    number: int = 0


def build(world: World) -> object:
    @write(key_param="key")
    def effect(n: int, *, key: str = KEY) -> int:
        if not [line for line in world.lines() if line == key]:
            world.does(key)
        return n

    @agent("one", plan="1")
    def one(run: Run, state: One) -> One:
        state.number = effect(7)
        return state

    return one


POINTS = [
    "call.before_intent",
    "call.after_intent",
    "call.before_outcome",
    "call.after_outcome",
    "checkpoint.committed",
]


@pytest.mark.parametrize("point", POINTS)
def test_killed_there_a_new_process_ends_with_one_effect_and_the_same_state(
    home: Path, world: World, point: str
) -> None:
    one = build(world)
    assert lives(lambda: one.start_or_resume("r1", One()), dies_at=(point, 1)) == KILLED  # type: ignore[attr-defined]
    assert one.start_or_resume("r1", One()).number == 7  # type: ignore[attr-defined]
    assert len(world.lines()) == 1


def test_a_process_that_was_not_killed_does_not_look_killed(home: Path, world: World) -> None:
    one = build(world)
    assert lives(lambda: one.start_or_resume("r1", One()), dies_at=("no such point", 1)) == 0  # type: ignore[attr-defined]


def test_no_variable_and_no_file_arms_a_kill_point_in_production(root: Path) -> None:
    source = ast.parse((root / "tracer" / "faults.py").read_text("utf-8"))
    imported = {
        alias.name.partition(".")[0]
        for node in ast.walk(source)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in ([ast.alias(node.module or "")] if isinstance(node, ast.ImportFrom) else node.names)
    }
    assert imported <= {"__future__", "collections", "contextlib"}
    armers = [
        path
        for path in (root / "tracer").rglob("*.py")
        if "armed(" in path.read_text("utf-8") and path.parent.name != "testing" and path.name != "faults.py"
    ]
    assert armers == []


def test_a_point_that_nobody_armed_does_nothing() -> None:
    faults.point("anything")


def test_a_blob_is_synced_renamed_and_its_folder_synced_before_a_row_may_name_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    did: list[str] = []
    sync, rename = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (did.append("fsync"), sync(handle))[1])
    monkeypatch.setattr(os, "replace", lambda old, new: (did.append("rename"), rename(old, new))[1])
    FolderBlobs(tmp_path).put("ab" * 32, b"bytes")
    assert did == ["fsync", "rename", "fsync"]
