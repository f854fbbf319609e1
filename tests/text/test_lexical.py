"""What WordNet says of words."""

from __future__ import annotations

import numpy as np
import pytest

from markscheme.text.wordnet import key, thesaurus


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("buy", "purchase"),
        ("car", "automobile"),
        ("difficulties", "trouble"),
        ("raphael", "Raffaello Sanzio"),
    ],
)
def test_words_that_mean_the_same_share_a_meaning(one: str, other: str) -> None:
    owner, meaning = thesaurus().meanings([key(one), key(other)])
    assert set(meaning[owner == 0]) & set(meaning[owner == 1])


def test_other_words_share_none() -> None:
    owner, meaning = thesaurus().meanings([key("violin"), key("bicycle")])
    assert not set(meaning[owner == 0]) & set(meaning[owner == 1])
    assert np.all(np.diff(owner) >= 0)


def test_opposites() -> None:
    found = thesaurus().opposites([key("hot"), key("hot")], [key("cold"), key("warm")])
    assert found.tolist() == [True, False]
    assert thesaurus().opposites([], []).tolist() == []
