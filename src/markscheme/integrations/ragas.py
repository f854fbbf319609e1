"""A metric for ragas: the response against the reference, by any judge.

from ragas import EvaluationDataset, evaluate
from markscheme.integrations.ragas import MarkschemeMetric

evaluate(EvaluationDataset.from_list(rows), metrics=[MarkschemeMetric(judge="examiner")])
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from markscheme.errors import MissingExtraError
from markscheme.integrations.judging import Evaluator, check_by

try:
    from ragas.dataset_schema import SingleTurnSample
    from ragas.metrics.base import MetricType, SingleTurnMetric
except ImportError:
    raise MissingExtraError("the metric for ragas", "ragas") from None

if TYPE_CHECKING:
    from ragas.run_config import RunConfig


@dataclass
class MarkschemeMetric(SingleTurnMetric):  # type: ignore[misc]
    """A judge's verdict (1 or 0), score or marks of each response.

    Attributes:
        name: the column in ragas' results.
        judge: a judge's name, with parameters if wanted.
        by: `verdict`, `score` or `marks`.

    The question is `user_input`; a `reference` that is written as a list counts as several. What
    could not be judged is NaN, which ragas leaves out of its means.
    """

    name: str = "markscheme"
    judge: str = "examiner"
    by: str = "verdict"
    _required_columns: dict[MetricType, set[str]] = field(
        default_factory=lambda: {MetricType.SINGLE_TURN: {"user_input", "response", "reference"}}
    )

    def __post_init__(self) -> None:
        """Raises DataError where `by` is none of those."""
        check_by(self.by)
        super().__post_init__()

    def init(self, run_config: RunConfig) -> None:
        """Nothing: there is no model of ragas to prepare."""

    async def _single_turn_ascore(
        self,
        sample: SingleTurnSample,
        callbacks: Any,  # noqa: ARG002
    ) -> float:
        row = await asyncio.to_thread(
            Evaluator(judge=self.judge, by=self.by).row,
            sample.user_input,
            sample.reference,
            sample.response,
        )
        return math.nan if row[self.by] is None else float(row[self.by])

    async def _ascore(self, row: dict[str, Any], callbacks: Any) -> float:
        return await self._single_turn_ascore(SingleTurnSample(**row), callbacks)
