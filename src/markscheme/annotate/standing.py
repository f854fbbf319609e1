"""What the labels so far say of all answers, for the admin: whether there are enough of them."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
from sqlalchemy import Connection, func, select

from markscheme.agreement import EstimateSoFar, RunningEstimate, estimate_so_far, running_estimate
from markscheme.annotate import tables as t
from markscheme.annotate.options import ACCEPTED
from markscheme.annotate.project import Project
from markscheme.annotate.scales import RELATION_OF

MARGIN = 0.03
"""The margin that is wanted: 3 points either way."""
MOST_WATCHED = 2000
"""Labels up to which the interval that always holds is worked out: 1,000 take about a second."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The estimate so far.

    Attributes:
        answers: how many answers it is of; an item represents all that are equal.
        drawn: whether these are a sample that plan-labels drew, of which alone the estimate is.
        reason: why there can be no estimate; empty if there is one, or will be with more labels.
        so_far: the estimate; its interval holds for a person who stops once it is narrow enough.
        always: the interval that holds however often one looks, for whatever reason one stops;
            None where the order is informative or too many labels make it slow.
    """

    answers: int
    drawn: bool = False
    reason: str = ""
    so_far: EstimateSoFar | None = None
    always: RunningEstimate | None = None

    @property
    def enough(self) -> bool:
        """Whether the estimate is known to the margin that is wanted."""
        return self.so_far is not None and self.so_far.enough_at(MARGIN)

    @property
    def more(self) -> int | None:
        """About how many more items that takes; None if that is not known yet."""
        return None if self.so_far is None else self.so_far.more_for(MARGIN)


def standing(connection: Connection, project: Project) -> Standing:
    """What the labels so far say of all answers of the project."""
    items = _items(connection)
    answers = int(items["answers"].sum())
    reason = _reason(items, project)
    if reason:
        return Standing(answers=answers, reason=reason)
    labels = _labels(items["final"], project)
    scores = None if items["score"].null_count() == items.height else items["score"].to_list()
    weights = items["draw_weight"] if project.order == "informative" else items["answers"] * 0 + 1
    found = estimate_so_far(
        labels.to_list(), weights=weights.cast(pl.Float64).to_numpy(),
        shares=items["answers"].cast(pl.Float64).to_numpy(), scores=scores,
    )  # fmt: skip
    always = None
    even = items["answers"].n_unique() == 1
    whole = scores is not None and None not in scores
    if project.order == "shuffled" and even and found.n <= MOST_WATCHED:
        always = running_estimate(labels.to_list(), predictions=scores if whole else None)
    least = items["least"].min()
    drawn = isinstance(least, float) and least < 1
    return Standing(answers=answers, drawn=drawn, so_far=found, always=always)


def _items(connection: Connection) -> pl.DataFrame:
    """Items in their order, with how many answers each represents and how those were drawn."""
    drawn = (
        select(
            t.sources.c.item_id,
            func.count().label("answers"),
            func.min(t.sources.c.inclusion_probability).label("least"),
            func.max(t.sources.c.inclusion_probability).label("most"),
        )
        .group_by(t.sources.c.item_id)
        .subquery()
    )
    rows = connection.execute(
        select(t.items.c.final, t.items.c.score, t.items.c.draw_weight, drawn.c.answers,
               drawn.c.least, drawn.c.most)
        .join(drawn, drawn.c.item_id == t.items.c.id)
        .where(t.items.c.stage != "gold")
        .order_by(t.items.c.place)
    )  # fmt: skip
    names = ("final", "score", "draw_weight", "answers", "least", "most")
    schema = dict.fromkeys(names, pl.Float64) | {"answers": pl.Int64}
    return pl.DataFrame([tuple(row) for row in rows], schema=schema, orient="row")


def _reason(items: pl.DataFrame, project: Project) -> str:
    """Why no share can be estimated while labelling; empty if one can."""
    if project.scale not in ("verdict", "relation"):
        return (
            "these labels are no verdicts or relations, so nothing is estimated here; export them "
            "for other commands"
        )
    if project.order not in ("shuffled", "informative"):
        return "the items' order is not random, so the first labels say nothing of the rest"
    least, most = items["least"].min(), items["most"].max()
    if least != most:
        return (
            "plan-labels drew these answers with different chances; 'markscheme estimate' on the "
            "exported labels weighs them"
        )
    return ""


def _labels(finals: pl.Series, project: Project) -> pl.Series:
    if project.scale == "verdict":
        return finals
    accepted = {value: float(name in ACCEPTED) for value, name in RELATION_OF.items()}
    return finals.replace_strict(accepted, default=None, return_dtype=pl.Float64)
