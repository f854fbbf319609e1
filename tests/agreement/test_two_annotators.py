"""Labels of two people: what counts, what is tied, and that the layout of the file is no matter."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import markscheme
from markscheme.agreement import agree, closest_judges, compare, estimate, plan_labels
from markscheme.agreement.verdicts import statistics
from markscheme.errors import AgreementError

QUESTIONS, EACH = 40, 2


def world() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Verdicts of five judges, the best last, and labels of two people, who differ on 8 of 80."""
    rng = np.random.default_rng(5)
    truth = rng.random(QUESTIONS * EACH) < 0.6
    ids = [f"a{n}" for n in range(len(truth))]
    texts = {"answer_id": ids, "question": [f"q{n // EACH}" for n in range(len(truth))]}
    right = {"worst": 0.4, "bad": 0.5, "fair": 0.6, "good": 0.7, "best": 1.0}
    judgments = pl.concat(
        pl.DataFrame(
            texts
            | {
                "answer": ids,
                "judge": name,
                "verdict": truth ^ (np.arange(len(truth)) % 10 >= 10 * share),
            }
        )
        for name, share in right.items()
    )
    second = truth ^ (np.arange(len(truth)) % 10 == 0)
    people = {"annotator1": truth.astype(int), "annotator2": second.astype(int)}
    return judgments, pl.DataFrame(texts | people)


def test_of_many_judges_the_best_lead() -> None:
    found = agree(*world())
    names = [line.split()[0] for line in found.lead]
    assert names[:3] == ["best", "good", "fair"]
    assert (
        found.lead[-1]
        == "2 more judges are no closer to the labels (Cohen's kappa); the tables have them"
    )
    used = [one for one in found.tables if one.title == "What the judge may be used for"]
    assert [one.header[0].split(",")[0] for one in used] == names[:3]


def test_a_judge_that_accepts_everything_or_judges_little_does_not_lead() -> None:
    right = np.arange(100) >= 5
    verdicts: dict[str, Any] = {
        "yes": [True] * 100,
        "shy": [*[None] * 5, *right[5:15], *[None] * 85],
        "reader": right & (np.arange(100) < 94),
    }
    rows = pl.concat(
        pl.DataFrame({
            "answer_id": [f"a{n}" for n in range(100)], "judge": judge,
            "verdict": pl.Series(list(said), dtype=pl.Boolean), "label": right.astype(int),
        })
        for judge, said in verdicts.items()
    )  # fmt: skip
    found = agree(rows)
    accuracy = {one.judge: one.left_out["accuracy"].value or 0.0 for one in found.judges}
    assert accuracy["shy"] > accuracy["yes"] > accuracy["reader"]
    assert [one.judge for one in closest_judges(found.judges)] == ["reader", "yes", "shy"]
    assert [line.split()[0] for line in found.lead[:3]] == ["reader", "yes", "shy"]
    assert "on 100% (72 to 100) of the 10 of 100 answers that it judged" in found.lead[2]
    of_one_class = agree(rows.filter(pl.col("answer_id").is_in([f"a{n}" for n in range(90, 100)])))
    assert closest_judges(of_one_class.judges)[0].judge == "yes"


def test_errors_are_of_the_labels_that_count_and_of_one_persons() -> None:
    judgments, labels = world()
    (line,) = (one for one in agree(judgments, labels).lead if "pairs of labels" in one)
    assert "people differ on 10.0% of 80 pairs of labels: about 5.3% of one" in line
    assert "of the majority's, which count here; corrected for these errors: " in line


def test_tied_answers_bound_the_figures() -> None:
    judgments, labels = world()
    found = agree(judgments, labels)
    (line,) = (one for one in found.lead if "tie" in one)
    assert line.startswith(
        "if annotators' ties (8) were all decided against the judge, or for it: best 90.0 to 100.0%"
    )
    assert found.data["tied"] == [{"answer_id": f"a{n}"} for n in range(0, 80, 10)]
    estimated = estimate(judgments, labels, judge="best")
    (note,) = (one for one in estimated.estimates[0].notes if "ties" in one)
    low, high = (
        estimate(judgments, decided, judge="best").estimates[0].figure
        for decided in (
            labels.select("answer_id", label=pl.min_horizontal("annotator1", "annotator2")),
            labels.select("answer_id", label=pl.max_horizontal("annotator1", "annotator2")),
        )
    )
    assert low is not None
    assert high is not None
    assert f"the figure is {100 * low.value:.1f} to {100 * high.value:.1f}%" in note  # type: ignore[operator]
    assert sum("annotators are tied" in one for one in estimated.tables[0].notes) == 1
    assert [one["answer_id"] for one in estimated.data["tied"]] == [
        f"a{n}" for n in range(0, 80, 10)
    ]


