"""What typed values and small words add to the alignment: one forest over all labelled sets.

    MARKSCHEME_DATA=../shared/data python -m benchmarks.examiner_forest [--rows 20000]

Four folds by question over the hand-written rows (`training-data/`), the answers to NQ-open
labelled by reading, the graded sets and EVOUNA-NQ without its test part; every figure is of rows
that the forest did not see. Nothing of `contrast-test`, of NQ301 or of the test part is read.
"""

from __future__ import annotations

import argparse
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import zstandard

from markscheme.datasets import load
from markscheme.features.alignment import EXAMINED, compute_features
from markscheme.features.values import VALUES, value_features
from markscheme.features.wording import WORDING, wording_features
from markscheme.judges.examiner import open_weights
from markscheme.training import TreeOptions, parts
from markscheme.training.splits import fold_of
from markscheme.training.trees import fit

Array = npt.NDArray[Any]
FOLDS = 4
TREES = TreeOptions(rounds=600, seeds=1, leaves=31, least=30, columns=0.3, random_thresholds=False)

ROOT = Path(__file__).parents[1]
GRADED = (
    "efficientqa_test", "scientsbank", "beetle", "truthfulqa", "truthfulqa_multi", "le_chinese",
    "ads_chinese", "saf_english",
)  # fmt: skip
WEIGHTS = {"contrast": 1.0, "evouna": 1.5, "nq": 0.7, "efficientqa_test": 1.0}
OTHER = 0.4
"""What a row of another set weighs: many answers to few questions."""


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Rows of a compressed JSON Lines file."""
    with path.open("rb") as packed:
        text = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(packed), "utf-8")
        yield from map(json.loads, text)


def labelled(data: Path) -> pl.DataFrame:
    """Contrast rows, NQ-open, graded sets and EVOUNA-NQ outside its test part."""
    labels = pl.read_csv(ROOT / "training-data" / "nq-open-labels.csv", infer_schema=False)
    labels = labels.select("answer_id", pl.col("label").cast(pl.Float64))
    predictions = load("nq-open-predictions", data_dir=data).drop("label")
    read = predictions.join(labels, on="answer_id").to_dicts()
    found = [(row, "nq") for row in read]
    found += [
        (row, "contrast")
        for name in ("contrast-first", "contrast-train")
        for row in rows_of(ROOT / "training-data" / f"{name}.jsonl.zst")
    ]
    found += [
        (row, name)
        for name in GRADED
        for row in rows_of(data / "graded" / f"{name}.jsonl.zst")
        if not 0.25 < row["label"] < 0.75
    ]
    train = load("evouna-nq", data_dir=data)
    train = (
        train.filter(parts(train["question"]) != "test").drop_nulls("label").drop_nulls("answer")
    )
    found += [(row, "evouna") for row in train.to_dicts()]
    return pl.DataFrame(
        {
            "question": [row["question"] for row, _ in found],
            "references": [row["references"] for row, _ in found],
            "answer": [row["answer"] for row, _ in found],
            "label": [float(row["label"] >= 0.5) for row, _ in found],
            "set": [name for _, name in found],
            "weight": [WEIGHTS.get(name, OTHER) for _, name in found],
        }
    )


def columns(table: pl.DataFrame) -> dict[str, Array]:
    """Columns of every row by family: alignment, with typed values, with small words too."""
    rarity = open_weights(None).rarity
    aligned, view = compute_features(
        table["question"], table["references"], table["answer"], rarity
    )
    asked, said = table["question"].to_list(), table["answer"].to_list()
    nearest = [view.batch.raw[text] for text in view.reference.tolist()]
    values = value_features(asked, table["references"].to_list(), said)
    words = wording_features(asked, nearest, said)
    return {
        "alignment": aligned,
        "with typed values": np.hstack([aligned, values]),
        "with small words": np.hstack([aligned, values, words]),
    }


def unseen(features: Array, table: pl.DataFrame, names: list[str]) -> Array:
    """Log-odds of every row by the forest that did not see its question."""
    fold = np.array([fold_of(question, FOLDS) for question in table["question"]])
    labels, weights = table["label"].to_numpy(), table["weight"].to_numpy()
    odds = np.zeros(len(labels))
    for number in range(FOLDS):
        seen = fold != number
        forest = fit(features[seen], labels[seen], names, TREES, weights[seen])
        odds[~seen] = forest(features[~seen])
    return odds


def main() -> None:
    """Print accuracy, errors, AUROC and what confident scores are worth, by set."""
    from sklearn.metrics import roc_auc_score

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, help="draw so many rows, for a quick look")
    rows = parser.parse_args().rows
    table = labelled(Path(os.environ.get("MARKSCHEME_DATA", "../shared/data")))
    table = table if rows is None else table.sample(min(rows, len(table)), seed=0)
    names = [*EXAMINED, *VALUES, *WORDING]
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
