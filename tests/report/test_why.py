from __future__ import annotations

import pytest

from markscheme.reports import explained, why


def test_every_reference_is_aligned() -> None:
    found = why(
        "Which states lie on the Pacific?", ["Washington", "Oregon", "California"],
        "Washinton, Oregon and **California**",
    )  # fmt: skip
    spans = [one["spans"] for one in found["references"]]
    assert spans == [[], [0, 6], [0, 10]]
    assert "<mark>Oregon</mark>" in found["answer"]
    assert "<strong><mark>California</mark></strong>" in found["answer"]


def test_a_value_that_conflicts_is_said_in_words() -> None:
    found = why("When did it open?", ["5 June 2021"], "On 5 January 2021.")
    (reference,) = found["references"]
    assert reference["values"]["outcome"] == "conflict"
    assert reference["values"]["reason"] == "January where the reference has June"


@pytest.mark.parametrize("answer", ["It was Jane Austen.", "Charlotte Brontë wrote it."])
def test_what_decided_is_shown(answer: str) -> None:
    found = explained("Who wrote Emma?", ["Jane Austen"], answer)
    assert found["verdict"] == ("Austen" in answer)
    assert found["effects"]
