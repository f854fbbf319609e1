"""Figures of a run by a column of the user's own: topic, language, date."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import polars as pl

from markscheme.engine import ALL_SYSTEMS, summarise
from markscheme.errors import DataError

NO_VALUE = "(none)"
"""The slice of answers that have no value in the column."""


def slice_records(
    judgments: pl.LazyFrame, answers: pl.LazyFrame, name: str
) -> list[dict[str, Any]]:
    """One record per judge and value of a column, as `summarise` makes them of systems.

    Args:
        judgments: of a run: every judge has judged the same answers in the same order.
        answers: those answers, in that order.
        name: the column.

    Returns:
        Records with `topic=history` in place of the system, in order of first appearance.

    Raises:
        DataError: the answers have no such column.
    """
    records = summarise(judgments, slice_clusters(answers, name).collect(engine="streaming"))
    return [record for record in records if record["system"] != ALL_SYSTEMS]


def slice_clusters(answers: pl.LazyFrame, name: str) -> pl.LazyFrame:
    """`engine.CLUSTERS` of answers, with the value of a column in place of the system.

    Raises:
        DataError: the answers have no such column.
    """
    check_slices(answers.collect_schema().names(), [name])
    value = pl.col(name).cast(pl.String).fill_null(NO_VALUE)
    return answers.select(
        (pl.lit(f"{name}=") + value).cast(pl.Categorical).alias("system"),
        pl.col("question").hash(),
    )


def check_slices(known: list[str], wanted: list[str]) -> None:
    """Raises DataError where a run or a table lacks a column that is wanted."""
    for name in wanted:
        if name not in known:
            raise DataError(
                f"no column {name!r} to slice by; there are {', '.join(known)}. A run has those of "
                f"your own that were named when it was judged: markscheme judge FILE --slices "
                f"{name}"
            )


_OF_ANSWERS = ("references", "reference_kind")
"""Columns that a file of answers may need under their names."""


def refuse_slices(wanted: Iterable[str], taken: Collection[str], command: str) -> None:
    """Raises DataError where a slice is called like a column of a command's own results."""
    for name in wanted:
        if name in taken and name in _OF_ANSWERS:
            raise DataError(
                f"{command!r} cannot slice by {name!r}, which all answers have: copy yours to "
                f"another column, such as 'own_{name}', to slice by it"
            )
        if name in taken:
            raise DataError(
                f"{name!r} is a column of what {command!r} finds: rename yours in the file, such "
                f"as to 'own_{name}', to slice by it"
            )
