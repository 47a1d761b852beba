"""A shop's returns, told in many ways: which of them are the same return, and which are another one?"""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.unit.divergence.records import Record, read, write
from tracer.divergence import compare

ITEMS = [{"sku": "TEE-M-RED", "qty": 1}, {"sku": "CAP-BLK", "qty": 2}]
ADDRESS = {"street": "12 Rosa-Luxemburg-Str.", "zip": "04103", "city": "Leipzig"}


def returned(run: str, note: str, *, refund_first: bool = False) -> list[Record]:
    """One successful run. Its identifiers, its note and its order are its own."""
    rma, parcel = f"RMA-{run}", f"TRK5{run}00"
    steps = [
        write("returns.open", {"rma": rma}, order="#10455", items=ITEMS, reason="wrong size"),
        write(
            "refunds.issue",
            {"refund_id": f"rf_9{run}0"},
            order="#10455",
            amount="59.90",
            currency="EUR",
            method="original",
        ),
        write("inventory.adjust", {"ok": True}, sku="TEE-M-RED", delta=1, location="WH-2"),
        write("inventory.adjust", {"ok": True}, sku="CAP-BLK", delta=2, location="WH-2"),
        write("labels.create", {"tracking": parcel}, rma=rma, carrier="DHL", address=ADDRESS),
        write(
            "emails.send",
            {"id": f"em4{run}"},
            to="lea@post.example",
            template="label",
            vars={"rma": rma, "tracking": parcel},
        ),
        write(
            "tickets.update",
            {"ok": True},
            ticket=88123,
            status="solved",
            tags=["return", "refund"],
            comment=note,
        ),
    ]
    if refund_first:
        steps = [steps[n] for n in (1, 3, 2, 0, 4, 5, 6)]
    customer = {"id": "cus_9fK2", "email": "lea@post.example", "tier": "gold"}
    return [read("customers.get", customer, id="cus_9fK2"), *steps]


BASELINES = [
    returned("111", "ok"),
    returned("222", "done, refunded", refund_first=True),
    returned("333", "refund on its way"),
]
RUN = returned("777", "label sent")
PRE, POST = [{**RUN[0], "phase": "committed"}], RUN[1:]


def edited(place: int, **args: Any) -> list[Record]:
    post = copy.deepcopy(POST)
    post[place]["args"].update(args)
    return post


def between(place: int, *more: Record) -> list[Record]:
    return [*POST[:place], *more, *POST[place:]]


def split(place: int, *parts: Record) -> list[Record]:
    return [*POST[:place], *parts, *POST[place + 1 :]]


SAME = {
    "as before": POST,
    "in another order": returned("777", "x", refund_first=True)[1:],
    "items as JSON text in another order": edited(
        0, order="10455", items='[{"sku":"cap-blk","qty":"2"},{"qty":1,"sku":"TEE-M-RED"}]'
    ),
    "the amount in another notation": edited(1, amount="59,90 €"),
    "the refund in two parts": split(
        1,
        *(
            {**POST[1], "args": {**POST[1]["args"], "amount": a}, "result": {"refund_id": f"rf_{a}"}}
            for a in ("30.00", "29.90")
        ),
    ),
    "one at a time": split(
        3, *[write("inventory.adjust", {"ok": True}, sku="CAP-BLK", delta=1, location="WH-2")] * 2
    ),
    "the street written out": edited(
        4, address={**ADDRESS, "street": "12 Rosa-Luxemburg-Straße", "city": "LEIPZIG"}
    ),
    "tags in another order": edited(6, tags=["refund", "return"]),
    "other words": edited(
        6, comment="All done. The customer knows about label and refund, nothing is open on our side."
    ),
    "an option": edited(1, notify=False),
    "refused, then done": between(1, {**POST[1], "ok": False, "result": "504 gateway timeout"}),
    "a wrong amount that was refused": between(
        1, {**POST[1], "ok": False, "result": "422 too much", "args": {**POST[1]["args"], "amount": "590.90"}}
    ),
    "rehearsed": between(
        1, write("refunds.issue", {"preview": True}, order="#10455", amount="59.90", dry_run=True)
    ),
    "more look-ups": between(0, read("orders.get", {"order": "#10455", "total": "59.90"}, order="#10455")),
    "waiting for a label": between(4, *[read("labels.status", {"state": "processing"}, rma="RMA-777")] * 9),
}
OTHER = {
    "one item less": edited(0, items=ITEMS[:1]),
    "one item more": edited(0, items=[*ITEMS, {"sku": "MUG-WHT", "qty": 1}]),
    "another quantity": edited(0, items=[ITEMS[0], {"sku": "CAP-BLK", "qty": 1}]),
    "digits changed places": edited(1, amount="95.90"),
    "another currency": edited(1, currency="USD"),
    "another method": edited(1, method="store_credit"),
    "refunded twice": between(2, {**POST[1], "result": {"refund_id": "rf_999"}}),
    "another warehouse": edited(2, location="WH-3"),
    "the other sign": edited(2, delta=-1),
    "another house": edited(4, address={**ADDRESS, "street": "21 Rosa-Luxemburg-Str."}),
    "another city": edited(4, address={**ADDRESS, "city": "Dresden"}),
    "another return's label": edited(4, rma="RMA-123"),
    "another addressee": edited(5, to="leo@post.example"),
    "one more addressee": edited(5, bcc="x@elsewhere.example"),
    "another state": edited(6, status="closed"),
    "a tag is missing": edited(6, tags=["return"]),
    "no mail": split(5),
    "no refund": split(1),
    "another order as well": [
        *POST,
        write(
            "refunds.issue",
            {"refund_id": "rf_5"},
            order="#10399",
            amount="12.00",
            currency="EUR",
            method="original",
        ),
    ],
    "handed over instead": [
        POST[0],
        {"name": "escalate", "args": {"why": "limit"}, "kind": "handoff", "ok": True, "result": ""},
    ],
}


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("name", SAME)
def test_the_same_return_is_quiet(name: str, count: int) -> None:
    found = compare(PRE, SAME[name], BASELINES[:count])
    assert (found.verdict, [r.sentence for r in found.reasons if r.strength >= 0.5]) == ("quiet", [])


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("name", OTHER)
def test_another_return_alarms(name: str, count: int) -> None:
    assert compare(PRE, OTHER[name], BASELINES[:count]).verdict == "alarm"


def test_a_message_that_was_lost_and_sent_again_in_other_words_alarms() -> None:
    mail = write("emails.send", None, to="lea@post.example", text="Your label is on its way to you.")
    again = write(
        "emails.send",
        None,
        to="lea@post.example",
        text="Hello Lea, we have just sent the label that you asked for.",
    )
    assert compare([{**mail, "phase": "lost"}], [again], [[mail]]).reasons[0].code == "message.again"
