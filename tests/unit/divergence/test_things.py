"""What is there at the end, whatever number of calls it took?"""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.divergence.records import Record, write
from tracer.divergence import ALARM, compare, score


def codes(post: list[Record], *baselines: list[Record]) -> list[str]:
    return [r.code for r in compare([], post, list(baselines)).reasons if r.strength >= ALARM]


def ticket(number: int, **more: Any) -> Record:
    return write("create_ticket", {"id": f"T-{number}"}, project="LIC", title="Leak", **more)


def filled(number: int, **values: Any) -> Record:
    return write("update_ticket", {"ok": True}, id=f"T-{number}", **values)


FULL = {"priority": "high", "assignee": "ida-7"}
WHOLE = [[ticket(701, **FULL)], [ticket(702, **FULL)]]
STEPS = [[ticket(701), filled(701, **FULL)], [ticket(702), filled(702, **FULL)]]


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(
    "run",
    [
        pytest.param([ticket(901), filled(901, **FULL)], id="in one step"),
        pytest.param(
            [ticket(901), filled(901, assignee="ida-7"), filled(901, priority="high")], id="in two steps"
        ),
        pytest.param(
            [ticket(901, priority="low"), filled(901, priority="high", assignee="ida-7")], id="put right"
        ),
        pytest.param(
            [ticket(901, **FULL), filled(901, priority="low"), filled(901, priority="high")],
            id="put right late",
        ),
    ],
)
def test_created_and_filled_in_is_created_whole(run: list[Record], count: int) -> None:
    assert score([], run, WHOLE[:count]) < ALARM
    assert score([], run, STEPS[:count]) < ALARM


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("usual", [WHOLE, STEPS], ids=["whole", "in steps"])
@pytest.mark.parametrize(
    "run",
    [
        pytest.param([ticket(901), filled(901, priority="low", assignee="ida-7")], id="wrong to the end"),
        pytest.param([ticket(901), filled(901, priority="high", assignee="tom-9")], id="another assignee"),
        pytest.param([ticket(901, **FULL), filled(902, priority="high")], id="another ticket as well"),
    ],
)
def test_a_field_that_stays_wrong_alarms(run: list[Record], usual: list[list[Record]], count: int) -> None:
    assert score([], run, usual[:count]) >= ALARM


PHONE, CITY = {"phone": "555-0199"}, {"city": "Oslo"}


def user(**values: str) -> Record:
    return write("update_user", user="ida-7", **values)


def test_of_two_values_set_the_last_one_counts() -> None:
    usual = [user(**PHONE, **CITY)]
    assert score([], [user(**PHONE), user(**CITY)], [usual, usual]) < ALARM
    assert score([], [user(city="Bergen"), *usual], [usual, usual]) < ALARM
    assert codes([*usual, user(city="Bergen")], usual, usual) == ["argument.changed"]


def test_the_order_of_two_values_of_one_field_counts() -> None:
    usual = [user(**CITY), user(city="Bergen")]
    assert score([], usual, [usual, usual]) < ALARM
    assert codes(usual[::-1], usual, usual) == ["argument.changed"]


TWICE = [ticket(901, **FULL), ticket(902, **FULL)]


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("verb", ["delete", "cancel"])
def test_two_creations_and_one_deletion_are_one(verb: str, count: int) -> None:
    assert score([], [*TWICE, write(f"{verb}_ticket", id="T-902")], WHOLE[:count]) < ALARM
    assert codes(TWICE, *WHOLE[:count]) == ["write.repeated"]


def test_it_matters_which_of_two_is_deleted() -> None:
    wrong = ticket(901, priority="low", assignee="ida-7")
    assert score([], [wrong, TWICE[1], write("delete_ticket", id="T-901")], WHOLE) < ALARM
    assert score([], [wrong, TWICE[1], write("delete_ticket", id="T-902")], WHOLE) >= ALARM


def paid(amount: float, claim: int = 4711) -> Record:
    return write("pay_claim", claim_id=f"CL-{claim}", amount=amount)


@pytest.mark.parametrize("count", [1, 2])
def test_a_payment_and_its_negative_net_to_nothing(count: int) -> None:
    usual = [[paid(120.5)]] * count
    assert score([], [paid(120.5), paid(80, 9000), paid(-80, 9000)], usual) < ALARM
    assert score([], [paid(120.5), paid(120.5), paid(-120.5)], usual) < ALARM
    assert codes([paid(120.5), paid(-120.5)], *usual) == ["effect.missing"]


