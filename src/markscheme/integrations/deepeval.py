"""A metric for deepeval: the actual output against the expected output, by any judge.

from deepeval import assert_test
from deepeval.test_case import LLMTestCase
from markscheme.integrations.deepeval import MarkschemeMetric

assert_test(LLMTestCase(input=..., actual_output=..., expected_output=...), [MarkschemeMetric()])
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar

from markscheme.errors import MissingExtraError
from markscheme.integrations.judging import Evaluator, check_by, reason_of

try:
    from deepeval.metrics import BaseMetric
    from deepeval.metrics.utils import check_llm_test_case_params
    from deepeval.test_case import SingleTurnParams
except ImportError:
    raise MissingExtraError("the metric for deepeval", "deepeval") from None

if TYPE_CHECKING:
    from deepeval.test_case import LLMTestCase


class MarkschemeMetric(BaseMetric):  # type: ignore[misc]
    """A judge's verdict (1 or 0), score or marks of a test case.

    The question is `input`; an `expected_output` that is written as a list counts as several
    references. An answer that could not be judged raises NotJudgedError: deepeval stops, or counts
    it as an error where it runs with `ignore_errors`, and never as wrong.
    """

    _required_params: ClassVar[list[Any]] = [
        SingleTurnParams.INPUT,
        SingleTurnParams.ACTUAL_OUTPUT,
        SingleTurnParams.EXPECTED_OUTPUT,
    ]

    def __init__(
        self, judge: str = "examiner", *, by: str = "verdict", threshold: float = 0.5
    ) -> None:
        """Keep the options.

        Args:
            judge: a judge's name, with parameters if wanted.
            by: `verdict`, `score` or `marks`.
            threshold: what the value must reach to pass.

        Raises:
            DataError: `by` is none of those.
        """
        check_by(by)
        self.judge = judge
        self.by = by
        self.threshold = threshold
        self.include_reason = True
        self.verbose_mode = False

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        """Judge a test case; `score`, `reason` and `success` are set as deepeval's metrics do."""
        self.score, self.reason, self.success, self.error = None, None, None, None
        check_llm_test_case_params(
            test_case, self._required_params, None, None, self, None, test_case.multimodal
        )
        evaluator = Evaluator(judge=self.judge, by=self.by)
        row = evaluator.row(test_case.input, test_case.expected_output, test_case.actual_output)
        self.score = evaluator.value(row)
        self.reason = reason_of(row)
        self.score_breakdown = {
            name: row[name] for name in ("verdict", "score", "marks", "relation", "signature")
        }
        self.success = self.is_successful()
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        """The same, concurrently with others."""
        return await asyncio.to_thread(self.measure, test_case)

    @property
    def __name__(self) -> str:
        """The name that deepeval shows."""
        return f"markscheme {self.judge}"
