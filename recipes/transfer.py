"""How the examiner's recipe carries over to systems and kinds of questions it never saw.

    python -m recipes.transfer

On the questions of parts train and development, by cross-validation over questions: trees on
all columns are grown once with every system's answers and once without those of one system (or one
kind of question), and both judge that system's answers to the questions of the fold left out. The
first lot is thinned at random to the size of the second, so that only the kind differs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.judges.examiner.weight_files import COLUMNS, read_columns
from markscheme_research import datasets
from markscheme_research.training.examiner import rarity_of, usable
from markscheme_research.training.splits import fold_of, parts
from markscheme_research.training.trees import TreeOptions, fit_forest

Array = npt.NDArray[Any]

FOLDS = 2
OPTIONS = TreeOptions(seeds=1)
_KINDS = {
    "who": r"\bwho", "when": r"\bwhen\b|\bwhat (?:year|date)\b", "where": r"\bwhere\b",
    "how many, how much, how long": r"\bhow (?:many|much|long|old|far|tall|big|often)\b",
    "what, which": r"\bwhat\b|\bwhich\b",
}  # fmt: skip
OTHER = "another kind"


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """Accuracy and F1 on one group of answers, with and without the like of them in training."""

    group: str
    answers: int
    seen_accuracy: float
    unseen_accuracy: float
    seen_f1: float
    unseen_f1: float


def transfer(data_dir: Path | None) -> dict[str, list[Transfer]]:
    """By system, and by kind of question."""
    answers = datasets.load("evouna-nq", data_dir=data_dir)
    answers = usable(answers.filter(parts(answers["question"]) != "test"))
    features = read_columns(answers, rarity_of(answers)).matrix
    labels = (answers["label"] >= 0.5).to_numpy().astype(float)
    fold = np.array([fold_of(question, FOLDS) for question in answers["question"]])

    def grow(rows: Array) -> Callable[[Array], Array]:
        return fit_forest(features[rows], labels[rows], list(COLUMNS), OPTIONS)

    kinds = pl.lit(OTHER)
    for name, pattern in reversed(_KINDS.items()):
        asked = pl.col("question").str.to_lowercase()
        kinds = pl.when(asked.str.contains(pattern)).then(pl.lit(name)).otherwise(kinds)
    groups = {"system": answers["system"], "question": answers.select(kinds).to_series()}
    return {
        what: [
            _one(str(name), (column == name).to_numpy(), fold, labels, grow, features)
            for name in column.unique().sort().to_list()
        ]
        for what, column in groups.items()
    }


def _one(
    name: str,
    inside: Array,
    fold: Array,
    labels: Array,
    grow: Callable[[Array], Callable[[Array], Array]],
    features: Array,
) -> Transfer:
    from sklearn.metrics import f1_score

    chance = np.random.default_rng(0)
    seen, unseen = np.zeros(len(labels)), np.zeros(len(labels))
    for number in range(FOLDS):
        tested = np.flatnonzero(inside & (fold == number))
        outside = np.flatnonzero(fold != number)
        others = outside[~inside[outside]]
        alike = np.sort(chance.choice(outside, len(others), replace=False))
        seen[tested] = grow(alike)(features[tested])
        unseen[tested] = grow(others)(features[tested])
    accepted = labels[inside] > 0
    return Transfer(
        group=name,
        answers=int(inside.sum()),
        seen_accuracy=float(((seen[inside] > 0) == accepted).mean()),
        unseen_accuracy=float(((unseen[inside] > 0) == accepted).mean()),
        seen_f1=float(f1_score(accepted, seen[inside] > 0)),
        unseen_f1=float(f1_score(accepted, unseen[inside] > 0)),
    )


def main() -> None:
    """Print accuracy and F1 with and without the like in training."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, help="folder with EVOUNA-NQ")
    given = parser.parse_args()
    for what, rows in transfer(given.data_dir).items():
        print(f"{what:<24}answers  accuracy seen unseen  F1 seen unseen")
        for one in rows:
            print(
                f"{one.group:<24}{one.answers:>7,}{100 * one.seen_accuracy:>14.1f}"
                f"{100 * one.unseen_accuracy:>7.1f}{100 * one.seen_f1:>9.1f}"
                f"{100 * one.unseen_f1:>7.1f}"
            )


if __name__ == "__main__":
    main()