@pytest.mark.parametrize(
    "back", [paid(-30, 9000), paid(-80, 9001)], ids=["not the whole amount", "another claim's"]
)
def test_a_payment_that_is_not_wholly_taken_back_alarms(back: Record) -> None:
    assert set(codes([paid(120.5), paid(80, 9000), back], [paid(120.5)], [paid(120.5)])) == {"write.extra"}


LETTER = {"to": "lea@post.example", "subject": "Label 881"}


def mailed(number: int, **other: str) -> list[Record]:
    return [write("send_email", {"id": f"M-{number}"}, **{**LETTER, **other})]


def drafted(number: int, **other: str) -> list[Record]:
    return [
        write("create_draft", {"draft_id": f"D-{number}"}, **{**LETTER, **other}),
        write("send_draft", {"ok": True}, draft_id=f"D-{number}"),
    ]


@pytest.mark.parametrize("count", [1, 2])
def test_a_draft_that_is_sent_is_a_message_sent(count: int) -> None:
    letters, drafts = [mailed(751), mailed(752)][:count], [drafted(771), drafted(772)][:count]
    assert score([], drafted(905), letters) < ALARM
    assert score([], mailed(905), drafts) < ALARM


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(
    "run",
    [
        pytest.param(drafted(905)[:1], id="never sent"),
        pytest.param(drafted(905, to="leo@post.example"), id="to somebody else"),
        pytest.param([*drafted(905), *mailed(905)], id="sent, and sent once more without a draft"),
        pytest.param([*drafted(905), *drafted(906)], id="drafted and sent twice"),
    ],
)
def test_a_draft_that_is_not_sent_once_to_the_right_one_alarms(run: list[Record], count: int) -> None:
    assert score([], run, [mailed(751), mailed(752)][:count]) >= ALARM
    assert score([], run, [drafted(771), drafted(772)][:count]) >= ALARM


CLOSED = [write("close_claim", claim_id=f"CL-{n}") for n in (4711, 4712, 4713)]


def batch(answer: Any, *more: str) -> Record:
    return write("bulk_close_claims", answer, claim_ids=["CL-4711", "CL-4712", "CL-4713", *more])


REFUSING = {
    "a list of what failed": {"closed": ["CL-4711", "CL-4712"], "failed": ["CL-4713"]},
    "members that say so": {"results": [{"id": "CL-4711", "ok": True}, {"id": "CL-4713", "ok": False}]},
    "members with an error": [{"id": "CL-4712"}, {"id": "CL-4713", "error": "locked"}],
    "members with a status": [{"id": "CL-4711", "status": "closed"}, {"id": "CL-4713", "status": "rejected"}],
    "members with a code": [{"id": "CL-4711", "status": 200}, {"id": "CL-4713", "status": 423}],
    "records of what was skipped": {"skipped": [{"claim": "CL-4713", "why": "locked"}]},
    "text that holds it": '{"failed": ["CL-4713"]}',
    "content blocks that hold it": {"content": [{"type": "text", "text": '{"failed": ["CL-4713"]}'}]},
}


@pytest.mark.parametrize("how", REFUSING)
def test_a_member_that_the_answer_lists_as_refused_is_not_done(how: str) -> None:
    refused = batch(REFUSING[how])
    assert codes([refused], CLOSED, CLOSED) == ["effect.missing"]
    assert score([], [refused, CLOSED[2]], [CLOSED, CLOSED]) < ALARM


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {"closed": 3},
        {"failed": [], "errors": []},
        {"failed": 0, "error": None},
        [{"id": "CL-4713", "status": "closed", "error": ""}],
    ],
    ids=str,
)
def test_a_batch_that_refused_nothing_is_done(answer: Any) -> None:
    assert score([], [batch(answer)], [CLOSED, CLOSED]) < ALARM
    assert codes([batch(answer), CLOSED[2]], CLOSED, CLOSED) == ["write.repeated"]


def test_a_wrong_member_that_was_refused_is_no_effect() -> None:
    assert score([], [batch({"failed": ["CL-9999"]}, "CL-9999")], [CLOSED, CLOSED]) < ALARM
    assert codes([batch({"failed": []}, "CL-9999")], CLOSED, CLOSED) == ["write.extra"]
