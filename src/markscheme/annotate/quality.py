"""How far the people agree: kappas, AC1, alpha, each one's bias, and the gold checks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from sqlalchemy import Connection, select

from markscheme.agreement import annotator_agreement
from markscheme.annotate import tables as t
from markscheme.annotate.project import Project
from markscheme.annotate.ratings import answered
from markscheme.results import BY_ANNOTATORS, Figure, population
from markscheme.stats import LEAST_SHARED, share_interval, single_answers, t_interval

MOST_PAIRS = 15
_TOO_FEW = "fewer than two items in common"
_NONE_YET = Figure(reason="no item has two labels yet")


@dataclass(frozen=True, kw_only=True)
class Lean:
    """One person compared with the others.

    Attributes:
        labels: given as first annotator.
        mean: of these; for verdicts the share called correct.
        shared: items that others labelled too.
        bias: own label less the others' mean on shared items; above 0 is more generous. With a 95%
            interval (Student's t, items taken as independent).
        gold: known items answered; how many of them rightly, and Wilson's 95% interval of that
            share.
        cannot_tell: how often.
        median_seconds: an item.
    """

    name: str
    labels: int
    mean: float | None
    shared: int
    bias: Figure
    gold: int
    gold_right: int
    gold_interval: tuple[float, float] | None
    cannot_tell: int
    median_seconds: float | None


@dataclass(frozen=True, kw_only=True)
class Quality:
    """Agreement of first labels, each given without knowing the others or any judge's word.

    Attributes:
        items: with two labels or more (for ranks, answers).
        agree: of these, with equal labels.
        fleiss, ac1, alpha: Fleiss' kappa, Gwet's AC1 and Krippendorff's alpha over these, with 95%
            intervals by questions.
        prevalence: a note where kappa is low although people agree; None elsewhere.
        pairs: rows of `pairwise_kappas`: those with most items in common, at most `MOST_PAIRS`.
        people: everybody who labelled.
    """

    people: tuple[Lean, ...]
    items: int = 0
    agree: int = 0
    fleiss: Figure = _NONE_YET
    ac1: Figure = _NONE_YET
    alpha: Figure = _NONE_YET
    prevalence: str | None = None
    pairs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def about(self) -> str:
        """Of what the intervals speak."""
        return population(BY_ANNOTATORS)


def quality(connection: Connection, project: Project) -> Quality:
    """Agreement so far; labels are taken as they were before any judge's word was seen."""
    said = answered(connection)
    # An item each, or for ranks an answer of an item each.
    value = pl.coalesce("rank", "own").cast(pl.Float64).alias("value")
    unit = pl.format("{}:{}", "item", "text_place").alias("unit")
    units = said.filter(pl.col("part") == "first").select("item", unit, "name", value)
    units = units.drop_nulls("value")
    people = tuple(_leans(said.filter(pl.col("text_place") == 0), units))
    if units["name"].n_unique() < 2:
        return Quality(people=people)
    wide = units.pivot(on="name", index=("item", "unit"), values="value")
    asked = dict(iter(connection.execute(select(t.items.c.id, t.items.c.question))))
    found = annotator_agreement(
        wide.drop("item", "unit"),
        most_pairs=MOST_PAIRS,
        questions=pl.Series([asked[item] for item in wide["item"]]),
    )
    items = int((units.group_by("unit").len()["len"] > 1).sum())
    ranked, ordinal = project.scale == "rank", project.choices.level == "ordinal"
    no_kappa = Figure(reason="ranks are not categories")
    return Quality(
        people=people,
        items=items,
        agree=items - found["disagreements"],
        fleiss=no_kappa if ranked else found["fleiss_kappa"],
        ac1=no_kappa if ranked else found["gwet_ac1"],
        alpha=found["krippendorff_alpha_ordinal" if ordinal else "krippendorff_alpha"],
        prevalence=None if ranked else found["prevalence"],
        pairs=[] if ranked else found["pairs"].to_dicts(),
    )


def _leans(ratings: pl.DataFrame, units: pl.DataFrame) -> list[Lean]:
    others = units.with_columns(
        pl.len().over("unit").alias("raters"), pl.col("value").sum().over("unit").alias("sum")
    ).filter(pl.col("raters") > 1)
    differences = others.select(
        "name",
        (pl.col("value") - (pl.col("sum") - pl.col("value")) / (pl.col("raters") - 1)).alias("by"),
    )
    found = []
    for (name,), rows in ratings.group_by("name", maintain_order=True):
        own = rows.filter(pl.col("part") == "first")
        values = own["own"].drop_nulls()
        gold = rows.filter(pl.col("part") == "gold")
        right = int((gold["own"] == gold["gold"]).fill_null(value=False).sum())
        apart = differences.filter(pl.col("name") == name)["by"].to_numpy()
        found.append(
            Lean(
                name=str(name),
                labels=own.height,
                mean=_number(values.mean()),
                shared=len(apart),
                bias=mean_difference(apart),
                gold=gold.height,
                gold_right=right,
                gold_interval=share_interval(right / gold.height, single_answers(gold.height))
                if gold.height
                else None,
                cannot_tell=int((rows["state"] == "cannot_tell").sum()),
                median_seconds=_number(rows["seconds"].median()),
            )
        )
    return sorted(found, key=lambda lean: lean.name)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def mean_difference(values: npt.NDArray[np.float64]) -> Figure:
    """How far a person's labels are above others' on the same answers, with its 95% interval.

    Student's t; half a difference more on either side is added to the variance, since a person who
    hardly ever differs may not do so on the answers at hand.
    """
    number = len(values)
    if number < LEAST_SHARED:
        return Figure(reason=_TOO_FEW)
    mean = float(values.mean())
    variance = (float(values.var(ddof=1)) + 1 / number) / number
    low, high = t_interval(mean, math.sqrt(variance), number - 1.0)
    return Figure(value=mean, low=low, high=high, method="t")
