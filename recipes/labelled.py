"""The labelled rows that the examiner learns from, as they were written or published, by part.

Rows of `training-data/contrast-first`, `contrast-train` and `contrast-third`; answers to NQ-open
labelled by reading (`training-data/nq-open-labels.csv`); EVOUNA-NQ without its test part; the
graded sets. `part` holds a fifth of the graded sets' questions out of all training, and a twelfth
of all other questions from training the encoder (`calibration`). Nothing of a frozen test, of NQ301
or of the test part of EVOUNA-NQ is read.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import zstandard

from markscheme_research.datasets import load
from markscheme_research.training import parts
from recipes.near_copies import near_copies

DATA = Path(__file__).parent / "training-data"
GRADED = (
    "efficientqa_test", "scientsbank", "beetle", "truthfulqa", "truthfulqa_multi", "le_chinese",
    "ads_chinese", "saf_english",
)  # fmt: skip
HELD_OUT, CALIBRATION = 0.2, 0.08
"""Shares of questions: of the graded sets held out; of all others that the encoder never reads."""


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
