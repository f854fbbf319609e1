"""Agreement between people: kappas, alpha, disagreements and adjudication.

A ratings table has one column an annotator and one row an item; null is a blank (the annotator
gave no label). Every statistic says what it does with blanks:

- `missing`: a blank is no rating. Pairwise statistics use items that both rated; Fleiss' kappa
  uses items that all rated; Krippendorff's alpha uses every item that two or more rated.
- `category`: leaving a cell blank is itself a rating, one more category.
"""

from __future__ import annotations

from itertools import combinations
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement.closed_forms import fleiss
from markscheme.agreement.options import Blanks
from markscheme.errors import AgreementError
from markscheme.results import Figure, figure
from markscheme.tables import majority

Level = Literal["nominal", "ordinal", "interval"]

ALL_SAME = "every rating is the same, so chance agreement is certain"
NO_OVERLAP = "no item was rated by all of them"


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
    """Fleiss' kappa of all annotators, from -1 to 1.

    Kamalloo et al. (2023, section 4.3) count blanks as a category: 0.7276 for their two
    annotators.
    """
    _check_several(ratings)
    codes, categories = _codes(ratings, blanks)
    codes = codes[(codes >= 0).all(axis=1)]
    if not len(codes):
        return Figure(reason=NO_OVERLAP)
    if len(np.unique(codes)) == 1:
        return Figure(reason=ALL_SAME)
    counts = (codes[:, :, None] == np.arange(categories)).sum(axis=1)
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
        return Figure(reason="no item was rated by two annotators")
    if len(np.unique(pairable[~np.isnan(pairable)])) == 1:
        return Figure(reason=ALL_SAME)
    return figure(krippendorff.alpha(values.T, level_of_measurement=level), ALL_SAME)


def pairwise_kappas(ratings: pl.DataFrame, *, blanks: Blanks = "missing") -> pl.DataFrame:
    """Every pair of annotators: `first`, `second`, `items`, `agree`, `accuracy`, `kappa`, `reason`.

    `items` are those that count under the policy for blanks; `kappa` is null where undefined and
    `reason` then says why.
    """
    _check_several(ratings)
    rows = []
    for first, second in combinations(ratings.columns, 2):
        codes, _ = _codes(ratings.select(first, second), blanks)
        codes = codes[(codes >= 0).all(axis=1)]
        agree = int((codes[:, 0] == codes[:, 1]).sum())
        kappa = cohen_kappa(ratings[first], ratings[second], blanks=blanks)
        rows.append(
            {
                "first": first,
                "second": second,
                "items": len(codes),
                "agree": agree,
                "accuracy": agree / len(codes) if len(codes) else None,
                "kappa": kappa.value,
                "reason": kappa.reason,
            }
        )
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
    )


def disagreements(ratings: pl.DataFrame, *, blanks: Blanks = "missing") -> pl.Series:
    """Boolean Series: on this item not all ratings are equal.

    With `missing` blanks are passed over; with `category` a blank beside a label is a
    disagreement (that rule gives the 202 of Kamalloo et al. 2023, section 4.3).
    """
    _check_several(ratings)
    codes, categories = _codes(ratings, blanks)
    blank = codes < 0
    highest = np.where(blank, -1, codes).max(axis=1)
    lowest = np.where(blank, categories, codes).min(axis=1)
    return pl.Series("disagreement", (highest != lowest) & ~blank.all(axis=1))


def adjudicate(first: pl.Series, second: pl.Series, third: pl.Series) -> pl.Series:
    """Labels by two annotators, with a third asked where they differ.

    Where the first two agree, their label; elsewhere the majority of all three; null where that
    leaves a tie (the third gave none, or a third value).
    """
    pair = first.cast(pl.Float64).eq(second.cast(pl.Float64)).fill_null(value=False)
    voted = majority(pl.DataFrame({"first": first, "second": second, "third": third}))
    return first.cast(pl.Float64).zip_with(pair, voted).alias("label")


def _codes(ratings: pl.DataFrame, blanks: Blanks) -> tuple[npt.NDArray[np.int64], int]:
    """Ratings as category numbers from 0, blanks as -1 or as the last category; and how many."""
    if blanks not in get_args(Blanks):
        raise AgreementError(
            f"blanks={blanks!r} is no policy; the policies are {', '.join(get_args(Blanks))}"
        )
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
