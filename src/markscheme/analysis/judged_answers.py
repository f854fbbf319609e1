"""Judgments with all that was judged: question, references, answer, and columns of the user's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from markscheme.agreement import JudgmentsSource, TableSource, judged_table, open_run
from markscheme.analysis.error_categories import NEAR, kind_of
from markscheme.errors import DataError
from markscheme.results import check_slices
from markscheme.tables import matched_on

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
    run = open_run(source, answers=answers, columns=columns or {}, slices=slices)
    own = {} if run.stored_answers is not None else run.columns  # a run's columns have our names
    rows = judged_table(run, judges=judges, columns=own, threshold=threshold)
    texts = run.answers
    wanted = [name for name in slices if name not in ("judge", "system")]
    check_slices(texts.columns, wanted)
    texts, key, _ = matched_on(rows, texts)
    extra = [name for name in dict.fromkeys((*_TEXTS, *wanted)) if name not in key]
    table = rows.drop([name for name in extra if name in rows.columns]).join(
        texts.unique(key, keep="first", maintain_order=True).select(*key, *extra),
        on=key,
        how="left",
        maintain_order="left",
    )
    if table["references"].null_count() == table.height:
        raise DataError(
            f"no judgment of {run.name} matches an answer on {' and '.join(key)}; name "
            "the judged file with --answers"
        )
    missing = [name for name in ("relation", "explanation") if name not in table.columns]
    limits = {name: kind_of(name).threshold for name in table["judge"].unique()}
    limit = pl.col("judge").replace_strict(limits, return_dtype=pl.Float64)
    return table.with_columns(
        *(pl.lit(None, dtype=pl.String).alias(name) for name in missing),
        doubtful=((pl.col("score") - limit).abs() <= NEAR).fill_null(value=False),
    ).with_columns(pl.col("relation").cast(pl.String))
