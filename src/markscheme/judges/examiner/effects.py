"""Why the examiner decided as it did on one answer: matched spans and deciding features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from markscheme.features.alignment import FeatureView
from markscheme.judges.examiner.columns import COLUMNS, read_columns
from markscheme.judges.examiner.examiner import Examiner
from markscheme.judges.examiner.weight_files import open_weights
from markscheme.models import Models
from markscheme.text import WORD, folded


@dataclass(frozen=True, kw_only=True)
class Reasons:
    """What decided one judgment.

    Attributes:
        judgment: the examiner's outcome: score, verdict, relation, marks, explanation.
        spans: places in the answer (start, end, in characters) whose words occur in the reference.
        features: name, meaning, value and effect of each feature, the largest effect first. The
            effect is the change of the first stage's log-odds against the feature's median.
        values: how the typed values (numbers, dates, lists) compare, in words; empty without any.
    """

    judgment: dict[str, Any]
    spans: list[tuple[int, int]]
    features: list[tuple[str, str, float, float]]
    values: str


def reasons(
    question: str, references: Sequence[str], answer: str, *, weights: str | None = None
) -> Reasons:
    """Explain the examiner's judgment of one answer.

    Each feature in turn is set to its median over the training answers; what that changes is the
    feature's effect (occlusion; effects of features that act together do not add up).

    Raises:
        ModelError: the weights cannot be used.
    """
    table = pl.DataFrame(
        {"question": [question], "references": [list(references)], "answer": [answer]}
    )
    judgment = Examiner(weights=weights).judge(table, Models()).row(0, named=True)
    opened = open_weights(None if weights is None else Path(weights))
    reading = read_columns(table["question"], table["references"], table["answer"], opened.rarity)
    matrix, count = reading.matrix, len(COLUMNS)
    changed = np.repeat(matrix, count + 1, axis=0)
    changed[np.arange(count), np.arange(count)] = opened.settings.neutral[:count]
    odds = opened.trees(changed)
    effects = odds[-1] - odds[:-1]
    found = [
        (name, meaning, float(value), float(effect))
        for (name, meaning), value, effect in zip(COLUMNS.items(), matrix[0], effects, strict=True)
        if abs(effect) > 1e-6
    ]
    found.sort(key=lambda item: -abs(item[3]))
    return Reasons(
        judgment=judgment,
        spans=_spans(reading.view, answer),
        features=found,
        values=reading.comparisons[0].reason,
    )


def _spans(view: FeatureView, answer: str) -> list[tuple[int, int]]:
    """Where the matched words occur in the answer, as far as they are spelt there as read."""
    words = view.batch.lexicon.words
    matched = {
        words[number].lower()
        for number in view.batch.texts.word[view.a_place[view.a_ref & view.a_content]].tolist()
    }
    return [
        found.span() for found in WORD.finditer(answer) if folded(found.group().lower()) in matched
    ]
