"""Is any change of a journal noticed, and is the record format what it was?"""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.conftest import change, undone
from tests.kill import mutants
from tracer import configure, run
from tracer.integrity import Record, genesis, tagger
from tracer.recorder import Recorder, recorder, reset
from tracer.store import read
from tracer.verify import damage_of, verify

GOLDEN = Path(__file__).with_name("golden_record.txt")
KEY = b"a chain key of the tests"

RECORD = Record(
    run_id="run-1",
    branch="main",
    entry=7,
    sequence=3,
    kind="checkpoint",
    mark="step",
    id=bytes(range(16)),
    segment=2,
    epoch=5,
    at=1_796_000_000_123_456_789,
    subject="read the lizenz, ünïcödé",
    body=b'{"root":{"n":1}}',
    span=bytes(range(43)),
)


def golden() -> dict[str, bytes]:
    pairs = (
        line.split(" ", 1) for line in GOLDEN.read_text("ascii").splitlines() if not line.startswith("#")
    )
    return {name: bytes.fromhex(data) for name, data in pairs}


def test_a_record_and_its_tags_have_the_bytes_they_had_at_the_first_release() -> None:
    known = golden()
    before = genesis("run-1", "main")
    assert RECORD.to_bytes() == known["record"]
    assert before == known["genesis"]
    assert genesis("run-1", "b2", b"f" * 32) == known["genesis-of-a-fork"]
    assert tagger()(before, RECORD.to_bytes()) == known["tag"]
    assert tagger(KEY)(before, RECORD.to_bytes()) == known["tag-under-a-key"]


@pytest.mark.parametrize("name", [field.name for field in fields(Record)])
def test_every_field_changes_the_tag(name: str) -> None:
    value = getattr(RECORD, name)
    other: Any = value + 1 if isinstance(value, int) else value + (b"x" if isinstance(value, bytes) else "x")
    assert replace(RECORD, **{name: other}).to_bytes() != RECORD.to_bytes()


def test_a_format_that_left_a_field_out_of_the_tag_would_not_pass() -> None:
    with mutants.applied("no subject in the tag"):
        assert replace(RECORD, subject="another").to_bytes() == RECORD.to_bytes()
        assert RECORD.to_bytes() != golden()["record"]


texts = st.text(st.characters(codec="utf-8"), max_size=6)


@given(st.tuples(texts, texts, texts), st.tuples(texts, texts, texts))
def test_no_two_records_have_the_same_bytes(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    def record(words: tuple[str, ...]) -> bytes:
        return replace(RECORD, kind=words[0], mark=words[1], subject=words[2]).to_bytes()

    assert (record(one) == record(other)) == (one == other)


# -- a journal in a store --------------------------------------------------------------------------------------


@pytest.fixture
def journal(held: Recorder) -> Recorder:
    """A store with a run of three checkpoints."""
    with run("a run", id="r1", state={"n": 0, "text": "x" * 500}) as one:
        for n in range(2):
            one.state["n"] = n
            one.checkpoint("step")
    assert verify(held, "r1", read.MAIN).sound
    return held


EDITS = [
    "UPDATE entry SET kind = 'note' WHERE entry = 2",
    "UPDATE entry SET mark = 'manual' WHERE entry = 2",
    "UPDATE entry SET subject = subject || ' ' WHERE entry = 3",
    "UPDATE entry SET at = at + 1 WHERE entry = 2",
    "UPDATE entry SET id = zeroblob(16) WHERE entry = 2",
    "UPDATE entry SET segment = 2 WHERE entry = 1",
    "UPDATE entry SET epoch = 2 WHERE entry = 1",
    "UPDATE entry SET span = zeroblob(43) WHERE entry = 2",
    "UPDATE entry SET tag = zeroblob(32) WHERE entry = 2",
    "UPDATE entry SET sequence = 9 WHERE sequence = 2",
    "UPDATE entry SET body = (SELECT body FROM entry WHERE sequence = 1) WHERE sequence = 2",
    "UPDATE entry SET body = X'007B7D' WHERE entry = 1",
    "UPDATE entry SET body = 'a text' WHERE entry = 1",
    "UPDATE entry SET at = 'noon' WHERE entry = 1",
    "UPDATE entry SET subject = X'00' WHERE entry = 1",
    "DELETE FROM entry WHERE entry = 2",
    "DELETE FROM entry WHERE entry = (SELECT max(entry) FROM entry)",
    "UPDATE entry SET entry = 99 WHERE entry = (SELECT max(entry) FROM entry)",
    "UPDATE entry SET run_id = 'r2' WHERE entry = 3",
    "UPDATE branch SET head_tag = zeroblob(32)",
    "UPDATE branch SET head_entry = head_entry - 1",
    "UPDATE branch SET head_sequence = head_sequence + 1",
]


def test_any_edit_of_a_journal_turns_verify_red(journal: Recorder, home: Path) -> None:
    unnoticed = []
    for sql in EDITS:
        with undone(home):
            change(home, sql)
            if verify(journal, "r1", read.MAIN).sound or not damage_of(journal, "r1", read.MAIN):
                unnoticed.append(sql)
    assert unnoticed == []
    assert verify(journal, "r1", read.MAIN).sound, "each edit was taken back"


def test_two_entries_that_change_places_turn_verify_red(journal: Recorder, home: Path) -> None:
    for sql in ("entry = -1 WHERE entry = 2", "entry = 2 WHERE entry = 3", "entry = 3 WHERE entry = -1"):
        change(home, f"UPDATE entry SET {sql}")
    assert "entry 2" in damage_of(journal, "r1", read.MAIN)


def test_a_run_that_is_copied_under_another_name_turns_verify_red(journal: Recorder, home: Path) -> None:
    for table in ("run", "branch", "entry"):
        change(home, f"UPDATE {table} SET run_id = 'copy'")
    assert damage_of(journal, "copy", read.MAIN)


def test_a_changed_or_missing_object_is_named(journal: Recorder, home: Path) -> None:
    change(home, "UPDATE object SET data = X'00227822'")
    report = verify(journal, "r1", read.MAIN)
    assert any("another digest" in problem for problem in report.problems)
    change(home, "DELETE FROM object")
    assert any("not in the store" in problem for problem in verify(journal, "r1", read.MAIN).problems)


def test_a_keyed_chain_is_not_forged_by_who_lacks_the_key(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAIN", "secret of the house")
    configure(chain_key="env:CHAIN")
    with run("a run", id="r1", state={"n": 0}):
        pass
    assert verify(recorder(), "r1", read.MAIN).signed
    reset()
    configure(home=str(home))
    assert "the chain key env:CHAIN" in damage_of(recorder(), "r1", read.MAIN)
