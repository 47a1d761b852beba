"""`waypost divergence` and `assert_same_course`: is the verdict the right one, explained, and fit for a CI server?"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.divergence_live.conftest import Mind, alerts, stopped
from tracer import Paused, Ruling
from tracer.cli import waypost
from tracer.divergence import ALARM
from tracer.errors import Diverged
from tracer.recorder import Recorder
from tracer.testing import assert_same_course


def divergence(*args: str) -> Result:
    return CliRunner().invoke(waypost, ("divergence", *args), prog_name="waypost", catch_exceptions=False)


def chat(*tickets: str) -> list[dict[str, Any]]:
    """Chat messages of an agent that opens tickets."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "open the tickets"}]
    for number, dist in enumerate(tickets):
        asked = {"name": "open_ticket", "arguments": json.dumps({"dist": dist, "rule": "copyleft"})}
        messages += [
            {
                "role": "assistant",
                "tool_calls": [{"id": f"c{number}", "type": "function", "function": asked}],
            },
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"ticket {number}"},
        ]
    return messages


def otlp(*tickets: str) -> dict[str, Any]:
    """The same as spans."""
    spans = [
        {
            "traceId": "0af7651916cd43dd8448eb211c80319c",
            "spanId": f"{number:016x}",
            "name": "execute_tool open_ticket",
            "startTimeUnixNano": str(1_700_000_000_000_000_000 + number),
            "attributes": [
                {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
                {"key": "gen_ai.tool.name", "value": {"stringValue": "open_ticket"}},
                {
                    "key": "gen_ai.tool.call.arguments",
                    "value": {"stringValue": json.dumps({"dist": dist, "rule": "copyleft"})},
                },
            ],
        }
        for number, dist in enumerate(tickets)
    ]
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


@pytest.fixture
def diverged(model: None, held: Recorder, mind: Mind) -> str:
    """A resumed run that opened a ticket for the wrong distribution."""
    made = stopped()
    mind.other = {"mailkit": "iconset"}
    made.start_or_resume("audit-1")
    return "audit-1"


def test_a_run_that_kept_its_course_is_quiet_and_says_with_what_it_was_compared(
    model: None, held: Recorder
) -> None:
    stopped().start_or_resume("audit-1")
    done = divergence("audit-1")
    assert done.exit_code == 0, done.output
    assert "audit-1: quiet" in done.stdout
    assert "model-1 (10 calls), model-2 (10 calls)" in done.stdout
    assert "earlier run" not in done.stdout


def test_an_alarm_names_the_reason_beneath_the_call_that_it_is_about(diverged: str) -> None:
    done = divergence(diverged)
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("  ~ ▌open_ticket mailkit"))
    assert "▌open_ticket iconset" in lines[place]
    assert lines[place + 1].strip() == "dist: mailkit → iconset"
    assert "argument.changed" in lines[place + 2]


