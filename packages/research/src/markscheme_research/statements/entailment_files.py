"""Pairs of the user's own: premise, hypothesis and label, as NLI data sets have them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from markscheme.errors import DataError
from markscheme.tables import read_table

_NAMES = {
    "premise": ("premise", "sentence1", "text1"),
    "hypothesis": ("hypothesis", "sentence2", "text2"),
    "label": ("label", "gold_label", "gold"),
}
_ENTAILED = frozenset({"entailment", "entails", "entailed", "yes", "true"})
_NOT = frozenset(
    {
        "neutral",
        "contradiction",
        "not_entailment",
        "not entailment",
        "non-entailment",
        "no",
        "false",
    }
)
_OPEN = frozenset({"-", ""})
"""Labels of pairs that people did not agree on, as SNLI and MNLI write them: left out. So is -1
where 0 means entailment."""


def read_entailment_pairs(
    source: str | Path, *, entailed: str | None = None, labels: bool = True
) -> pl.DataFrame:
    """The pairs of a CSV, TSV, JSON, JSONL or Parquet file.

    Args:
        source: columns `premise` and `hypothesis` (or `sentence1`, `sentence2`), `label` (or
            `gold_label`), and `question` if there are questions.
        entailed: the label that means entailment; needed where labels are numbers, since data sets
            disagree about them.
        labels: whether there must be labels. Pairs without one are left out if so; if not, their
            `label` is null.

    Returns:
        `question` ("" where there is none), `premise`, `hypothesis`, `label` (1.0 or 0.0). Pairs
        without a text, and those that people did not agree on, are left out.

    Raises:
        DataError: a column is missing, a label cannot be read, or no label is `entailed`.
    """
    table = read_table(source)
    lower = {name.lower(): name for name in table.columns}
    found = {
        ours: next((lower[name] for name in names if name in lower), None)
        for ours, names in _NAMES.items()
    }
    if not labels and found["label"] is None:
        table = table.with_columns(label=pl.lit(None, dtype=pl.String))
        found["label"] = "label"
    missing = [name for name, column in found.items() if column is None]
    if missing:
        raise DataError(
            f"{source} has no column for {' and '.join(missing)}; its columns are "
            f"{', '.join(table.columns)}. Name them premise, hypothesis and label"
        )
    question = pl.col(lower["question"]) if "question" in lower else pl.lit("")
    pairs = table.select(
        question=question.cast(pl.String).fill_null(""),
        **{name: pl.col(str(column)).cast(pl.String) for name, column in found.items()},
    ).drop_nulls(None if labels else ["premise", "hypothesis"])
    words = pl.col("label").str.strip_chars().str.to_lowercase()
    yes = _ENTAILED if entailed is None else {entailed.strip().lower()}
    undecided = _OPEN | {"-1"} if yes == {"0"} else _OPEN
    pairs = pairs.filter(~words.is_in(list(undecided)).fill_null(value=False))
    strange = pairs.filter(~words.is_in([*_ENTAILED, *_NOT]))["label"]
    if entailed is None and len(strange):
        raise DataError(
            f"{source}: nobody can tell what the label {strange[0]!r} means; labels are words "
            "such as entailment, neutral and contradiction, or say which one means entailment "
            "with --entailed LABEL"
        )
    there = pairs["label"].drop_nulls().unique(maintain_order=True)
    pairs = pairs.with_columns(label=words.is_in(list(yes)).cast(pl.Float64))
    if entailed is not None and len(there) and not pairs["label"].sum():
        raise DataError(
            f"{source}: no label is {entailed!r}; there are {', '.join(there.head(8))}. Say which "
            "one means entailment with --entailed LABEL"
        )
    return pairs
