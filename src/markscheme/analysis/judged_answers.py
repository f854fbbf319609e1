"""Judgments with all that was judged: question, references, answer, and columns of the user's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.agreement import (
    JudgmentsSource,
    TableSource,
    answers_of_run,
    is_result,
    judged_table,
)
from markscheme.analysis.error_categories import NEAR, kind_of
from markscheme.errors import DataError
from markscheme.results import check_slices
from markscheme.tables import (
    ANSWERS_SCHEMA,
    ReadOptions,
    judgments_file,
    matching_key,
    preview,
    read_answers,
    read_parquet,
    read_table,
    renamed,
)

_TEXTS = ("question", "references", "answer", "system", "reference_kind")


def judged_answers(
    source: JudgmentsSource,
    *,
    judges: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    answers: TableSource | None = None,
    threshold: float = 0.5,
    slices: Sequence[str] = (),
) -> pl.DataFrame:
    """Judgments as a table that has their answers' texts too, one row an answer and judge.

    Columns: `answer_id` where known, `judge`, `status`, `score`, `verdict`, `relation` and
    `explanation` (null where not given), `question`, `references`, `answer`, `system`,
    `reference_kind`, `doubtful` (the score is within 0.1 of the judge's threshold), and the slices.

    Raises:
        DataError, AgreementError: the files cannot be read, do not fit together, or have no
            references or no column of a slice.
    """
    named = dict(columns or {})
    rows = judged_table(
        source, judges=judges, columns=named, answers=answers, threshold=threshold
    )  # fmt: skip
    texts = _texts(source, answers, named, slices)
    wanted = [name for name in slices if name not in ("judge", "system")]
    check_slices(texts.columns, wanted)
    key = matching_key(rows, texts)
    extra = [name for name in dict.fromkeys((*_TEXTS, *wanted)) if name not in key]
    table = rows.drop([name for name in extra if name in rows.columns]).join(
        texts.unique(key, keep="first", maintain_order=True).select(*key, *extra),
        on=key, how="left", maintain_order="left",
    )  # fmt: skip
    if table["references"].null_count() == table.height:
        raise DataError(
            f"no judgment of {named_source(source)} matches an answer on {' and '.join(key)}; name "
            "the judged file with --answers"
        )
    missing = [name for name in ("relation", "explanation") if name not in table.columns]
    limits = {name: kind_of(name).threshold for name in table["judge"].unique()}
    limit = pl.col("judge").replace_strict(limits, return_dtype=pl.Float64)
    return table.with_columns(
        *(pl.lit(None, dtype=pl.String).alias(name) for name in missing),
        doubtful=((pl.col("score") - limit).abs() <= NEAR).fill_null(value=False),
    ).with_columns(pl.col("relation").cast(pl.String))


def named_source(source: Any) -> str:
    """A source in an error."""
    return str(source) if isinstance(source, str | Path) else "the table"


def columns_of_table(source: Any, columns: Mapping[str, str]) -> list[str]:
    """The columns of a file, a frame or rows, under our names where they are known."""
    if isinstance(source, pl.DataFrame):
        table = source
    elif type(source).__module__.startswith("pandas") or isinstance(source, list):
        table = pl.DataFrame(schema=[*(source[0] if isinstance(source, list) else source.columns)])
    else:
        table = read_table(source)
    known = {ours: theirs for ours, theirs in columns.items() if theirs in (*table.columns, "none")}
    return renamed(table, known, ("question", "references", "answer", "verdict", "score")).columns


def is_answers(source: Any, columns: Mapping[str, str]) -> bool:
    """Whether a file or a frame has what an answers table has, references above all."""
    if isinstance(source, str | Path) and judgments_file(source) != str(source):
        return False
    there = set(columns_of_table(source, columns))
    if {"question", "references", "answer"} <= there or {"verdict", "judge"} & there:
        return {"question", "references", "answer"} <= there
    try:  # Another tool's export, whose columns lie inside objects, perhaps.
        return not any(one.trouble for one in preview([source], ReadOptions(columns=columns)))
    except DataError:
        return False


def _texts(
    source: Any, answers: Any, columns: Mapping[str, str], slices: Sequence[str]
) -> pl.DataFrame:
    """The answers table behind judgments, with the slices where it has them."""
    reading = ReadOptions(
        columns={ours: theirs for ours, theirs in columns.items() if ours in ANSWERS_SCHEMA},
        slices=tuple(slices),
    )
    if answers is not None:
        return answers.answers() if is_result(answers) else read_answers(answers, reading)
    if is_result(source):
        return source.answers()
    kept = answers_of_run(source)
    if kept is not None:
        return read_parquet(kept)  # our own table, with the slices of the run
    if is_answers(source, columns):
        return read_answers(source, reading)
    raise DataError(
        f"{named_source(source)} holds judgments without references; name the judged file with "
        "--answers"
    )
