"""Agreement between annotators, with its policies for blanks."""

from __future__ import annotations

from itertools import combinations

import krippendorff
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from markscheme.agreement.annotators import (
    annotator_agreement,
    cohen_kappa,
    disagreements,
    fleiss_kappa,
    krippendorff_alpha,
    pairwise_kappas,
)
from markscheme.errors import AgreementError
from markscheme.tables import majority, ratings_table

cells = st.sampled_from([0.0, 1.0, 2.0, None])
tables = st.integers(2, 4).flatmap(
    lambda width: st.lists(
        st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=25
    ).map(
        lambda rows: pl.DataFrame(
            rows, schema={f"a{i}": pl.Float64 for i in range(width)}, orient="row"
        )
    )
)


@given(tables)
def test_statistics_equal_the_libraries_with_blanks_missing(ratings: pl.DataFrame) -> None:
    full = ratings.drop_nulls()
    fleiss = fleiss_kappa(full)
    if full.height and len(set(full.to_numpy().ravel())) > 1:
        assert fleiss.value == pytest.approx(
            statsmodels_fleiss(aggregate_raters(full.to_numpy())[0]), abs=1e-12
        )
    else:
        assert fleiss.value is None
    pair = ratings.select("a0", "a1").drop_nulls()
    kappa = cohen_kappa(ratings["a0"], ratings["a1"])
    if pair.height and len(set(pair.to_numpy().ravel())) > 1:
        assert kappa.value == pytest.approx(
            cohen_kappa_score(pair["a0"].to_list(), pair["a1"].to_list()), abs=1e-12
        )
    else:
        assert kappa.reason


@given(tables)
def test_blank_as_category_is_a_rating_like_any_other(ratings: pl.DataFrame) -> None:
    filled = ratings.fill_null(9.0)
    for ours in (fleiss_kappa, krippendorff_alpha):
        assert ours(ratings, blanks="category") == ours(filled)
    assert cohen_kappa(ratings["a0"], ratings["a1"], blanks="category") == cohen_kappa(
        filled["a0"], filled["a1"]
    )
    assert disagreements(ratings, blanks="category").to_list() == [
        len(set(row)) > 1 for row in ratings.rows()
    ]
    assert disagreements(ratings).to_list() == [
        len(set(row) - {None}) > 1 for row in ratings.rows()
    ]


@given(tables, st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_equals_the_package(ratings: pl.DataFrame, level: str) -> None:
    values = ratings.to_numpy().astype(float).T
    units = values[:, (~np.isnan(values)).sum(axis=0) >= 2]
    alpha = krippendorff_alpha(ratings, level=level)
    if len(np.unique(units[~np.isnan(units)])) > 1:
        expected = krippendorff.alpha(values, level_of_measurement=level)
        assert alpha.value == pytest.approx(expected, abs=1e-12)
    else:
        assert alpha.value is None


@given(tables)
def test_fleiss_is_of_every_item_with_two_ratings(ratings: pl.DataFrame) -> None:
    """Counted pair by pair: how often two ratings of an item agree, and two of any categories."""
    items = [[one for one in row if one is not None] for row in ratings.rows()]
    items = [item for item in items if len(item) > 1]
    found = fleiss_kappa(ratings)
    if len({one for item in items for one in item}) < 2:
        assert found.value is None
        return
    agree = np.mean([np.mean([a == b for a, b in combinations(item, 2)]) for item in items])
    shares = [np.mean([item.count(code) / len(item) for item in items]) for code in (0, 1, 2)]
    chance = sum(share**2 for share in shares)
    assert found.value == pytest.approx((agree - chance) / (1 - chance), abs=1e-12)


def test_an_item_that_everybody_rated_is_not_all_that_fleiss_sees() -> None:
    ratings = pl.DataFrame({"a": [1, 1, 0, 1], "b": [1, 0, None, 1], "c": [1, None, 1, 1]})
    assert annotator_agreement(ratings)["fleiss_kappa"].value == pytest.approx(-1 / 3)


def test_majority_needs_a_winner() -> None:
    ratings = pl.DataFrame(
        {"a": [1.0, 1.0, None, None], "b": [1.0, 0.0, 1.0, None], "c": [0.0, None, None, None]}
    )
    assert majority(ratings).to_list() == [1.0, None, 1.0, None]


def test_refusals() -> None:
    ones = pl.DataFrame({"a": [1.0, 1.0], "b": [1.0, 1.0]})
    assert "every rating is the same" in fleiss_kappa(ones).text()
    apart = pl.DataFrame({"a": [1.0, None], "b": [None, 1.0]})
    assert cohen_kappa(apart["a"], apart["b"]).reason == "no item was rated by all of them"
    with pytest.raises(AgreementError, match="two or more"):
        fleiss_kappa(pl.DataFrame({"a": [1.0]}))
    with pytest.raises(AgreementError, match="no place in the order"):
        krippendorff_alpha(apart, blanks="category", level="ordinal")
    with pytest.raises(AgreementError, match="no label at all"):
        ratings_table(pl.Series([[], []], dtype=pl.List(pl.Float64)))


def test_lists_become_columns() -> None:
    lists = pl.Series([[1.0, 0.0], [1.0], [None, 1.0, 0.0]])
    assert ratings_table(lists).rows() == [(1.0, 0.0, None), (1.0, None, None), (None, 1.0, 0.0)]


def test_nq301_annotators(nq301_labels: pl.DataFrame) -> None:
    two = nq301_labels.select("annotator1", "annotator2")
    fleiss = fleiss_kappa(two, blanks="category")
    assert fleiss.value is not None
    assert round(100 * fleiss.value, 2) == 72.76
    assert disagreements(two, blanks="category").sum() == 202
    pair = pairwise_kappas(two, blanks="category").row(0, named=True)
    assert pair["items"] == 1490
    assert round(100 * pair["accuracy"], 1) == 86.4
    assert disagreements(two).sum() == 195
    # Kappa hangs on the blanks: a category, a rejection (0.727), or no rating.
    assert round(pair["kappa"], 4) == 0.7277
    rejected = cohen_kappa(two["annotator1"], two["annotator2"].fill_null(0.0))
    assert round(rejected.value or 0, 4) == 0.7266
    missing = cohen_kappa(two["annotator1"], two["annotator2"])
    assert round(missing.value or 0, 4) == 0.7347
