"""Tables of other libraries as lazy frames or rows: pandas, Arrow, Hugging Face datasets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from markscheme.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

_EXACT = 2**53
"""From here on floats skip whole numbers."""


def frame_of(source: Any) -> pl.LazyFrame | None:
    """A frame of an object that holds a table, or None where it is no such object.

    Polars frames, `datasets.Dataset`, and everything that speaks Arrow's C stream: tables of
    pyarrow, DuckDB, Ibis. pandas has a way of its own.
    """
    if isinstance(source, pl.LazyFrame):
        return source
    if isinstance(source, pl.DataFrame):
        return source.lazy()
    kind = type(source)
    if kind.__module__.split(".")[0] == "datasets":
        if isinstance(source, Mapping):
            return _only_split(source)
        if hasattr(source, "with_format"):
            arrow = source.with_format("arrow")
            # Rows picked by select or filter are in place only once they are asked for.
            return None if not hasattr(source, "num_rows") else pl.DataFrame(arrow[:]).lazy()
    if hasattr(source, "__arrow_c_stream__") and not kind.__module__.startswith("pandas"):
        return pl.DataFrame(source).lazy()
    return None


def _only_split(splits: Mapping[str, Any]) -> pl.LazyFrame | None:
    if len(splits) != 1:
        raise DataError(
            f"the dataset has {len(splits)} splits, {', '.join(map(repr, splits))}; give one of "
            f"them, such as data[{next(iter(splits), 'test')!r}]"
        )
    return frame_of(next(iter(splits.values())))


def columns_of(source: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The columns of a dict of lists; a dict of single values is one row.

    Raises:
        DataError: the lists are not equally long.
    """
    values = {
        str(name): _listed(value) if _is_column(value) else value for name, value in source.items()
    }
    lists = {name: value for name, value in values.items() if isinstance(value, list)}
    plain = [name for name in values if name not in lists]
    if plain:  # One row, whose references may be a list.
        return {name: [value] for name, value in values.items()}
    lengths = {name: len(value) for name, value in lists.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name}: {count}" for name, count in lengths.items())
        raise DataError(f"the columns of the data are not equally long ({said})")
    return lists


def _is_column(value: Any) -> bool:
    return isinstance(value, list | tuple | np.ndarray | pl.Series) or (
        type(value).__module__.startswith("pandas") and hasattr(value, "tolist")
    )


def _listed(value: Any) -> list[Any]:
    if type(value).__module__.startswith("pandas"):
        return values_of(cast("pd.Series[Any]", value))
    return list(value.to_list() if isinstance(value, pl.Series) else value)


def values_of(column: pd.Series[Any]) -> list[Any]:
    """A pandas column as Python's own values, None where pandas holds that one is missing."""
    there = column.notna()
    return [
        value.item() if isinstance(value, np.generic) else value
        for value in column.astype(object).where(there, None)
    ]


def number_text(number: float) -> str | None:
    """A number, or a truth value, as text: a whole number without a point; None of NaN.

    What holds a table makes floats of whole numbers as it pleases: pandas where there are gaps,
    spreadsheets always. Rules that ask for gaps make a row's text depend on other rows.

    >>> number_text(8), number_text(8.0), number_text(8.5), number_text(1e300), number_text(True)
    ('8', '8', '8.5', '1e+300', 'true')
    """
    if isinstance(number, bool):
        return "true" if number else "false"
    if isinstance(number, float) and math.isnan(number):
        return None
    whole = isinstance(number, int) or (number.is_integer() and abs(number) < _EXACT)
    return str(int(number) if whole else number)
