"""Errors of those who label, in `estimate` and `agree`: from overlap, supposed, or not known."""

from __future__ import annotations

from pathlib import Path
from typing import get_type_hints

import numpy as np
import polars as pl
import pytest

from markscheme.agreement import agree, estimate
from markscheme.agreement.options import EstimateOptions
from markscheme.agreement.people_errors import label_noise, undone
from markscheme.errors import AgreementError, DataError
from markscheme.results import Figure
from markscheme.stats import LabelNoise
from markscheme.tables import load_labels

ANSWERS = 1500


def world(wrong: float = 0.06) -> tuple[pl.DataFrame, pl.DataFrame, float, float]:
    """Judgments, labels of 400 answers by two people, the true accuracy, and the judge's."""
    rng = np.random.default_rng(8)
    truth = rng.random(ANSWERS) < 0.9
    said = truth ^ (rng.random(ANSWERS) < 0.05)
    ids = [f"a{n}" for n in range(ANSWERS)]
    judgments = pl.DataFrame(
        {"answer_id": ids, "question": ids, "answer": ids, "judge": "judge", "verdict": said}
    )
    first, second = (truth ^ (rng.random(ANSWERS) < wrong) for _ in range(2))
    labels = pl.DataFrame(
        {"answer_id": ids, "label": first.astype(int), "annotator1": first.astype(int),
         "annotator2": second.astype(int)}
    ).sample(400, seed=1)  # fmt: skip
    return judgments, labels, float(truth.mean()), float((said == truth).mean())


def test_an_estimate_undoes_the_errors_that_overlap_shows() -> None:
    judgments, labels, accuracy, _ = world()
    part = pl.int_range(pl.len()) < 200
    single = labels.with_columns(annotator2=pl.when(part).then("annotator2"))
    (found,) = estimate(judgments, single).estimates
    assert found.label_noise is not None
    assert found.label_noise.pairs == 200
    # The second person's labels decide nothing: the first one's count, with all their errors.
    assert found.label_noise.low < 0.06 < found.label_noise.high
    assert found.figure is not None
    assert found.figure.high < accuracy  # type: ignore[operator]
    assert found.without_noise is not None
    assert found.without_noise.low < accuracy < found.without_noise.high  # type: ignore[operator]
    assert "200 pairs of labels: about" in found.notes[-1]


def test_labels_that_two_people_agree_on_are_hardly_ever_wrong() -> None:
    judgments, labels, accuracy, _ = world()
    agreed = labels.drop("label")  # the majority of two: null where they differ
    (found,) = estimate(judgments, agreed).estimates
    assert found.label_noise is not None
    assert found.label_noise.rate < 0.01
    assert found.without_noise is not None
    assert found.without_noise.value == pytest.approx(accuracy, abs=0.03)


def test_errors_are_undone_as_supposed() -> None:
    judgments, labels, accuracy, agreement = world()
    alone = labels.select("answer_id", "label")
    (found,) = estimate(judgments, alone, label_errors=0.06).estimates
    assert estimate(judgments, alone, label_errors="6%").estimates == (found,)
    assert found.without_noise is not None
    assert found.without_noise.low <= accuracy <= found.without_noise.high  # type: ignore[operator]
    assert "assuming that 6.0% of labels are wrong" in found.notes[-1]
    agreed = agree(judgments, alone, label_errors=0.06)
    assert "corrected for these errors: " in agreed.lead[-1]
    assert agreed.lead[-1].endswith("; intervals by wilson")
    share = float(agreed.lead[-1].rpartition(": ")[2].partition("%")[0]) / 100
    assert share == pytest.approx(agreement, abs=0.02)
    assert agreed.judges[0].left_out["accuracy"].value < agreement - 0.03  # type: ignore[operator]


