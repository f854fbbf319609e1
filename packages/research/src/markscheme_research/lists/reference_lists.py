"""Lists of references of several grades, drawn from graded passages, and the candidates left over.

After LINKAGE (Yang et al. 2024, sections 3.3.1 and 4.2.2). The order of the passages is never used:
files sorted by grade would give the grade away.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from markscheme.errors import AgreementError

Protocol = Literal["rest", "butref"]
"""`rest`: every drawn reference leaves the candidates. `butref`: only the first of the list does,
which is all that a measure with one reference uses; a judge by lists may then meet a copy of the
candidate among the references. The paper's figures come nearer so; ours are to be by `rest`."""

GRADES = ("top", "none")
"""Compositions that are words: one of the question's best; no reference."""


@dataclass(frozen=True, kw_only=True)
class Draw:
    """How references are drawn.

    Attributes:
        composition: one digit a reference, its grade counted from the lowest of the data, such as
            `3210` or `33221100`; `top` for one of the question's best; `none` for no reference.
        seed: of the draw and of the candidates' order.
        protocol: see `Protocol`.
        apart: further compositions whose references leave the candidates too. Draws of one seed
            are nested (the first `3` of `3210` is the first of `33221100`), so draws that name
            one another's compositions have the same candidates, and may be compared.
    """

    composition: str
    seed: int = 0
    protocol: Protocol = "rest"
    apart: tuple[str, ...] = ()


def wanted(composition: str) -> dict[int, int]:
    """References a grade, the lowest of the data being 0; nothing for `top` and `none`.

    Raises:
        AgreementError: not a composition.
    """
    if composition in GRADES:
        return {}
    if not composition.isascii() or not composition.isdigit():
        raise AgreementError(
            f"composition {composition!r} is not one: write a digit for each reference, "
            "its grade, as in 3210 or 33221100, or 'top' or 'none'"
        )
    return dict(Counter(int(digit) for digit in composition))


_OWN = ("system", "answer_id")
"""Columns that go with a candidate."""


def draw_references(passages: pl.DataFrame, draw: Draw) -> pl.DataFrame:
    """Candidates of every question with the references drawn for it, best first.

    Args:
        passages: `question`, `passage`, `grade` (whole numbers, higher is better); `system` and
            `answer_id`, if there, go with the passage.
        draw: how. A question that has fewer passages of a grade gives those that it has.

    Returns:
        `question`, `answer`, `label` (the grade), `references`, `reference_grades`, one row per
        candidate, in random order within each question.

    Raises:
        AgreementError: not a composition, or no candidate is left.
    """
    random = np.random.default_rng(draw.seed)
    drawn = passages.with_columns(
        pl.Series("_draw", random.random(passages.height)),
        pl.Series("_order", random.random(passages.height)),
    ).with_columns(_rank=pl.col("_draw").rank("ordinal").over("question", "grade"))
    drawn = drawn.with_columns(
        _chosen=_chosen(draw.composition),
        _leaves=pl.any_horizontal(_chosen(one) for one in (draw.composition, *draw.apart)),
    )
    references = _listed(drawn.filter("_chosen"))
    if draw.protocol == "butref":
        place = pl.struct(-pl.col("grade"), "_order").rank("ordinal").over("question", "_chosen")
        drawn = drawn.with_columns(_leaves=pl.col("_chosen") & (place == 1))
    left = drawn.filter(~pl.col("_leaves"))
    if left.is_empty():
        raise AgreementError(
            f"composition {draw.composition!r} leaves no candidate: every passage is a reference"
        )
    return (
        left.sort("question", "_order")
        .join(references, on="question", how="left", maintain_order="left")
        .select(
            "question",
            pl.col("passage").alias("answer"),
            pl.col("grade").cast(pl.Float64).alias("label"),
            pl.col("references").fill_null(pl.lit([], dtype=pl.List(pl.String))),
            pl.col("reference_grades").fill_null(pl.lit([], dtype=pl.List(pl.Int64))),
            *(name for name in _OWN if name in left.columns),
        )
    )


def thin_lists(answers: pl.DataFrame, draw: Draw) -> pl.DataFrame:
    """Answers that have graded references already, with some of these drawn, best first.

    Args:
        answers: `question`, `answer`, `label`, `references`, `reference_grades`; a question's rows
            share its references.
        draw: how; its protocol is of no account, since references are no candidates here.

    Returns:
        The columns of `draw_references`, in random order within each question.

    Raises:
        AgreementError: not a composition.
    """
    random = np.random.default_rng(draw.seed)
    lists = (
        answers.group_by("question", maintain_order=True)
        .agg(pl.first("references"), pl.first("reference_grades"))
        .explode("references", "reference_grades", empty_as_null=False, keep_nulls=False)
        .rename({"references": "passage", "reference_grades": "grade"})
    )
    lists = lists.with_columns(
        pl.Series("_draw", random.random(lists.height)),
        pl.Series("_order", random.random(lists.height)),
    ).with_columns(_rank=pl.col("_draw").rank("ordinal").over("question", "grade"))
    references = _listed(lists.filter(_chosen(draw.composition)))
    empty = {"references": pl.List(pl.String), "reference_grades": pl.List(pl.Int64)}
    return (
        answers.select(
            "question", "answer", "label", *(name for name in _OWN if name in answers.columns)
        )
        .with_columns(pl.Series("_order", random.random(answers.height)))
        .sort("question", "_order")
        .join(references, on="question", how="left", maintain_order="left")
        .with_columns(
            pl.col(name).fill_null(pl.lit([], dtype=kind)) for name, kind in empty.items()
        )
        .drop("_order")
    )


def _chosen(composition: str) -> pl.Expr:
    """Whether a passage is among the references, from its random rank within its grade."""
    shares = wanted(composition)
    if composition == "top":
        best = pl.col("grade") == pl.col("grade").max().over("question")
        return best & (pl.col("_rank") <= 1)
    if not shares:
        return pl.lit(value=False)
    grade = (pl.col("grade") - pl.col("grade").min()).cast(pl.Int64)
    return pl.col("_rank") <= grade.replace_strict(shares, default=0, return_dtype=pl.Int64)


def _listed(chosen: pl.DataFrame) -> pl.DataFrame:
    """The references of each question as lists, best first."""
    return (
        chosen.sort("question", "grade", "_order", descending=[False, True, False])
        .group_by("question", maintain_order=True)
        .agg(references="passage", reference_grades=pl.col("grade").cast(pl.Int64))
    )
