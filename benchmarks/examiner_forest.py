"""What typed values and small words add to the alignment: one forest over all labelled sets.

    MARKSCHEME_DATA=../shared/data python -m benchmarks.examiner_forest [--rows 20000]

Four folds by question over the hand-written rows (`training-data/`), the answers to NQ-open
labelled by reading, the graded sets and EVOUNA-NQ without its test part; every figure is of rows
that the forest did not see. Nothing of `contrast-test`, of NQ301 or of the test part is read.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from benchmarks.make_examiner import OTHER, TREES, labelled, weight
from markscheme.features.alignment import EXAMINED
from markscheme.features.values import VALUES
from markscheme.features.wording import WORDING
from markscheme.judges.examiner import COLUMNS, open_weights, read_columns
from markscheme.training import TreeOptions
from markscheme.training.splits import fold_of
from markscheme.training.trees import fit

Array = npt.NDArray[Any]
FOLDS = 4
GROWN = TreeOptions(rounds=600, seeds=1, leaves=31, least=30, columns=0.3, random_thresholds=False)


def columns(table: pl.DataFrame) -> dict[str, Array]:
    """Columns of every row by family: alignment, with typed values, with small words too."""
    rarity = open_weights(None).rarity
    matrix = read_columns(table["question"], table["references"], table["answer"], rarity).matrix
    ends = np.cumsum([len(EXAMINED), len(VALUES), len(WORDING)]).tolist()
    names = ("alignment", "with typed values", "with small words")
    return {name: matrix[:, :end] for name, end in zip(names, ends, strict=True)}


def unseen(features: Array, table: pl.DataFrame, names: list[str]) -> Array:
    """Log-odds of every row by the forest that did not see its question."""
    fold = np.array([fold_of(question, FOLDS) for question in table["question"]])
    labels, weights = table["label"].to_numpy(), table["weight"].to_numpy()
    odds = np.zeros(len(labels))
    for number in range(FOLDS):
        seen = fold != number
        forest = fit(features[seen], labels[seen], names, GROWN, weights[seen])
        odds[~seen] = forest(features[~seen])
    return odds


def main() -> None:
    """Print accuracy, errors, AUROC and what confident scores are worth, by set."""
    from sklearn.metrics import roc_auc_score

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, help="draw so many rows, for a quick look")
    rows = parser.parse_args().rows
    table = labelled(Path(os.environ.get("MARKSCHEME_DATA", "../shared/data")))
    table = table.with_columns(weight=weight(TREES, OTHER))
    table = table if rows is None else table.sample(min(rows, len(table)), seed=0)
    names = list(COLUMNS)
    for family, features in columns(table).items():
        scores = 1 / (1 + np.exp(-unseen(features, table, names[: features.shape[1]])))
        print(f"\n{family}: {features.shape[1]} columns")
        for name in table["set"].unique(maintain_order=True):
            inside = (table["set"] == name).to_numpy()
            said, label = scores[inside], table["label"].to_numpy()[inside] > 0
            right = (said > 0.5) == label
            sure = abs(said - 0.5) > 0.4
            worth = f"{100 * right[sure].mean():5.1f} right" if sure.any() else "none"
            print(
                f"{name:18} {inside.sum():6,} rows  accuracy {100 * right.mean():5.1f}  "
                f"wrong accepted {100 * (said[~label] > 0.5).mean():5.1f}  "
                f"right rejected {100 * (said[label] <= 0.5).mean():5.1f}  "
                f"AUROC {roc_auc_score(label, said):.3f}  "
                f"beyond .1 and .9 {100 * sure.mean():3.0f}%, {worth}"
            )


if __name__ == "__main__":
    main()
