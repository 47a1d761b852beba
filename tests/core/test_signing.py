"""Does a run go on only under the keys that it was begun with, and is a wrong key told before it does harm?"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cases.lives import KILLED, die, lives
from tracer import Paused, Run, State, agent, configure, write
from tracer._resume import preflight
from tracer.approvals import decide
from tracer.contract import DecisionKind, Ruling
from tracer.errors import ChainKeyMissing, IntegrityError, KeyMissing, WaypostError
from tracer.integrity import genesis, tagger
from tracer.keys import Keys
from tracer.recorder import Recorder, recorder, reset
from tracer.signing import record_bytes
from tracer.store import objects, read
from tracer.verify import damage_of, verify


class Small(State, version=1):
    n: int = 0


did: list[int] = []


@write
def effect(x: int) -> int:
    did.append(x)
    return x


@agent("dying")
def dying(run: Run, state: Small) -> Small:
    effect(5)
    if not run.resumed:
        die()
    return state


@agent("asking")
def asking(run: Run, state: Small) -> Small:
    effect(5)
    state.n = int(bool(run.ask("go on?")))
    return state


@pytest.fixture(autouse=True)
def nothing_done() -> None:
    did.clear()


def process(home: Path, **settings: str) -> Recorder:
    """What another process with these settings sees."""
    reset()
    configure(home=str(home), **settings)
    return recorder()


def begun(home: Path, **settings: str) -> None:
    """A run that waits for a person."""
    process(home, **settings)
    with pytest.raises(Paused):
        asking.start_or_resume("r1", Small())


def approve() -> None:
    with recorder().store.reader.connect() as connection:
        (question,) = read.approvals(connection, run_id="r1")
    decide(recorder().journal, question.approval_id, DecisionKind.APPROVE, who="kim")


def entries(home: Path) -> int:
    with sqlite3.connect(home / "waypost.db") as connection:
        (count,) = connection.execute("SELECT count(*) FROM entry").fetchone()
    connection.close()
    return int(count)


def resumes() -> object:
    return asking.start_or_resume("r1")


# -- the key file -----------------------------------------------------------------------------------------------


def test_a_lost_key_file_is_missed_and_no_committed_write_is_repeated(home: Path) -> None:
    assert lives(lambda: dying.start_or_resume("r1", Small())) == KILLED
    (home / "key").unlink()
    before = entries(home)
    with pytest.raises(KeyMissing, match="copy it from the one that began them") as missing:
        dying.start_or_resume("r1")
    assert str(home / "key") in str(missing.value)
    assert not (home / "key").exists()
    assert (entries(home), did) == (before, [])


def test_another_key_file_is_told_at_the_gate_and_nothing_is_appended(home: Path) -> None:
    begun(home)
    (home / "key").unlink()
    Keys.load_or_create(home / "key")
    held = process(home)
    found = preflight(held, asking.spec, "r1").verdict
    assert found.ruling is Ruling.ABORT
    assert any("restore the one that belongs to this store" in finding.what for finding in found.findings)
    before = entries(home)
    for attempt in (approve, resumes):
        with pytest.raises(KeyMissing, match="it was written with the key file"):
            attempt()
    assert entries(home) == before


def test_a_missing_key_file_is_a_finding_and_does_not_keep_a_person_from_deciding(home: Path) -> None:
    begun(home)
    (home / "key").rename(home / "away")
    held = process(home)
    assert "is not here; restore it" in damage_of(held, "r1", read.MAIN)
    approve()
    (home / "away").rename(home / "key")
    process(home)
    assert asking.start_or_resume("r1").n == 1


def test_the_first_run_of_a_store_makes_the_key_file(tmp_path: Path) -> None:
    process(tmp_path / "new")
    with pytest.raises(Paused):
        asking.start_or_resume("r1", Small())
    assert (tmp_path / "new" / "key").exists()
    reset()


# -- the chain key ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("attempt", [approve, resumes])
@pytest.mark.parametrize("wrong", ["", "another key"])
def test_a_wrong_chain_key_writes_nothing_and_the_right_one_goes_on(
    home: Path, attempt: Callable[[], object], wrong: str
) -> None:
    begun(home, chain_key="the key of the house")
    before = entries(home)
    process(home, chain_key=wrong)
    with pytest.raises(ChainKeyMissing, match="Set WAYPOST_CHAIN_KEY"):
        attempt()
    assert entries(home) == before
    process(home, chain_key="the key of the house")
    approve()
    assert asking.start_or_resume("r1").n == 1
    assert verify(recorder(), "r1", read.MAIN).signed
    assert verify(recorder(), "r1", read.MAIN).sound


def test_a_missing_chain_key_is_named_by_its_variable(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOUSE_KEY", "the key of the house")
    begun(home, chain_key="env:HOUSE_KEY")
    held = process(home)
    assert "the chain key env:HOUSE_KEY" in damage_of(held, "r1", read.MAIN)
    with pytest.raises(ChainKeyMissing, match=r"env:HOUSE_KEY \([0-9a-f]{16}\) is not configured here"):
        resumes()


def test_a_run_that_began_unsigned_goes_on_unsigned_under_a_key(home: Path) -> None:
    begun(home)
    held = process(home, chain_key="configured later")
    assert damage_of(held, "r1", read.MAIN) == ""
    approve()
    assert asking.start_or_resume("r1").n == 1
    report = verify(held, "r1", read.MAIN)
    assert (report.sound, report.signed) == (True, False)
    verdicts = [finding.what for finding in preflight(held, asking.spec, "r1").verdict.findings]
    assert any("unsigned: it shows damage, not forgery" in what for what in verdicts)
    with suppress(Paused):
        asking.start_or_resume("r2", Small())
    assert verify(held, "r2", read.MAIN).signed


def test_nothing_is_appended_after_an_entry_that_was_changed(home: Path) -> None:
    begun(home)
    reset()
    with sqlite3.connect(home / "waypost.db") as connection:
        connection.execute("UPDATE entry SET at = at + 1 WHERE entry = (SELECT max(entry) FROM entry)")
    connection.close()
    before = entries(home)
    process(home)
    for attempt in (approve, resumes):
        with pytest.raises(IntegrityError, match="its tag does not fit what it holds; nothing was written"):
            attempt()
    assert entries(home) == before


def test_a_signed_run_cannot_be_passed_off_as_one_that_never_was(home: Path) -> None:
    begun(home, chain_key="the key of the house")
    reset()
    unsigned(home)
    held = process(home, chain_key="the key of the house")
    assert "nobody with the key file has said so" in damage_of(held, "r1", read.MAIN)
    with pytest.raises(WaypostError, match="nobody with the key file has said so"):
        resumes()


def unsigned(home: Path) -> None:
    """Somebody without any key writes the whole chain anew, as if there had been no key."""
    held = process(home)
    with held.store.reader.connect() as reader:
        rows = read.entries_with_bodies(reader, "r1")
    reset()
    tag = genesis("r1", read.MAIN)
    with sqlite3.connect(home / "waypost.db") as connection:
        for entry, packed in rows:
            body = objects.unpack(packed, "a body")
            if entry.entry == 1:
                start = objects.unpack_record(packed, "a body")
                start["keys"] = {**start["keys"], "chain": ""}
                packed = objects.pack_record(start)
                body = objects.unpack(packed, "a body")
            tag = tagger()(tag, record_bytes(entry, body))
            connection.execute(
                "UPDATE entry SET tag = ?, body = ? WHERE entry = ?", (tag, packed, entry.entry)
            )
        connection.execute("UPDATE branch SET head_tag = ?", (tag,))
    connection.close()
