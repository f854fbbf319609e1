"""What the question asks for, and whether the answer declines."""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from markscheme.features.alignment.batch import Array
from markscheme.features.alignment.overlap import FeatureView
from markscheme.text import (
    CAPITAL,
    INJECTION,
    LATEST,
    MONTH,
    NUMBER,
    OUTDATED,
    QUESTION_KINDS,
    REFUSAL,
    SEVERAL,
    YEAR,
)


def question_features(view: FeatureView) -> dict[str, Array]:
    """Kind of question, answers of the wanted type, signs of refusal."""
    batch = view.batch
    raw = batch.raw
    questions = sorted(set(batch.question.tolist()))
    place = {text: i for i, text in enumerate(questions)}
    at = np.array([place[i] for i in batch.question.tolist()], dtype=np.int64)
    lower = [raw[i].lower() for i in questions]
    found: dict[str, Array] = {
        name: np.array([bool(pattern.search(text)) for text in lower], dtype=float)[at]
        for name, pattern in QUESTION_KINDS
    }
    found["asks_latest"] = np.array([bool(LATEST.search(text)) for text in lower], dtype=float)[at]
    found["asks_list"] = np.array([bool(SEVERAL.search(text)) for text in lower], dtype=float)[at]
    found["question_words"] = batch.texts.count[batch.question]

    distinct = sorted(set(batch.answer.tolist()))
    where = {text: i for i, text in enumerate(distinct)}
    of_row = np.array([where[i] for i in batch.answer.tolist()], dtype=np.int64)
    small = [raw[i][:2000].lower() for i in distinct]
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
    found["lacks_wanted_type"] = (
        (found["asks_when"] > 0)
        & (view.per_answer(((kind & (YEAR | MONTH | NUMBER)) > 0) & new) == 0)
    ) | ((found["asks_how_many"] > 0) & (found["answer_numbers"] == 0))
    return found
