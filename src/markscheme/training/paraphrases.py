"""Hand-written paraphrases: the same in other words, and something else in the same ones."""

from __future__ import annotations

from importlib.resources import files

import orjson
import polars as pl


def paraphrases() -> pl.DataFrame:
    """Labelled answers of `paraphrases.jsonl`: question, references, answer, label.

    Each reference is also there as a right answer to its question.
    """
    text = files("markscheme.training").joinpath("paraphrases.jsonl").read_text(encoding="utf-8")
    rows = [
        (one["question"], [one["reference"]], answer, label)
        for one in map(orjson.loads, text.splitlines())
        for label, answers in ((1.0, [one["reference"], *one["right"]]), (0.0, one["wrong"]))
        for answer in answers
    ]
    return pl.DataFrame(
        rows,
        schema={
            "question": pl.String, "references": pl.List(pl.String), "answer": pl.String,
            "label": pl.Float64,
        },
        orient="row",
    )  # fmt: skip
