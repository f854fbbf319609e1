"""Paired comparisons of judges and of systems."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from markscheme.agreement import compare, plan_labels
from markscheme.agreement.options import CompareOptions
from markscheme.agreement.pairs import (
    compare_answers,
    compare_judges,
    compare_means,
    compare_systems,
    holm_figures,
    share_difference,
    statistic_difference,
    unpaired_difference,
)
from markscheme.errors import AgreementError, DataError
from markscheme.results import share_figure
from markscheme.results.figures import plain
from markscheme.stats import expected_pairs
from markscheme.tables.joins import Joined, join_labels
from markscheme.tables.judgment_files import load_judgments
from markscheme.tables.labels import load_labels


@pytest.mark.proof(area="statistics")
@settings(max_examples=10)  # statsmodels collects garbage in every call
@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_equals_statsmodels(values: list[float]) -> None:
    expected = multipletests(values, method="holm")[1].tolist() if values else []
    assert holm_figures(values) == pytest.approx(expected)


def judged(seed: int, *, quality: dict[str, float]) -> tuple[pl.DataFrame, pl.DataFrame]:
    rng = np.random.default_rng(seed)
    label = rng.random(400) < 0.6
    base = pl.DataFrame(
        {
            "question": [f"q{i // 4}" for i in range(400)],
            "answer": [f"a{i}" for i in range(400)],
            "system": ["s", "t", "u", "v"] * 100,
        }
    )
    wide = base.with_columns(
        pl.Series(name, np.where(rng.random(400) < q, label, ~label)) for name, q in quality.items()
    )
    return wide, base.with_columns(pl.Series("label", label))


def joined(seed: int, **quality: float) -> Joined:
    wide, labels = judged(seed, quality=quality)
    return join_labels(load_judgments(wide, judges=list(quality)), load_labels(labels))


def test_a_better_judge_is_found_and_pairs_are_corrected() -> None:
    pairs = compare_judges(joined(1, good=0.95, fair=0.8, same=0.8))
    assert [(p.first, p.second) for p in pairs] == [
        ("good", "fair"),
        ("good", "same"),
        ("fair", "same"),
    ]
    better = pairs[0]
    assert better.shared == 400
    assert better.questions == 100
    gap = (better.first_value.value or 0) - (better.second_value.value or 0)
    assert better.difference.value == pytest.approx(gap)
    assert better.only_first - better.only_second == pytest.approx(400 * gap)
    assert better.difference.low is not None
    assert better.difference.low > 0
    assert better.p_holm is not None
    assert better.p_holm < 0.01
    assert pairs[2].p.value is not None
    assert pairs[2].p.value > 0.05
    assert better.p_holm == pytest.approx(holm_figures([p.p.value for p in pairs])[0])
    assert plain(better)["difference"]["value"] == pytest.approx(gap)


@pytest.mark.parametrize(
    "statistic", ["kappa", "f1_positive", "f1_macro", "mcc", "precision", "recall"]
)
def test_other_statistics_compare_too(statistic: str) -> None:
    (pair,) = compare_judges(
        joined(2, good=0.95, fair=0.7), options=CompareOptions(statistic=statistic)
    )
    assert pair.p.value is not None
    assert pair.p.value < 0.01
    assert pair.difference.low is not None
    assert pair.difference.low > 0
    assert pair.difference.method == pair.p.method == "jackknife-t"


def test_the_jackknife_of_a_mean_is_students_paired_test() -> None:
    """Of single answers the accuracy's jackknife is the t test, by hand and by SciPy."""
    rng = np.random.default_rng(0)
    right = (rng.random((2, 80)) < [[0.9], [0.7]]).astype(int)
    counts = np.zeros((80, 2, 4), dtype=np.int64)
    counts[:, :, 0], counts[:, :, 1] = right.T, 1 - right.T
    found = statistic_difference("accuracy", counts)
    expected = stats.ttest_rel(right[0], right[1])
    assert found["p"].value == pytest.approx(expected.pvalue)
    ends = expected.confidence_interval(0.95)
    assert (found["difference"].low, found["difference"].high) == pytest.approx(tuple(ends))


