"""Statistics of verdicts against labels, and the counts that they are of."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from markscheme.agreement import agree, estimate, plan_labels
from markscheme.agreement.against_labels import agreement
from markscheme.agreement.options import AgreementOptions, AgreeOptions
from markscheme.agreement.verdicts import CELLS, cell_table, four_cells, statistics
from markscheme.results.figures import plain
from markscheme.stats import kinds
from markscheme.tables.joins import join_labels
from markscheme.tables.judgment_files import load_judgments
from markscheme.tables.labels import load_labels

pairs = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)
SKLEARN = {
    "accuracy": metrics.accuracy_score,
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "f1_positive": metrics.f1_score,
    "f1_macro": lambda y, p: metrics.f1_score(y, p, average="macro"),
    "kappa": metrics.cohen_kappa_score,
    "mcc": metrics.matthews_corrcoef,
}


@given(pairs)
def test_figures_equal_scikit_learn(rows: list[tuple[bool, bool]]) -> None:
    labels, verdicts = (np.array(side) for side in zip(*rows, strict=True))
    table = pl.DataFrame({"accepted": labels, "verdict": verdicts, "cluster": 0})
    four = four_cells(cell_table(table).sum(axis=0), "left_out")
    for name, figure in statistics(four).items():
        if figure.value is None:
            assert figure.reason
        else:
            expected = SKLEARN[name](labels, verdicts)
            assert figure.value == pytest.approx(expected, abs=1e-12)


def test_undefined_figures_say_why() -> None:
    all_rejected = statistics([0, 0, 3, 2])
    assert all_rejected["precision"].text() == "n/a (the judge accepted nothing)"
    assert all_rejected["f1_positive"].value == 0.0
    assert all_rejected["kappa"].value == 0.0
    assert all_rejected["mcc"].reason == "the judge or the labels have only one class"
    assert {figure.reason for figure in statistics([0, 0, 0, 0]).values()} == {"nothing was judged"}
    assert statistics([4, 0, 0, 0])["kappa"].reason == "the labels have only one class"


def test_what_was_not_judged_is_left_out_or_an_error() -> None:
    counts = [5, 1, 2, 4, 3, 6]
    assert four_cells(counts, "left_out").tolist() == [5, 1, 2, 4]
    assert four_cells(counts, "errors").tolist() == [5, 7, 5, 4]


ANSWERS = {
    (True, True): 0, (True, False): 1, (False, True): 2, (False, False): 3,
    (None, True): 4, (None, False): 5,
}  # fmt: skip
"""The place in `CELLS` of each verdict (None: not judged) and label."""


@given(st.lists(st.tuples(st.integers(0, 8), st.sampled_from(list(ANSWERS))), min_size=1))
def test_answers_are_counted_by_question_and_cell(
    rows: list[tuple[int, tuple[bool | None, bool]]],
) -> None:
    clusters = sorted({cluster for cluster, _ in rows})
    seen = Counter((cluster, ANSWERS[answer]) for cluster, answer in rows)
    table = pl.DataFrame(
        [(cluster, *answer) for cluster, answer in rows],
        schema={"cluster": pl.Int64, "other": pl.Boolean, "accepted": pl.Boolean}, orient="row",
    )  # fmt: skip
    found = cell_table(table, "other")
    assert found.dtype == np.int64
    assert found.tolist() == [[seen[cluster, cell] for cell in range(6)] for cluster in clusters]


@pytest.mark.parametrize(
    ("scores", "reason"),
    [([0.2, 0.4], "the labels have only one class"), ([None, None], "the judge gives no score")],
)
def test_scores_of_a_single_class_are_refused(scores: list[float | None], reason: str) -> None:
    table = pl.DataFrame(
        {"question": ["q", "r"], "answer": ["a", "b"], "verdict": [True, False], "score": scores,
         "label": [1, 1]},
        schema_overrides={"score": pl.Float64},
    )  # fmt: skip
    (found,) = agreement(join_labels(load_judgments(table.drop("label")), load_labels(table)))
    for name in ("auroc", "average_precision"):
        assert found.left_out[name].reason == reason


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 5)), min_size=1, max_size=60))
def test_kinds_keep_every_cluster(rows: list[tuple[int, int]]) -> None:
    counts = np.zeros((9, 6), dtype=np.int64)
    np.add.at(counts, tuple(np.array(rows).T), 1)
    assert counts.sum() == len(rows)
    distinct, repeats = kinds(counts)
    rebuilt = np.repeat(distinct, repeats, axis=0)
    assert sorted(map(tuple, rebuilt)) == sorted(map(tuple, counts))


def test_many_wide_clusters_are_grouped_too() -> None:
    counts = np.random.default_rng(0).integers(0, 10**12, size=(50, 6))
    distinct, repeats = kinds(np.concatenate([counts, counts]))
    assert len(distinct) == 50
    assert set(repeats) == {2}


def test_a_judge_that_was_never_wrong_still_has_an_honest_interval() -> None:
    table = pl.DataFrame(
        {
            "question": [f"q{i // 2}" for i in range(20)],
            "answer": [f"a{i}" for i in range(20)],
            "verdict": [True] * 6 + [False] * 14,
        }
    )
    labels = load_labels(table.rename({"verdict": "label"}))
    (found,) = agreement(join_labels(load_judgments(table), labels))
    accuracy, precision = found.left_out["accuracy"], found.left_out["precision"]
    assert accuracy.value == precision.value == 1.0
    # As wide as for the 10 questions and for the 3 that have accepted answers, one answer each.
    assert accuracy.low == pytest.approx(10 / (10 + 1.959964**2), abs=1e-6)
    assert precision.low == pytest.approx(0.05 ** (1 / 3), abs=1e-6)
    assert found.left_out["kappa"].low is None


@pytest.mark.parametrize(
    ("judge", "accuracy", "kappa"), [("bem", 80.6, 0.616), ("davinci", 83.8, 0.675)]
)
def test_nq301_row_level(
    nq301_labels: pl.DataFrame, judge: str, accuracy: float, kappa: float
) -> None:
    rows = nq301_labels.with_row_index("id")
    joined = join_labels(
        load_judgments(rows.drop("label"), judges=[judge]), load_labels(rows.drop("bem", "davinci"))
    )
    (found,) = agreement(joined, AgreeOptions())
    assert found.answers == 1490
    assert found.questions == 301
    figures = found.left_out
    assert round(100 * (figures["accuracy"].value or 0), 1) == accuracy
    assert round(figures["kappa"].value or 0, 3) == kappa
    for name in ("accuracy", "kappa", "f1_positive", "f1_macro", "mcc"):
        low, high = figures[name].low, figures[name].high
        assert low is not None
        assert high is not None
        assert low < (figures[name].value or 0) < high
    assert figures["auroc"].reason == "the judge gives no score"


def test_nq301_exact_match_row_level(
    nq301_labels: pl.DataFrame, nq301_answers: pl.DataFrame, exact_match: object
) -> None:
    references = nq301_answers.filter(pl.col("system") == "DPR").select("question", "references")
    rows = nq301_labels.join(references, on="question", maintain_order="left").with_row_index("id")
    verdicts = rows.with_columns(exact_match(rows).alias("em"))  # type: ignore[operator]
    joined = join_labels(load_judgments(verdicts, judges=["em"]), load_labels(rows))
    (found,) = agreement(joined)
    assert round(100 * (found.left_out["accuracy"].value or 0), 1) == 65.4
    assert round(found.left_out["kappa"].value or 0, 3) == 0.343


def test_the_former_name_of_the_options_says_the_new_one() -> None:
    with pytest.warns(DeprecationWarning, match="AgreeOptions"):
        options = AgreementOptions(by_system=True)
    assert options == AgreeOptions(by="system")


def test_scores_are_ranked_and_systems_stand_apart() -> None:
    rng = np.random.default_rng(0)
    label = rng.random(200) < 0.6
    table = pl.DataFrame(
        {
            "question": [f"q{i // 2}" for i in range(200)],
            "answer": [f"a{i}" for i in range(200)],
            "system": ["x", "y"] * 100,
            "score": np.clip(0.4 * label + rng.random(200) * 0.6, 0, 1),
            "status": ["judged"] * 190 + ["refused"] * 10,
            "label": label,
        }
    )
    joined = join_labels(load_judgments(table.drop("label")), load_labels(table))
    found = agreement(joined, AgreeOptions(by="system"))
    assert [(row.system, row.answers) for row in found] == [(None, 200), ("x", 100), ("y", 100)]
    assert found[0].not_judged == {"refused": 10}
    assert sum(found[0].counts[name] for name in CELLS[4:]) == 10
    kept = slice(0, 190)
    expected = metrics.roc_auc_score(label[kept], table["score"].to_numpy()[kept])
    auroc = found[0].left_out["auroc"]
    assert auroc.value == pytest.approx(expected)
    assert auroc.low is not None
    assert auroc.low < expected
    worse = found[0].as_errors["accuracy"].value or 0
    assert worse < (found[0].left_out["accuracy"].value or 0)
    assert plain(found[0])["left_out"]["auroc"]["value"] == pytest.approx(expected)


def test_the_intervals_of_systems_speak_of_their_own_answers() -> None:
    rows = [
        {"question": f"q{n // 2}", "answer": f"a{n}", "system": "xy"[n % 2], "judge": "j",
         "verdict": n % 5 > 0, "label": n % 4 > 0}
        for n in range(80)
    ]  # fmt: skip
    for some, count in ((rows, " 40"), (rows[:-1], "")):
        for table in agree(some, by="system").tables[:3]:
            whole, each = (line for line in table.notes if line.startswith("95% intervals"))
            assert "for further questions like these 40, counted by question, accord" in whole
            assert each.endswith(
                f" for each system: further questions like these{count}, according to the labels "
                "of its own answers"
            )
    (line,) = (one for one in agree(rows).tables[0].notes if one.startswith("95% intervals"))
    assert "each system" not in line


def test_agreement_within_slices_is_that_of_their_answers() -> None:
    """A column of the judgments divides the answers; each part has the figures of itself alone."""
    rng = np.random.default_rng(2)
    truth = rng.random(200) < 0.7
    rows = pl.DataFrame(
        {
            "question": [f"q{n // 2}" for n in range(200)],
            "answer": [f"a{n}" for n in range(200)],
            "judge": "judge",
            "verdict": truth ^ (rng.random(200) < 0.1),
            "topic": ["art" if n % 4 < 2 else "sport" for n in range(200)],
            "label": truth.astype(int),
        }
    )
    found = agree(rows, slices=("topic",))
    of_topics = found.data["slices"]["topic"]["judge"]
    for topic, one in of_topics.items():
        (alone,) = agree(rows.filter(topic=topic)).judges
        assert one == alone
    assert list(of_topics) == ["art", "sport"]
    (table,) = (one for one in found.tables if one.title == "Agreement by topic")
    assert "for each topic: further questions like these" in " ".join(table.notes)


def test_scores_of_another_scale_that_all_pass_the_threshold_are_named(tmp_path: Path) -> None:
    table = pl.DataFrame(
        [
            {"question": f"q{n}", "answer": "a", "judge": "pct", "score": 5 + n % 20 * 5}
            | {"label": int(n % 20 > 9)}
            for n in range(60)
        ]
    )
    table.write_csv(tmp_path / "pct.csv")
    note = "'pct' accepts every answer with a score, from 5 to 100: .*--threshold"
    for command in (agree, estimate):
        assert re.search(note, str(command(tmp_path / "pct.csv")))
        assert "accepts every answer" not in str(command(tmp_path / "pct.csv", threshold=55))
    low = table.with_columns(pl.col("score") / 100)
    assert "accepts every answer" not in str(agree(low))


def test_errors_have_the_references_that_are_in_the_judged_table(tmp_path: Path) -> None:
    rows = [
        {"question": f"q{n}", "gold": f"right {n}", "answer": "a", "verdict": True, "label": n > 3}
        for n in range(20)
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "all.csv")
    found = agree(tmp_path / "all.csv", columns={"references": "gold"})
    assert found.errors is not None
    assert found.errors["references"].to_list() == [f"right {n}" for n in range(4)]
    assert "right 2" in str(found)
    apart = pl.DataFrame(rows).with_columns(answer_id=pl.int_range(20))
    known = apart.select("answer_id", "question", "answer", "label")
    judged = apart.select("answer_id", "verdict", references="gold")
    assert agree(judged, known).joined.labelled == 20  # Whose references these are is not known.
    either = apart.drop("answer_id").with_columns(expected=pl.lit("e"))
    for frame in (agree(either).errors, plan_labels(either.drop("label"), count=10).frame):
        assert frame is not None
        assert "references" not in frame.columns  # Two columns may be.
