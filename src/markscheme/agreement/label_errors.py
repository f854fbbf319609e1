"""The answers on which a judge contradicts people's labels, to be read one by one."""

from __future__ import annotations

import polars as pl

from markscheme.results import Table
from markscheme.tables import Joined, as_binary
from markscheme.text import excerpt

FALSE_PASS, FALSE_REJECT = "false pass", "false reject"
"""The judge accepts what people reject, and the other way round."""

_SHOWN = 6
"""False passes that the table shows, of all judges together."""
_LONGEST = 120
"""Characters of a text that the table shows."""
_COLUMNS = (
    "judge", "error", "question", "references", "answer", "system", "label", "verdict", "score",
    "explanation", "answer_id",
)  # fmt: skip


def label_errors(
    joined: Joined, *, positive_from: float | None = None, answers: pl.DataFrame | None = None
) -> pl.DataFrame:
    """A row for each verdict that contradicts a label: false passes first, the surest first.

    Args:
        joined: judgments with their labels.
        positive_from: grade from which an answer is acceptable, where labels are grades.
        answers: the judged answers, for their `references`; None where they are not known.

    Returns:
        `judge`, `error` (`FALSE_PASS` or `FALSE_REJECT`), and as far as they are known `question`,
        `references`, `answer`, `system`, `label`, `verdict`, `score`, `explanation`, `answer_id`.
    """
    accepted = pl.Series("accepted", as_binary(joined.rows["label"], positive_from=positive_from))
    passed = pl.col("verdict")
    rows = joined.rows.with_columns(accepted).filter(passed != pl.col("accepted").cast(pl.Boolean))
    rows = rows.with_columns(
        pl.when(passed).then(pl.lit(FALSE_PASS)).otherwise(pl.lit(FALSE_REJECT)).alias("error")
    )
    if answers is not None and "answer_id" in rows.columns and "references" not in rows.columns:
        known = answers.select("answer_id", "references").unique("answer_id")
        rows = rows.join(known, on="answer_id", how="left", maintain_order="left")
    surest = pl.when(passed).then(-pl.col("score")).otherwise(pl.col("score"))
    place = {judge: n for n, judge in enumerate(joined.rows["judge"].unique(maintain_order=True))}
    order = pl.col("judge").replace_strict(place, return_dtype=pl.Int64)
    rows = rows.sort(order, passed.not_(), surest, nulls_last=True, maintain_order=True)
    return rows.select(name for name in _COLUMNS if name in rows.columns)


def false_passes_table(errors: pl.DataFrame) -> Table | None:
    """The first wrong answers that each judge accepts; None where there is none."""
    passes = errors.filter(pl.col("error") == FALSE_PASS)
    if passes.is_empty() or not {"question", "answer"} <= set(passes.columns):
        return None
    judges = passes["judge"].n_unique()
    shown = passes.group_by("judge", maintain_order=True).head(max(1, _SHOWN // judges))
    shown = shown.head(_SHOWN)
    texts = [name for name in ("question", "references", "answer") if name in shown.columns]
    names = [*(["judge"] if judges > 1 else []), *texts]
    rows = [
        tuple(
            row[name] if name == "judge" else excerpt(_text(row[name]), _LONGEST) for name in names
        )
        for row in shown.iter_rows(named=True)
    ]
    left = passes.height - shown.height
    more = f"{left:,} more not shown; " if left else ""
    return Table(
        title="Wrong answers that the judge accepts"
        if judges == 1
        else "Wrong answers that judges accept",
        header=tuple(names),
        rows=tuple(rows),
        notes=(f"{more}--errors FILE writes every answer on which judge and people differ",),
    )


def _text(value: object) -> str:
    return " | ".join(map(str, value)) if isinstance(value, list) else str(value or "")
