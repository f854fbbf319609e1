"""What each reader of typed values is worth to the examiner: one left out at a time.

    MARKSCHEME_DATA=../shared/data python -m recipes.readers

The rows are those that the encoder did not learn from and that no test has; the shipped trees
learned from them with all readers, so that what a reader is worth is rather too much. A line has
the rows whose columns change, and of hand-written and of other rows how many verdicts become wrong
and right without the reader, with the trees alone and with the encoder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.features import VALUES, compare_rows, value_features
from markscheme.features import values as columns_of_values
from markscheme.judges.examiner import COLUMNS, open_weights, read_columns
from markscheme.judges.examiner.examiner import Depth, score
from markscheme.text import written_out_series
from markscheme.values import compare, parse
from markscheme_research.training import usable
from recipes.examiner import TEXTS, tree_rows

Array = npt.NDArray[Any]
LEFT_OUT_SETS = ("copies", "junk")
WRITTEN = ("contrast", "light")
DEPTHS: tuple[Depth, ...] = ("fast", "default")


def _nothing(*_texts: Any, **_options: Any) -> None:
    return None


def _none_read(*_texts: Any, **_options: Any) -> Iterator[Any]:
    return iter(())


READERS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "formulae": (compare, "compare_formulae", _nothing),
    "exact names": (compare, "compare_exact_names", _nothing),
    "choices": (compare, "compare_choices", _nothing),
    "lists": (compare, "compare_lists", _nothing),
    "dates": (parse, "read_dates", _none_read),
    "times": (parse, "read_times", _none_read),
    "codes and versions": (parse, "read_identifiers", _none_read),
    "units": (parse, "read_unit", _nothing),
    "currencies after amounts": (parse, "currency_after", _nothing),
    "ranges": (parse, "join_ranges", lambda _text, values: values),
    "words around values": (parse, "with_stance", lambda _text, value, _raw: value),
}
"""A reader's name, where it is called, and what takes its place."""


@contextmanager
def without(reader: str) -> Iterator[None]:
    """Within it, the reader reads nothing."""
    module, name, other = READERS[reader]
    function = getattr(module, name)
    setattr(module, name, other)
    try:
        yield
    finally:
        setattr(module, name, function)


class Rows:
    """The rows, their columns, and verdicts from columns."""

    def __init__(self, table: pl.DataFrame) -> None:
        """Read every row with all readers."""
        self.weights = open_weights()
        read = [read_columns(part, self.weights.rarity) for part in table.iter_slices(4096)]
        self.texts = pl.concat([one.texts for one in read])
        self.matrix = np.concatenate([one.matrix for one in read])
        self.labels = table["label"].to_numpy() >= 0.5
        self.written = table["set"].is_in(WRITTEN).to_numpy()

    def columns(self) -> Array:
        """The columns anew, of the readers that there are."""
        columns_of_values._compared.cache_clear()
        parse._parse.cache_clear()
        questions, references, answers = (
            written_out_series(column).to_list() for column in self.texts
        )
        matrix = self.matrix.copy()
        places = [list(COLUMNS).index(name) for name in VALUES]
        compared = compare_rows(questions, references, answers)
        matrix[:, places] = value_features(compared, references, answers)
        return matrix

    def verdicts(self, matrix: Array, rows: Array) -> tuple[Array, Array]:
        """By the trees, and by the encoder too where they are unsure."""
        texts = self.texts[rows].rows()
        fast, default = (
            score(self.weights, matrix[rows], texts, depth=depth).scores >= 0.5 for depth in DEPTHS
        )
        return fast, default


def main() -> None:
    """Leave out each reader once, and print what changes."""
    table = tree_rows(Path(os.environ.get("MARKSCHEME_DATA", "../shared/data")))
    asked = table.filter(pl.col("unseen") & ~pl.col("set").is_in(LEFT_OUT_SETS))
    rows = Rows(usable(asked.select(*TEXTS, "label", "set", "reference_kind")))
    print(f"{len(rows.labels):,} rows, {int(rows.written.sum()):,} of them hand-written")
    for reader in READERS:
        with without(reader):
            matrix = rows.columns()
        changed = np.flatnonzero((matrix != rows.matrix).any(axis=1))
        before, after = (rows.verdicts(each, changed) for each in (rows.matrix, matrix))
        line = [f"{reader:<26}{len(changed):>5} rows"]
        for depth, with_it, without_it in zip(DEPTHS, before, after, strict=True):
            right = with_it == rows.labels[changed], without_it == rows.labels[changed]
            for name, chosen in (("hand-written", True), ("others", False)):
                these = rows.written[changed] == chosen
                lost, won = (right[0] & ~right[1])[these].sum(), (right[1] & ~right[0])[these].sum()
                line.append(f"{depth}, {name} -{lost} +{won}")
        print("  ".join(line), flush=True)


if __name__ == "__main__":
    main()
