"""How far the people agree: kappas, alpha, each one's bias, and the gold checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import polars as pl
from sqlalchemy import Connection, select

from markscheme.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha
from markscheme.annotate import tables as t
from markscheme.annotate.project import Project
from markscheme.metrics import t_quantile, wilson_interval
from markscheme.results import Figure

MOST_PAIRS = 15
_TOO_FEW = "fewer than two items in common"
LEAST_SHARED = 2


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two people, the items both labelled, how many they agree on, and Cohen's kappa."""

    first: str
    second: str
    items: int
    agree: int
    kappa: Figure


@dataclass(frozen=True, kw_only=True)
class Lean:
    """One person compared with the others.

    Attributes:
        labels: given as first annotator.
        mean: of these; for verdicts the share called correct.
        shared: items that others labelled too.
        bias: own label less the others' mean on shared items; above 0 is more generous. With a 95%
            interval (Student's t, items taken as independent).
        gold: known items answered, and how many of them rightly.
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
    gold_figure: Figure
    cannot_tell: int
    median_seconds: float | None


@dataclass(frozen=True, kw_only=True)
class Quality:
    """Agreement of first labels, each given without knowing the others or any judge's word.

    Attributes:
        items: labelled by all the annotators an item has.
        agree: of these, with equal labels.
        fleiss: Fleiss' kappa over these; the annotators of an item may be any.
        alpha: Krippendorff's alpha over all items with two labels or more.
        pairs: those with most items in common, at most `MOST_PAIRS`.
        all_pairs: how many have some in common.
        people: everybody who labelled.
    """

    items: int
    agree: int
    fleiss: Figure
    alpha: Figure
    pairs: tuple[Pair, ...]
    all_pairs: int
    people: tuple[Lean, ...]


def quality(connection: Connection, project: Project) -> Quality:
    """Agreement so far; labels are taken as they were before any judge's word was seen."""
    ratings = _ratings(connection)
    firsts = ratings.filter(pl.col("part") == "first")
    units = _units(firsts)
    slots = _slots(units)
    wide = slots.drop("unit")
    first = wide.select(wide.columns[: project.per_item])
    whole = first.drop_nulls() if first.width == project.per_item > 1 else first.clear()
    agree = 0
    if whole.height:
        agree = int(
            whole.select(pl.all_horizontal(pl.col(whole.columns[0]) == pl.all()).sum()).item()
        )
    several = wide.width > 1
    names: dict[int, str] = dict(connection.execute(select(t.people.c.id, t.people.c.name)).all())
    pairs, count = _pairs(units, names)
    none = Figure(reason="no item has two labels yet")
    ranked = project.scale == "rank"
    if ranked:
        fleiss = Figure(reason="ranks are no categories")
    else:
        fleiss = fleiss_kappa(whole) if whole.height else none
    return Quality(
        items=whole.height,
        agree=agree,
        fleiss=fleiss,
        alpha=krippendorff_alpha(wide, level=project.choices.level) if several else none,
        pairs=() if ranked else tuple(pairs),
        all_pairs=count,
        people=tuple(_leans(ratings, units, names)),
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


def _slots(units: pl.DataFrame) -> pl.DataFrame:
    """A column for an item's first rater, one for its second, and so on; names do not matter."""
    numbered = units.with_columns(pl.int_range(pl.len()).over("unit").alias("slot"))
    if numbered.is_empty():
        return pl.DataFrame(schema={"unit": pl.String})
    return numbered.pivot(on="slot", index="unit", values="value", sort_columns=True)


def _pairs(units: pl.DataFrame, names: dict[int, str]) -> tuple[list[Pair], int]:
    both = units.join(units, on="unit", suffix="_other").filter(
        pl.col("person") < pl.col("person_other")
    )
    groups = sorted(
        both.group_by("person", "person_other", maintain_order=True),
        key=lambda pair: -pair[1].height,
    )
    found = []
    for (first, second), rows in groups[:MOST_PAIRS]:
        kappa = (
            cohen_kappa(rows["value"], rows["value_other"])
            if rows.height > 1
            else Figure(reason=_TOO_FEW)
        )
        agree = int((rows["value"] == rows["value_other"]).sum())
        found.append(
            Pair(
                first=names[int(str(first))],
                second=names[int(str(second))],
                items=rows.height,
                agree=agree,
                kappa=kappa,
            )
        )
    return found, len(groups)


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
                gold_figure=_share(right, gold.height),
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
    error = np.sqrt((float(values.var(ddof=1)) + 1 / number) / number)
    reach = float(t_quantile(number - 1, 0.975) * error)
    return Figure(value=mean, low=mean - reach, high=mean + reach, method="t")


def _share(right: int, of: int) -> Figure:
    """A share with Wilson's 95% interval."""
    if not of:
        return Figure(reason="no gold item answered")
    low, high = wilson_interval(right / of, of)
    return Figure(value=right / of, low=low, high=high, method="wilson")