@pytest.mark.parametrize("statistic", ["kappa", "mcc", "f1_macro", "f1_positive", "recall"])
def test_of_a_handful_of_a_label_there_is_a_difference_without_an_interval(statistic: str) -> None:
    """As `agree` gives each judge's figure: kappa differed "significantly" by four answers."""
    judges = {"one": [1, 1, 1, 0], "two": [1, 1, 0, 1]}
    rows = [
        {"question": f"q{n}", "answer": f"a{n}", "judge": judge, "verdict": said, "label": n < 3}
        for judge, verdicts in judges.items() for n, said in enumerate(verdicts)
    ]  # fmt: skip
    (pair,) = compare(rows, statistic=statistic).pairs
    assert pair.difference.value is not None
    assert pair.difference.value > 0
    assert pair.difference.low is pair.detectable is None
    assert pair.p.reason == "fewer than 5 answers have one of the labels"


def test_equal_judges_are_equal() -> None:
    both = joined(3, one=0.8)
    twin = both.rows.with_columns(pl.lit("two").alias("judge"))
    doubled = Joined(**{**vars(both), "rows": pl.concat([both.rows, twin])})
    (pair,) = compare_judges(doubled)
    assert (pair.difference.value, pair.p.value) == (0.0, 1.0)
    assert pair.difference.high == pytest.approx(-(pair.difference.low or 0))
    (kappa,) = compare_judges(doubled, options=CompareOptions(statistic="kappa"))
    assert (kappa.difference.value, kappa.difference.low, kappa.p.value) == (0.0, None, 1.0)


def excludes_zero(low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and not low <= 0 <= high


@given(
    st.integers(0, 10_000), st.integers(5, 60), st.sampled_from([0.0, 0.1, 0.3]),
    st.sampled_from([(1, 1), (4, 4), (1, 3), (6, 2)]), st.sampled_from([0.8, 0.95, 0.99]),
)  # fmt: skip
def test_the_interval_excludes_no_difference_just_where_the_test_rejects_it(
    seed: int, questions: int, apart: float, most: tuple[int, int], confidence: float
) -> None:
    rng = np.random.default_rng(seed)
    answers = rng.integers(1, np.array(most) + 1, size=(questions, 2))
    easy = rng.beta(4, 1, size=(questions, 1))
    right = rng.binomial(answers, np.concatenate([easy, easy * (1 - apart)], axis=1))
    counts = np.stack([right, answers], axis=2)
    worse, better, pairs = expected_pairs(counts)
    point = float((better - worse).sum() / pairs.sum())
    found = share_difference(worse, better, pairs, confidence=confidence)
    change = found["difference"]
    assert change.value == pytest.approx(point)
    assert -1 <= change.low <= point + 1e-12
    assert point - 1e-12 <= change.high <= 1
    if abs(found["p"].value - (1 - confidence)) > 1e-9:
        assert excludes_zero(change.low, change.high) == (found["p"].value <= 1 - confidence)


@given(st.integers(0, 10_000), st.integers(8, 40), st.sampled_from(["kappa", "f1_macro", "recall"]))
def test_the_same_holds_of_other_statistics(seed: int, questions: int, statistic: str) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(3, [[0.5, 0.1, 0.1, 0.3], [0.35, 0.15, 0.25, 0.25]],
                             size=(questions, 2))  # fmt: skip
    found = statistic_difference(statistic, counts)
    change = found["difference"]
    if found["p"].value is None:  # fewer than five answers have one of the labels
        assert change.low is change.high is None
        return
    assert excludes_zero(change.low, change.high) == (found["p"].value <= 0.05)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 200))
def test_of_single_answers_the_test_is_mcnemars(lost: int, won: int, alike: int) -> None:
    first = pl.Series([False] * lost + [True] * (won + alike))
    second = pl.Series([True] * lost + [False] * won + [True] * alike)
    if first.is_empty():
        return
    found = compare_answers(("a", "b"), pl.Series(range(len(first))), first, second)
    assert (found.only_first, found.only_second) == (won, lost)
    if not lost + won:
        assert found.p.value == 1.0
        return
    expected = mcnemar([[alike, lost], [won, 0]], exact=False, correction=False).pvalue
    assert found.p.value == pytest.approx(float(expected), rel=1e-9, abs=1e-15)
    rows = [{"question": f"q{n}", "system": system, "verdict": verdict}
            for system, side in (("a", first), ("b", second))
            for n, verdict in enumerate(side)]  # fmt: skip
    (systems,) = compare_systems(pl.DataFrame(rows))
    for name in ("difference", "p", "detectable", "first_value", "second_value"):
        one, other = getattr(systems, name), getattr(found, name)
        assert plain(one) == pytest.approx(plain(other))


