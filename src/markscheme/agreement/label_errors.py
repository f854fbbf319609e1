"""The answers on which a judge contradicts people's labels, to be read one by one."""

from __future__ import annotations

import polars as pl

from markscheme.agreement.options import LabelOptions
from markscheme.agreement.sources import Run, with_texts
from markscheme.results import Column, Table, columns, excerpts
from markscheme.tables import Joined, as_binary
from markscheme.text import excerpt

FALSE_PASS, FALSE_REJECT = "false pass", "false reject"
"""The judge accepts what people reject, and the other way round."""

_SHOWN = 6
"""Answers that the table shows, of all judges together."""
_LONGEST = 120
"""Characters of a text that the table shows."""
_COLUMNS = (
    "judge",
    "judge_error",
    "question",
    "references",
    "answer",
    "system",
    "label",
    "verdict",
    "score",
    "explanation",
    "answer_id",
)


def label_errors(joined: Joined, run: Run, reading: LabelOptions) -> pl.DataFrame:
    """A row for each verdict that contradicts a label: false passes first, the surest first.

    Args:
        joined: judgments with their labels.
        run: what was judged, for its `references`.
        reading: from which grade an answer is acceptable, and how columns are called.

    Returns:
        `judge`, `judge_error` (`FALSE_PASS` or `FALSE_REJECT`; a column `error` of answers would be
        the error of the system's call), and as far as they are known `question`, `references`,
        `answer`, `system`, `label`, `verdict`, `score`, `explanation`, `answer_id`.
    """
    accepted = as_binary(joined.rows["label"], positive_from=reading.positive_from)
    passed = pl.col("verdict")
    rows = joined.rows.with_columns(accepted).filter(passed != pl.col("accepted"))
    rows = rows.with_columns(
        pl.when(passed)
        .then(pl.lit(FALSE_PASS))
        .otherwise(pl.lit(FALSE_REJECT))
        .alias("judge_error")
    )
    rows = with_texts(rows, run, reading, ("references",))
    surest = pl.when(passed).then(-pl.col("score")).otherwise(pl.col("score"))
    place = {judge: n for n, judge in enumerate(joined.rows["judge"].unique(maintain_order=True))}
    order = pl.col("judge").replace_strict(place, return_dtype=pl.Int64)
    rows = rows.sort(order, passed.not_(), surest, nulls_last=True, maintain_order=True)
    return rows.select(name for name in _COLUMNS if name in rows.columns)


def label_errors_table(errors: pl.DataFrame, joined: Joined) -> Table | None:
    """The first wrong answers that each judge accepts, or right ones that it rejects if it is so.

    None where judges and people never differ, or the texts are not known.

    Args:
        errors: as `label_errors` gives them.
        joined: the judgments that they are of.
    """
    if errors.is_empty() or not {"question", "answer"} <= set(errors.columns):
        return None
    kind = FALSE_PASS if (errors["judge_error"] == FALSE_PASS).any() else FALSE_REJECT
    found = errors.filter(pl.col("judge_error") == kind)
    judges, whose = found["judge"].n_unique(), excerpt(str(found["judge"][0]), _LONGEST)
    shown = found.group_by("judge", maintain_order=True).head(max(1, _SHOWN // judges))
    shown = shown.head(_SHOWN)
    texts = [name for name in ("question", "references", "answer") if name in shown.columns]
    # That all are of one system says whose they are, where there are several.
    several = [
        name
        for name, among in (("judge", found), ("system", joined.rows))
        if name in found and among[name].n_unique() > 1
    ]
    left = found.height - shown.height
    what = "Wrong answers" if kind == FALSE_PASS else "Right answers"
    does = "accept" if kind == FALSE_PASS else "reject"
    more = f"{left:,} more not shown; " if left else ""
    return Table.of(
        f"{what} that {whose} {does}s" if judges == 1 else f"{what} that judges {does}",
        (*map(Column, several), *columns(excerpts(_LONGEST), *texts)),
        shown,
        (f"{more}--errors FILE writes every answer on which judge and people differ",),
    )
