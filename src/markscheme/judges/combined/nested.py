"""Asking a judge from inside another one."""

from __future__ import annotations

from typing import Any

import polars as pl

from markscheme.contract import Judge, judge_name
from markscheme.errors import JudgeError
from markscheme.tables import as_outcomes


def ask(judge: Judge, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
    """A judge's outcomes with every column, one row an answer.

    Raises:
        JudgeError: it returned another number of rows than it was given.
    """
    outcomes = as_outcomes(judge.judge(answers, models))
    if outcomes.height != answers.height:
        raise JudgeError(
            f"{judge_name(judge)} returned {outcomes.height} rows for {answers.height} answers; "
            "a judge must return one row an answer, in order"
        )
    return outcomes
