"""Public data sets by name, each read by the package that offers it.

A package offers a data set by an entry point of the group `markscheme.datasets`: its name, and a
function `load(name, *, data_dir=None) -> pl.DataFrame` that gives an answers table. Wherever
answers are read, `dataset:NAME` names it. `markscheme[research]` offers those of the papers.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path

import polars as pl

from markscheme.errors import DataError, MarkschemeError, UnknownNameError, install_line

ENTRY_POINTS = "markscheme.datasets"


def read_dataset(name: str, *, data_dir: str | Path | None = None) -> pl.DataFrame:
    """The answers table of a public data set.

    Args:
        name: as `markscheme research datasets` lists it, or another package offers it.
        data_dir: where its files lie; None where its reader finds them.

    Raises:
        UnknownNameError: no installed package offers it.
        DataError: several packages offer it, its files are not here, or its reader failed or gave
            no table.
    """
    points = importlib.metadata.entry_points(group=ENTRY_POINTS)
    named = [one for one in points if one.name == name]
    if not named:
        known = ", ".join(sorted(one.name for one in points)) or "none"
        if importlib.util.find_spec("markscheme_research") is None:
            known += f"; {install_line('research')} adds the public ones"
        raise UnknownNameError(
            "data set", name, [one.name for one in points], f"installed packages offer {known}"
        )
    where = " and ".join(one.value for one in named)
    if len(named) > 1:
        raise DataError(f"several packages offer a data set {name!r}: {where}; uninstall one")
    try:
        found = named[0].load()(name, data_dir=data_dir)
    except MarkschemeError:
        raise
    except (Exception, SystemExit) as error:
        raise DataError(
            f"the data set {name!r} could not be read by {where}: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(found, pl.DataFrame):
        raise DataError(
            f"the reader of the data set {name!r} ({where}) gave {type(found).__name__}, not a "
            "Polars data frame"
        )
    return found
