r"""How the shipped examiner was trained: the sets, their parts and what each row weighs.

    MARKSCHEME_DATA=../shared/data python -m recipes.examiner rows ROWS.parquet
    python -m markscheme_research.training.cross_encoder ROWS.parquet ENCODER --encoder FOLDER
    MARKSCHEME_DATA=../shared/data \
        python -m recipes.examiner trees OUT --encoder ENCODER/onnx
    python -m recipes.language_model ROWS.parquet OUT/language-model \
        --minutes 60
    MARKSCHEME_DATA=../shared/data python -m recipes.examiner deep OUT
    MARKSCHEME_DATA=../shared/data python -m recipes.examiner record SHIPPED-ROWS

Rows of `training-data/contrast-first` and `contrast-train`; answers to NQ-open labelled by reading
(`training-data/nq-open-labels.csv`); EVOUNA-NQ without its test part; the graded sets without the
fifth of their questions that `part` holds out. The cross-encoder does not see a twelfth of the
questions (`calibration`), on which its weight beside the trees is set. Nothing of `contrast-test`,
of NQ301 or of the test part of EVOUNA-NQ is read.
"""

from __future__ import annotations

import argparse
import io
import json
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import zstandard

from markscheme_research.datasets import load
from markscheme_research.training import (
    TrainOptions,
    fit_deep_blend,
    parts,
    record_rows,
    train_examiner,
)
from recipes.near_copies import near_copies

DATA = Path(__file__).parent / "training-data"
GRADED = (
    "efficientqa_test", "scientsbank", "beetle", "truthfulqa", "truthfulqa_multi", "le_chinese",
    "ads_chinese", "saf_english",
)  # fmt: skip
TREES = {
    "contrast": 1.0, "light": 4.0, "copies": 1.2, "evouna": 1.5, "nq": 0.7, "efficientqa_test": 1.0,
}  # fmt: skip
ENCODER = {
    "contrast": 1.0, "light": 1.0, "copies": 0.6, "evouna": 0.8, "nq": 0.8, "efficientqa_test": 1.0,
}  # fmt: skip
"""What a row of a set weighs in the trees and in the cross-encoder."""
OTHER, OTHER_ENCODER = 0.4, 0.5
"""The same for the other sets: many answers to few questions."""
HELD_OUT, CALIBRATION = 0.2, 0.08
"""Shares of questions: of the graded sets held out; of all others kept from the cross-encoder."""


def share(text: str) -> float:
    """A number in [0, 1) that depends on the text alone."""
    return int(sha256(text.encode()).hexdigest()[:8], 16) / 2**32


def part(dataset: str, group: str) -> str:
    """`train`, `calibration` or `held out`, by the question (of contrast rows, by its group)."""
    if dataset in GRADED and share("graded" + group) >= 1 - HELD_OUT:
        return "held out"
    return "calibration" if share("dev" + group) < CALIBRATION else "train"


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Rows of a compressed JSON Lines file."""
    with path.open("rb") as packed:
        text = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(packed), "utf-8")
        yield from map(json.loads, text)


def labelled(data: Path) -> pl.DataFrame:
    """Every row that may be learned from, and those held out.

    Returns:
        question, references, answer, label (0 or 1), set, kind, language and part.
    """
    labels = pl.read_csv(DATA / "nq-open-labels.csv", infer_schema=False)
    labels = labels.select("answer_id", pl.col("label").cast(pl.Float64))
    predictions = load("nq-open-predictions", data_dir=data).drop("label")
    found = [("nq", row) for row in predictions.join(labels, on="answer_id").to_dicts()]
    found += [
        ("light" if row["kind"] == "light rewording" else "contrast", row)
        for name in ("contrast-first", "contrast-train", "contrast-third")
        for row in rows_of(DATA / f"{name}.jsonl.zst")
    ]
    found += [
        (name, row)
        for name in GRADED
        for row in rows_of(data / "graded" / f"{name}.jsonl.zst")
        if not 0.25 < row["label"] < 0.75
    ]
    people = load("evouna-nq", data_dir=data)
    people = people.filter(parts(people["question"]) != "test").drop_nulls(["label", "answer"])
    found += [("evouna", row) for row in people.to_dicts()]
    table = pl.DataFrame(
        {
            "question": [row["question"] for _, row in found],
            "references": [row["references"] for _, row in found],
            "answer": [row["answer"] for _, row in found],
            "label": [float(row["label"] >= 0.5) for _, row in found],
            "set": [name for name, _ in found],
            "kind": [row.get("kind") or "" for _, row in found],
            "language": [row.get("language") or "en" for _, row in found],
            "part": [part(name, row.get("group") or row["question"]) for name, row in found],
        }
    )
    pairs = table.filter(pl.col("set").is_in(["contrast", "light"]) & (pl.col("language") == "en"))
    return pl.concat([table, near_copies(pairs).with_columns(set=pl.lit("copies"))])


def weight(weights: dict[str, float], other: float) -> pl.Expr:
    """What each row weighs, by its set."""
    return pl.col("set").replace_strict(weights, default=other, return_dtype=pl.Float64)


def main() -> None:
    """Write the encoders' rows, train the trees, weigh the language model, or record all rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["rows", "trees", "deep", "record"])
    parser.add_argument("out", type=Path)
    parser.add_argument("--encoder", type=Path, help="exported cross-encoder; else the shipped")
    given = parser.parse_args()
    data = Path(os.environ.get("MARKSCHEME_DATA", "../shared/data"))
    table = labelled(data).filter(pl.col("part") != "held out")
    if given.what == "rows":
        table = table.filter(pl.col("part") == "train").with_columns(
            weight=weight(ENCODER, OTHER_ENCODER),
            first=~pl.col("set").is_in(["contrast", "light", "copies"]),
        )
        table.write_parquet(given.out)
        return
    table = table.with_columns(
        weight=weight(TREES, OTHER),
        unseen=pl.col("part") == "calibration",
        reference_kind=pl.lit("text"),
    )
    if given.what == "deep":
        print(fit_deep_blend(given.out, table))
        return
    people = pl.col("set") == "evouna"
    if given.what == "record":
        rows = record_rows(table.filter(people), given.out, mixed=table.filter(~people))
        print(f"{len(rows.labels):,} rows, {given.out.stat().st_size / 1e6:.1f} MB")
        return
    options = TrainOptions(cross_encoder=given.encoder)
    train_examiner(table.filter(people), given.out, options, mixed=table.filter(~people))


if __name__ == "__main__":
    main()
