"""What is to be done about a call that may have been made before?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer.contract import CallKind, CallState
from tracer.errors import AmbiguousCall, CallKeyReused
from tracer.ledger import UNSTORABLE, Answer, Ask, Asked, Ledger, New, Park, Resend, in_doubt, way_out
from tracer.store.rows import CallRow
from tracer.toolspec import KEY, NOT_FOUND, ToolSpec, spec_of

NOW = 1_000_000


def pay(order: str, note: str = "", *, key: str = KEY) -> int:
    return 1


def look(order: str) -> int:
    return 1


KEYED = spec_of(pay, CallKind.WRITE, key_param="key", identity=("order",))
ASKED = spec_of(look, CallKind.WRITE, name="asked", reconcile=lambda order: NOT_FOUND)
OPAQUE = spec_of(look, CallKind.WRITE, name="opaque")
READ = spec_of(look, CallKind.READ)


def asked(
    spec: ToolSpec, order: str = "o1", *, note: str = "", scope: str = "", key: str | None = None
) -> Asked:
    return Asked(spec, scope, f"{order}/{note}".encode(), order.encode(), key)


def row(spec: ToolSpec, state: CallState, order: str = "o1", **changes: Any) -> CallRow:
    base = CallRow(
        run_id="r1",
        branch="main",
        effect_id=f"{spec.name}-{order}-{changes.get('ordinal', 0)}-{changes.get('call_key')}",
        number=1,
        segment=1,
        position=1,
        after_sequence=1,
        scope="",
        ordinal=0,
        call_key=None,
        tool=spec.name,
        kind=str(spec.kind),
        state=state,
        flags="",
        args_digest=f"{order}/".encode(),
        identity_digest=order.encode(),
        idempotency_key="wp-1" if spec.key_param else None,
        key_expires_at=None,
        target=order,
        error="",
        attempts=1,
        answers=0,
        taken_from=None,
        planned_at=0,
        sent_at=0,
        ended_at=0,
    )
    return replace(base, **changes)


def resumed(*tail: CallRow, older: tuple[CallRow, ...] = ()) -> Ledger:
    ledger = Ledger(10)
    ledger.restore(tail, [*(one for one in tail if in_doubt(one)), *older])
    return ledger


def test_a_first_call_is_new_and_numbers_go_on() -> None:
    ledger = Ledger(7)
    assert ledger.plan(asked(KEYED), NOW) == New(7, 0)
    assert ledger.plan(asked(KEYED, "o2"), NOW) == New(8, 0)


@pytest.mark.parametrize(
    ("spec", "state", "plan"),
    [
        (KEYED, CallState.COMMITTED, Answer),
        (KEYED, CallState.UNKNOWN, Resend),
        (KEYED, CallState.SUSPENDED, Resend),
        (ASKED, CallState.UNKNOWN, Ask),
        (ASKED, CallState.COMMITTED, Answer),
        (OPAQUE, CallState.UNKNOWN, Park),
        (OPAQUE, CallState.COMMITTED, Answer),
        (READ, CallState.COMMITTED, Answer),
        (KEYED, CallState.FAILED, New),
        (OPAQUE, CallState.FAILED, New),
    ],
)
def test_a_call_of_the_tail_meets_its_row(spec: ToolSpec, state: CallState, plan: type) -> None:
    assert type(resumed(row(spec, state)).plan(asked(spec), NOW)) is plan


def test_a_call_without_an_outcome_is_never_new_however_it_is_worded() -> None:
    for spec in (KEYED, ASKED, OPAQUE):
        found = resumed(row(spec, CallState.UNKNOWN)).plan(
            asked(spec, note="in other words", scope="elsewhere"), NOW
        )
        assert not isinstance(found, New)


def test_a_committed_result_that_could_not_be_stored_is_parked() -> None:
    found = resumed(row(KEYED, CallState.COMMITTED, flags=UNSTORABLE, error="$.result is a socket"))
    plan = found.plan(asked(KEYED), NOW)
    assert isinstance(plan, Park)
    assert "$.result is a socket" in plan.why


def test_an_expired_key_is_parked_unless_the_service_can_be_asked() -> None:
    old = row(KEYED, CallState.UNKNOWN, key_expires_at=NOW)
    assert isinstance(resumed(old).plan(asked(KEYED), NOW - 1), Resend)
    assert isinstance(resumed(old).plan(asked(KEYED), NOW), Park)
    both = replace(KEYED, reconcile=lambda order, note, key: NOT_FOUND)
    assert isinstance(resumed(old).plan(asked(both), NOW), Ask)


def test_each_recorded_call_answers_once() -> None:
    ledger = resumed(row(KEYED, CallState.COMMITTED))
    assert isinstance(ledger.plan(asked(KEYED), NOW), Answer)
    assert isinstance(ledger.plan(asked(KEYED), NOW), New)


def test_equal_calls_are_told_apart_by_their_order() -> None:
    first, second = row(READ, CallState.COMMITTED, ordinal=0), row(READ, CallState.COMMITTED, ordinal=1)
    ledger = resumed(second, first)
    got = [ledger.plan(asked(READ), NOW) for _ in range(3)]
    assert got[:2] == [Answer(first), Answer(second)]
    assert isinstance(got[2], New)


def test_parallel_calls_are_matched_by_their_call_key_and_never_by_name_or_position() -> None:
    rows = [row(KEYED, CallState.COMMITTED, order, call_key=key) for order, key in (("A", "c1"), ("B", "c2"))]
    ledger = resumed(*rows)
    assert ledger.plan(asked(KEYED, "B", key="c2"), NOW) == Answer(rows[1])
    assert isinstance(ledger.plan(asked(KEYED, "C", key="c3"), NOW), New)
    assert ledger.plan(asked(KEYED, "A", key="c1"), NOW) == Answer(rows[0])
    assert isinstance(ledger.plan(asked(KEYED, "A"), NOW), New)


def test_equal_writes_in_flight_without_call_keys_are_ambiguous() -> None:
    ledger = Ledger()
    ledger.plan(asked(KEYED), NOW)
    with pytest.raises(AmbiguousCall, match="call_key="):
        ledger.plan(asked(KEYED), NOW)
    ledger.settled(asked(KEYED))
    assert isinstance(ledger.plan(asked(KEYED), NOW), New)


def test_after_a_checkpoint_a_finished_call_answers_no_more_and_a_doubt_still_does() -> None:
    ledger = resumed(row(READ, CallState.COMMITTED), row(KEYED, CallState.UNKNOWN))
    ledger.advance()
    assert isinstance(ledger.plan(asked(READ), NOW), New)
    assert isinstance(ledger.plan(asked(KEYED, note="again"), NOW), Resend)


def test_a_doubt_that_was_settled_does_not_come_back_after_a_checkpoint() -> None:
    ledger = resumed(row(KEYED, CallState.UNKNOWN))
    assert isinstance(ledger.plan(asked(KEYED), NOW), Resend)
    ledger.settled(asked(KEYED))
    ledger.advance()
    assert isinstance(ledger.plan(asked(KEYED), NOW), New), "a later equal call is an effect of its own"


def test_a_call_that_is_lost_again_is_in_doubt_again() -> None:
    ledger = resumed(row(KEYED, CallState.UNKNOWN))
    taken = ledger.plan(asked(KEYED), NOW)
    assert isinstance(taken, Resend)
    ledger.lost(taken.row)
    ledger.settled(asked(KEYED))
    ledger.advance()
    assert isinstance(ledger.plan(asked(KEYED, note="third"), NOW), Resend)


def test_the_way_out_of_a_doubt_is_named() -> None:
    doubt = row(KEYED, CallState.UNKNOWN, key_expires_at=NOW)
    assert way_out(doubt, KEYED, NOW - 1) == "key"
    assert way_out(doubt, KEYED, NOW) == "expired"
    assert way_out(row(ASKED, CallState.UNKNOWN), ASKED, NOW) == "reconcile"
    assert way_out(row(OPAQUE, CallState.UNKNOWN), OPAQUE, NOW) == "opaque"
    assert way_out(doubt, None, NOW) == "opaque"


calls = st.lists(
    st.tuples(st.sampled_from([KEYED, ASKED, OPAQUE]), st.sampled_from("ABC"), st.booleans()), max_size=12
)


@given(calls)
def test_whatever_died_no_committed_write_is_made_again_and_no_doubt_is_made_anew(script: Any) -> None:
    """The first life makes the calls and dies; the second makes the same ones: nothing goes out as a new effect."""
    ledger, made = Ledger(), []
    for spec, order, finished in script:
        plan = ledger.plan(asked(spec, order), NOW)
        assert isinstance(plan, New)
        state = CallState.COMMITTED if finished else CallState.UNKNOWN
        made.append(
            row(spec, state, order, ordinal=plan.ordinal, number=plan.number, effect_id=f"e{plan.number}")
        )
        ledger.settled(asked(spec, order))
    second = resumed(*made)
    met = [second.plan(asked(spec, order), NOW) for spec, order, _ in script]
    assert not [plan for plan in met if isinstance(plan, New)]
    assert sorted(plan.row.effect_id for plan in met if not isinstance(plan, New)) == sorted(
        one.effect_id for one in made
    )
    for plan in met:
        assert isinstance(plan, Answer) == (
            not isinstance(plan, New) and plan.row.state == CallState.COMMITTED
        )


def test_the_same_effect_under_a_new_call_key_is_answered_because_the_model_asks_again_under_a_new_id() -> (
    None
):
    lost = row(KEYED, CallState.COMMITTED, "A", call_key="c1")
    ledger = resumed(lost)
    assert ledger.plan(asked(KEYED, "A", key="c9"), NOW) == Answer(lost)
    assert isinstance(ledger.plan(asked(KEYED, "A", key="c10"), NOW), New)


def test_a_call_key_that_names_other_arguments_is_refused() -> None:
    ledger = resumed()
    assert isinstance(ledger.plan(asked(KEYED, "A", key="c1"), NOW), New)
    with pytest.raises(CallKeyReused, match="other arguments"):
        ledger.plan(asked(KEYED, "B", key="c1"), NOW)


def test_a_plan_that_could_not_be_carried_out_leaves_the_recorded_call_to_the_next_try() -> None:
    lost = row(KEYED, CallState.COMMITTED, "A")
    ledger = resumed(lost)
    call = asked(KEYED, "A")
    ledger.undo(call, ledger.plan(call, NOW))
    assert ledger.plan(call, NOW) == Answer(lost)


def test_a_lost_write_that_a_sibling_has_not_asked_for_yet_survives_a_checkpoint() -> None:
    lost = row(KEYED, CallState.COMMITTED, "A")
    ledger = resumed(lost)
    ledger.advance()
    assert ledger.plan(asked(KEYED, "A"), NOW) == Answer(lost)
