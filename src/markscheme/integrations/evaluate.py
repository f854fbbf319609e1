"""A metric for Hugging Face `evaluate`.

from markscheme.integrations.evaluate import Markscheme

metric = Markscheme()
metric.compute(predictions=["in Paris"], references=[["Paris"]], questions=["Where is it?"])
"""

from __future__ import annotations

from typing import Any

from markscheme.errors import MissingExtraError
from markscheme.integrations.judging import judge_texts

try:
    import datasets
    import evaluate
except ImportError:
    raise MissingExtraError("the metric for evaluate", "bench") from None


class Markscheme(evaluate.Metric):  # type: ignore[misc]
    """Share of answers that a judge accepts, with mean score and marks."""

    def __init__(self, judge: str = "examiner", **options: Any) -> None:
        """Keep the judge's name; further options are those of `evaluate.Metric`."""
        self.judge = judge
        super().__init__(**options)

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=self.__doc__ or "",
            citation="markscheme",
            inputs_description="questions, predictions, and references (a list for each)",
            features=datasets.Features(
                {"predictions": text, "references": datasets.Sequence(text), "questions": text}
            ),
        )

    def _compute(
        self, predictions: list[str], references: list[list[str]], questions: list[str]
    ) -> dict[str, Any]:
        table = judge_texts(questions, references, predictions, judge=self.judge)
        judged = table.filter(table["status"] == "judged")

        def mean(name: str) -> float | None:
            known = judged[name].drop_nulls().cast(float)
            return float(known.to_numpy().mean()) if len(known) else None

        return {
            "accuracy": mean("verdict"),
            "score": mean("score"),
            "marks": mean("marks"),
            "judged": judged.height,
            "not_judged": table.height - judged.height,
            "signature": table["signature"][0],
        }
