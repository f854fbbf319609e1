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
"""`rest`: every drawn reference leaves the candidates. `butref`: none does, so that a judge may
meet a copy of the candidate among the references; only to set figures beside the paper's."""


@dataclass(frozen=True, kw_only=True)
class Draw:
    """How references are drawn.

    Attributes:
        composition: one digit a reference, its grade counted from the lowest of the data, such as
            `3210` or `33221100`; `top` for one of the question's best; `none` for no reference.
        seed: of the draw and of the candidates' order.
        protocol: see `Protocol`.
    """

    composition: str
    seed: int = 0
    protocol: Protocol = "rest"

    def wanted(self) -> dict[int, int]:
        """References a grade.

        Raises:
            AgreementError: not a composition.
        """
        if self.composition in ("top", "none"):
            return {}
        if not self.composition.isascii() or not self.composition.isdigit():
            raise AgreementError(
                f"composition {self.composition!r} is not one: write a digit for each reference, "
                "its grade, as in 3210 or 33221100, or 'top' or 'none'"
            )
        return dict(Counter(int(digit) for digit in self.composition))


def draw_references(passages: pl.DataFrame, draw: Draw) -> pl.DataFrame:
    """Candidates of every question with the references drawn for it, best first.

    Args:
        passages: `question`, `passage`, `grade` (whole numbers, higher is better).
        draw: how. A question that has fewer passages of a grade gives those that it has.

    Returns:
        `question`, `answer`, `label` (the grade), `references`, `reference_grades`, a row a
        candidate, in random order within each question.

    Raises:
        AgreementError: not a composition, or no candidate is left.
    """
    wanted = draw.wanted()
    random = np.random.default_rng(draw.seed)
    grade = pl.col("grade") - pl.col("grade").min()
    drawn = passages.with_columns(
        pl.Series("_draw", random.random(passages.height)),
        pl.Series("_order", random.random(passages.height)),
        _share=grade.replace_strict(wanted, default=0, return_dtype=pl.Int64)
        if wanted
        else pl.lit(0, dtype=pl.Int64),
    ).with_columns(_rank=pl.col("_draw").rank("ordinal").over("question", "grade"))
    if draw.composition == "top":
        best = pl.col("grade") == pl.col("grade").max().over("question")
        drawn = drawn.with_columns(_share=best.cast(pl.Int64))
    drawn = drawn.with_columns(_chosen=pl.col("_rank") <= pl.col("_share"))
    references = (
        drawn.filter("_chosen")
        .sort("question", "grade", "_order", descending=[False, True, False])
        .group_by("question", maintain_order=True)
        .agg(references="passage", reference_grades="grade")
    )
    left = drawn if draw.protocol == "butref" else drawn.filter(~pl.col("_chosen"))
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
        )
    )
