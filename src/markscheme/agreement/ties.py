"""Answers on which annotators are tied: which they are, and what they could change.

They have no label and count in no figure. They are those that people find hard, so that figures of
the others may be too good; how far, either way of deciding them bounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import polars as pl

from markscheme.results import share_text
from markscheme.tables import KEYS, is_tied


def tied_answers(labels: pl.DataFrame) -> list[dict[str, Any]]:
    """What is known of each answer on which annotators are tied: id, texts, system."""
    key = [name for name in KEYS if name in labels.columns]
    return labels.filter(is_tied(labels)).select(key).unique(maintain_order=True).to_dicts()


def decided(labels: pl.DataFrame, way: Literal["lowest", "highest"]) -> pl.DataFrame:
    """Labels with every tie decided for the lowest, or the highest, that somebody gave."""
    given = pl.col("annotator_labels").list
    end = given.min() if way == "lowest" else given.max()
    return labels.with_columns(label=pl.when(is_tied(labels)).then(end).otherwise("label"))


def tie_sentence(
    ties: Sequence[Mapping[str, Any]], ends: Mapping[str, tuple[float, float]], what: str
) -> str:
    """How many answers are tied, and between which ends each figure lies with them.

    Args:
        ties: as `tied_answers` gives them.
        ends: lower and upper end as shares, by the name of what they are.
        what: how the ties are counted, and of which figures the ends are.
    """
    several = len(ties) > 1
    answers, count = ("answers", "count") if several else ("answer", "counts")
    bounds = ", ".join(
        f"{name} {share_text(low)} to {share_text(high)}%".lstrip()
        for name, (low, high) in ends.items()
    )
    moved = f"; {what}: {bounds}" if ends else ""
    return (
        f"{len(ties):,} {answers}, on which annotators are tied, {count} in no figure "
        f"(--format json lists them as 'tied'){moved}"
    )
