"""What does a reviewer get to see?"""

from __future__ import annotations

from typing import Any

import pytest

from tracer.divergence import GLYPHS, Live, canonical, compare, replayed, tape
from tracer.divergence.identity import Roles

Record = dict[str, Any]


def write(name: str, **args: Any) -> Record:
    return {"name": name, "args": args, "kind": "write", "ok": True, "result": None}


def read(name: str, **args: Any) -> Record:
    return {"name": name, "args": args, "kind": "read", "ok": True, "result": ""}


RUN = [
    read("get_claim", claim_id="CL-4711"),
    write("pay_claim", claim_id="CL-4711", amount=5),
    write("close_claim", claim_id="CL-4711"),
]


def test_a_quiet_run_says_what_it_was_compared_with() -> None:
    found = compare(RUN[:1], RUN[1:], [RUN, RUN])
    assert (found.verdict, found.score, found.exit_code, found.alarm) == ("quiet", 0.0, 0, False)
    assert [c.what for c in found.compared_with] == [
        "the interrupted attempt",
        "earlier run 1",
        "earlier run 2",
    ]
    assert "Quiet" in found.sentence


def test_with_nothing_to_compare_it_never_says_no_divergence() -> None:
    found = compare(RUN[:1], RUN[1:], [])
    assert (found.verdict, found.exit_code) == ("not enough evidence", 3)
    assert "no hard rule broken" in found.sentence


@pytest.mark.parametrize("baselines", [[], [[]], [{"tools": []}], [None], ["x"], [[{"name": ""}]]])
def test_unreadable_baselines_are_left_out_aloud(baselines: list[Any]) -> None:
    found = compare(RUN[:1], RUN[1:], baselines)
    assert found.verdict == "not enough evidence"
    assert bool(found.left_out) is bool(baselines)


def test_baselines_of_another_schema_are_no_evidence() -> None:
    other = [read("list_flights", day="2026-03-01"), write("book_flight", flight="LH-99")]
    assert compare([], RUN, [other]).verdict == "not enough evidence"


def test_baselines_about_other_records_are_no_evidence() -> None:
    def about(n: int) -> list[Record]:
        return [
            c
            for k in range(4)
            for c in (
                read("get_claim", claim_id=f"CL-{n + k}"),
                write("pay_claim", claim_id=f"CL-{n + k}", amount=k + 2),
            )
        ]

    found = compare(about(8000), [write("pay_claim", claim_id="CL-8004", amount=9)], [about(5000)])
    assert found.verdict == "not enough evidence"
    assert any("other records" in what for what in found.left_out)


def test_declared_effects_stand_in_for_baselines() -> None:
    expected = [{"name": "pay_claim", "args": {"claim_id": "CL-4711", "amount": 5}}]
    assert compare([], RUN[:2], [], expected=expected).verdict == "quiet"
    wrong = compare([], [write("pay_claim", claim_id="CL-4711", amount=50)], [], expected=expected)
    assert wrong.reasons[0].code == "argument.changed"
    assert compare([], RUN[1:2], [], expected=[]).reasons[0].code == "write.outside_plan"


def test_a_call_outside_the_grant_breaks_a_hard_rule() -> None:
    found = compare([], RUN[1:2], [], grant=["get_claim", "close_claim"])
    assert [r.code for r in found.reasons] == ["write.outside_grant"]
    assert found.reasons[0].hard


def test_the_tape_shows_every_call_of_both_runs_once() -> None:
    old = [canonical(c, n) for n, c in enumerate([*RUN, write("mail_customer", claim_id="CL-4711")])]
    new = [
        canonical(c, n)
        for n, c in enumerate(
            [
                RUN[2],
                RUN[0],
                write("pay_claim", claim_id="CL-4711", amount=6),
                write("tag_claim", claim_id="CL-4711"),
            ]
        )
    ]
    made = tape(old, new, Roles(), before="then", after="now")
    assert sorted(r.before for r in made.rows if r.before is not None) == [0, 1, 2, 3]
    assert [r.after for r in made.rows if r.after is not None] == [0, 1, 2, 3]
    glyphs = {r.tool: r.glyph for r in made.rows}
    assert glyphs == {
        "close_claim": "reordered",
        "get_claim": "same",
        "pay_claim": "arguments",
        "tag_claim": "new",
        "mail_customer": "missing",
    }
    assert set(glyphs.values()) == set(GLYPHS)
    (pay,) = [r for r in made.rows if r.glyph == "arguments"]
    assert [(f.path, f.kind) for f in pay.fields] == [("amount", "changed"), ("claim_id", "equal")]


def test_reasons_stand_beside_the_calls_they_name() -> None:
    found = compare([{**RUN[0], "phase": "committed"}, {**RUN[1], "phase": "lost"}], [RUN[1], RUN[2]], [RUN])
    assert [t.before for t in found.tapes] == ["the interrupted attempt", "earlier run 1"]
    named = [row for t in found.tapes for row in t.rows if row.reasons]
    assert [(row.tool, found.reasons[row.reasons[0]].code) for row in named] == [
        ("pay_claim", "write.repeated")
    ] * 2


def test_a_replayed_prefix_is_compared_strictly() -> None:
    again = [RUN[0], write("pay_claim", claim_id="CL-4711", amount=6)]
    (reason,) = replayed(RUN, again)
    assert (reason.code, reason.call, reason.fields[0].path) == ("replay.differs", 1, "amount")
    assert replayed(RUN, [read("get_claim", claimId="cl-4711")]) == ()
    assert replayed(RUN, [RUN[1]])[0].sentence == "The replay calls pay_claim where get_claim was recorded."


def test_a_reason_falls_when_what_it_saw_is_taken_back() -> None:
    live = Live.start([RUN], [])
    assert [r.code for r in live.add(write("hold_claim", claim_id="CL-9000"))] == ["write.outside_plan"]
    live.add(write("release_claim", claim_id="CL-9000"))
    assert [r.code for r in live.reasons] == ["write.undone"]


def test_what_a_run_left_out_shows_only_at_its_end() -> None:
    live = Live.start([RUN], RUN[:1])
    live.add(RUN[1])
    assert live.score == 0.0
    assert [r.code for r in live.finish()] == ["effect.missing"]
    assert live.finish() == []


def test_a_long_run_is_read_whole_and_shown_in_part() -> None:
    many = [write("close_claim", claim_id=f"CL-{n}") for n in range(6_000)]
    found = compare([], many, [many])
    assert found.verdict == "quiet"
    assert any("the tapes show the first" in what for what in found.left_out)
