"""What every integration does: texts in, one judgment for each, in order, in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from markscheme import api
from markscheme.errors import DataError
from markscheme.judgments import SCHEMA
from markscheme.registry import Judge


def references_of(value: Any) -> list[str]:
    """References as other tools hold them, a text or several, as a list of texts.

    Raises:
        DataError: there is none, or one is no text.
    """
    found = [value] if isinstance(value, str) else list(value) if value is not None else []
    if not found or not all(isinstance(one, str) for one in found):
        raise DataError(f"references are a text or a list of texts, not {value!r}")
    return found


def judge_texts(
    questions: Sequence[str],
    references: Sequence[Any],
    answers: Sequence[str | None],
    *,
    judge: str | Judge,
    models: Any = None,
) -> pl.DataFrame:
    """Judge answers in one batch.

    Returns:
        The judgments table, one row an answer, in order.

    Raises:
        DataError: the three are not of one length, or a row cannot be read.
        JudgeError, ModelError: as judging does.
    """
    if not len(questions) == len(references) == len(answers):
        raise DataError(
            f"{len(questions)} questions, {len(references)} references and {len(answers)} answers: "
            "give one of each for every row"
        )
    if not len(answers):
        return pl.DataFrame(schema=SCHEMA)
    table = pl.DataFrame(
        {
            "question": list(questions),
            "references": [references_of(value) for value in references],
            "answer": list(answers),
        },
        schema={"question": pl.String, "references": pl.List(pl.String), "answer": pl.String},
    )
    return api.judge(table, judge, models=models, reference_separator="none").judgments
