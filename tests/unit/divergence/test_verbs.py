"""Which tools do the same by their names, and which only look alike?"""

from __future__ import annotations

import pytest

from tests.unit.divergence.records import Record, write
from tracer.divergence import ALARM, compare, score
from tracer.divergence.verbs import family


def codes(post: list[Record], *baselines: list[Record]) -> list[str]:
    return [r.code for r in compare([], post, list(baselines)).reasons if r.strength >= ALARM]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("approveInvoices", "bulk_approve_invoices"),
        ("add_item", "item.add"),
        ("insert_item", "create-item"),
        ("calendar_insert_event", "create_event"),
        ("mcp__crm__create_ticket", "create_ticket"),
        ("remove_item", "deleteItems"),
        ("patch_case", "modify_case"),
    ],
)
def test_names_of_one_tool_are_one_family(name: str, other: str) -> None:
    assert family(name) == family(other)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("add_item", "remove_item"),
        ("order.cancel", "order.create"),
        ("approve_claim", "reject_claim"),
        ("update_invoice", "update_customer"),
    ],
)
def test_names_of_two_tools_are_two_families(name: str, other: str) -> None:
    assert family(name) != family(other)


STAY = write("book_room", room="R-204", day="2026-03-25", guests=12)
MOVED = write("transfer_money", from_account="AC-1001", to_account="AC-2002", amount=50)
STATE = write("update_case", case_id="CS-4711", state="open")


@pytest.mark.parametrize(
    ("usual", "other"),
    [
        pytest.param(
            STAY,
            write("reserve_room", room="R-204", date="2026-03-25", people=12),
            id="reserved instead of booked",
        ),
        pytest.param(
            MOVED,
            write("move_funds", source="AC-1001", target="AC-2002", amount=50),
            id="moved instead of transferred",
        ),
        pytest.param(
            STATE, write("set_case_state", case_id="CS-4711", state="open"), id="set instead of updated"
        ),
        pytest.param(
            write("add_label", ticket="T-100", label="urgent"),
            write("tag_ticket", ticket="T-100", label="urgent"),
            id="tagged instead of labelled",
        ),
    ],
)
@pytest.mark.parametrize("count", [1, 2])
def test_another_tool_of_the_same_kind_with_the_same_values_is_quiet(
    usual: Record, other: Record, count: int
) -> None:
    assert score([], [other], [[usual]] * count) < ALARM
    assert score([], [usual], [[other]] * count) < ALARM


@pytest.mark.parametrize(
    ("usual", "other"),
    [
        pytest.param(
            STAY,
            write("reserve_room", room="R-205", date="2026-03-25", people=12),
            id="another room",
        ),
        pytest.param(
            STAY,
            write("reserve_room", room="R-204", date="2026-03-26", people=12),
            id="another day",
        ),
        pytest.param(
            MOVED,
            write("move_funds", source="AC-1001", target="AC-2002", amount=500),
            id="another amount",
        ),
        pytest.param(STATE, write("set_case_state", case_id="CS-4711", state="closed"), id="another state"),
    ],
)
@pytest.mark.parametrize("count", [1, 2])
def test_another_tool_of_the_same_kind_with_another_value_alarms(
    usual: Record, other: Record, count: int
) -> None:
    assert codes([other], *[[usual]] * count) == (
        ["effect.missing", "write.outside_plan"] if count > 1 else ["write.outside_plan", "effect.missing"]
    )


@pytest.mark.parametrize(
    ("usual", "other"),
    [
        ("archive_case", "delete_case"),
        ("approve_case", "reject_case"),
        ("book_case", "cancel_case"),
        ("attach_case", "detach_case"),
        ("subscribe_case", "unsubscribe_case"),
        ("start_case", "stop_case"),
        ("save_case", "delete_case"),
        ("lock_case", "unlock_case"),
        ("hold_case", "release_case"),
    ],
)
@pytest.mark.parametrize("count", [1, 2])
def test_the_same_values_under_a_verb_of_another_kind_alarm(usual: str, other: str, count: int) -> None:
    said = {"case_id": "CS-4711", "reason": "solved", "team": "T-12"}
    assert "effect.missing" in codes([write(other, **said)], *[[write(usual, **said)]] * count)


PAID = write("pay_claim", claim_id="CL-4711", amount=120.5, currency="EUR")


@pytest.mark.parametrize(
    "again",
    [
        pytest.param(write("payClaim", claim_id="cl 4711", amount="120,50", currency="EUR"), id="as text"),
        pytest.param(write("pay_claims", claim_id="CL-4711", amount="€120.50"), id="with its currency"),
        pytest.param(
            write("issue_payment", claim="CL-4711", amount=120.5, currency="EUR"), id="by another tool"
        ),
    ],
)
@pytest.mark.parametrize("count", [1, 2])
def test_what_is_done_once_more_in_another_notation_is_a_repeat(again: Record, count: int) -> None:
    assert score([], [again], [[PAID]] * count) < ALARM
    assert compare([PAID], [again], [[PAID]] * count).reasons[0].code == "write.repeated"


def test_a_repeat_in_another_notation_needs_no_baseline() -> None:
    again = write("payClaim", claim_id="cl 4711", amount="120,50", currency="EUR")
    assert [r.code for r in compare([PAID], [again], []).reasons] == ["write.repeated"]
