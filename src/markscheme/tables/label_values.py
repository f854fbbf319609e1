"""Reading people's and other tools' spellings of a verdict: yes/no, true/false, 0/1, grades."""

from __future__ import annotations

import polars as pl

from markscheme.errors import DataError

YES = ("yes", "y", "true", "t", "correct", "acceptable", "accepted", "right", "pass", "1")
NO = ("no", "n", "false", "f", "incorrect", "unacceptable", "rejected", "wrong", "fail", "0")
BLANK = ("", "null", "none", "na", "n/a", "nan", "-", "?")


def parse_values(column: pl.Series) -> pl.Series:
    """A column of verdicts, labels, grades or scores as Float64: 1 for yes, 0 for no, else numbers.

    Blanks (empty text, `null`, `n/a`, `?` and the like) and NaN become null.

    Raises:
        DataError: a text that is none of these; the message names up to five of them.
    """
    if column.dtype == pl.Boolean or column.dtype.is_integer():
        return column.cast(pl.Float64)
    if column.dtype.is_numeric():
        return column.cast(pl.Float64).fill_nan(None)
    if column.dtype == pl.Null:
        return column.cast(pl.Float64)
    if not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
        raise DataError(
            f"column {column.name!r} holds {column.dtype}, not verdicts; expected yes/no, "
            "true/false, 0/1 or numbers"
        )
    text = column.cast(pl.String).str.strip_chars().str.to_lowercase()
    frame = pl.DataFrame({"text": text})
    words = dict.fromkeys(YES, 1.0) | dict.fromkeys(NO, 0.0)
    word = pl.col("text").replace_strict(words, default=None, return_dtype=pl.Float64)
    number = pl.col("text").cast(pl.Float64, strict=False).fill_nan(None)
    blank = pl.col("text").is_null() | pl.col("text").is_in(BLANK)
    read = frame.select(
        pl.coalesce(word, number).alias("value"),
        blank.alias("blank"),
    )
    strange = column.cast(pl.String).filter(read["value"].is_null() & ~read["blank"])
    if len(strange):
        shown = ", ".join(map(repr, strange.unique(maintain_order=True).head(5)))
        raise DataError(
            f"column {column.name!r} has {len(strange)} values that are no verdict, such as "
            f"{shown}; expected yes/no, true/false, correct/incorrect, 0/1 or numbers"
        )
    return read["value"].alias(column.name)


def looks_like_values(column: pl.Series) -> bool:
    """Whether a column can be read by `parse_values` and is not empty."""
    try:
        return parse_values(column).null_count() < len(column)
    except DataError:
        return False


def is_binary(values: pl.Series) -> bool:
    """Whether all values are 0 or 1 (nulls apart)."""
    return bool(values.drop_nulls().is_in([0.0, 1.0]).all())
