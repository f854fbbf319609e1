"""From tests of single pairs to an answer's place in the hierarchy. Yao & Barbosa 2024, sec. 3."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from markscheme.judgments import SPENT

_STATUS_FIRST = ("failed", "skipped", "refused", "unparsed")


def relations(pairs: pl.DataFrame, policy: str) -> pl.DataFrame:
    """One row an answer from its pairs: sets, relation, verdict, probabilities, status.

    An answer is in the superior set if it entails any reference, in the inferior set if any
    reference entails it (section 3 of the paper, "multiple gold answers"). What is not decided
    leaves a set open unless another reference puts the answer into it.
    """
    ways = ("entails", "entailed")
    chance = {
        f"{way}_chance": pl.coalesce(f"{way}_score", pl.col(way).cast(pl.Float64)) for way in ways
    }
    undecided = pl.coalesce(
        *(
            pl.when(pl.col(way).is_null()).then(
                pl.coalesce(
                    _unless_judged("answer_stated"),
                    _unless_judged("reference_stated"),
                    _unless_judged(f"{way}_tested"),
                    pl.lit("unparsed"),
                )
            )
            for way in ways
        )
    )
    pairs = pairs.with_columns(**chance, undecided=undecided)
    return (
        pairs.group_by("row", maintain_order=True)
        .agg(
            in_superior=pl.col("entails").any(ignore_nulls=False),
            in_inferior=pl.col("entailed").any(ignore_nulls=False),
            entails_chance=pl.col("entails_chance").max(),
            entailed_chance=pl.col("entailed_chance").max(),
            undecided=pl.col("undecided").drop_nulls(),
            why=pl.coalesce("answer_reason", "reference_reason", *(_reason_of(way) for way in ways))
            .drop_nulls()
            .unique(maintain_order=True),
            tests=pl.struct(pl.exclude("row")),
            **{name: _total(pl.col(f"{part}_{name}") for part in _PARTS) for name in SPENT},
        )
        .with_columns(relation=_relation())
        .with_columns(
            verdict=_accepted(policy),
            status=pl.when(pl.col("relation").is_not_null())
            .then(pl.lit("judged"))
            .otherwise(
                pl.coalesce(
                    pl.when(pl.col("undecided").list.contains(one)).then(pl.lit(one))
                    for one in _STATUS_FIRST
                )
            ),
        )
    )


_PARTS = ("answer", "reference", "entails", "entailed")


def _total(columns: Iterable[pl.Expr]) -> pl.Expr:
    """The sum of all that is known; null where nothing is."""
    every = pl.concat_list(*columns).list.drop_nulls().explode(empty_as_null=False)
    return pl.when(every.len() > 0).then(every.sum())


def _relation() -> pl.Expr:
    superior, inferior = pl.col("in_superior"), pl.col("in_inferior")
    return (
        pl.when(superior.is_null() | inferior.is_null())
        .then(pl.lit(None))
        .when(superior & inferior)
        .then(pl.lit("equivalent"))
        .when(superior)
        .then(pl.lit("superior"))
        .when(inferior)
        .then(pl.lit("inferior"))
        .otherwise(pl.lit("incorrect"))
    )


ACCEPTED: Mapping[str, tuple[str, ...]] = {
    "superior_or_inferior": ("superior", "equivalent", "inferior"),
    "superior_only": ("superior", "equivalent"),
    "both": ("equivalent",),
}
"""The relations that each policy accepts."""


def _accepted(policy: str) -> pl.Expr:
    return pl.col("relation").is_in(list(ACCEPTED[policy]))


def _unless_judged(column: str) -> pl.Expr:
    return pl.when(pl.col(column) != "judged").then(pl.col(column))


def accepted_chance(policy: str) -> pl.Expr:
    """How likely the answer is accepted: of the sets' probabilities the greater, for `both` the
    lesser, since the two directions are looked at on the same pair of statements."""
    entails, entailed = pl.col("entails_chance"), pl.col("entailed_chance")
    if policy == "superior_only":
        return entails
    if policy == "both":
        return pl.min_horizontal(entails, entailed)
    return pl.max_horizontal(entails, entailed)


def _reason_of(way: str) -> pl.Expr:
    return pl.when(pl.col(way).is_null()).then(pl.col(f"{way}_reason"))
