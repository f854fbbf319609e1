"""The official formulas, one answer at a time: what the column versions are held against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import polars as pl

from markscheme.text.normalisation import normalise


def exact_match(answer: str, reference: str) -> float:
    return float(normalise(answer) == normalise(reference))


def contains(answer: str, reference: str) -> float:
    return float(normalise(reference) in normalise(answer))


def token_f1(answer: str, reference: str) -> float:
    mine, theirs = normalise(answer).split(), normalise(reference).split()
    common = sum((Counter(mine) & Counter(theirs)).values())
    return 2 * common / (len(mine) + len(theirs)) if common else 0.0


def best(
    score: Callable[[str, str], float], answers: Sequence[str], references: Sequence[Sequence[str]]
) -> list[float]:
    return [
        max(score(answer, reference) for reference in group)
        for answer, group in zip(answers, references, strict=True)
    ]


def columns(
    answers: Sequence[str | None], references: Sequence[Sequence[str | None] | None]
) -> tuple[pl.Series, pl.Series]:
    return (
        pl.Series("answer", answers, dtype=pl.String),
        pl.Series("references", references, dtype=pl.List(pl.String)),
    )
