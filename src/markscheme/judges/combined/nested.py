"""Asking a judge from inside another one."""

from __future__ import annotations

import polars as pl

from markscheme.contract import Judge, ModelSource, run_judge


def ask(judge: Judge, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
    """A judge's outcomes with every column, one row an answer.

    Raises:
        JudgeError: its output breaks the contract.
    """
    return run_judge(judge, answers, models)
