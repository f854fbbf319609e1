"""Public data sets by name, each read by the package that offers it.

A package offers a data set by an entry point of the group `markscheme.datasets`: its name, and a
function `load(name, *, data_dir=None) -> pl.DataFrame` that gives an answers table. Wherever
answers are read, `dataset:NAME` stands for it. `markscheme[research]` offers those of the papers.
"""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.errors import DataError, UnknownNameError

ENTRY_POINTS = "markscheme.datasets"


def read_dataset(name: str, *, data_dir: str | Path | None = None, **options: Any) -> pl.DataFrame:
    """The answers table of a public data set.

    Args:
        name: as `markscheme research datasets` lists it, or another package offers it.
        data_dir: where its files lie; None where its reader finds them.
        options: further options of its reader.

    Raises:
        UnknownNameError: no installed package offers it.
        DataError: its files are not here, or its reader gave no table.
    """
    points = {one.name: one for one in importlib.metadata.entry_points(group=ENTRY_POINTS)}
    if name not in points:
        known = ", ".join(sorted(points)) or "none: pip install 'markscheme[research]' adds those"
        raise UnknownNameError("data set", name, points, f"installed packages offer {known}")
    found = points[name].load()(name, data_dir=data_dir, **options)
    if not isinstance(found, pl.DataFrame):
        raise DataError(
            f"the reader of the data set {name!r} ({points[name].value}) gave "
            f"{type(found).__name__}, not a Polars data frame"
        )
    return found
