"""Hugging Face evaluate's `squad` metric, with or without a network.

`evaluate.load("squad")` fetches the metric's script from the hub. Where that cannot be had, the
same work is done along the same path: an `evaluate.Metric` with the same features, whose
`compute` stores the rows in Arrow, reads them back and applies the official SQuAD formulas, written
by us (`benchmarks.squad`), one pair at a time.
"""

from __future__ import annotations

import os
from typing import Any

import datasets
import evaluate

from benchmarks.squad import scores


def squad_metric() -> Any:
    """The hub's metric if BENCH_EVALUATE_HUB=1 asks for it, else ours along the same path."""
    if os.environ.get("BENCH_EVALUATE_HUB") == "1":
        return evaluate.load("squad")
    return SquadAsDescribed()


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
        return scores((said[row["id"]], row["answers"]["text"]) for row in references)
