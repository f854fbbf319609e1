"""People's labels, in the shapes they come in, as one tidy table: a row an answer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from markscheme.errors import AgreementError, DataError
from markscheme.tables.columns import KEYS, renamed
from markscheme.tables.files import Source, read_table
from markscheme.tables.joins import check_key, text_keys
from markscheme.tables.label_values import parse_labels

LABEL_COLUMNS = ("label", "annotator_labels", "inclusion_probability", "stratum")


def load_labels(
    source: Source,
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
        source: a file, a data frame or a list of dicts.
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
        table = table.with_columns(parse_labels(table["label"]).alias("label"))
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
    parsed = table.select(parse_labels(table[name]).alias(name) for name in names)
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
        parse_labels(table["label"]).alias("label"), pl.col("annotator").cast(pl.String)
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


def ratings_table(annotator_labels: pl.Series) -> pl.DataFrame:
    """One column an annotator, from a Series of lists (`annotator_labels` of the answers table).

    Shorter lists are filled with blanks on the right, since the n-th place belongs to the n-th
    annotator.

    Raises:
        AgreementError: the lists hold nothing.
    """
    width = annotator_labels.list.len().max()
    if not isinstance(width, int) or width == 0:
        raise AgreementError("annotator_labels holds no label at all")
    return pl.DataFrame(
        {
            f"annotator{place + 1}": annotator_labels.list.get(place, null_on_oob=True)
            for place in range(width)
        }
    )


def majority(ratings: pl.DataFrame) -> pl.Series:
    """The label that more annotators gave than any other; null on a tie or where all are blank."""
    longest = (
        ratings.select(pl.all().cast(pl.Float64))
        .with_row_index("item")
        .unpivot(index="item", value_name="label")
        .drop_nulls("label")
        .group_by("item", "label")
        .len()
    )
    winners = (
        longest.filter(pl.col("len") == pl.col("len").max().over("item"))
        .group_by("item")
        .agg(pl.col("label").first(), pl.len().alias("ways"))
        .filter(pl.col("ways") == 1)
    )
    items = pl.DataFrame({"item": np.arange(ratings.height, dtype=np.uint32)})
    return items.join(winners, on="item", how="left", maintain_order="left")["label"]
