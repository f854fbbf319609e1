"""People's labels, in the shapes they come in, as one tidy table: a row an answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from markscheme.agreement.annotators import majority, ratings_table
from markscheme.errors import AgreementError, DataError
from markscheme.tables import KEYS, check_key, parse_values, read_table, renamed, text_keys

LABEL_COLUMNS = ("label", "annotator_labels", "inclusion_probability", "stratum")


def read_labels(
    source: pl.DataFrame | str | Path,
    *,
    column: str | None = None,
    names: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Labels as a table: the key columns present, `label` (Float64, null is unlabelled).

    `annotator1`, `annotator2`, ..., a list column `annotator_labels`, or a row an annotator (a
    column `annotator`) become `annotator_labels`; without a `label` column the annotators' majority
    is the label (a tie leaves it null). `inclusion_probability` and `stratum`, as `plan-labels`
    writes them, are kept.

    Args:
        source: a table, or a CSV, TSV, JSON, JSONL or Parquet file.
        column: the column that holds the label, where it is not called `label`.
        names: other names of columns, ours to theirs (`{"question": "Frage"}`).

    Raises:
        DataError: no label column, no key, or values that are no label.
    """
    mapping = dict(names or {}) | ({"label": column} if column else {})
    table = renamed(
        read_table(source), mapping, ("answer_id", "question", "answer", "system", "label")
    )
    table = _with_annotators(table)
    if "label" in table.columns and table["label"].null_count() < table.height:
        table = table.with_columns(parse_values(table["label"]).alias("label"))
    elif "annotator_labels" in table.columns:
        table = table.with_columns(majority(ratings_table(table["annotator_labels"])))
    else:
        raise DataError(
            "the labels have no column 'label'; name it with --label-column (Python: column=...). "
            f"The columns are {', '.join(map(repr, table.columns))}"
        )
    check_key(table, "labels")
    kept = [name for name in (*KEYS, *LABEL_COLUMNS) if name in table.columns]
    return text_keys(table.select(kept))


def _with_annotators(table: pl.DataFrame) -> pl.DataFrame:
    if "annotator" in table.columns and "label" in table.columns:
        return _one_row_an_answer(table)
    if "annotator_labels" in table.columns:
        if table["annotator_labels"].null_count() == table.height:
            return table.drop("annotator_labels")
        return table.with_columns(pl.col("annotator_labels").cast(pl.List(pl.Float64)))
    names = sorted(
        (name for name in table.columns if name.startswith("annotator")),
        key=lambda name: (len(name), name),
    )
    if len(names) < 2:
        return table
    parsed = table.select(parse_values(table[name]).alias(name) for name in names)
    return table.with_columns(
        parsed.select(pl.concat_list(names)).to_series().alias("annotator_labels")
    )


def _one_row_an_answer(table: pl.DataFrame) -> pl.DataFrame:
    """Labels with a row an annotator, as a row an answer; annotators in the order of their names.

    Raises:
        AgreementError: an annotator labelled the same answer twice.
    """
    keys = [name for name in KEYS if name in table.columns]
    parsed = table.with_columns(
        parse_values(table["label"]).alias("label"), pl.col("annotator").cast(pl.String)
    )
    twice = parsed.filter(pl.struct(*keys, "annotator").is_duplicated())
    if twice.height:
        raise AgreementError(
            f"annotator {twice['annotator'][0]!r} labelled an answer twice: "
            f"{twice.select(keys).row(0)}"
        )
    wide = parsed.pivot(on="annotator", index=keys, values="label", sort_columns=True)
    names = [name for name in wide.columns if name not in keys]
    lists = wide.select(pl.concat_list(names)).to_series()
    return wide.select(keys).with_columns(lists.alias("annotator_labels"))