def test_pairs_at_random_average_all_pairings() -> None:
    counts = np.array([[[1, 2], [1, 3]], [[3, 4], [0, 1]], [[0, 2], [4, 4]]])
    worse, better, pairs = expected_pairs(counts)
    for place, ((a, m), (b, k)) in enumerate(counts):
        sides = [np.arange(m) < a, np.arange(k) < b]
        every = [(one, two) for one in sides[0] for two in sides[1]]
        assert worse[place] / pairs[place] == pytest.approx(
            sum(not one and two for one, two in every) / (m * k)
        )
        assert better[place] / pairs[place] == pytest.approx(
            sum(one and not two for one, two in every) / (m * k)
        )
    assert pairs.sum() == pytest.approx(8)  # the mean of 8 answers either


def test_no_false_alarms_where_one_system_repeats_itself() -> None:
    """50 questions x 5: one system gives the same answer 5 times, the other draws each anew."""
    rng = np.random.default_rng(11)
    alarms = 0
    for _ in range(300):
        right = np.stack([5 * (rng.random(50) < 0.97), rng.binomial(5, 0.97, 50)], axis=1)
        counts = np.stack([right, np.full_like(right, 5)], axis=2)
        alarms += share_difference(*expected_pairs(counts))["p"].value <= 0.05
    assert alarms <= 0.08 * 300


def test_of_single_answers_means_are_the_answers() -> None:
    one, two = pl.Series([True, True, False, False, True]), pl.Series([True, False] * 2 + [False])
    counts = np.stack([np.stack([one, two], axis=1), np.ones((5, 2))], axis=2).astype(np.int64)
    means = compare_means(("a", "b"), counts)
    answers = compare_answers(("a", "b"), pl.Series(range(5)), one, two)
    for name, value in vars(answers).items():
        expected = pytest.approx(plain(value)) if name != "p_holm" else None
        assert plain(getattr(means, name)) == expected


@pytest.mark.parametrize("fewer", [(6, 7), (3, 7), (7, 1), (1, 7)])
def test_means_hold_the_level_where_nights_are_missing(fewer: tuple[int, int]) -> None:
    """57 questions, seven nights of equal systems; of the difficult half one side has fewer."""
    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(200):
        chances = np.sort(rng.beta(2, 2, 57))
        answers = np.full((57, 2), 7)
        answers[:28] = fewer
        counts = np.stack([rng.binomial(answers, chances[:, None]), answers], axis=2)
        alarms += (compare_means(("new", "base"), counts).p.value or 0) <= 0.05
    assert alarms <= 0.05 * 200


def test_the_test_holds_its_level_under_clustering() -> None:
    """Two equal judges whose errors come by question: about 5 in 100 are called different."""
    rng = np.random.default_rng(7)
    rejected = 0
    for _ in range(400):
        wrong = rng.random((2, 40)) < 0.3
        worse, better = (5 * side for side in (wrong[0] & ~wrong[1], wrong[1] & ~wrong[0]))
        rejected += share_difference(worse, better, np.full(40, 5))["p"].value <= 0.05
    assert rejected <= 35


