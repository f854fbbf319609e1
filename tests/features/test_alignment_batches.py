"""Alignment features of a pair do not depend on what else is in the batch."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from markscheme.features.alignment.features import alignment
from markscheme.features.alignment.registry import FEATURES
from markscheme.judges.examiner.weight_files import open_weights
from markscheme.tables.answers import read_answers


@pytest.mark.parametrize("seed", range(3))
def test_features_are_of_their_own_row(example, seed: int) -> None:  # type: ignore[no-untyped-def]
    # Words of other rows in answers bring numbers next to months over the ends of texts.
    table = read_answers(example).select("question", "references", "answer")
    drawn = np.random.default_rng(seed)
    answers = [
        " ".join(drawn.permutation(f"{one} {other}".split())[:6])
        for one, other in zip(table["answer"], table["answer"].shuffle(seed), strict=True)
    ]
    table = table.with_columns(answer=pl.Series(answers)).sample(
        fraction=1, shuffle=True, seed=seed
    )
    rarity = open_weights(None).rarity
    names = list(FEATURES)

    def features(rows: pl.DataFrame) -> np.ndarray:  # type: ignore[type-arg]
        return alignment(rows["question"], rows["references"], rows["answer"], rarity)[0]

    together = features(table)
    for start in range(0, table.height, 7):
        part = features(table[start : start + 7])
        same = np.isclose(part, together[start : start + 7], equal_nan=True, rtol=0, atol=1e-6)
        assert same.all(), [names[place] for place in np.unique(np.nonzero(~same)[1])]
