"""How the shipped examiner was trained: the sets, their parts and what each row weighs.

    MARKSCHEME_DATA=../shared/data python -m benchmarks.make_examiner OUT

Rows of `training-data/contrast-first` and `contrast-train`; answers to NQ-open labelled by reading
(`training-data/nq-open-labels.csv`); EVOUNA-NQ without its test part; of the graded sets the
questions that `part` does not hold out. Nothing of `contrast-test`, of NQ301 or of the test part.
"""

from __future__ import annotations

import argparse
import io
import json
import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import polars as pl
import zstandard

from markscheme.datasets import load
from markscheme.training import parts, train_examiner

ROOT = Path(__file__).parents[1]
GRADED = (
    "efficientqa_test", "scientsbank", "beetle", "truthfulqa", "truthfulqa_multi", "le_chinese",
    "ads_chinese", "saf_english",
)  # fmt: skip
WEIGHTS = {"contrast": 1.0, "evouna": 1.5, "nq": 0.7, "efficientqa_test": 1.0}
OTHER = 0.4
"""What a row of another set weighs: many answers to few questions."""


def share(text: str) -> float:
    """A number in [0, 1) that depends on the text alone."""
    return int(blake2b(text.encode(), digest_size=8).hexdigest(), 16) / 2**64


def held_out(question: str) -> bool:
    """Whether a question of the graded sets is held out: a fifth of them."""
    return share("graded" + question) >= 0.6 and share("rest" + question) >= 0.5


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Rows of a compressed JSON Lines file."""
    with path.open("rb") as packed:
        text = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(packed), "utf-8")
        yield from map(json.loads, text)


def mixed(data: Path) -> pl.DataFrame:
    """Contrast rows, answers labelled by reading and graded rows, with their weights."""
    labels = pl.read_csv(ROOT / "training-data" / "nq-open-labels.csv", infer_schema=False)
    labels = labels.select("answer_id", pl.col("label").cast(pl.Float64))
    predictions = load("nq-open-predictions", data_dir=data).drop("label")
    read = predictions.join(labels, on="answer_id").to_dicts()
    found = [(row, WEIGHTS["nq"]) for row in read]
    found += [
        (row, WEIGHTS["contrast"])
        for name in ("contrast-first", "contrast-train")
        for row in rows_of(ROOT / "training-data" / f"{name}.jsonl.zst")
    ]
    found += [
        (row, WEIGHTS.get(name, OTHER))
        for name in GRADED
        for row in rows_of(data / "graded" / f"{name}.jsonl.zst")
        if not 0.25 < row["label"] < 0.75 and not held_out(row["question"])
    ]
    return pl.DataFrame(
        {
            "question": [row["question"] for row, _ in found],
            "references": [row["references"] for row, _ in found],
            "answer": [row["answer"] for row, _ in found],
            "label": [float(row["label"] >= 0.75) for row, _ in found],
            "reference_kind": ["text"] * len(found),
            "weight": [weight for _, weight in found],
        }
    )


def main() -> None:
    """Train and save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    data = Path(os.environ.get("MARKSCHEME_DATA", "../shared/data"))
    answers = load("evouna-nq", data_dir=data)
    answers = answers.filter(parts(answers["question"]) != "test")
    answers = answers.with_columns(weight=pl.lit(WEIGHTS["evouna"]))
    train_examiner(answers, out, mixed=mixed(data))


if __name__ == "__main__":
    main()
