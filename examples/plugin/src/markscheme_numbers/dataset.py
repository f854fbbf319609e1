"""The data set `sums`: questions of arithmetic, each answered by two systems."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import polars as pl

from markscheme.errors import DataError

FILE = "sums.csv"


def load(name: str, *, data_dir: str | Path | None = None) -> pl.DataFrame:
    """The rows of a data set, with columns that markscheme recognises.

    Args:
        name: the name of the entry point; one reader may serve several data sets.
        data_dir: a folder with the file; None for the file in this package.

    Raises:
        DataError: the folder has no such file.
    """
    if data_dir is None:
        text = resources.files(__package__).joinpath(FILE).read_bytes()
    elif (path := Path(data_dir) / FILE).is_file():
        text = path.read_bytes()
    else:
        raise DataError(f"the data set {name!r} has the file {FILE}, which is not in {data_dir}")
    rows = pl.read_csv(text, infer_schema=False)
    return rows.with_columns(id=pl.format("sums/{}", pl.int_range(1, pl.len() + 1)))
