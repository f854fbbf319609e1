"""Metrics for the lm-evaluation-harness: what a task generated, judged in one batch at its end.

In the task's folder, `utils.py`:

    from markscheme.integrations.lm_eval import accuracy, answers_of, mean_marks
    process_results = answers_of(question="question", references="answers")

and in its YAML file:

    process_results: !function utils.process_results
    metric_list:
      - metric: markscheme
        aggregation: !function utils.accuracy
        higher_is_better: true
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from markscheme.errors import DataError
from markscheme.integrations.judging import Evaluator, judge_texts, named_in

Item: TypeAlias = "tuple[str, Any, str]"
"""Question, references and answer of one document."""


def answers_of(
    *, question: str = "question", references: str = "answer", metric: str = "markscheme"
) -> Callable[[dict[str, Any], Sequence[str]], dict[str, Item]]:
    """A task's `process_results`: keeps what the aggregation needs to judge.

    Args:
        question: the document's field with the question.
        references: its field with a reference, a list of them, or SQuAD's object.
        metric: the metric's name in the task's `metric_list`.
    """

    def process_results(doc: dict[str, Any], results: Sequence[str]) -> dict[str, Item]:
        asked, given = (named_in(doc, name, "the document") for name in (question, references))
        return {metric: (asked, given, results[0])}

    return process_results


@dataclass(frozen=True, kw_only=True)
class Aggregation(Evaluator):
    """A task's aggregation: the share accepted, or the mean of score or marks.

    Attributes:
        judge: a judge's name.
        by: `verdict`, `score` or `marks`.
    """

    def __call__(self, items: Sequence[Item]) -> float:
        """The mean over what was judged.

        Raises:
            DataError: nothing was judged; names the statuses.
        """
        questions, references, answers = zip(*items, strict=True)
        table = judge_texts(questions, references, answers, judge=self.judge)
        known = table[self.by].drop_nulls()
        if known.is_empty():
            statuses = ", ".join(table["status"].unique().sort())
            raise DataError(f"{self.judge} gave no {self.by} to any of {len(items)}: {statuses}")
        return float(known.cast(float).to_numpy().mean())


accuracy: Aggregation = Aggregation()
"""Share of answers that the examiner accepts."""

mean_marks: Aggregation = Aggregation(by="marks")
"""Mean of the examiner's marks, which give partial credit."""
