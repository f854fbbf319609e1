"""How far the people agree: kappas, alpha, each one's bias, and the gold checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import polars as pl
from sqlalchemy import Connection, select

from markscheme.agreement import annotator_agreement, t_interval
from markscheme.annotate import tables as t
from markscheme.annotate.project import Project
from markscheme.metrics import Spread, wilson_interval
from markscheme.results import Figure

MOST_PAIRS = 15
_TOO_FEW = "fewer than two items in common"
LEAST_SHARED = 2


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
        fleiss, alpha: Fleiss' kappa and Krippendorff's alpha over these.
        pairs: rows of `pairwise_kappas`: those with most items in common, at most `MOST_PAIRS`.
        people: everybody who labelled.
    """

    items: int
    agree: int
    fleiss: Figure
    alpha: Figure
    pairs: list[dict[str, Any]]
    people: tuple[Lean, ...]


def quality(connection: Connection, project: Project) -> Quality:
    """Agreement so far; labels are taken as they were before any judge's word was seen."""
    ratings = _ratings(connection)
    names: dict[int, str] = dict(connection.execute(select(t.people.c.id, t.people.c.name)).all())
    units = _units(ratings.filter(pl.col("part") == "first"))
    people = tuple(_leans(ratings, units, names))
    if units["person"].n_unique() < 2:
        none = Figure(reason="no item has two labels yet")
        return Quality(items=0, agree=0, fleiss=none, alpha=none, pairs=[], people=people)
    named = units.with_columns(pl.col("person").replace_strict(names, return_dtype=pl.String))
    wide = named.pivot(on="person", index="unit", values="value").drop("unit")
    found = annotator_agreement(wide, most_pairs=MOST_PAIRS)
    items = int((units.group_by("unit").len()["len"] > 1).sum())
    ranked, ordinal = project.scale == "rank", project.choices.level == "ordinal"
    return Quality(
        items=items,
        agree=items - found["disagreements"],
        fleiss=Figure(reason="ranks are no categories") if ranked else found["fleiss_kappa"],
        alpha=found["krippendorff_alpha_ordinal" if ordinal else "krippendorff_alpha"],
        pairs=[] if ranked else found["pairs"].to_dicts(),
        people=people,
    )


def _ratings(connection: Connection) -> pl.DataFrame:
    rows = connection.execute(
        select(
            t.ratings.c.item_id,
            t.ratings.c.person_id,
            t.ratings.c.part,
            t.ratings.c.state,
            t.ratings.c.value,
            t.ratings.c.value_before,
            t.ratings.c.suggested,
            t.ratings.c.ranks,
            t.ratings.c.seconds,
            t.items.c.gold,
        )
        .join(t.items, t.items.c.id == t.ratings.c.item_id)
        .where(t.ratings.c.state.in_(("labelled", "cannot_tell")))
        .order_by(t.ratings.c.saved_at)
    )
    schema = {
        "item": pl.Int64, "person": pl.Int64, "part": pl.String, "state": pl.String,
        "value": pl.Float64, "before": pl.Float64, "suggested": pl.Int64, "ranks": pl.String,
        "seconds": pl.Float64, "gold": pl.Float64,
    }  # fmt: skip
    table = pl.DataFrame([tuple(row) for row in rows], schema=schema, orient="row")
    own = pl.when(pl.col("suggested") == 1).then("before").otherwise("value")
    return table.with_columns(own.alias("value"))


def _units(firsts: pl.DataFrame) -> pl.DataFrame:
    """`unit`, `person`, `value`: an item each, or for ranks an answer of an item each."""
    if firsts["ranks"].null_count() == firsts.height:
        first_votes = firsts.drop_nulls("value")
        return first_votes.select(pl.col("item").cast(pl.String).alias("unit"), "person", "value")
    rows = [
        {"unit": f"{item}:{place}", "person": person, "value": float(rank)}
        for item, person, ranks in firsts.drop_nulls("ranks")
        .select("item", "person", "ranks")
        .iter_rows()
        for place, rank in enumerate(orjson.loads(ranks))
    ]
    return pl.DataFrame(rows, schema={"unit": pl.String, "person": pl.Int64, "value": pl.Float64})


def _leans(ratings: pl.DataFrame, units: pl.DataFrame, names: dict[int, str]) -> list[Lean]:
    others = units.with_columns(
        pl.len().over("unit").alias("raters"), pl.col("value").sum().over("unit").alias("sum")
    ).filter(pl.col("raters") > 1)
    differences = others.select(
        "person",
        (pl.col("value") - (pl.col("sum") - pl.col("value")) / (pl.col("raters") - 1)).alias("by"),
    )
    found = []
    for (person,), rows in ratings.group_by("person", maintain_order=True):
        own = rows.filter(pl.col("part") == "first")
        values = own["value"].drop_nulls()
        gold = rows.filter(pl.col("part") == "gold")
        right = int((gold["value"] == gold["gold"]).fill_null(value=False).sum())
        apart = differences.filter(pl.col("person") == person)["by"].to_numpy()
        found.append(
            Lean(
                name=names[int(str(person))],
                labels=own.height,
                mean=_number(values.mean()),
                shared=len(apart),
                bias=mean_difference(apart),
                gold=gold.height,
                gold_right=right,
                gold_interval=wilson_interval(right / gold.height, gold.height)
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
    freedom = number - 1.0
    spread = Spread(variance=variance, questions=number, freedom=freedom, freedom_one_sided=freedom)
    return t_interval(mean, spread, 0.95)
