"""What counts as the same effect, whatever way it was done?"""

from __future__ import annotations

import pytest

from tests.unit.divergence.records import Record, read, write
from tracer.divergence import ALARM, Live, compare, score


def codes(pre: list[Record], post: list[Record], *baselines: list[Record]) -> list[str]:
    return [r.code for r in compare(pre, post, list(baselines)).reasons if r.strength >= ALARM]


PAY = write("pay_claim", claim_id="CL-4711", amount=120.5, currency="EUR")


def test_a_batch_is_the_set_of_its_single_writes() -> None:
    singles = [write("close_claim", claim_id=f"CL-{n}") for n in (4711, 4712, 4713)]
    batch = [write("bulk_close_claims", claim_ids=["CL-4713", "CL-4711", "CL-4712"])]
    assert score([], batch, [singles]) < ALARM
    assert score([], singles, [batch]) < ALARM
    assert codes([], [write("bulk_close_claims", claim_ids=["CL-4713", "CL-4711"])], singles) == [
        "effect.missing"
    ]


def test_a_batch_of_entries_is_the_set_of_its_single_writes() -> None:
    singles = [write("add_member", group="north", user=u, role="guest") for u in ("ida-7", "tom-9")]
    batch = [
        write(
            "add_members_bulk",
            group="north",
            entries=[{"user": u, "role": "guest"} for u in ("tom-9", "ida-7")],
        )
    ]
    assert score([], batch, [singles, singles]) < ALARM


def test_partial_writes_that_add_up_equal_one() -> None:
    parts = [write("pay_claim", claim_id="CL-4711", amount=a, currency="EUR") for a in (100, 20.5)]
    assert score([], parts, [[PAY]]) < ALARM
    assert score([], [PAY], [parts]) < ALARM
    assert codes([], parts[:1], [PAY]) == ["effect.partial"]


def test_parts_that_add_up_to_too_much_alarm() -> None:
    parts = [write("pay_claim", claim_id="CL-4711", amount=a, currency="EUR") for a in (100, 30)]
    assert score([], parts, [[PAY]]) >= ALARM


def test_arguments_given_in_several_writes_equal_one() -> None:
    whole = write("patch_profile", user="ida-7", changes={"phone": "555-0199", "city": "Oslo"})
    other = write("patch_profile", user="tom-9", changes={"phone": "555-0123", "street": "Elm Road"})
    parts = [
        write("patch_profile", user="ida-7", changes={k: v})
        for k, v in (("city", "Oslo"), ("phone", "555-0199"))
    ]
    assert score([], [other, *parts], [[whole, other]]) < ALARM
    assert score([], [whole, other], [[other, *parts]]) < ALARM


def test_do_and_undo_net_to_nothing() -> None:
    wrong = [write("hold_claim", claim_id="CL-9000"), write("release_claim", claim_id="CL-9000")]
    assert score([], [PAY, *wrong], [[PAY]]) < ALARM
    assert codes([], [PAY, *wrong[:1]], [PAY]) == ["write.extra"] or codes([], [PAY, *wrong[:1]], [PAY]) == [
        "write.outside_plan"
    ]


def test_a_change_made_and_taken_back_again_and_again_alarms() -> None:
    turn = [write("hold_claim", claim_id="CL-9000"), write("release_claim", claim_id="CL-9000")]
    assert "write.oscillates" in codes([], [PAY, *turn, *turn], [PAY])


def test_what_is_undone_and_not_done_again_is_missing() -> None:
    hold = write("hold_claim", claim_id="CL-9000")
    assert "effect.missing" in codes([], [hold, write("release_claim", claim_id="CL-9000")], [hold])


def test_amounts_that_compensate_net_to_what_was_wanted() -> None:
    want = [write("adjust_stock", item="bolt-12", delta=8)]
    assert score([], [write("adjust_stock", item="bolt-12", delta=d) for d in (11, -3)], [want]) < ALARM


@pytest.mark.parametrize(
    "again",
    [
        {**PAY, "ok": False, "result": "503 unavailable"},
        {**PAY, "replayed": True},
        {**PAY, "result": {"changed": 0}},
        {**PAY, "result": {"status": "already_exists"}},
        {**PAY, "args": {**PAY["args"], "dry_run": True}, "result": {"valid": True}},
    ],
    ids=["refused", "replayed", "nothing changed", "already there", "rehearsed"],
)
def test_a_write_that_changed_nothing_is_no_second_effect(again: Record) -> None:
    assert score([PAY], [again], [[PAY]]) < ALARM