def test_json_has_the_reasons_the_tapes_and_what_was_compared(diverged: str) -> None:
    done = divergence(diverged, "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["verdict"], found["run"]) == (1, "alarm", "audit-1")
    assert found["reasons"][0]["fields"]
    assert [one["name"] for one in found["compared_with"]][1:] == ["model-1", "model-2"]
    named = [row for tape in found["tapes"] for row in tape["rows"] if row["reasons"]]
    assert named
    assert named[0]["after"]["tool"] == "open_ticket"
    assert done.stdout.isascii()


def test_a_run_that_waits_is_told_why_and_what_it_has_not_come_to_is_not_missing(
    model: None, held: Recorder, mind: Mind
) -> None:
    made = stopped(ruling=Ruling.REAPPROVE)
    mind.other = {"mailkit": "iconset"}
    with pytest.raises(Paused):
        made.start_or_resume("audit-1")
    done = divergence("audit-1")
    said = done.stdout
    assert done.exit_code == 1
    head, sentence, *_ = said.splitlines()
    assert head.startswith("audit-1: alarm, score 0.")
    assert sentence.strip().startswith("Held, not sent. If sent: open_ticket has dist = iconset")
    assert "5 calls more, to which audit-1 had not come" in said
    assert "missing" not in said
    why = CliRunner().invoke(waypost, ("why", "audit-1"), catch_exceptions=False).stdout
    why = " ".join(why.split())
    assert "After a resume it was about to do something else. Held, not sent. If sent: open_ticket has" in why
    assert "waypost divergence audit-1" in why
    done = CliRunner().invoke(waypost, ("approve", "audit-1", "--why", "seen"), catch_exceptions=False)
    assert done.exit_code == 0
    assert [(one.state, one.note) for one in alerts()] == [("acknowledged", "seen")]
    assert divergence("audit-1").exit_code == 0


def test_a_call_that_waits_is_an_alarm_for_a_ci_server_too(
    model: None, held: Recorder, mind: Mind, tmp_path: Path
) -> None:
    made = stopped(ruling=Ruling.ABORT)
    mind.other = {"mailkit": "iconset"}
    with pytest.raises(Diverged, match="Held, not sent"):
        made.start_or_resume("audit-1")
    done = divergence("audit-1", "--json", "--junit", str(tmp_path / "out.xml"))
    found = json.loads(done.stdout)
    assert (done.exit_code, found["verdict"], found["reasons"]) == (1, "alarm", [])
    (waits,) = found["held"]
    assert waits["score"] == found["score"] >= ALARM
    assert found["sentence"] == waits["sentence"]
    failure = ElementTree.parse(tmp_path / "out.xml").find(".//failure")
    assert failure is not None
    assert failure.attrib["type"] == "argument.changed"
    with pytest.raises(AssertionError, match="Held, not sent"):
        assert_same_course("audit-1")


def test_only_runs_that_came_before_are_models(diverged: str) -> None:
    done = divergence("model-1")
    assert done.exit_code == 3
    assert "not enough evidence" in done.stdout


def test_a_named_run_is_what_it_is_compared_with(diverged: str) -> None:
    done = divergence("model-2", "--against", "audit-1", "--json")
    assert [one["name"] for one in json.loads(done.stdout)["compared_with"]] == ["audit-1"]


def test_junit_fails_skips_and_passes_as_the_exit_code_does(diverged: str, tmp_path: Path) -> None:
    cases = {}
    for name, run, against in (
        ("bad", diverged, []),
        ("none", "model-1", []),
        ("good", "model-2", ["model-1"]),
    ):
        extra = [word for one in against for word in ("--against", one)]
        divergence(run, *extra, "--junit", str(tmp_path / f"out/{name}.xml"))
        suite = ElementTree.parse(tmp_path / f"out/{name}.xml").getroot()[0]
        cases[name] = (suite.get("failures"), suite.get("skipped"), suite[0][0].tag)
    assert cases == {
        "bad": ("1", "0", "failure"),
        "none": ("0", "1", "skipped"),
        "good": ("0", "0", "system-out"),
    }


def test_chat_messages_and_spans_of_other_tools_are_compared_like_runs(tmp_path: Path) -> None:
    good, other, spans = tmp_path / "good.json", tmp_path / "other.json", tmp_path / "spans.jsonl"
    good.write_text(json.dumps(chat("gtk", "qrlib", "sax")))
    other.write_text(json.dumps(chat("gtk", "qrlib", "iconset")))
    spans.write_text(
        "\n".join(json.dumps(one) for one in (otlp("gtk", "qrlib", "sax"), {"resourceSpans": []}))
    )
    assert divergence(str(spans), "--against", str(good)).exit_code == 0
    done = divergence(str(other), "--against", str(good), "--against", str(spans))
    assert done.exit_code == 1
    assert "iconset" in done.stdout
    assert divergence(str(good)).exit_code == 3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("{}\n{", "line 2"),
        ('{"a": 1}', "no run"),
        ("[" * 100_000, "not JSON"),
        ("null", "no run"),
    ],
)
def test_a_file_that_holds_no_run_is_refused_in_one_line(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    done = divergence(str(path))
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert said in line


def test_a_file_of_several_runs_wants_one_of_them_named(tmp_path: Path) -> None:
    path = tmp_path / "two.json"
    path.write_text(json.dumps([{"messages": chat("gtk")}, {"messages": chat("gtk", "sax")}]))
    assert divergence(str(path)).exit_code == 2
    assert divergence(f"{path}#1", "--against", f"{path}#1").exit_code == 0
    assert divergence(f"{path}#2", "--against", f"{path}#1").exit_code == 1
    assert "holds 2 runs" in divergence(f"{path}#3").stderr


def test_hostile_names_and_arguments_cannot_steer_the_terminal_or_the_document(tmp_path: Path) -> None:
    evil = "\x1b[31m\u202e]]><failure>\x00"
    path = tmp_path / "evil.json"
    path.write_text(json.dumps([{"tools": [{"name": f"t{evil}", "args": {evil: evil}, "kind": "write"}]}]))
    done = divergence(str(path), "--against", str(path), "--junit", str(tmp_path / "evil.xml"))
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout
    ElementTree.parse(tmp_path / "evil.xml")


def test_the_assertion_shows_both_tapes_and_the_reason(diverged: str) -> None:
    assert_same_course("model-2", against="model-1")
    assert_same_course("model-2")
    with pytest.raises(AssertionError) as caught:
        assert_same_course(diverged)
    said = str(caught.value)
    assert "dist: mailkit → iconset" in said
    assert "Compared with" in said


def test_the_assertion_takes_calls_records_and_files(tmp_path: Path) -> None:
    def calls(*dists: str) -> list[dict[str, Any]]:
        return [
            {"name": "open_ticket", "args": {"dist": dist}, "kind": "write", "ok": True} for dist in dists
        ]

    assert_same_course(calls("gtk", "sax"), against=calls("sax", "gtk"))
    assert_same_course({"tools": calls("gtk")}, against=[{"tools": calls("gtk")}, calls("gtk")])
    path = tmp_path / "good.json"
    path.write_text(json.dumps(chat("gtk")))
    assert_same_course(path, against=[path])
    with pytest.raises(AssertionError, match="sax"):
        assert_same_course(calls("gtk", "sax"), against=[calls("gtk"), calls("gtk")])
    assert_same_course(calls("gtk"), against=calls("gtk", "sax"), final=False)


def test_an_assertion_with_nothing_to_compare_with_does_not_pass_in_silence() -> None:
    with pytest.raises(AssertionError, match="not enough evidence"):
        assert_same_course([{"name": "open_ticket", "args": {"dist": "gtk"}, "kind": "write", "ok": True}])
