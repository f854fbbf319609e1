"""Agreement between annotators, with its policies for blanks."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

import markscheme
from markscheme.agreement import agree
from markscheme.agreement.annotators import (
    _figure,
    _Ratings,
    annotator_agreement,
    annotator_tables,
    annotators_of,
    disagreements,
    fleiss_kappa,
    pairwise_kappas,
)
from markscheme.errors import AgreementError, DataError
from markscheme.results import Figure
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


def coefficient(
    name: str, ratings: pl.DataFrame, *, blanks: Any = "missing", level: Any = "nominal"
) -> Figure:
    """One of all annotators as `annotator_agreement` computes it; `cohen` of the first two."""
    table = _Ratings.of(ratings, blanks)
    return _figure((table.pair(0, 1) if name == "cohen" else table).coefficient(name, level))


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
    kappa = coefficient("cohen", ratings.select("a0", "a1"))
    if pair.height and len(set(pair.to_numpy().ravel())) > 1:
        assert kappa.value == pytest.approx(
            cohen_kappa_score(pair["a0"].to_list(), pair["a1"].to_list()), abs=1e-12
        )
    else:
        assert kappa.reason


@given(tables)
def test_blank_as_category_is_a_rating_like_any_other(ratings: pl.DataFrame) -> None:
    filled = ratings.fill_null(9.0)
    for name in ("fleiss", "ac1", "alpha", "cohen"):
        assert coefficient(name, ratings, blanks="category") == coefficient(name, filled)
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
    alpha = coefficient("alpha", ratings, level=level)
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


def test_people_who_agree_with_a_low_kappa_are_told_why() -> None:
    """48 items on which both say yes, and one on which either says no: kappa is below 0."""
    ratings = pl.DataFrame({"a": [1.0] * 49 + [0.0], "b": [0.0] + [1.0] * 49})
    found = annotator_agreement(ratings)
    assert found["fleiss_kappa"].value < 0
    assert found["gwet_ac1"].value == pytest.approx((0.96 - 0.0392) / (1 - 0.0392))
    two, every = annotator_tables(found)
    assert "nearly all labels are of one kind" in every.notes[-1]
    assert two.notes == (
        "95% intervals (fisher-z) are for further answers like these 50, "
        "according to these annotators",
    )
    pair = found["pairs"].row(0, named=True)
    assert pair["ac1_low"] < pair["ac1"] < pair["ac1_high"]
    assert found["gwet_ac1"].text(digits=3) == two.rows[0][-1]
    even = pl.DataFrame({"a": [1.0, 0.0] * 25, "b": [1.0, 0.0] * 24 + [0.0, 0.0]})
    assert annotator_agreement(even)["prevalence"] is None


def test_blanks_alone_have_reasons() -> None:
    found = annotator_agreement(pl.DataFrame({"a": [None, None], "b": [None, None]}))
    assert found["gwet_ac1"].reason == found["fleiss_kappa"].reason
    assert found["pairs"]["reason"].to_list() == ["no item was rated by all of them"]
    assert found["pair_agreement"] is None
    assert annotator_tables(found)[1].rows[3][1] == "-"


def test_what_nobody_rated_is_no_item_in_either_form_of_a_file() -> None:
    wide = pl.DataFrame(
        {"question": [f"q{n}" for n in range(16)], "answer": [f"a{n}" for n in range(16)],
         "annotator1": [1, 0, None, None] * 4, "annotator2": [1, 1, 0, None] * 4}
    )  # fmt: skip
    long = wide.unpivot(
        ["annotator1", "annotator2"], index=["question", "answer"], variable_name="annotator",
        value_name="label",
    ).drop_nulls("label")  # fmt: skip
    judged = wide.select("question", "answer", judge=pl.lit("j"), verdict=pl.lit(value=True))
    for blanks in ("missing", "category"):
        one, other = (
            agree(judged, labels, annotators=True, blanks=blanks).data["annotators"]
            for labels in (wide, long)
        )
        assert one["items"] == 12
        assert one["without_majority"] == 4
        assert one["pairs"].equals(other["pairs"])
        assert {**one, "pairs": None} == {**other, "pairs": None}


def test_what_has_no_interval_has_a_reason() -> None:
    few = annotator_agreement(pl.DataFrame({"a": [1, 0, 1, 0], "b": [1, 0, 0, 0]}))
    assert set(few["no_interval"].values()) == {"fewer than 10 items"}
    assert few["pairs"]["no_interval"].to_list() == ["fewer than 10 items"]
    assert few["pairs"]["reason"].to_list() == [None]
    notes = annotator_tables(few)[1].notes
    assert "Gwet's AC1 has no interval: fewer than 10 items" in notes
    same = annotator_agreement(pl.DataFrame({"a": [1, 0] * 8, "b": [1, 0] * 8}))
    assert same["fleiss_kappa"].low is None
    assert same["no_interval"]["fleiss_kappa"] == "a coefficient of 1 has none"
    question = pl.Series(["q"] * 16)
    ratings = pl.DataFrame({"a": [1, 0] * 8, "b": [1, 0] * 7 + [0, 0]})
    alone = annotator_agreement(ratings, questions=question)
    assert alone["no_interval"]["gwet_ac1"] == "all items are of one question"


def test_answers_to_one_question_are_left_out_together() -> None:
    rng = np.random.default_rng(2)
    good = np.repeat(rng.integers(0, 2, 20), 5)
    wrong = np.repeat(rng.random(20) < 0.3, 5)
    lists = [[float(yes), float(yes != odd)] for yes, odd in zip(good, wrong, strict=True)]
    labels = pl.DataFrame({"annotator_labels": lists})
    asked = labels.with_columns(pl.Series("question", [f"q{n // 5}" for n in range(100)]))
    for name in ("fleiss_kappa", "gwet_ac1", "krippendorff_alpha", "krippendorff_alpha_ordinal"):
        single, grouped = (annotators_of(table, "missing")[name] for table in (labels, asked))
        assert single.value == grouped.value
        assert grouped.high - grouped.low > 1.5 * (single.high - single.low)
    unknown = asked.with_columns(pl.lit(None, pl.String).alias("question"))
    assert (
        annotators_of(unknown, "missing")["gwet_ac1"]
        == annotators_of(labels, "missing")["gwet_ac1"]
    )


def test_majority_needs_a_winner() -> None:
    ratings = pl.DataFrame(
        {"a": [1.0, 1.0, None, None], "b": [1.0, 0.0, 1.0, None], "c": [0.0, None, None, None]}
    )
    assert majority(ratings).to_list() == [1.0, None, 1.0, None]


def test_grades_are_cut_before_they_are_counted() -> None:
    """Two who give different grades agree on the verdict where both are on one side of the cut."""
    ratings = pl.DataFrame(
        {
            "a": [3.0, 0.0, 3.0, 3.0, None],
            "b": [2.0, 1.0, 1.0, 1.0, 2.0],
            "c": [None] * 3 + [0.0, None],
        }
    )
    assert majority(ratings).to_list() == [2.5, 0.5, 2.0, 1.0, 2.0]
    assert majority(ratings, positive_from=2).to_list() == [2.5, 0.5, None, 1.0, 2.0]


def test_refusals() -> None:
    ones = pl.DataFrame({"a": [1.0, 1.0], "b": [1.0, 1.0]})
    assert "every rating is the same" in fleiss_kappa(ones).text()
    apart = pl.DataFrame({"a": [1.0, None], "b": [None, 1.0]})
    assert pairwise_kappas(apart)["reason"].to_list() == ["no item was rated by all of them"]
    with pytest.raises(AgreementError, match="two or more"):
        fleiss_kappa(pl.DataFrame({"a": [1.0]}))
    with pytest.raises(AgreementError, match="those of all annotators are blank"):
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
    rejected = pairwise_kappas(two.with_columns(pl.col("annotator2").fill_null(0.0)))
    assert round(rejected["kappa"][0], 4) == 0.7266
    assert round(pairwise_kappas(two)["kappa"][0], 4) == 0.7347


def test_kappa_has_no_interval_where_hardly_an_item_has_the_rarer_label_twice() -> None:
    ratings = pl.DataFrame(
        {"Ann": [1] * 26 + [0] * 6, "Ben": [1] * 24 + [0] * 2 + [1, 1] + [0] * 4}
    )
    found = annotator_agreement(ratings)
    assert found["fleiss_kappa"].low is None
    reason = "fewer than 5 items have a rarer label from two people"
    assert found["no_interval"]["krippendorff_alpha"] == reason
    assert found["pairs"]["no_interval"].to_list() == [reason]
    assert found["gwet_ac1"].low is not None
    more = pl.concat([ratings, pl.DataFrame({"Ann": [0], "Ben": [0]})])
    assert annotator_agreement(more)["fleiss_kappa"].low is not None


def test_disagreements_of_the_same_questions_make_intervals_wider() -> None:
    """Four items a question: four differences in one question, or one in each of four."""
    ann, ben = np.tile([1, 0], 40), np.tile([1, 0], 40)
    together, apart = ben.copy(), ben.copy()
    together[:4], apart[:16:4] = 1 - ben[:4], 1 - ben[:16:4]
    questions = pl.Series(np.repeat(np.arange(20), 4))
    one, each = (
        annotator_agreement(pl.DataFrame({"Ann": ann, "Ben": other}), questions=questions)
        for other in (together, apart)
    )
    for name in ("fleiss_kappa", "gwet_ac1", "krippendorff_alpha"):
        assert one[name].value == pytest.approx(each[name].value, abs=0.002)
        assert one[name].high - one[name].low > 1.5 * (each[name].high - each[name].low)


@pytest.mark.parametrize("as_lists", [False, True])
def test_who_labelled_nothing_is_no_annotator(as_lists: bool, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = []
    for number in range(6):
        first, second = number % 2, number % 3 > 0
        row = {"question": f"What is {number}?", "references": ["aa"], "answer": "aa"}
        labels = [first, int(second), None]
        several = dict(zip(("annotator1", "annotator2", "annotator3"), labels, strict=True))
        rows.append(row | ({"annotator_labels": labels} if as_lists else several))
    result = markscheme.judge(rows, ["exact_match"], out=tmp_path / "run")
    found = result.agree(annotators=True)
    assert found.annotators is not None
    assert found.annotators.height == 1
    assert "two people labelled 6 of 6 answers" in found.to_text()
    for row in rows:
        row["annotator2"] = None
        row["annotator_labels"] = [row.get("annotator1", 1), None, None]
    alone = markscheme.judge(rows, ["exact_match"]).agree()
    assert "one person labelled" in alone.to_text()


def test_empty_lists_of_labels_are_no_labels(tmp_path: Path) -> None:
    rows = [
        {"question": f"q{n}", "references": ["a"], "answer": "a", "annotator_labels": cells}
        for n, cells in enumerate(([], [None, None]))
    ]
    result = markscheme.judge(rows, ["exact_match"], out=tmp_path / "run")
    assert markscheme.report(result, tmp_path / "report.html").labelled == 0
    with pytest.raises(DataError, match="none of the 2 answers of the run has a label"):
        result.agree()