def test_a_detectable_difference_is_found_four_times_in_five() -> None:
    rng = np.random.default_rng(5)
    pairs, apart = 400, 0.1
    table = np.repeat([[1, 0], [0, 1], [0, 0]], [12, 28, 360], axis=0)
    alone = share_difference(table[:, 0], table[:, 1], np.ones(400))
    size = alone["detectable"]
    assert 0 < size < apart
    drawn = rng.multinomial(pairs, [(apart - size) / 2, (apart + size) / 2, 1 - apart], size=2000)
    scores = (drawn[:, 1] - drawn[:, 0]) / np.sqrt(drawn[:, 0] + drawn[:, 1])
    assert (scores >= 1.96).mean() == pytest.approx(0.8, abs=0.03)
    # No difference is larger than the discordance, and 3 questions can show none.
    quiet = share_difference(np.zeros(100), np.zeros(100), np.ones(100))
    assert quiet["detectable"] == pytest.approx(7.6 / 100, abs=0.005)
    assert share_difference(np.zeros(3), np.zeros(3), np.ones(3))["detectable"] is None


def test_not_judged_is_left_out_or_wrong() -> None:
    wide, labels = judged(4, quality={"one": 0.9, "two": 0.9})
    holes = wide.with_columns(pl.when(pl.int_range(400) >= 10).then("one").alias("one"))
    both = join_labels(load_judgments(holes, judges=["one", "two"]), load_labels(labels))
    (out,) = compare_judges(both)
    assert (out.shared, out.left_out) == (390, 10)
    (errors,) = compare_judges(both, options=CompareOptions(unjudged="errors"))
    assert (errors.shared, errors.left_out) == (400, 0)
    assert (errors.first_value.value or 0) < (out.first_value.value or 0)


def test_systems_under_one_judge() -> None:
    rng = np.random.default_rng(5)
    table = pl.DataFrame(
        {
            "question": [f"q{i}" for i in range(150)] * 2,
            "answer": ["a"] * 300,
            "system": ["strong"] * 150 + ["weak"] * 150,
            "verdict": np.r_[rng.random(150) < 0.8, rng.random(150) < 0.5],
        }
    )
    (pair,) = compare_systems(load_judgments(table))
    means = table.group_by("system", maintain_order=True).agg(pl.col("verdict").mean())
    assert [pair.first_value.value, pair.second_value.value] == pytest.approx(
        means["verdict"].to_list()
    )
    assert pair.p.value is not None
    assert pair.p.value < 0.01
    assert (pair.shared, pair.left_out) == (150, 0)
    twice = pl.concat([table, table.with_columns(pl.lit("b").alias("answer"))])
    (several,) = compare_systems(load_judgments(twice))
    assert several.p.value == pytest.approx(pair.p.value, rel=1e-6)  # said twice, no more known


def test_two_verdicts_on_one_answer_are_an_error_with_or_without_labels() -> None:
    rows = [
        {"question": f"q{n}", "answer": f"{system}{n}", "system": system, "judge": "judge",
         "verdict": said, "label": 1}
        for n in range(30) for system in ("a", "b") for said in {True, system == "b"}
    ]  # fmt: skip
    bare = pl.DataFrame(rows).drop("label")
    for table in (pl.DataFrame(rows), bare):
        with pytest.raises(AgreementError, match="30 answers have contradictory judgments: 'q0', "):
            compare(table, systems=True)
    with pytest.raises(AgreementError, match="30 answers have contradictory judgments"):
        plan_labels(bare, count=20)
    again = bare.filter(pl.col("verdict") == (pl.col("system") == "b"))
    (twice,) = compare(pl.concat([again, again]), systems=True).pairs
    (once,) = compare(again, systems=True).pairs
    assert twice.difference.value == once.difference.value == -1.0


def test_refusals() -> None:
    both = joined(6, one=0.8)
    with pytest.raises(AgreementError, match=r"needs two of them; there is 'one'. To .*--systems"):
        compare_judges(both)
    with pytest.raises(AgreementError, match="no statistic named 'auroc'"):
        compare_judges(both, options=CompareOptions(statistic="auroc"))
    with pytest.raises(AgreementError, match="named 'f1'; did you mean 'f1_positive' or 'f1_mac"):
        compare_judges(both, options=CompareOptions(statistic="f1"))
    with pytest.raises(AgreementError, match="needs the system"):
        compare_systems(pl.DataFrame({"question": ["q"], "verdict": [True]}))
    apart = pl.DataFrame(
        {
            "question": ["q", "r"],
            "system": ["x", "y"],
            "verdict": [True, None],
            "answer": ["a", "a"],
        }
    )
    with pytest.raises(AgreementError, match="no answer of 'y' was judged"):
        compare_systems(load_judgments(apart))
    two = pl.concat([apart.with_columns(pl.lit(name).alias("judge")) for name in "ab"])
    with pytest.raises(AgreementError, match="choose with --judge one of 'a', 'b'"):
        compare_systems(load_judgments(two))


