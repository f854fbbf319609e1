"""Judgments with all that was judged: question, references, answer, and columns of the user's."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from markscheme.agreement import Run, judged_table
from markscheme.analysis.error_categories import unsure
from markscheme.errors import DataError
from markscheme.results import check_slices
from markscheme.tables import matched_on

_TEXTS = ("question", "references", "answer", "system", "reference_kind")


def judged_answers(
    run: Run,
    *,
    judges: Sequence[str] = (),
    threshold: float = 0.5,
    slices: Sequence[str] = (),
) -> pl.DataFrame:
    """Judgments as a table that has their answers' texts too, one row an answer and judge.

    Columns: `answer_id` where known, `judge`, `status`, `score`, `verdict`, `relation` and
    `explanation` (null where not given), `question`, `references`, `answer`, `system`,
    `reference_kind`, `unsure` (as `error_categories.unsure` finds it), and the slices.

    Raises:
        DataError, AgreementError: the files cannot be read, do not fit together, or have no
            references or no column of a slice.
    """
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
            "the judged file with --answers (Python: answers=...)"
        )
    missing = [name for name in ("relation", "explanation") if name not in table.columns]
    table = table.with_columns(pl.lit(None, dtype=pl.String).alias(name) for name in missing)
    parts = {str(judge): part for (judge,), part in table.group_by("judge")}
    doubts = (
        (pl.col("judge") == judge) & unsure(part, judge, threshold) for judge, part in parts.items()
    )
    return table.with_columns(
        pl.col("relation").cast(pl.String), unsure=pl.any_horizontal(pl.lit(value=False), *doubts)
    )
