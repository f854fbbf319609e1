"""Whatever judged answers come as, every function says the same of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.agreement import open_run
from markscheme.analysis import answer_of
from markscheme.errors import AgreementError, DataError
from markscheme.tables import opaque_ids

JUDGES = ("contains", "token_f1")
SOURCES = ("run", "judgments file", "result", "opened", "apart", "pandas", "rows")

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "agree": markscheme.agree,
    "compare": markscheme.compare,
    "compare systems": lambda s, **k: markscheme.compare(s, systems=True, judges="contains", **k),
    "estimate": lambda s, **k: markscheme.estimate(s, judge="contains", **k),
    "rank": markscheme.rank,
    "calibrate": lambda s, **k: markscheme.calibrate(s, judge="token_f1", **k),
    "failures": markscheme.failures,
    "failures rejected": lambda s, **k: markscheme.failures(s, rejected=True, **k),
    "plan_labels": lambda s, **k: markscheme.plan_labels(s, judge="contains", count=20, **k),
}


@pytest.fixture(scope="module")
def sources(example: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, Any]]:
    """The bundled example, judged, with labels: what is given by name, and the answers apart."""
    folder = tmp_path_factory.mktemp("sources") / "run"
    result = markscheme.judge(example, JUDGES, out=folder)
    judgments, answers = result.judgments, result.answers
    return {
        "run": (folder, None),
        "judgments file": (folder / "judgments.parquet", None),
        "result": (result, None),
        "opened": (open_run(folder), None),
        "apart": (judgments, answers),
        "pandas": (judgments.to_pandas(), answers.to_pandas()),
        "rows": (judgments.to_dicts(), answers.to_dicts()),
    }


@pytest.mark.parametrize("source", SOURCES[1:])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_says_the_same_of_every_source(
    name: str, source: str, sources: dict[str, tuple[Any, Any]]
) -> None:
    of_run = FUNCTIONS[name](sources["run"][0])
    given, answers = sources[source]
    apart = {} if answers is None else {"answers": answers}
    if apart and name not in ("plan_labels", "failures rejected"):
        apart["labels"] = answers
    found = FUNCTIONS[name](given, **apart)
    assert found.to_json() == of_run.to_json()


def test_the_parts_of_a_source(sources: dict[str, tuple[Any, Any]], example: Path) -> None:
    run = open_run(sources["run"][0])
    assert run.table.height == 2 * run.answers.height
    assert not run.is_answers
    assert run.labels() is run.stored_answers
    bare = open_run(example)
    assert bare.is_answers
    assert bare.stored_answers is None
    assert bare.answers.equals(run.answers.select(bare.answers.columns))


def test_an_answer_whose_references_are_patterns_has_no_explanation(tmp_path: Path) -> None:
    row = {"question": "When did it open?", "references": [r"\b19[67]5\b"], "answer": "In 1975.",
           "reference_kind": "regex", "id": "one"}  # fmt: skip
    markscheme.judge([row], "regex", out=tmp_path / "run")
    with pytest.raises(AgreementError, match="references of answer one are patterns"):
        answer_of(str(tmp_path / "run"), "one")


def test_tied_annotators_are_named_wherever_their_answers_are_left_out() -> None:
    rows = [
        {"question": f"q{n // 2}", "references": ["a"], "answer": "a" if n % 3 else "b",
         "system": ("one", "two")[n % 2], "annotator1": 1, "annotator2": int(n % 5 > 0)}
        for n in range(60)
    ]  # fmt: skip
    labels = [{key: value for key, value in row.items() if key != "references"} for row in rows]
    result = markscheme.judge(rows, "contains")
    said = "12 labelled answers are left out, as their annotators are tied"
    for found in (
        markscheme.estimate(result, labels),
        markscheme.compare(result, labels, systems=True),
        markscheme.failures(result, labels),
    ):
        assert said in " ".join(str(found).split())


def test_labels_are_found_wherever_they_are(example: Path, tmp_path: Path) -> None:
    """With the judgments, with the judged answers, or in the run that is named twice."""
    result = markscheme.judge(example, "contains", out=tmp_path / "run")
    rows, answers = result.judgments, result.answers
    markscheme.judge(answers.drop("label", "annotator_labels"), "contains", out=tmp_path / "bare")
    known = answers.select("answer_id", "question", "answer", "label")
    within = rows.join(known, on="answer_id")
    wanted: dict[str, dict[str, Any]] = {
        "agree": {}, "estimate": {}, "calibrate": {}, "compare": {"systems": True}
    }  # fmt: skip
    for name, how in wanted.items():
        command = getattr(markscheme, name)
        figures = command(result, **how).frame
        for found in (
            command(rows, answers=answers, **how),
            command(within, answers=answers.drop("label", "annotator_labels"), **how),
            command(within, **how),
            command(tmp_path / "run", tmp_path / "run", **how),
            command(tmp_path / "bare", answers=answers, **how),
        ):
            assert found.frame.equals(figures), name
        bare = answers.drop("label", "annotator_labels")
        if name == "compare":
            assert not command(rows, answers=bare, **how).people
        else:
            with pytest.raises(DataError, match="the labels have no column 'label'"):
                command(rows, answers=bare, **how)
    verdicts = within.select("question", "answer", "system", correct="verdict")
    found = markscheme.compare(verdicts, systems=True)  # A column that may be either is a verdict.
    assert not found.people
    assert found.pairs == markscheme.compare(rows, answers=bare, systems=True).pairs


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    """Answers with the labels of two people, in columns of their names; two cells are `?`."""
    rows = ["id,question,gold,output,rater_A,rater_B"]
    for n in range(30):
        first = "?" if n in (3, 8) else str(int(n % 4 != 0))
        rows.append(f"a{n},q{n},x{n},{f'x{n}' if n % 3 else 'y'},{first},{int(n % 5 != 0)}")
    (tmp_path / "rated.csv").write_text("\n".join([*rows, ""]))
    return tmp_path / "rated.csv"


RATERS = {
    "references": "gold",
    "answer": "output",
    "annotator1": "rater_A",
    "annotator2": "rater_B",
}
ONE = {"references": "gold", "answer": "output", "label": "rater_A"}


def test_words_that_are_no_label_are_counted_by_the_run_and_said_of_it_later(rated: Path) -> None:
    for columns, said in (
        (RATERS, "label '?' of 'rater_A' is read as no label"),
        (ONE, "label '?' is read as no label"),
    ):
        folder = rated.parent / said[:14]
        result = markscheme.judge(rated, "contains", columns=columns, out=folder)
        assert list(result.run.no_labels.values()) == [2]
        for source in (result, folder):
            for statistic in (markscheme.agree, markscheme.estimate):
                assert f"{said} (2 rows)" in str(statistic(source))


def test_annotators_are_called_as_their_columns_are(rated: Path) -> None:
    folder = rated.parent / "run"
    result = markscheme.judge(rated, "contains", columns=RATERS, out=folder)
    for found in (
        markscheme.agree(result, annotators=True),
        markscheme.agree(folder, annotators=True),
        markscheme.agree(folder, rated, columns=RATERS, annotators=True),
    ):
        assert "rater_A" in str(found)
        assert "annotator1" not in str(found)


def test_contradictory_labels_are_named_by_the_ids_of_the_labelling_file(rated: Path) -> None:
    result = markscheme.judge(rated, "contains", columns=ONE)
    table = result.answers.select("answer_id", "label").drop_nulls().head(20)
    opaque = table.with_columns(opaque_ids(table["answer_id"]))
    torn = pl.concat([opaque, opaque.head(1).with_columns(label=1 - pl.col("label"))])
    with pytest.raises(AgreementError, match=f"contradictory labels: '{opaque['answer_id'][0]}'"):
        markscheme.agree(result, torn)


def test_an_answer_to_explain_is_found_by_the_id_of_a_labelling_file(rated: Path) -> None:
    folder = rated.parent / "run"
    result = markscheme.judge(rated, "contains", columns=ONE, out=folder)
    (opaque,) = opaque_ids(result.answers["answer_id"].head(1))
    assert answer_of(str(folder), opaque) == answer_of(str(folder), "a0")
