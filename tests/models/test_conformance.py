"""Every behaviour of a provider, on the judges that ask one; see `conformance.py`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance import BEHAVIOURS, STAGED, Behaviour, Laboratory, laboratory, shipped

SHIPPED = {**shipped(), **STAGED}
QUICK = ("llm_grader", "entailment(statements=chat, test=chat)")


@pytest.fixture(scope="module")
def lab() -> Iterator[Laboratory]:
    with laboratory() as made:
        yield made


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda one: one.name)
@pytest.mark.parametrize("judge", QUICK)
def test_rows_end_in_a_named_status_and_no_call_is_wasted(
    lab: Laboratory, behaviour: Behaviour, judge: str
) -> None:
    lab.check(behaviour, judge, SHIPPED[judge])


@pytest.mark.proof(area="models")
@pytest.mark.parametrize("judge", [name for name in SHIPPED if name not in QUICK])
def test_every_behaviour_on_every_other_judge(lab: Laboratory, judge: str) -> None:
    for behaviour in BEHAVIOURS:
        lab.check(behaviour, judge, SHIPPED[judge])


def test_there_are_thirty_behaviours_and_all_prompted_judges() -> None:
    assert len(BEHAVIOURS) >= 30
    assert len(SHIPPED) >= 8 + len(STAGED)
    assert {"1", "2", "3", "4", "5", "7", "8", "9"} <= {one.issue for one in BEHAVIOURS}
