"""Public question-answering data with human judgments: a catalogue, a fetcher and loaders."""

from __future__ import annotations

from markscheme.datasets.catalog import catalog, dataset
from markscheme.datasets.fetch import fetch
from markscheme.datasets.load import check, load, options_of, passages
from markscheme.datasets.locate import find, locate
from markscheme.datasets.recorded import recorded

__all__ = [
    "catalog",
    "check",
    "dataset",
    "fetch",
    "find",
    "load",
    "locate",
    "options_of",
    "passages",
    "recorded",
]
