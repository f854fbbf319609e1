"""How far the people agree: kappas, AC1, alpha, each one's bias, and the gold checks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from sqlalchemy import Connection, select

from markscheme.agreement import annotator_agreement, annotator_tables
from markscheme.annotate import tables as t
from markscheme.annotate.exports import said_before
from markscheme.annotate.project import Project
from markscheme.annotate.ratings import answered, labels_so_far
from markscheme.results import BY_ANNOTATORS, Figure, Table, population
from markscheme.stats import LEAST_SHARED, share_interval, single_answers, t_interval

MOST_PAIRS = 15
_TOO_FEW = "fewer than two items in common"


@dataclass(frozen=True, kw_only=True)
class Lean:
    """One person compared with the others.

    Attributes:
        labels: given as first annotator.
        mean: of these; for verdicts and relations the share accepted; None for ranks.
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
        people: everybody who labelled, now or in the project's file.
        found: what `annotator_agreement` gives of them, for the pairs with most items in common, at
            most `MOST_PAIRS`; for ranks of answers, without kappas. None of fewer than two people.
    """

    people: tuple[Lean, ...]
    found: Mapping[str, Any] | None = None

    @property
    def tables(self) -> list[Table]:
        """As `markscheme agree --annotators` prints them."""
        return [] if self.found is None else annotator_tables(self.found)

    @property
    def about(self) -> str:
        """Of what the intervals speak."""
        return population(BY_ANNOTATORS)


def quality(connection: Connection, project: Project) -> Quality:
    """Agreement so far; labels are taken as they were before any judge's word was seen.

    Labels that came with the file, of annotators whom it names, count like others, as in exports.
    """
    now = answered(connection, project)
    settled, _ = labels_so_far(connection, project, now)
    said = pl.concat([said_before(connection, project, now, settled), now]).drop_nulls("name")
    # An item each, or for ranks an answer of an item each.
    unit = pl.format("{}:{}", "item", "text_place").alias("unit")
    units = said.filter(pl.col("part") == "first").drop_nulls("own")
    units = units.select("item", unit, "name", value="own")
    people = tuple(_leans(said.filter(pl.col("text_place") == 0), units))
    if units["name"].n_unique() < 2:
        return Quality(people=people)
    wide = units.pivot(on="name", index=("item", "unit"), values="value", sort_columns=True)
    asked = dict(iter(connection.execute(select(t.items.c.id, t.items.c.question))))
    found = annotator_agreement(
        wide.drop("item", "unit"),
        most_pairs=MOST_PAIRS,
        questions=pl.Series([asked[item] for item in wide["item"]]),
    )
    if project.scale == "rank":
        for name in ("fleiss_kappa", "gwet_ac1", "krippendorff_alpha"):
            found[name] = Figure(reason="ranks are not categories")
            found["no_interval"].pop(name, None)
        found |= {"prevalence": None, "pairs": found["pairs"].clear()}
    return Quality(people=people, found=found)


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
        values = own.filter(pl.col("rank").is_null())["own"]
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
