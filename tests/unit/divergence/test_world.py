"""What does a run know of the world, and does it act on what it knows?"""

from __future__ import annotations

import pytest

from tests.unit.divergence.records import Record, read, write
from tracer.divergence import ALARM, compare, score


def codes(pre: list[Record], post: list[Record], *baselines: list[Record]) -> list[str]:
    return [r.code for r in compare(pre, post, list(baselines)).reasons if r.strength >= ALARM]


def stay(rate: str, *offered: str) -> list[Record]:
    """A room is looked up, which says what rates it has, and is booked at one of them."""
    rates = [{"room": "R-204", "rate": r} for r in offered or (rate,)]
    return [read("get_room", rates, room="R-204"), write("book_room", room="R-204", rate=rate, guest="ida-7")]


def slot(taken: str, *free: str) -> list[Record]:
    look = read("list_slots", [{"slot": s} for s in free], day="2026-03-25")
    return [look, write("book_slot", slot=taken, patient="P-1001")]


def dues(due: dict[int, int], paid: dict[int, int]) -> list[Record]:
    look = read("list_claims", [{"claim": f"CL-{n}", "due": d} for n, d in due.items()])
    return [look, *[write("pay_claim", claim=f"CL-{n}", amount=a) for n, a in paid.items()]]


THEN, NOW = {4711: 120, 4712: 900}, {4711: 130, 4712: 910}


@pytest.mark.parametrize(
    ("usual", "run"),
    [
        pytest.param(stay("RT-881"), stay("RT-992"), id="another rate"),
        pytest.param(
            slot("SL-101", "SL-101", "SL-102"), slot("SL-102", "SL-102", "SL-103"), id="slot is taken"
        ),
        pytest.param(dues(THEN, THEN), dues(NOW, NOW), id="other amounts"),
        pytest.param(
            dues(THEN, THEN), dues({**THEN, 4713: 55}, {**THEN, 4713: 55}), id="one claim more is due"
        ),
    ],
)
@pytest.mark.parametrize("count", [1, 2])
def test_a_value_that_the_same_look_up_says_instead_of_the_old_one_is_quiet(
    usual: list[Record], run: list[Record], count: int
) -> None:
    assert score([], run, [usual] * count) < ALARM


@pytest.mark.parametrize(
    ("usual", "run"),
    [
        pytest.param(stay("RT-881"), stay("RT-992", "RT-881"), id="the look-up says the old one"),
        pytest.param(stay("RT-881"), stay("RT-992", "RT-992", "RT-881"), id="the look-up says both"),
        pytest.param(
            slot("SL-101", "SL-101", "SL-102"), slot("SL-102", "SL-101", "SL-102"), id="slot is free"
        ),
        pytest.param(slot("SL-101", "SL-101"), slot("SL-999", "SL-102"), id="nobody named the slot"),
        pytest.param(dues(THEN, THEN), dues(THEN, NOW), id="amounts that nobody named"),
        pytest.param(dues(THEN, THEN), dues(THEN, {4711: 900, 4712: 120}), id="amounts of one another"),
        pytest.param(dues(THEN, THEN), dues(NOW, {4711: 910, 4712: 130}), id="new amounts of one another"),
        pytest.param(dues(THEN, THEN), dues(THEN, {**THEN, 4713: 55}), id="a claim that nobody named"),
        pytest.param(
            dues(THEN, THEN), dues({**THEN, 4713: 55}, {**THEN, 4713: 5500}), id="one more at another amount"
        ),
    ],
)
@pytest.mark.parametrize("count", [1, 2])
def test_a_value_that_the_look_up_contradicts_alarms(
    usual: list[Record], run: list[Record], count: int
) -> None:
    assert score([], run, [usual] * count) >= ALARM


@pytest.mark.parametrize(
    "look",
    [
        pytest.param(
            read("get_room", {"room": "R-999", "rate": "RT-992"}, room="R-999"), id="another room's"
        ),
        pytest.param(read("get_offer", {"offer": "RT-992"}, room="R-204"), id="another look-up"),
        pytest.param({**read("get_room", "no RT-992", room="R-204"), "ok": False}, id="a refusal"),
    ],
)
def test_what_another_look_up_says_is_no_reason_for_another_value(look: Record) -> None:
    usual, booked = stay("RT-881"), stay("RT-992")[1]
    assert "argument.changed" in codes([], [look, booked], usual, usual)


def test_only_the_last_answer_of_a_look_up_counts() -> None:
    usual = stay("RT-881")
    assert codes(stay("RT-992")[:1], stay("RT-992", "RT-881"), usual, usual) == ["argument.changed"]
    assert score(stay("RT-881")[:1], stay("RT-992"), [usual, usual]) < ALARM


def test_what_the_world_does_not_have_any_more_is_not_missing() -> None:
    usual = slot("SL-101", "SL-101")
    assert score([], slot("", "SL-103")[:1], [usual, usual]) < ALARM
    assert codes([], slot("", "SL-101")[:1], usual, usual) == ["effect.missing"]


PAY = write("pay_claim", claim_id="CL-4711", amount=1205)
FLYING = {**PAY, "ok": None, "in_flight": True, "phase": "lost"}


def payments(*amounts: int, claim: str = "CL-4711") -> Record:
    """A look at what was paid."""
    return read(
        "get_payments", {"payments": [{"claim": claim, "amount": a} for a in amounts]}, claim_id=claim
    )


def test_what_a_look_up_shows_as_done_is_not_missing() -> None:
    looked = [payments(), PAY]
    assert score([], [payments(1205)], [looked, looked]) < ALARM
    assert codes([], [payments(1204)], looked, looked) == ["effect.missing"]
    assert "effect.missing" in codes([], [payments(1205, claim="CL-4712")], looked, looked)


def test_without_look_ups_in_the_baselines_nothing_is_known_to_show_what_was_done() -> None:
    assert codes([], [payments(1205)], [PAY], [PAY]) == ["effect.missing"]


def test_what_the_baselines_read_before_they_acted_shows_nothing_as_done() -> None:
    due = read("get_claim", {"claim_id": "CL-4711", "due": 1205}, claim_id="CL-4711")
    assert codes([], [due], [due, PAY], [due, PAY]) == ["effect.missing"]


@pytest.mark.parametrize("count", [0, 2])
@pytest.mark.parametrize(
    "post",
    [
        pytest.param([PAY], id="blindly"),
        pytest.param([payments(1205), PAY], id="though it had arrived"),
        pytest.param([payments(1205, 1205), PAY], id="though it had arrived twice"),
        pytest.param([payments(claim="CL-9000"), PAY], id="after a look elsewhere"),
        pytest.param([{**payments(), "ok": False, "result": "503"}, PAY], id="after a look that failed"),
        pytest.param(
            [{**PAY, "args": {"claim_id": "cl 4711", "amount": "1,205.00"}}], id="in other notation"
        ),
    ],
)
def test_a_write_in_flight_that_is_sent_again_alarms(post: list[Record], count: int) -> None:
    assert codes([FLYING], post, *[[PAY]] * count) == ["write.blind_reissue"]


@pytest.mark.parametrize("count", [0, 2])
@pytest.mark.parametrize(
    "post",
    [
        pytest.param([payments(), PAY], id="it had not arrived"),
        pytest.param([payments(1205)], id="it had arrived"),
    ],
)
def test_a_write_in_flight_that_is_looked_after_is_quiet(post: list[Record], count: int) -> None:
    assert score([FLYING], post, [[PAY]] * count) < ALARM
