"""How much does a difference say that runs which ended well show among themselves?"""

from __future__ import annotations

import pytest

from tests.unit.divergence.records import Record, write
from tracer.divergence import ALARM, Live, compare, score


def run(channel: str = "mail", *, amount: int = 1205, extra: int = 0) -> list[Record]:
    """A claim is paid, and the customer is told in some way."""
    more = [write("log_case", case=f"CS-{extra}", claim="CL-4711")] if extra else []
    return [
        write("pay_claim", claim_id="CL-4711", amount=amount),
        write("notify_customer", customer="C-100", channel=channel),
        *more,
    ]


@pytest.mark.parametrize(
    "usual",
    [
        pytest.param([run("mail"), run("sms")], id="two"),
        pytest.param([run("mail"), run("sms"), run("mail")], id="three"),
    ],
)
def test_a_difference_that_the_baselines_show_among_themselves_is_quiet(usual: list[list[Record]]) -> None:
    found = compare([], run("letter"), usual)
    assert found.verdict == "quiet"
    assert 0 < found.score < ALARM


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_same_difference_alarms_where_the_baselines_agree(count: int) -> None:
    found = compare([], run("letter"), [run()] * count)
    assert [r.code for r in found.reasons if r.strength >= ALARM] == ["argument.changed"]


def test_a_difference_that_the_run_showed_before_its_checkpoint_is_quiet_after_it() -> None:
    def told(customer: int, channel: str) -> Record:
        return write("notify_customer", customer=f"C-{customer}", channel=channel)

    usual = [told(100, "mail"), told(200, "mail")]
    assert score([told(100, "sms")], [told(200, "sms")], [usual]) < ALARM
    assert score([told(100, "mail")], [told(200, "sms")], [usual]) >= ALARM


def test_noise_in_one_tool_says_nothing_of_another() -> None:
    usual = [run("mail"), run("sms"), run("mail"), run("sms")]
    (reason, *_) = compare([], run("mail", amount=1300), usual).reasons
    assert (reason.code, reason.tool) == ("argument.changed", "pay_claim")
    assert reason.strength >= ALARM


def test_a_repeat_is_no_noise_even_where_a_baseline_repeats() -> None:
    once, twice = run(), [*run(), run()[0]]
    assert score([], twice, [once, twice]) < ALARM
    found = compare([], [*twice, run()[0]], [once, twice]).reasons
    assert [r.code for r in found if r.strength >= ALARM] == ["write.repeated"]


def test_noise_is_learnt_before_the_first_call_and_only_when_wanted() -> None:
    usual = [run("mail"), run("sms")]
    for calibrated, alarms in ((True, False), (False, True)):
        live = Live.start(usual, [], calibrated=calibrated)
        assert any(r.strength >= ALARM for c in run("letter") for r in live.add(c)) is alarms
