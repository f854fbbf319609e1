"""How often a wrapping changes a judge's verdict on a short answer.

    MARKSCHEME_DATA=data python -m recipes.form [--judge JUDGE] [--wrappings dev|test|test-second]

Half of the answers are right. `dev`: wrappings that nothing learned from, for makers, around
answers to questions kept from the encoder. `test` and `test-second`: frozen wrappings around
answers of the frozen English tests; each run is a look, to be written in `docs/examiner-looks.md`.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import polars as pl

import markscheme
from recipes.encoder.figures import tested_facts, wrapped_rows
from recipes.encoder.rows import is_plain_fact
from recipes.labelled import labelled


def facts(name: str) -> list[dict[str, Any]]:
    """The short answers that are wrapped, with question, references and label."""
    if name != "dev":
        return tested_facts()
    rows = labelled(Path(os.environ["MARKSCHEME_DATA"])).filter(
        pl.col("set").is_in(["contrast", "light"]),
        pl.col("part") == "calibration",
        pl.col("language") == "en",
    )
    return [row for row in rows.to_dicts() if is_plain_fact(row)]


def wrapped(name: str) -> pl.DataFrame:
    """Rows with question, references, label, kind of wrapping, the `bare` answer and answer."""
    columns = ("question", "references", "label", "kind", "bare", "answer")
    rows = wrapped_rows(facts(name), name)
    return pl.DataFrame([{column: row[column] for column in columns} for row in rows])


def accepted(rows: pl.DataFrame, answer: str, judge: str) -> pl.Series:
    """Whether a judge accepts the answers in a column; null where there is no verdict."""
    named = rows.select("question", "references", answer=answer)
    named = named.with_columns(question_id=pl.int_range(pl.len()).cast(pl.String))
    return markscheme.judge(named, judges=judge).judgments["verdict"]


def main() -> None:
    """Print the share of verdicts that change, by kind of wrapping, and what is right."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--judge", default="examiner")
    parser.add_argument("--wrappings", default="dev", choices=["dev", "test", "test-second"])
    options = parser.parse_args()
    rows = wrapped(options.wrappings)
    rows = rows.with_columns(
        accepted(rows, "bare", options.judge).alias("before"),
        accepted(rows, "answer", options.judge).alias("after"),
        right=pl.col("label") >= 0.5,
    )
    figures = (
        pl.len().alias("answers"),
        (pl.col("before") != pl.col("after")).mean().alias("changed"),
        (pl.col("before") & ~pl.col("after")).mean().alias("no longer accepted"),
        (pl.col("before") == pl.col("right")).mean().alias("right, bare"),
        (pl.col("after") == pl.col("right")).mean().alias("right, wrapped"),
    )
    with pl.Config(tbl_rows=-1, float_precision=3, tbl_hide_dataframe_shape=True):
        print(rows.select(*figures))
        print(rows.group_by("kind").agg(*figures).sort("changed", "kind", descending=True))


if __name__ == "__main__":
    main()
