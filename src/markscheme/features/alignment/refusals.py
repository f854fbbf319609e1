"""Whether the answer says yes or no as the reference does, declines, or speaks to the marker."""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from markscheme.features.alignment.batch import Array
from markscheme.features.alignment.overlap import FeatureView
from markscheme.text import (
    CAPITAL,
    INJECTION,
    NUMBER,
    OUTDATED,
    REFUSAL,
    declines,
    declines_abroad,
    yes_or_no,
)

_READ = 2_000
"""Characters of an answer that are searched for any turn of phrase."""


def refusal_features(view: FeatureView) -> dict[str, Array]:
    """Yes against no, signs of refusal, and names and numbers that the question lacks."""
    batch, raw = view.batch, view.batch.raw
    found: dict[str, Array] = {"question_words": batch.texts.count[batch.question]}
    found["polarity"] = np.array(
        [
            polarity(raw[reference][:_READ], raw[answer][:_READ])
            for reference, answer in zip(
                view.reference.tolist(), batch.answer.tolist(), strict=True
            )
        ]
    )
    distinct = sorted(set(batch.answer.tolist()))
    where = {text: i for i, text in enumerate(distinct)}
    of_row = np.array([where[i] for i in batch.answer.tolist()], dtype=np.int64)
    small = [raw[i][:_READ].lower() for i in distinct]
    lowered = pl.Series(small, dtype=pl.String)

    def found_in(pattern: re.Pattern[str]) -> Array:
        """Where a pattern without lookaround is found, all texts at once."""
        return lowered.str.contains(pattern.pattern).to_numpy()

    refusals = [
        REFUSAL.search(text) if has else None
        for text, has in zip(small, found_in(REFUSAL).tolist(), strict=True)
    ]
    found["refusal"] = np.array([float(hit is not None) for hit in refusals])[of_row]
    found["refusal_place"] = np.array(
        [-1.0 if hit is None else float(hit.start()) for hit in refusals]
    )[of_row]
    found["outdated_cue"] = found_in(OUTDATED).astype(float)[of_row]
    found["speaks_to_marker"] = found_in(INJECTION).astype(float)[of_row]
    kind = batch.kind[view.a_place]
    new = ~view.a_known
    found["answer_numbers"] = view.per_answer(((kind & NUMBER) > 0) & new)
    found["answer_names"] = view.per_answer(((kind & CAPITAL) > 0) & new)
    return found


def polarity(reference: str, answer: str) -> float:
    """1 where both begin with yes or both with no, -1 where they differ, -2 where the answer declines.

    0 where the reference says neither, and where the answer does not and does not decline.

    >>> polarity("No", "No, it closed."), polarity("No", "Yes."), polarity("Yes", "I don't know.")
    (1.0, -1.0, -2.0)
    """
    expected = yes_or_no(reference)
    if expected is None:
        return 0.0
    found = yes_or_no(answer)
    if found is None:
        return -2.0 if declines(answer) or declines_abroad(answer) else 0.0
    return 1.0 if found is expected else -1.0
