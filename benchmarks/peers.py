"""Hugging Face evaluate's `squad` metric, with or without a network.

`evaluate.load("squad")` fetches the metric's script from the hub. Where that cannot be had, the
same work is done along the same path: an `evaluate.Metric` with the same features, whose
`compute` stores the rows in Arrow, reads them back and applies the official SQuAD formulas, written
by us, one pair at a time.
"""

from __future__ import annotations

import os
import re
import string
from collections import Counter
from typing import Any

import evaluate

import datasets

_PUNCTUATION = set(string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b", re.UNICODE)


def squad_metric() -> Any:
    """The hub's metric if BENCH_EVALUATE_HUB=1 asks for it, else ours along the same path."""
    if os.environ.get("BENCH_EVALUATE_HUB") == "1":
        return evaluate.load("squad")
    return SquadAsDescribed()


def _normalised(text: str) -> str:
    without_marks = "".join(letter for letter in text.lower() if letter not in _PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", without_marks).split())


def _exact_match(prediction: str, reference: str) -> float:
    return float(_normalised(prediction) == _normalised(reference))


def _f1(prediction: str, reference: str) -> float:
    ours, theirs = _normalised(prediction).split(), _normalised(reference).split()
    common = sum((Counter(ours) & Counter(theirs)).values())
    if common == 0:
        return 0.0
    precision, recall = common / len(ours), common / len(theirs)
    return 2 * precision * recall / (precision + recall)


class SquadAsDescribed(evaluate.Metric):  # type: ignore[misc]
    """Exact match and F1 over a data set, in per cent."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        answers = {"text": text, "answer_start": datasets.Value("int32")}
        features = {
            "predictions": {"id": text, "prediction_text": text},
            "references": {"id": text, "answers": datasets.features.Sequence(answers)},
        }
        return evaluate.MetricInfo(
            description="SQuAD 1.1 exact match and F1",
            citation="Rajpurkar et al. 2016",
            features=datasets.Features(features),
        )

    def _compute(
        self, predictions: list[dict[str, Any]], references: list[dict[str, Any]]
    ) -> dict[str, float]:
        said = {row["id"]: row["prediction_text"] for row in predictions}
        exact = f1 = 0.0
        for row in references:
            texts, answer = row["answers"]["text"], said[row["id"]]
            exact += max(_exact_match(answer, text) for text in texts)
            f1 += max(_f1(answer, text) for text in texts)
        return {"exact_match": 100 * exact / len(said), "f1": 100 * f1 / len(said)}