def test_tied_answers_bound_the_figures_of_each_system() -> None:
    judgments, labels = world()
    system = pl.when(pl.int_range(pl.len()) % 4 < 2).then(pl.lit("even")).otherwise(pl.lit("odd"))
    judgments, labels = (one.with_columns(system=system) for one in (judgments, labels))
    found = estimate(judgments, labels, judge="best", by="system")
    (note,) = (one for one in found.estimates[0].notes if "ties" in one)
    for one in found.estimates[1:]:
        low, high = re.search(rf"{one.system} ([\d.]+) to ([\d.]+)%", note).groups()  # type: ignore[union-attr]
        assert one.figure is not None
        assert float(low) <= 100 * one.figure.value <= float(high)  # type: ignore[operator]
        assert float(low) < float(high)


def test_ties_of_answers_that_were_not_judged_count_nowhere(tmp_path: Path) -> None:
    judgments, labels = world()
    judgments = judgments.filter(pl.col("judge") == "best")
    decided = labels.filter(pl.col("annotator1") == pl.col("annotator2"))
    other = {"answer_id": "x", "question": "of another run", "annotator1": 1, "annotator2": 0}
    file = tmp_path / "labels.csv"
    pl.concat([decided, pl.DataFrame(other)]).write_csv(file)
    for command in (agree, estimate):
        found = command(judgments, file)
        assert "tied" not in found.data
        assert "annotators' ties" not in str(found)


def test_every_command_says_the_same_of_the_labels(tmp_path: Path) -> None:
    judgments, labels = world()
    system = pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.lit("even")).otherwise(pl.lit("odd"))
    judgments = judgments.filter(pl.col("judge") == "best").with_columns(system=system)
    others = labels.head(3).with_columns(pl.col("answer_id", "question") + "?")
    words = pl.when(pl.int_range(pl.len()) == 1).then(pl.lit("?")).otherwise("annotator1")
    file = tmp_path / "labels.csv"
    pl.concat([labels, others]).with_columns(words.alias("annotator1")).write_csv(file)
    for found in (
        agree(judgments, file),
        estimate(judgments, file),
        compare(judgments, file, systems=True),
        plan_labels(judgments, pilot=file, count=4),
    ):
        said = " ".join(str(found).split())
        assert "8 labelled answers are left out, as their annotators are tied" in said
        # One of the others' labels is of a tie, and none.
        assert "2 labels are of other answers, and left out" in said
        assert "label '?' of 'annotator1' is read as no label (1 row)" in said


@pytest.mark.parametrize("names", [("annotator1", "annotator2"), ("Ann", "Ben")])
def test_a_label_that_is_decided_where_annotators_differ_leaves_the_others_theirs(
    names: tuple[str, str], tmp_path: Path
) -> None:
    """In a file of labels, in the judged file, in the run, and in the column of the summary."""
    judgments, people = world()
    known = people.filter(pl.col("annotator1") == pl.col("annotator2"))["answer_id"].implode()
    labels = people.with_columns(
        label=pl.when(~pl.col("answer_id").is_in(known)).then("annotator2"), answer="answer_id",
        references=pl.when(pl.col("annotator2") == 1).then("answer_id").otherwise(pl.lit("x")),
    ).rename(dict(zip(("annotator1", "annotator2"), names, strict=True)))  # fmt: skip
    file = tmp_path / "answers.csv"
    labels.write_csv(file)
    columns = {f"annotator{n}": name for n, name in enumerate(names, 1)}
    result = markscheme.judge(file, "exact_match", columns=columns, out=tmp_path / "run")
    assert "(80)" in str(result)
    for found in (
        agree(judgments, file, columns=columns),
        agree(result),
        agree(tmp_path / "run"),
        agree(tmp_path / "run", file, columns=columns),
        estimate(tmp_path / "run"),
    ):
        assert "tied" not in found.data
        assert "empty label" not in str(found)
    figures = (estimate(tmp_path / "run"), estimate(judgments, file, judge="best", columns=columns))
    assert [one.estimates[0].labelled for one in figures] == [80, 80]
    assert agree(tmp_path / "run").judges[0].left_out["accuracy"].value == 1.0


def test_what_a_labelling_project_left_empty_stays_so(tmp_path: Path) -> None:
    """Nobody could tell, or the third person has not seen the answer yet."""
    judgments, people = world()
    votes = [[1, 1, None] if n < 3 else [1, 1, 1] for n in range(80)]
    export = people.select("answer_id").with_columns(
        label=pl.Series([None if n < 3 else 1 for n in range(80)]),
        annotator_labels=pl.Series(votes), annotators=pl.lit(["Ann", "Ben", "Kim"]),
    )  # fmt: skip
    file = tmp_path / "labels.jsonl"
    export.write_ndjson(file)
    (found,) = estimate(judgments, file, judge="best").estimates
    assert found.labelled == 77
    said = " ".join(str(agree(judgments, file)).split())
    assert "tied" not in said
    assert "3 answers have an empty label although their annotators agree" in said


