"""What each part of the examiner's trees is worth: one part left out at a time.

    MARKSCHEME_DATA=../shared/data python -m recipes.ablation [--trees 300]
    MARKSCHEME_DATA=../shared/data python -m recipes.ablation --transfer

A part is a family of columns, or a set of rows to learn from. Trees with it and without it are
grown on three quarters of the questions and tested on the rest: hand-written rows, EVOUNA-NQ
without its test part, answers to NQ-open and the graded sets. `--transfer` leaves one set out of
what is learned at a time and tests on that set's held-out questions. Nothing of `contrast-test`,
of NQ301 or of the test part is read.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from markscheme.features import VALUES, WORDING
from markscheme.features.alignment import FEATURES
from markscheme.judges.examiner import COLUMNS, open_weights, read_columns
from markscheme_research.training import TrainOptions, TreeOptions
from markscheme_research.training.splits import fold_of
from markscheme_research.training.trees import Forest, fit_forest
from recipes.examiner import GENERATED, tree_rows
from recipes.labelled import GRADED

Array = npt.NDArray[Any]
FOLDS = 4
NAMES = list(COLUMNS)
KINDS = TrainOptions().trees
SHOWN = {
    "contrast": ["contrast"],
    "EVOUNA-NQ": ["evouna"],
    "NQ-open": ["nq"],
    "graded": ["efficientqa_test", "scientsbank", "beetle", "truthfulqa"],
}
"""Column of the printed table, and the sets of rows in it."""

STANCE = ("denied_", "disputed", "corrected_", "affirmed_", "polarity", "refusal", "outdated_")


@dataclass(frozen=True)
class Rows:
    """Rows to learn from, and rows to ask about."""

    matrix: Array
    labels: Array
    weights: Array
    sets: Array
    kept: Array


def read(data: Path) -> Rows:
    """Rows of the trees."""
    table = tree_rows(data)
    rarity = open_weights(None).rarity
    matrix = read_columns(table, rarity).matrix
    return Rows(
        matrix=matrix,
        labels=(table["label"].to_numpy() >= 0.5).astype(float),
        weights=table["weight"].to_numpy(),
        sets=table["set"].to_numpy(),
        kept=np.array([fold_of(question, FOLDS) == 0 for question in table["question"]]),
    )


def starting(*beginnings: str) -> Callable[[str], bool]:
    """Whether a column's name begins so."""
    return lambda name: name.startswith(beginnings)


COLUMNS_LEFT_OUT: dict[str, Callable[[str], bool]] = {
    "typed values": lambda name: name in VALUES,
    "small words": lambda name: name in WORDING,
    "alignment": lambda name: name in FEATURES,
    "denial, doubt, refusal": starting(*STANCE),
}
ROWS_LEFT_OUT = {
    "hand-written rows": ["contrast"],
    "EVOUNA-NQ": ["evouna"],
    "answers to NQ-open": ["nq"],
    "graded sets": [*GRADED],
    "rows generated from others": [*GENERATED],
}


def grown(rows: Rows, columns: list[int], learned: Array, kinds: tuple[TreeOptions, ...]) -> Forest:
    """Trees grown on some columns and on the rows of `learned` that are not held out."""
    seen = learned & ~rows.kept & (rows.weights > 0)
    matrix, names = rows.matrix[:, columns], [NAMES[number] for number in columns]
    return Forest(
        [
            one
            for kind in kinds
            for one in fit_forest(
                matrix[seen], rows.labels[seen], names, kind, rows.weights[seen]
            ).boosters
        ]
    )


def figure(rows: Rows, columns: list[int], forest: Forest, sets: list[str]) -> str:
    """Accuracy in per cent, and AUROC, of trees on the held-out questions of some sets."""
    from sklearn.metrics import roc_auc_score

    asked = rows.kept & np.isin(rows.sets, sets)
    odds, label = forest(rows.matrix[asked][:, columns]), rows.labels[asked] > 0
    return f"{100 * ((odds > 0) == label).mean():.1f}, {roc_auc_score(label, odds):.3f}"


def figures(rows: Rows, columns: list[int], learned: Array, kinds: tuple[TreeOptions, ...]) -> str:
    """Accuracy and AUROC on held-out questions, of trees on some columns and rows."""
    forest = grown(rows, columns, learned, kinds)
    return " | ".join(figure(rows, columns, forest, sets) for sets in SHOWN.values())


def transfer(rows: Rows, kinds: tuple[TreeOptions, ...]) -> None:
    """Print what each set's held-out questions give with the set learned from, and without it.

    Generated rows are left out throughout: they hold the answers of other sets.
    """
    columns, everything = list(range(len(NAMES))), ~np.isin(rows.sets, GENERATED)
    whole = grown(rows, columns, everything, kinds)
    print("| set | kept answers | learned from | left out |\n|---|--:|---|---|")
    for name in ("contrast", "evouna", "nq", "efficientqa_test", "scientsbank", "beetle",
                 "truthfulqa", "truthfulqa_multi", "saf_english"):  # fmt: skip
        rest = grown(rows, columns, everything & (rows.sets != name), kinds)
        count = int((rows.kept & (rows.sets == name)).sum())
        both = (figure(rows, columns, forest, [name]) for forest in (whole, rest))
        print(f"| {name} | {count:,} | {' | '.join(both)} |", flush=True)


def left_out(rows: Rows, kinds: tuple[TreeOptions, ...]) -> None:
    """Print what each part left out costs."""
    every, everything = list(range(len(NAMES))), np.ones(len(rows.labels), bool)
    counts = [int((rows.kept & np.isin(rows.sets, sets)).sum()) for sets in SHOWN.values()]
    shown = zip(SHOWN, counts, strict=True)
    print("| left out | " + " | ".join(f"{name} ({count:,})" for name, count in shown) + " |")
    print("|---|" + "---|" * len(SHOWN))
    print(f"| nothing | {figures(rows, every, everything, kinds)} |", flush=True)
    for name, belongs in COLUMNS_LEFT_OUT.items():
        left = [number for number in every if not belongs(NAMES[number])]
        head = f"columns: {name} ({len(every) - len(left)})"
        print(f"| {head} | {figures(rows, left, everything, kinds)} |", flush=True)
    for name, sets in ROWS_LEFT_OUT.items():
        learned = ~np.isin(rows.sets, sets)
        head = f"rows: {name} ({int((~learned).sum()):,})"
        print(f"| {head} | {figures(rows, every, learned, kinds)} |", flush=True)
    for name, some in (
        ("trees with random splits", kinds[:1]),
        ("trees with best splits", kinds[1:]),
    ):
        print(f"| trees: {name} | {figures(rows, every, everything, some)} |", flush=True)


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trees", type=int, default=300, help="trees of each kind")
    parser.add_argument("--transfer", action="store_true", help="leave one set out at a time")
    given = parser.parse_args()
    rows = read(Path(os.environ.get("MARKSCHEME_DATA", "../shared/data")))
    kinds = tuple(replace(kind, rounds=given.trees) for kind in KINDS)
    if given.transfer:
        transfer(rows, kinds)
    else:
        left_out(rows, kinds)


if __name__ == "__main__":
    main()