def on_different_questions(*systems: tuple[str, int, int]) -> pl.DataFrame:
    """Systems with so many answers accepted of so many, each to questions of its own."""
    return pl.DataFrame(
        [
            {"question": f"{name} {n}", "answer": "x", "system": name, "verdict": n < right}
            for name, right, answers in systems
            for n in range(answers)
        ]
    )


def test_systems_without_a_question_in_common_are_compared_by_their_own_shares() -> None:
    """Newcombe's (1998) own example, 56 of 70 against 48 of 80."""
    result = compare(on_different_questions(("a", 56, 70), ("b", 48, 80)), systems=True)
    [pair] = result.pairs
    change = pair.difference
    assert (change.value, change.low, change.high, change.method) == (
        pytest.approx(0.2), pytest.approx(0.0524, abs=5e-5), pytest.approx(0.3339, abs=5e-5),
        "newcombe",
    )  # fmt: skip
    assert (pair.unpaired, pair.shared, pair.left_out, pair.questions) == (True, 0, 0, 150)
    assert pair.p.value == pytest.approx(0.008, abs=0.001)
    assert result.frame["unpaired"].to_list() == [True]
    [table] = result.tables
    assert table.rows[0][2] == "different questions"
    assert "a and b are on different questions: what the questions differ by counts too" in (
        table.notes
    )
    assert "for further questions like these 150, each system on its own" in table.notes[0]
    assert "paired" not in str(result)
    assert result.lead == (
        "The judge alone accepts a most often: 20 points more than b (5 to 33; on different "
        "questions)",
    )


def test_systems_that_share_few_questions_are_compared_by_all_answers_too() -> None:
    """v1 has 21 of 28 right and v2 17 of 28; of the 6 questions of both v2 has one more."""
    right = {"v1": [*range(17), 22, 23, 24, 25], "v2": [*range(23, 28), *range(28, 40)]}
    asked = {"v1": range(28), "v2": range(22, 50)}
    table = pl.DataFrame(
        [
            {"question": f"q{n}", "answer": "x", "system": name, "verdict": n in right[name]}
            for name in right for n in asked[name]
        ]
    )  # fmt: skip
    found = compare(table, systems=True)
    (pair,) = found.pairs
    assert (pair.questions, pair.left_out) == (6, 44)
    assert found.lead[0].startswith(
        "The judge alone accepts v2 most often: 17 points more than v1 "
    )
    assert "; on the 6 questions that both answered, of 50; no more than chance" in found.lead[0]
    shares = [share_figure(np.isin(asked[name], right[name]), np.ones(28)) for name in right]
    assert pair.whole == unpaired_difference(*shares)["difference"]
    assert found.lead[1].startswith(
        "By all answers of v1 and v2, to whichever questions, the judge alone accepts v1 14 points "
        "more than v2 ("
    )
    known = table.with_columns(label=pl.col("verdict").cast(pl.Int64)).drop("verdict")
    people = compare(table, known, systems=True)
    assert people.people[0].difference.value is None
    assert people.people[0].whole is not None
    assert "questions, people would accept v1 14 points more than v2 (" in people.lead[1]
    both = table.filter(pl.len().over("question") == 2)
    assert compare(both, systems=True).pairs[0].whole is None
    nearly = pl.concat([both.with_columns(pl.col("question") + str(n)) for n in range(4)])
    nearly = pl.concat([nearly, table.filter(question="q0")])
    (alone,) = compare(nearly, systems=True).lead
    assert "both answered" not in alone


