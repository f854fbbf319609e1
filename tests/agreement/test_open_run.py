"""Whatever judged answers come as, every function says the same of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import markscheme
from markscheme.agreement import open_run
from markscheme.errors import DataError

JUDGES = ("contains", "token_f1")
SOURCES = ("run", "judgments file", "result", "opened", "apart", "pandas", "rows")

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "agree": markscheme.agree,
    "compare": markscheme.compare,
    "compare systems": lambda s, **k: markscheme.compare(s, systems=True, judges="contains", **k),
    "estimate": lambda s, **k: markscheme.estimate(s, judge="contains", **k),
    "rank": markscheme.rank,
    "calibrate": lambda s, **k: markscheme.calibrate(s, judge="token_f1", **k),
    "cascade": lambda s, **k: markscheme.choose_cascade(
        s, first="token_f1", then="contains", calls=0.6, **k
    ),
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