def test_without_ties_nothing_is_said_of_them() -> None:
    judgments, labels = world()
    same = labels.with_columns(annotator2="annotator1")
    found = agree(judgments, same)
    assert "tied" not in found.data
    assert not any("tie" in line for line in found.lead)


def test_one_annotators_labels_may_count_and_the_others_show_their_errors() -> None:
    judgments, labels = world()
    (found,) = estimate(judgments, labels, judge="best", label_column="annotator1").estimates
    assert found.labelled == 80
    assert found.label_noise is not None
    assert found.label_noise.pairs == 80
    assert found.label_noise.single is None
    assert (
        "about 5.3% (2.4 to 11.4) of one person's labels, which count here, are wrong"
        in found.notes[-1]
    )


def test_a_row_an_annotator_gives_the_interval_of_a_column_an_annotator() -> None:
    judgments, labels = world()
    long = labels.unpivot(
        index="answer_id", on=["annotator1", "annotator2"], variable_name="annotator",
        value_name="label",
    )  # fmt: skip
    noises = [
        estimate(judgments, one, judge="best").estimates[0].label_noise for one in (labels, long)
    ]
    assert noises[0] == noises[1]
    agreed = [agree(judgments, one, annotators=True) for one in (labels, long)]
    assert agreed[0].data["label_noise"] == agreed[1].data["label_noise"]
    alphas = [one.data["annotators"]["krippendorff_alpha"] for one in agreed]
    assert alphas[0] == alphas[1]


def test_a_row_an_annotator_is_weighed_by_the_chance_of_its_answer(tmp_path: Path) -> None:
    """A plan by system draws few answers of a large one: copies of two people, one below the other,
    give the figure of a column an annotator."""
    judgments, labels = world()
    large = pl.int_range(pl.len()) < 20
    names = pl.when(large).then(pl.lit("large")).otherwise(pl.lit("small"))
    judgments = judgments.filter(pl.col("judge") == "best").with_columns(system=names)
    labels = labels.with_columns(
        system=names, stratum=names, inclusion_probability=pl.when(large).then(0.05).otherwise(0.5)
    ).drop("question")
    long = labels.unpivot(
        index=["answer_id", "system", "stratum", "inclusion_probability"],
        on=["annotator1", "annotator2"], variable_name="annotator", value_name="label",
    )  # fmt: skip
    figures = []
    for table, file in ((labels, tmp_path / "wide.csv"), (long, tmp_path / "long.csv")):
        table.write_csv(file)
        figures.append(estimate(judgments, file).estimates[0].figure)
        assert "drawn with unequal chances" in str(agree(judgments, file))
    assert figures[0] == figures[1]
    unweighed = estimate(judgments, long.drop("inclusion_probability")).estimates[0].figure
    assert figures[0] != unweighed


@pytest.mark.parametrize("cells", [[5, 0, 3, 0], [0, 4, 0, 2], [4, 0, 0, 0]])
def test_kappa_of_one_class_is_undefined(cells: list[int]) -> None:
    found = statistics(cells)
    assert found["kappa"].reason == "the labels have only one class"
    assert found["mcc"].value is None


def test_labels_that_are_all_alike_have_no_standard_error() -> None:
    judgments, labels = world()
    ones = labels.select("answer_id", label=1).head(18)
    (found,) = estimate(judgments, ones, judge="best").estimates
    assert found.figure is not None
    assert found.figure.value == 1.0
    assert found.figure.low is not None
    assert found.figure.low < 1.0
    assert found.estimates[-1].standard_error is None


def test_a_judge_without_scores_does_not_stop_correlations() -> None:
    judgments, labels = world()
    scored = judgments.filter(pl.col("judge").is_in(["best", "good"])).with_columns(
        verdict=pl.when(pl.col("judge") == "best").then("verdict"),
        score=pl.when(pl.col("judge") == "best").then(pl.col("verdict").cast(pl.Float64)),
    )
    truth = labels.select("answer_id", label="annotator1")
    found = agree(scored, truth, per_question=True)
    assert list(found.data["per_question"]) == ["best"]
    notes = " ".join(note for table in found.tables for note in table.notes)
    assert "good is left out: there is no question in which" in notes
    assert "(0 of 80 answers have a score)" in notes
    none = scored.filter(pl.col("judge") == "good")
    with pytest.raises(AgreementError, match="good: there is no question"):
        agree(none, truth, per_question=True)
