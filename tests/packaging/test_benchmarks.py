"""Does the harness measure what the table asks for, on input that is the same everywhere? No timing is judged."""

import json
import sqlite3
from importlib import import_module

import pytest

from benchmarks import corpus, ours, store_fsyncs
from benchmarks.__main__ import main
from benchmarks.catalogue import FIGURES, of
from benchmarks.line import KEYS, line
from benchmarks.measure import decile, interleaved, ratio

TABLE = (
    "store-bytes",
    "store-time",
    "store-flat",
    "store-floor",
    "store-fsyncs",
    "history",
    "history-rss",
    "span",
    "divergence",
)


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


def test_the_command_without_a_name_lists_every_figure_of_the_table(capsys):
    assert main([]) == 0
    listed = [row.split()[0] for row in capsys.readouterr().out.splitlines()]
    assert [name for name in listed if name in TABLE] == list(TABLE)
    assert listed == [figure.name for figure in FIGURES]


def test_a_name_that_is_none_is_said_so_and_nothing_runs(capsys):
    assert main(["store-bites"]) == 2
    assert "no benchmark store-bites" in capsys.readouterr().err


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_every_figure_has_a_module_that_yields_lines(figure):
    module = import_module(f"benchmarks.{figure.module}")
    assert callable(module.lines)
    assert of(figure.name.replace("-", "_")) is figure


def test_a_line_says_name_value_unit_target_and_whether_it_is_reached():
    made = line("store-bytes words", 1.41849, 1.5, "at most", {"n": 3})
    assert tuple(made) == KEYS
    assert (made["value"], made["target"], made["ok"]) == (1.418, "<= 1.5", True)
    assert line("store-time", 1.9, 2, "at least", {})["ok"] is False


def test_a_figure_is_one_json_line(capsys, monkeypatch):
    made = line("store-time", 3.0, 2, "at least", {"n": 1})
    monkeypatch.setattr("benchmarks.store_time.lines", lambda: iter([made]))
    assert main(["store-time", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == made
    assert main(["store-time", "--markdown"]) == 0
    assert capsys.readouterr().out == "| store-time | 3 x | >= 2 | yes |\n"


def test_two_figures_of_one_module_are_measured_once(capsys, monkeypatch):
    made = [line(name, 3.0, 2, "at least", {}) for name in ("history", "history-rss")]
    monkeypatch.setattr("benchmarks.history.lines", lambda: iter(made))
    assert main(["history", "history-rss", "--json"]) == 0
    assert [json.loads(row) for row in capsys.readouterr().out.splitlines()] == made


def test_the_made_corpus_is_the_same_everywhere():
    made = corpus.words(50)
    assert made.digest == corpus.words(50).digest == "9fc46b01afd249b8"
    assert made.messages == corpus.words(60).messages[:50]
    assert corpus.words(50, seed=2).digest != made.digest
    assert 1_000 < made.unique_bytes / 50 < 1_030


def test_the_licences_are_cut_into_messages_of_one_size_no_two_equal():
    cut = corpus.licences(100)
    texts = [message["content"] for message in cut.messages]
    assert len(set(texts)) == len(texts) == 100
    assert {len(text) for text in texts} == {corpus.MESSAGE - corpus.ENVELOPE}
    assert cut.digest == corpus.licences(100).digest


def test_a_chat_checkpoints_every_message_in_a_store_of_its_own(scratch):
    messages = corpus.words(20).messages
    with ours.scratch("test") as folder:
        with ours.home(folder) as path:
            laps = ours.chat(messages)
        size = ours.stored_bytes(path)
        connection = sqlite3.connect(path)
        steps = connection.execute("SELECT count(*) FROM entry WHERE sequence IS NOT NULL").fetchone()[0]
        connection.close()
    assert len(laps) == 20
    assert steps == 20 + len(("start", "final"))
    assert size > 20 * 500
    assert list(scratch.iterdir()) == []


def test_sides_take_turns_and_the_order_is_turned():
    calls = []
    sides = [lambda: calls.append("a") or 4.0, lambda: calls.append("b") or 2.0]
    a, b = interleaved(2, *sides)
    assert calls == ["a", "b", "b", "a"]
    assert ratio(a, b) == 2.0


def test_deciles_are_the_medians_of_the_first_and_the_last_tenth():
    laps = [float(n) for n in range(100)]
    assert (decile(laps, 0), decile(laps, -1)) == (4.5, 94.5)


def test_fsyncs_are_told_apart_by_the_thread_and_the_marks_around_a_checkpoint():
    trace = """\
10 fdatasync(4) = 0
10 sched_yield() = 0
10 fdatasync(4 <unfinished ...>
11 fsync(5) = 0
10 <... fdatasync resumed>) = 0
10 sched_yield() = 0
10 sched_yield() = 0
10 fdatasync(4) = 0
10 fsync(5) = 0
10 sched_yield() = 0
10 fsync(3) = 0
"""
    assert store_fsyncs.count(trace) == ([1, 2], 1, 2)
