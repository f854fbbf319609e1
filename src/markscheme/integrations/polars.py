"""Judging inside Polars: `import markscheme.integrations.polars`, then `frame.markscheme.judge()`.

frame.markscheme.judge("examiner", answer="response", references="gold")
"""

from __future__ import annotations

from typing import Any

import polars as pl

from markscheme.contract import ModelSource
from markscheme.integrations.judging import judge_frame

GIVEN = ("status", "verdict", "score", "relation", "marks", "explanation")
"""Columns that judging adds, each with the requested prefix."""


def judged(
    frame: pl.DataFrame,
    judge: str = "examiner",
    *,
    question: str = "question",
    references: str = "references",
    answer: str = "answer",
    prefix: str = "",
    models: ModelSource | None = None,
) -> pl.DataFrame:
    """The frame with the columns of a judge's verdicts added.

    Args:
        frame: with columns for question, references (a text or a list) and answer.
        judge: a judge's name.
        question: the column with questions.
        references: the column with references.
        answer: the column with answers.
        prefix: before the names of the new columns `status`, `verdict`, `score`, `relation`,
            `marks`, `explanation`.
        models: opens weights and servers for judges that need some.
    """
    table = judge_frame(
        frame,
        pl.Series.to_list,
        judge,
        question=question,
        references=references,
        answer=answer,
        models=models,
    )
    return frame.with_columns(table[name].alias(prefix + name) for name in GIVEN)


@pl.api.register_dataframe_namespace("markscheme")
class MarkschemeFrame:
    """`frame.markscheme` on Polars frames."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def judge(self, judge: str = "examiner", **options: Any) -> pl.DataFrame:
        """See `judged`."""
        return judged(self._frame, judge, **options)
