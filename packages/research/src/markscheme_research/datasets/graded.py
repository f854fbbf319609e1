"""Answers that people graded, beyond Natural Questions: one JSON object a line.

Each file has `question`, `references` (a list), `answer` and `label` (0 to 1), and may name
`system` and `kind`. EfficientQA's published file is read as it is: lists of predictions that people
called definitely correct, possibly correct and incorrect; so are zips of students' answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from markscheme.tables import read_table
from markscheme_research.datasets.locations import Local
from markscheme_research.datasets.rows import Family, as_answers, reading, text_or_none
from markscheme_research.datasets.student_answers import read_student_answers

GRADES = {
    "def_correct_predictions": 1.0,
    "poss_correct_predictions": 0.5,
    "def_incorrect_predictions": 0.0,
}
"""EfficientQA's lists of predictions, and the label of each."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What `load` accepts.

    Attributes:
        decided: only labels from .75 on, as right, and up to .25, as wrong.
    """

    decided: bool = False


def load(local: Local, options: Options) -> pl.DataFrame:
    """One row a graded answer; ids are `NAME/<row from 1>`."""
    path = next(iter(local.files.values()))
    with reading(path, "a file of graded answers"):
        if path.suffix == ".zip":
            rows = read_student_answers(path, local.dataset.name)
        else:
            rows = _lines(read_table(path))
        frame = pl.DataFrame(rows, schema=_SCHEMA).with_row_index("row", offset=1)
    frame = frame.with_columns(
        answer_id=pl.format("{}/{}", pl.lit(local.dataset.name), "row"),
        reference_kind=pl.lit("text"),
    )
    if options.decided:
        frame = frame.filter((pl.col("label") >= 0.75) | (pl.col("label") <= 0.25)).with_columns(
            (pl.col("label") >= 0.75).cast(pl.Float64).alias("label")
        )
    return as_answers(frame)


def _lines(table: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows of a file with one JSON object a line."""
    if set(GRADES) & set(table.columns):
        return _predictions(table.iter_rows(named=True))
    return [
        {
            "question": text_or_none(row["question"]),
            "references": [str(one) for one in row["references"]],
            "answer": text_or_none(row["answer"]),
            "label": float(row["label"]),
            "system": text_or_none(row.get("system")),
        }
        for row in table.iter_rows(named=True)
    ]


def _predictions(rows: Any) -> list[dict[str, Any]]:
    """The rows of EfficientQA's published file; a prediction in two lists is left out."""
    found: list[dict[str, Any]] = []
    for row in rows:
        labels: dict[str, set[float]] = {}
        for name, label in GRADES.items():
            for text in row.get(name) or ():
                labels.setdefault(str(text), set()).add(label)
        found += [
            {
                "question": text_or_none(row["question"]),
                "references": [str(one) for one in row["answer"]],
                "answer": text,
                "label": min(own),
                "system": None,
            }
            for text, own in labels.items()
            if len(own) == 1
        ]
    return found


def counts(local: Local) -> dict[str, int]:
    """Questions, and graded answers."""
    frame = load(local, Options())
    return {"questions": frame["question"].n_unique(), "graded answers": frame.height}


_SCHEMA: dict[str, Any] = {
    "question": pl.String,
    "references": pl.List(pl.String),
    "answer": pl.String,
    "label": pl.Float64,
    "system": pl.String,
}
FAMILY = Family(options=Options, load=load, counts=counts)
