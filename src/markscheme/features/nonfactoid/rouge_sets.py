"""ROUGE over sets of n-grams, case preserved: what LINKAGE's printed figures come nearest to."""

from __future__ import annotations

import polars as pl


def set_rouge(answers: pl.Series, references: pl.Series, *, order: int) -> pl.Series:
    """F-measure of the distinct n-grams of two texts, repeats counted once.

    Args:
        answers, references: String, of equal length; nulls give null.
        order: 1 for words, 2 for pairs of neighbouring words. Words end at white space.
    """
    sides = pl.DataFrame({"answer": answers, "reference": references}).select(
        _grams(pl.col("answer"), order).alias("answer"),
        _grams(pl.col("reference"), order).alias("reference"),
    )
    common = pl.col("answer").list.set_intersection("reference").list.len()
    sizes = pl.col("answer").list.len() + pl.col("reference").list.len()
    return sides.select(
        pl.when(sizes > 0).then(2.0 * common / sizes).otherwise(0.0).alias("score")
    ).to_series()


def _grams(text: pl.Expr, order: int) -> pl.Expr:
    words = text.str.extract_all(r"\S+")
    if order > 1:
        joined = pl.concat_str([pl.element().shift(-step) for step in range(order)], separator=" ")
        words = words.list.eval(joined).list.drop_nulls()
    return words.list.unique()