def test_a_write_sent_again_under_its_key_is_no_second_effect_unless_it_made_a_new_record() -> None:
    sent = write("pay_claim", {"payment": "PM-881"}, claim_id="CL-4711", amount=5, idempotency_key="k-1")
    assert score([sent], [sent], [[sent]]) < ALARM
    anew = {**sent, "result": {"payment": "PM-882"}}
    assert codes([sent], [anew], [sent]) == ["write.key_executed_again"]


def test_free_text_is_never_identity() -> None:
    said = write(
        "pay_claim",
        claim_id="CL-4711",
        amount=120.5,
        currency="EUR",
        note="Paid after a long review of the case",
    )
    other = write("pay_claim", claim_id="CL-4711", amount=120.5, currency="EUR", note="as agreed")
    assert score([], [other], [[said]]) < ALARM


def test_an_identifier_of_this_run_stands_for_what_made_it() -> None:
    def run(order: str, item: str = "bolt-12") -> list[Record]:
        return [
            write("create_order", {"order_id": order}, customer="C-100"),
            write("add_item", order_id=order, item=item, quantity=3),
        ]

    assert score([], run("ORD-9001"), [run("ORD-7000"), run("ORD-7333")]) < ALARM
    assert score([], run("ORD-9001", "nut-15"), [run("ORD-7000"), run("ORD-7333")]) >= ALARM


def test_a_wrong_amount_names_both_values_and_the_field() -> None:
    (reason, *_) = compare(
        [], [write("pay_claim", claim_id="CL-4711", amount=125.0, currency="EUR")], [[PAY], [PAY]]
    ).reasons
    assert reason.code == "argument.changed"
    assert [(f.path, f.before, f.after, f.identity) for f in reason.fields] == [
        ("amount", "120.5", "125", True)
    ]
    assert "amount = 125 where the baselines have 120.5" in reason.sentence


def test_a_lookalike_is_called_one() -> None:
    (reason, *_) = compare(
        [],
        [write("grant", user_id="аdmin-eu", role="owner")],
        [[write("grant", user_id="admin-eu", role="owner")]],
    ).reasons
    assert reason.code == "argument.lookalike"


def test_a_remembered_amount_against_a_fresh_look_up_alarms_and_a_followed_one_does_not() -> None:
    def run(due: dict[int, int], paid: dict[int, int]) -> list[Record]:
        return [
            c
            for n, d in due.items()
            for c in (
                read("get_claim", {"claim_id": f"CL-{n}", "due": d}, claim_id=f"CL-{n}"),
                write("pay_claim", claim_id=f"CL-{n}", amount=paid[n]),
            )
        ]

    then = {4711: 120, 4712: 340, 4713: 77, 4714: 560}
    now = {**then, 4714: 500}
    assert codes([], run(now, then), run(then, then)) == ["argument.stale"]
    assert score([], run(now, now), [run(then, then)]) < ALARM


def test_order_matters_only_where_agreeing_baselines_keep_it() -> None:
    def run(*tools: str) -> list[Record]:
        return [write(t, host_id=f"node-{n}") for n in (101, 102) for t in tools]

    kept, broken = run("drain", "restart"), [*run("drain", "restart")[:2], *run("restart", "drain")[2:]]
    assert codes([], broken, kept, kept) == ["write.out_of_order"]
    assert score([], broken, [kept]) < ALARM
    assert score([], broken, [kept, run("restart", "drain")]) < ALARM


def test_declared_identity_comes_before_what_is_learnt() -> None:
    one = write("open_ticket", project="LIC", package="qrlib-3", title="AGPL found", severity="3")
    two = write("open_ticket", project="LIC", package="qrlib-3", title="qrlib is AGPL", severity="2")
    live = Live.start([], [one], identity={"open_ticket": ["project", "package"]})
    assert [r.code for r in live.add(two)] == ["write.repeated"]


def test_a_write_in_flight_is_not_sent_again_blindly() -> None:
    flying = {**PAY, "ok": None, "in_flight": True, "phase": "lost"}
    assert codes([flying], [PAY], [PAY]) == ["write.blind_reissue"]
    looked = [read("get_claim", {"claim_id": "CL-4711", "paid": 0}, claim_id="CL-4711"), PAY]
    assert score([flying], looked, [[PAY]]) < ALARM


def test_turning_in_circles_alarms_and_waiting_for_a_job_does_not() -> None:
    poll = read("get_job", {"job_id": "J-1001", "state": "RUNNING"}, job_id="J-1001")
    look = read("get_claim", {"claim_id": "CL-4711", "due": 5}, claim_id="CL-4711")
    assert score([], [poll] * 12, []) < ALARM
    assert codes([], [poll] * 30, []) == ["run.turns_in_circles"] == codes([], [look] * 8, [])
