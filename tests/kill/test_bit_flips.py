"""Is a damaged store noticed before a run goes on from it?

Claim (RELIABILITY 13): one flipped bit anywhere in the database is noticed by `verify` or leaves everything that
a resume believes as it was: state, contract, ledger with arguments and results, approvals.
"""

from __future__ import annotations

import pytest

from tests.kill.conftest import Zygote

pytestmark = pytest.mark.kill

FLIPS = 150


def test_a_flipped_bit_is_noticed_or_changes_nothing(zygote: Zygote) -> None:
    home = zygote.home()
    code, _ = zygote.do("live", home, kill=["call.before_outcome", 3])
    assert code == -9
    code, found = zygote.do("flip", home, count=FLIPS, seed=20261130)
    assert code == 0
    assert found["missed"] == []
    assert found["untyped"] == []
    assert found["detected"] > FLIPS // 25, "flips that nobody notices at all hit nothing"