def test_without_overlap_an_estimate_is_what_the_labellers_say() -> None:
    judgments, labels, _, _ = world()
    (found,) = estimate(judgments, labels.select("answer_id", "label")).estimates
    assert found.label_noise is None
    assert found.notes[-1].startswith("according to these labellers: ")
    few = labels.with_columns(annotator2=pl.when(pl.int_range(pl.len()) < 19).then("annotator2"))
    (found,) = estimate(judgments, few).estimates
    assert found.label_noise is None
    differ = few.filter(pl.col("annotator1") != pl.col("annotator2")).height
    assert found.notes[-1].startswith(
        "according to these labellers: "
        f"19 answers were labelled twice ({differ} differ); 20 are needed"
    )
    third = few.with_columns(annotator3=pl.when(pl.int_range(pl.len()) < 6).then("annotator1"))
    few_pairs = third.with_columns(
        annotator2=pl.when(pl.int_range(pl.len()) < 6).then("annotator2")
    )
    (found,) = estimate(judgments, few_pairs).estimates
    assert "18 pairs of labels are of the same answers (" in found.notes[-1]


def test_a_share_that_so_many_wrong_labels_cannot_give_is_unknown() -> None:
    noise = LabelNoise(rate=0.2, low=0.2, high=0.2)
    for value, low, high in ((0.97, 0.9, 0.99), (0.03, 0.01, 0.1)):
        found = undone(Figure(value=value, low=low, high=high, method="wilson"), noise)
        assert found.value is None
        assert str(found.reason).startswith("20% wrong labels do not fit a share of ")
    assert undone(Figure(value=0.85, low=0.75, high=0.9, method="wilson"), noise).value == 1.0


def test_a_share_of_wrong_labels_that_cannot_be_is_refused() -> None:
    judgments, labels, _, _ = world()
    with pytest.raises(AgreementError, match=r"share of wrong labels of 0\.6 is out of range"):
        estimate(judgments, labels, label_errors=0.6)


def gold_file(folder: Path, *, missed: float, let_in: float, each: int = 200) -> Path:
    """Labels of gold items, `each` right and as many wrong."""
    right, wrong = (np.arange(each) < round(rate * each) for rate in (missed, let_in))
    file = folder / "gold.csv"
    pl.DataFrame(
        {"question": [f"g{n}" for n in range(2 * each)],
         "label": [*(~right).astype(int), *wrong.astype(int)], "gold": [1] * each + [0] * each}
    ).write_csv(file)  # fmt: skip
    return file


def test_errors_are_undone_by_gold_items(tmp_path: Path) -> None:
    """6% of right answers and 20% of wrong ones get a wrong label, and one rate is not enough."""
    judgments, _, accuracy, agreement = world()
    rng = np.random.default_rng(3)
    truth = np.random.default_rng(8).random(ANSWERS) < 0.9  # as `world` draws it
    label = np.where(truth, rng.random(ANSWERS) >= 0.06, rng.random(ANSWERS) < 0.2).astype(int)
    labels = judgments.select("answer_id").with_columns(label=pl.Series(label))
    gold = gold_file(tmp_path, missed=0.06, let_in=0.2)
    (found,) = estimate(judgments, labels, label_errors=gold).estimates
    assert found.label_noise is not None
    assert found.label_noise.of_wrong.rate == pytest.approx(0.2)
    assert found.without_noise is not None
    assert found.without_noise.value == pytest.approx(accuracy, abs=0.015)
    assert found.without_noise.low <= accuracy <= found.without_noise.high  # type: ignore[operator]
    assert "by 400 labels of gold items, about 6.0% (" in found.notes[-1]
    agreed = agree(judgments, labels, label_errors=str(gold))
    share = float(agreed.lead[-1].rpartition(": ")[2].partition("%")[0]) / 100
    assert share == pytest.approx(agreement, abs=0.02)
    (said,) = [one for one in agreed.fitness[0].sentences if "without the wrong ones" in one]
    assert "(6.0% of right answers', 20.0% of wrong ones')" in said
    several = labels.with_columns(annotator1="label", annotator2="label", annotator3="label")
    (majority,) = estimate(judgments, several, label_errors=gold).estimates
    assert majority.label_noise is not None
    assert majority.label_noise.single == pytest.approx(0.06)
    assert majority.label_noise.rate < 0.02
    assert "of the labels that a majority decides" in majority.notes[-1]