def test_pairs_on_the_same_and_on_different_questions_are_told_apart() -> None:
    table = on_different_questions(("a", 16, 20), ("b", 10, 20))
    table = pl.concat([table, table.filter(system="b").with_columns(system=pl.lit("c"))])
    result = compare(table, systems=True)
    assert [pair.unpaired for pair in result.pairs] == [True, True, False]
    [shown] = result.tables
    assert [row[2] for row in shown.rows] == ["different questions"] * 2 + ["questions of both"]
    assert "paired by question where both answered" in shown.notes[0]
    assert "a and b, a and c are on different questions: what" in str(result)
    same = compare(table, systems=True, only=("b", "c"))
    assert "on" not in same.tables[0].header
    assert "different" not in str(same)


@pytest.mark.parametrize("right", range(0, 41, 4))
def test_of_different_questions_the_interval_excludes_no_difference_just_where_p_is_small(
    right: int,
) -> None:
    rows = on_different_questions(("a", right, 40), ("b", 30, 60))
    for confidence in (0.8, 0.95):
        [pair] = compare_systems(rows, CompareOptions(confidence=confidence))
        low, high, p = pair.difference.low, pair.difference.high, pair.p.value
        assert low is not None
        assert high is not None
        assert p is not None
        assert (p <= 1 - confidence) == (not low <= 0 <= high)


def test_a_total_that_contradicts_every_slice_is_named() -> None:
    """One system answered many easy questions, the other many difficult ones."""
    rows = [
        {"question": f"{kind}{n} {system}", "answer": f"{system} {n}", "system": system,
         "judge": "judge", "kind": kind, "verdict": n < right}
        for kind, counts in (("easy", {"one": (70, 100), "two": (40, 50)}),
                             ("hard", {"one": (2, 20), "two": (30, 200)}))
        for system, (right, answers) in counts.items()
        for n in range(answers)
    ]  # fmt: skip
    table = pl.DataFrame(rows)
    found = compare(table, systems=True, slices=("kind",))
    assert found.pairs[0].difference.value > 0  # type: ignore[operator]
    assert all(one.pair.difference.value < 0 for one in found.slices)  # type: ignore[operator]
    assert "one is ahead of two over all and behind within every value" in str(found)
    alike = table.filter(pl.col("kind") == "easy")
    assert "Simpson" not in str(compare(alike, systems=True, slices=("kind",)))
    turned = pl.concat([alike, table.filter(pl.col("kind") == "hard").reverse()])
    found = compare(turned, systems=True, slices=("kind",))
    assert "one is ahead of two over all and behind within every value" in str(found)


def test_a_system_with_more_answers_to_easy_questions_is_not_the_better_one() -> None:
    """Two equal systems: one lost half of its answers to the difficult questions."""
    rows = [
        {"question": f"q{n}", "answer": f"{system} {k}", "system": system, "judge": "judge",
         "verdict": n % 2 == 0 or k % 2 == 0, "label": n % 2 == 0 or k % 2 == 0}
        for n in range(60)
        for system in ("whole", "crashed")
        for k in range(2 if system == "crashed" and n % 2 else 4)
    ]  # fmt: skip
    found = compare(pl.DataFrame(rows), systems=True)
    (judged,), (labelled,) = found.pairs, found.people
    assert judged.difference.value == pytest.approx(0.0)
    assert judged.first_value.value == pytest.approx(19 / 24)
    # Of all answers, each alike, it would be 8 points.
    assert labelled.difference.value == pytest.approx(0.0, abs=1e-9)
    assert labelled.labelled == len(rows)
    assert not excludes_zero(labelled.difference.low, labelled.difference.high)
    assert "30 questions have more judged answers of one system than of another" in str(found)


def test_a_label_of_the_judgments_that_cannot_be_read_is_named_with_answers_too() -> None:
    """Those of the answers took their place, without a word."""
    judgments = [
        {"answer_id": f"a{n}", "judge": judge, "verdict": n % 2 == 0,
         "label": "perhaps" if n == 3 else "yes"}
        for n in range(30) for judge in "xy"
    ]  # fmt: skip
    answers = [
        {"id": f"a{n}", "question": f"Q{n}?", "references": ["yes"], "answer": "yes", "label": 1}
        for n in range(30)
    ]
    with pytest.raises(DataError, match=r"2 values that are not verdicts.*, or name those"):
        compare(pl.DataFrame(judgments), answers=answers)
    found = compare(pl.DataFrame(judgments), answers, answers=answers)
    assert found.pairs[0].shared == 30
