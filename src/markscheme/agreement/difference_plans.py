"""Which answers to label to learn how far people would put one system above another.

Both answers to a question are labelled, so that what the question does to both cancels. What labels
must find out is by how much the judge errs more on one system than on the other, so questions are
drawn with a chance in proportion to how far apart the judge's errors on the two answers may lie
(Neyman 1934, JRSS 97, section 3: sampling in proportion to the spread gives the least variance).
The judge's error on an answer that it scores s has the variance s (1 - s); errors on two answers
that it judges alike are often the same error, and on two equal answers always.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.errors import AgreementError

Array = npt.NDArray[np.float64]

ALIKE = 0.5
"""How far errors are supposed to be shared where the judge's verdicts on both answers agree."""
EQUAL = 0.9
"""The same where the answers are equal: all but a rest, so that no question is never drawn."""


def questions_of_both(answers: pl.DataFrame, pair: tuple[str, str]) -> pl.DataFrame:
    """One row a question that both systems answered: `question`, `spread`.

    Args:
        answers: `question`, `answer`, `system`, `score` (or verdict as 0 and 1), one row an answer.
        pair: the systems.

    Raises:
        AgreementError: a system that is not there, no question in common, or several answers of a
            system to one question.
    """
    sides = []
    known = answers["system"].unique(maintain_order=True).to_list()
    for name, column in zip(pair, ("first", "second"), strict=True):
        side = answers.filter(pl.col("system") == name)
        if side.is_empty():
            raise AgreementError(f"no system {name!r}; there are {', '.join(map(repr, known))}")
        if side["question"].is_duplicated().any():
            twice = side.filter(pl.col("question").is_duplicated())["question"][0]
            raise AgreementError(
                f"{name!r} has several answers to {twice!r}; a plan for a difference needs one"
            )
        sides.append(side.select("question", pl.struct("answer", "score").alias(column)))
    both = sides[0].join(sides[1], on="question", how="inner", maintain_order="left")
    if pair[0] == pair[1] or both.is_empty():
        raise AgreementError(f"{pair[0]!r} and {pair[1]!r} have no question in common")
    return both.select(
        "question",
        first=pl.col("first").struct.field("score"),
        second=pl.col("second").struct.field("score"),
        equal=pl.col("first").struct.field("answer") == pl.col("second").struct.field("answer"),
    )


def spreads(both: pl.DataFrame, accuracy: float) -> Array:
    """(questions,) standard deviation of the judge's error on one answer less that on the other.

    Args:
        both: as `questions_of_both` gives it.
        accuracy: how often the judge is supposed to be right where its score is near 0 or 1.
    """
    scores = [both[name].fill_null(0.5).to_numpy() for name in ("first", "second")]
    believed = [np.clip(one, 1 - accuracy, accuracy) for one in scores]
    variance = sum(one * (1 - one) for one in believed)
    alike = (scores[0] >= 0.5) == (scores[1] >= 0.5)
    shared = np.where(both["equal"].fill_null(value=False).to_numpy(), EQUAL, ALIKE * alike)
    return np.asarray(np.sqrt(variance * (1 - shared)))


def chances(spread: Array, questions: int) -> Array:
    """(all,) chances to draw so many questions, in proportion to their spread, at most 1."""
    found = np.zeros(len(spread))
    sure = np.zeros(len(spread), dtype=bool)
    while True:
        left = questions - int(sure.sum())
        found[sure] = 1.0
        found[~sure] = left * spread[~sure] / spread[~sure].sum() if (~sure).any() else 0.0
        if not (found > 1).any():
            return found
        sure |= found >= 1


def draw(chance: Array, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Rows drawn with these chances, as many as they add up to (systematic sampling, random order).

    Madow 1949, Annals of Mathematical Statistics 20, section 2.
    """
    order = rng.permutation(len(chance))
    total = np.cumsum(chance[order])
    count = round(float(total[-1]))
    marks = rng.random() + np.arange(count)
    places = np.searchsorted(total, marks * total[-1] / count, side="right")
    return rng.permutation(order[np.unique(np.minimum(places, len(order) - 1))])


def questions_for(spread: Array, half_width: float, confidence: float) -> int | None:
    """Questions to label for a wanted half-width of the difference; None if all are too few."""
    from scipy.stats import norm

    if not 0 < half_width < 1:
        raise AgreementError(f"a half-width of {half_width:g} cannot be; give one between 0 and 1")
    z = float(norm.ppf((1 + confidence) / 2))
    needed = math.ceil((z * float(spread.mean()) / half_width) ** 2)
    return needed if needed <= len(spread) else None