def test_answers_without_a_question_are_questions_of_their_own(tmp_path: Path) -> None:
    """They counted as one question in the errors of labels, and apart in agreement."""
    judgments, labels, _, _ = world()
    named = labels.with_columns(question="answer_id")
    half = pl.int_range(pl.len()) % 2 == 0
    lacking = named.with_columns(question=pl.when(half).then("question"))
    alone, apart = (
        agree(judgments, one, annotators=True, label_column="annotator1")
        for one in (named, lacking)
    )
    assert apart.data["label_noise"] == alone.data["label_noise"]
    assert apart.data["annotators"]["questions"] == 400
    gold = gold_file(tmp_path, missed=0.06, let_in=0.2)
    blank = tmp_path / "blank.csv"
    pl.read_csv(gold).with_columns(question=pl.when(half).then("question")).write_csv(blank)
    (by_whole,), (by_blank,) = (
        estimate(judgments, labels, label_errors=file, label_column="annotator1").estimates
        for file in (gold, blank)
    )
    assert by_whole.label_noise is not None
    assert by_blank.label_noise == by_whole.label_noise


def test_an_end_that_is_cut_off_is_named(tmp_path: Path) -> None:
    judgments, labels, _, _ = world()
    alone = labels.select("answer_id", "label")
    gold = gold_file(tmp_path, missed=0.34, let_in=0.1, each=12)
    (found,) = estimate(judgments, alone, label_errors=gold).estimates
    assert found.label_noise is not None
    assert (found.label_noise.high, found.label_noise.capped) == (0.4, True)
    assert found.label_noise.of_wrong.capped is False
    cut = "to 40.0; cut off there: more wrong labels are not corrected for) of the labels of right"
    assert cut in found.notes[-1]
    assert found.notes[-1].count("cut off") == 1


def test_a_share_of_wrong_labels_may_be_in_percent() -> None:
    hints = get_type_hints(EstimateOptions, include_extras=True)
    parse = hints["label_errors"].__metadata__[0].parse
    assert [parse(text) for text in ("5%", "0.05", "gold%.csv", "5%x")] == [
        0.05, 0.05, "gold%.csv", "5%x",
    ]  # fmt: skip


def test_gold_items_that_do_not_show_it_are_named(tmp_path: Path) -> None:
    judgments, labels, _, _ = world()
    alone = labels.select("answer_id", "label")
    few = gold_file(tmp_path, missed=0, let_in=0, each=9)
    (found,) = estimate(judgments, alone, label_errors=few).estimates
    assert found.label_noise is None
    assert f"{few} has 9 labels of right and 9 of wrong gold items; 10 of either" in found.notes[-1]
    many = gold_file(tmp_path, missed=0, let_in=0.5)
    (found,) = estimate(judgments, alone, label_errors=many).estimates
    assert "50% of the labels of wrong gold items are wrong, too many" in found.notes[-1]
    alone.write_csv(tmp_path / "labels.csv")
    with pytest.raises(DataError, match="has no column 'gold': labels of gold items"):
        estimate(judgments, alone, label_errors=tmp_path / "labels.csv")


def test_somebody_whom_most_never_outvote_is_one_of_them() -> None:
    """A majority of three is seldom wrong, whoever of them happens to be in every majority."""
    _, labels, _, _ = world()
    third = labels.with_columns(annotator3="label").drop("label")
    noise = label_noise(load_labels(third))
    assert isinstance(noise, LabelNoise)
    assert noise.single is not None
    assert noise.rate < noise.single / 4
