"""The identity of a row: what it holds, typed and length-prefixed, and a hash of that."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import polars as pl

from markscheme.errors import DataError

_DIGEST = 16
"""Bytes of a key: two of 10^9 different rows share one with a probability below 10^-20."""


def row_keys(frame: pl.DataFrame, columns: Sequence[str] | None = None) -> pl.Series:
    """A key for each row of a table: equal where the rows are, to be stored and sent.

    Args:
        frame: see `row_texts`.
        columns: see `row_texts`.

    Returns:
        Series `key`: 32 hexadecimal digits a row (BLAKE2b of `row_texts`, Aumasson et al. 2013),
        the same on every machine.

    Raises:
        DataError: see `row_texts`.
    """
    texts = row_texts(frame, columns)
    keys = [blake2b(text.encode(), digest_size=_DIGEST).hexdigest() for text in texts]
    return pl.Series("key", keys, dtype=pl.String)


def row_texts(frame: pl.DataFrame, columns: Sequence[str] | None = None) -> pl.Series:
    """What each row holds, as one text: equal where the rows are, and else different.

    A cell is written as its kind, its length and its content, so that no text can pass for a null,
    a number, a list or the end of a cell. Names of columns do not count, nor do widths of numbers:
    1 is the same in columns of 8 and of 64 bits, 0.0 and -0.0 are equal, and so are texts that are
    categories and texts that are not. 1, 1.0, "1" and true are four cells.

    Args:
        frame: any table. Cells may be null, texts, bytes, numbers, Booleans, times, and lists and
            structs of these to any depth.
        columns: what tells rows apart, in this order; None for all columns.

    Returns:
        Series `text`, as long as all cells of the row together. Where rows are told apart within
        one process this alone is enough, and four times as fast as `row_keys`.

    Raises:
        DataError: there are no columns, or one holds Python objects.
    """
    names = frame.columns if columns is None else list(columns)
    if not names:
        raise DataError("rows without columns cannot be told apart")
    cells = [_encoded(pl.col(name), frame.schema[name]) for name in names]
    return frame.select(pl.concat_str(cells).alias("text")).to_series()


def _encoded(cell: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """A cell as text that ends where it says, so that texts set side by side stay apart."""
    if isinstance(dtype, pl.Null):
        return cell.cast(pl.String).fill_null("n")
    if isinstance(dtype, pl.List | pl.Array):
        items = cell.cast(pl.List(dtype.inner))
        inner = items.list.eval(_encoded(pl.element(), _dtype(dtype.inner))).list.join("")
        found = pl.concat_str(pl.lit("l"), items.list.len(), pl.lit(":"), inner)
    elif isinstance(dtype, pl.Struct):
        fields = [
            piece
            for field in dtype.fields
            for piece in (
                pl.lit(f"{len(field.name.encode())}:{field.name}"),
                _encoded(cell.struct.field(field.name), _dtype(field.dtype)),
            )
        ]
        found = pl.concat_str(pl.lit(f"r{len(dtype.fields)}:"), *fields)
        found = pl.when(cell.is_not_null()).then(found)
    elif isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        text = cell.cast(pl.String)
        found = pl.concat_str(pl.lit("s"), text.str.len_bytes(), pl.lit(":"), text)
    elif isinstance(dtype, pl.Binary):
        found = pl.concat_str(pl.lit("y"), cell.bin.encode("hex"), pl.lit(";"))
    elif dtype.is_float():
        number = cell.cast(pl.Float64)
        number = pl.when(number == 0).then(0.0).otherwise(number)
        found = pl.concat_str(pl.lit("d"), number.cast(pl.String), pl.lit(";"))
    elif dtype.is_integer() or dtype.is_temporal() or isinstance(dtype, pl.Boolean | pl.Decimal):
        kind = "Int" if dtype.is_integer() else str(dtype)
        text = cell.to_physical().cast(pl.String)
        found = pl.concat_str(pl.lit(f"o{len(kind)}:{kind}"), text, pl.lit(";"))
    else:
        raise DataError(f"values of type {dtype} do not tell rows apart")
    return found.fill_null("n")


def _dtype(dtype: pl.DataType | type[pl.DataType]) -> pl.DataType:
    return dtype() if isinstance(dtype, type) else dtype
