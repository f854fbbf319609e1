"""Agreement between people: kappas, alpha, disagreements and adjudication.

A ratings table has one column an annotator and one row an item; null is a blank (the annotator
gave no label). Every statistic says what it does with blanks:

- `missing`: a blank is no rating. Pairwise statistics use items that both rated; Fleiss' kappa
  and Krippendorff's alpha use every item that two or more rated.
- `category`: leaving a cell blank is itself a rating, one more category.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement.closed_forms import fleiss
from markscheme.agreement.options import Blanks
from markscheme.errors import AgreementError
from markscheme.results import Column, Figure, Form, Table, cell, columns, figure
from markscheme.tables import majority, ratings_table

Level = Literal["nominal", "ordinal", "interval"]

ALL_SAME = "every rating is the same, so chance agreement is certain"
NO_OVERLAP = "no item was rated by all of them"
NO_PAIR = "no item was rated by two annotators"


def cohen_kappa(first: pl.Series, second: pl.Series, *, blanks: Blanks = "missing") -> Figure:
    """Cohen's kappa of two annotators, from -1 to 1 (scikit-learn's `cohen_kappa_score`)."""
    from sklearn.metrics import cohen_kappa_score

    codes, _ = _codes(pl.DataFrame({"first": first, "second": second}), blanks)
    codes = codes[(codes >= 0).all(axis=1)]
    if not len(codes):
        return Figure(reason=NO_OVERLAP)
    if len(np.unique(codes)) == 1:
        return Figure(reason=ALL_SAME)
    return figure(cohen_kappa_score(codes[:, 0], codes[:, 1]), ALL_SAME)


def fleiss_kappa(ratings: pl.DataFrame, *, blanks: Blanks = "missing") -> Figure:
    """Fleiss' kappa of all items with two ratings or more, from -1 to 1.

    An item's raters may be any, and as many as it has (see `closed_forms.fleiss`).
    Kamalloo et al. (2023, section 4.3) count blanks as a category: 0.7276 for their two
    annotators.
    """
    _check_several(ratings)
    codes, categories = _codes(ratings, blanks)
    counts = (codes[:, :, None] == np.arange(categories)).sum(axis=1)
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts):
        return Figure(reason=NO_PAIR)
    return figure(fleiss(counts), ALL_SAME)


def krippendorff_alpha(
    ratings: pl.DataFrame, *, blanks: Blanks = "missing", level: Level = "nominal"
) -> Figure:
    """Krippendorff's alpha of all annotators, at most 1 (the `krippendorff` package).

    `level` says what a distance between two grades means: `nominal` (same or not), `ordinal`,
    `interval`. Blanks can be a category only at the nominal level.

    Raises:
        AgreementError: fewer than two annotators, or blanks as a category of ordered grades.
    """
    import krippendorff

    _check_several(ratings)
    if blanks == "category" and level != "nominal":
        raise AgreementError(
            f"blanks cannot be a category at the {level} level, since a blank has no place in "
            "the order; use blanks='missing' or level='nominal'"
        )
    if blanks == "category":
        codes, _ = _codes(ratings, blanks)
        values = codes.astype(np.float64)
    else:
        values = ratings.cast(pl.Float64).to_numpy().astype(np.float64)
    pairable = values[(~np.isnan(values)).sum(axis=1) >= 2]
    if not len(pairable):
        return Figure(reason=NO_PAIR)
    if len(np.unique(pairable[~np.isnan(pairable)])) == 1:
        return Figure(reason=ALL_SAME)
    return figure(krippendorff.alpha(values.T, level_of_measurement=level), ALL_SAME)


def pairwise_kappas(
    ratings: pl.DataFrame, *, blanks: Blanks = "missing", most: int | None = None
) -> pl.DataFrame:
    """Every pair of annotators: `first`, `second`, `items`, `agree`, `accuracy`, `kappa`, `reason`.

    `items` are those that count under the policy for blanks; `kappa` is null where undefined and
    `reason` then says why. Of many pairs, `most` takes those with most items in common.
    """
    _check_several(ratings)
    codes, _ = _codes(ratings, blanks)
    rated = (codes >= 0).astype(np.int64)
    shared = rated.T @ rated
    pairs = list(combinations(range(ratings.width), 2))
    if most is not None:
        pairs = sorted((pair for pair in pairs if shared[pair]), key=lambda pair: -shared[pair])
    rows = []
    for first, second in pairs[:most]:
        both = (codes[:, first] >= 0) & (codes[:, second] >= 0)
        items, agree = int(both.sum()), int((codes[both, first] == codes[both, second]).sum())
        kappa = cohen_kappa(ratings[:, first], ratings[:, second], blanks=blanks)
        names = (ratings.columns[first], ratings.columns[second])
        accuracy = agree / items if items else None
        rows.append((*names, items, agree, accuracy, kappa.value, kappa.reason))
    return pl.DataFrame(
        rows,
        schema={
            "first": pl.String,
            "second": pl.String,
            "items": pl.Int64,
            "agree": pl.Int64,
            "accuracy": pl.Float64,
            "kappa": pl.Float64,
            "reason": pl.String,
        },
        orient="row",
    )


def disagreements(ratings: pl.DataFrame, *, blanks: Blanks = "missing") -> pl.Series:
    """Boolean Series: on this item not all ratings are equal.

    With `missing` blanks are passed over; with `category` a blank against a label is a
    disagreement (that rule gives the 202 of Kamalloo et al. 2023, section 4.3).
    """
    _check_several(ratings)
    codes, categories = _codes(ratings, blanks)
    blank = codes < 0
    highest = np.where(blank, -1, codes).max(axis=1)
    lowest = np.where(blank, categories, codes).min(axis=1)
    return pl.Series("disagreement", (highest != lowest) & ~blank.all(axis=1))


def _codes(ratings: pl.DataFrame, blanks: Blanks) -> tuple[npt.NDArray[np.int64], int]:
    """Ratings as category numbers from 0, blanks as -1 or as the last category; and how many."""
    values = ratings.select(pl.all().cast(pl.Float64)).to_numpy().astype(np.float64)
    blank = np.isnan(values)
    categories, inverse = np.unique(values[~blank], return_inverse=True)
    codes = np.full(values.shape, -1, dtype=np.int64)
    codes[~blank] = inverse
    if blanks == "category" and blank.any():
        codes[blank] = len(categories)
        return codes, len(categories) + 1
    return codes, len(categories)


def _check_several(ratings: pl.DataFrame) -> None:
    if ratings.width < 2:
        raise AgreementError(
            f"agreement between annotators needs two or more of them, not {ratings.width}"
        )


def annotators_of(
    labels: pl.DataFrame, blanks: Blanks, people: Sequence[str] = ()
) -> dict[str, Any]:
    """Every statistic between annotators, or between the `people` named.

    Raises:
        AgreementError: the labels do not say who gave which, or have no such annotator.
    """
    if "item" in labels.columns:
        labels = labels.unique("item", keep="first", maintain_order=True)
    ratings = ratings_of(labels)
    unknown = [name for name in people if name not in ratings.columns]
    if unknown:
        raise AgreementError(
            f"no annotator {', '.join(map(repr, unknown))}; there are {', '.join(ratings.columns)}"
        )
    return annotator_agreement(ratings.select(people or ratings.columns), blanks=blanks)


def annotator_agreement(
    ratings: pl.DataFrame, *, blanks: Blanks = "missing", most_pairs: int | None = None
) -> dict[str, Any]:
    """Every statistic between annotators; `most_pairs` limits the pairs (see `pairwise_kappas`).

    Raises:
        AgreementError: fewer than two annotators.
    """
    return {
        "items": ratings.height,
        "blanks": blanks,
        "blank_cells": {name: ratings[name].null_count() for name in ratings.columns},
        "pairs": pairwise_kappas(ratings, blanks=blanks, most=most_pairs),
        "fleiss_kappa": fleiss_kappa(ratings, blanks=blanks),
        "krippendorff_alpha": krippendorff_alpha(ratings, blanks=blanks),
        "krippendorff_alpha_ordinal": krippendorff_alpha(ratings, level="ordinal"),
        "disagreements": int(disagreements(ratings, blanks=blanks).sum()),
        "without_majority": majority(ratings).null_count(),
    }


def ratings_of(labels: pl.DataFrame) -> pl.DataFrame:
    """One column per annotator, by name where names are known."""
    names = labels["annotators"] if "annotators" in labels.columns else None
    return ratings_table(_several(labels), names)


def _several(labels: pl.DataFrame) -> pl.Series:
    if "annotator_labels" not in labels.columns:
        raise AgreementError(
            "the labels do not say who gave which: a column 'annotator_labels' with lists, or "
            "columns annotator1, annotator2, ... are needed"
        )
    return labels["annotator_labels"]


def _kappa(pair: Mapping[str, Any]) -> Figure:
    return Figure(value=pair["kappa"], reason=pair["reason"])


def annotator_tables(people: dict[str, Any]) -> list[Table]:
    """Pairs of annotators, and what holds for all of them."""
    blank = ", ".join(f"{n} {name}" for name, n in people["blank_cells"].items() if n)
    policy = f"blank cells: {blank or 'none'}; a blank is {_MEANING[people['blanks']]}"
    return [
        Table.of(
            "Annotators, two by two",
            (
                *columns("text", ("annotator", "first"), ("annotator", "second")),
                *columns("count", "items", "agree"),
                Column("per cent", "accuracy", "share"),
                Column("Cohen's kappa", _kappa, 3),
            ),
            people["pairs"],
        ),
        Table.of(
            "All annotators",
            ("what", Column("value", format="right")),
            [(heading, cell(form, people[name])) for name, (heading, form) in _OF_ALL.items()],
            (policy,),
        ),
    ]


_OF_ALL: dict[str, tuple[str, Form]] = {
    "items": ("items", "count"),
    "disagreements": ("items on which not all agree", "count"),
    "without_majority": ("items without a majority", "count"),
    "fleiss_kappa": ("Fleiss' kappa", 4),
    "krippendorff_alpha": ("Krippendorff's alpha, nominal", 4),
    "krippendorff_alpha_ordinal": ("Krippendorff's alpha, ordinal, blanks missing", 4),
}
"""What holds for all annotators: its heading, and how it is written."""


_MEANING = {"missing": "no rating (--blanks missing)", "category": "a category of its own"}
