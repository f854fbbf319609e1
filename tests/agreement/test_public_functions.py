"""The statistics as functions: what a command prints is what the function of its name returns."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import markscheme
from markscheme import agreement
from markscheme.agreement import AgreeOptions
from markscheme.analysis import DiffOptions
from markscheme.cli import run
from markscheme.errors import DataError, MarkschemeError, UnknownNameError
from markscheme.results import TableResult

JUDGES = ["exact_match", "token_f1", "contains", "entailment"]
STATISTICS = (
    "agree", "calibrate", "compare", "estimate", "plan_labels", "rank",
)  # fmt: skip

Call = Callable[[Any, Path], TableResult]

CASES: dict[str, tuple[list[str], Call]] = {
    "agree": (
        ["--by", "system", "--annotators", "--per-question"],
        lambda judged, _: markscheme.agree(
            judged, by="system", annotators=True, per_question=True
        ),
    ),
    "compare": (
        ["--judge", "exact_match,contains", "--statistic", "kappa"],
        lambda judged, _: markscheme.compare(
            judged, judges=("exact_match", "contains"), statistic="kappa"
        ),
    ),
    "compare --systems": (
        ["--systems", "--judge", "contains", "--only", "terse,parrot"],
        lambda judged, _: markscheme.compare(
            judged, systems=True, judges="contains", only=["terse", "parrot"]
        ),
    ),
    "rank": (
        ["--baseline", "contains"],
        lambda judged, _: markscheme.rank(judged, baseline="contains"),
    ),
    "estimate": (
        ["--judge", "token_f1", "--by-system", "--labels", "EXAMPLE"],
        lambda judged, labels: markscheme.estimate(judged, labels, judge="token_f1", by="system"),
    ),
    "plan-labels": (
        ["--judge", "token_f1", "--half-width", "0.08"],
        lambda judged, _: markscheme.plan_labels(
            judged, judge="token_f1", half_width=0.08
        ),
    ),
    "calibrate": (
        ["--judge", "token_f1", "--criterion", "f1_macro", "--bins", "5"],
        lambda judged, _: markscheme.calibrate(
            judged, judge="token_f1", criterion="f1_macro", bins=5
        ),
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(example: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("functions") / "run"
    markscheme.judge(example, JUDGES, out=place)
    return place


@pytest.fixture(scope="module")
def result(example: Path) -> markscheme.Result:
    return markscheme.judge(example, JUDGES)


def printed(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    code = run([str(one) for one in arguments])
    out, err = capsys.readouterr()
    assert code == 0, err
    return out


@pytest.mark.parametrize("case", CASES)
def test_a_command_prints_what_its_function_returns(
    case: str,
    capsys: pytest.CaptureFixture[str],
    folder: Path,
    result: markscheme.Result,
    example: Path,
) -> None:
    arguments, call = CASES[case]
    places = {"EXAMPLE": example, "RUN": folder}
    given = [places.get(one, one) for one in arguments]
    out = printed(capsys, case.split()[0], folder, *given, "--format", "json")
    found = call(folder, example)
    assert out == found.to_json()
    assert isinstance(found.frame, pl.DataFrame)
    assert found.frame.height == len(found.to_pandas())
    assert found.tables[0].title in " ".join(str(found).split())
    assert call(result, example).to_json() == out, "a Result is as good as the folder of its run"


def test_judgments_may_be_a_path_a_frame_rows_or_a_result(
    folder: Path, result: markscheme.Result, example: Path
) -> None:
    wanted = markscheme.agree(folder).to_json()
    table = pl.read_parquet(folder / "judgments.parquet")
    answers = pl.read_ndjson(example)
    pandas = pd.DataFrame(table.drop("raw").to_dict(as_series=False))
    judged: Any
    for judged in (str(folder), folder / "judgments.parquet", result):
        assert markscheme.agree(judged).to_json() == wanted
    labels: Any
    for judged, labels in (
        (table, example), (pandas, answers), (table.to_dicts(), answers.to_dicts()), (table, result)
    ):  # fmt: skip
        found = markscheme.agree(judged, labels, answers=example)
        assert found.to_json() == wanted


def test_a_frame_may_hold_judgments_and_labels() -> None:
    rows = [{"question": f"q{n}", "answer": "a", "mine": n % 2, "human": n % 3 > 0}
            for n in range(30)]  # fmt: skip
    found = markscheme.agree(rows, columns={"label": "human"}, judges="mine")
    assert found.frame["accuracy"].to_list() == pytest.approx([0.5])
    assert found.judges[0].counts["true_positive"] == 10


def test_annotators_may_stand_in_columns_of_any_name() -> None:
    judged = pl.DataFrame({"answer_id": [f"a{n}" for n in range(30)], "mine": [1, 0, 1] * 10})
    people = judged.select("answer_id", ann=pl.Series([1, 0, 1] * 10), ben=pl.Series([1] * 30))
    named = {"annotator1": "ann", "annotator2": "ben"}
    found = markscheme.agree(judged, people, columns=named, annotators=True)
    ours = people.rename({"ann": "annotator1", "ben": "annotator2"})
    same = markscheme.agree(judged, ours, annotators=True).to_json()
    # Each is called by the name of its column.
    assert found.to_json() == same.replace("annotator1", "ann").replace("annotator2", "ben")
    assert found.judges[0].counts["true_positive"] == 20


def test_options_come_as_an_object_or_as_keywords(result: markscheme.Result) -> None:
    options = AgreeOptions(judges=("contains",))
    wanted = markscheme.agree(result, options=options).to_json()
    assert markscheme.agree(result, judges="contains").to_json() == wanted
    changed = markscheme.agree(result, options=options, confidence=0.9)
    assert changed.data["confidence"] == 0.9
    with pytest.raises(UnknownNameError, match="no option named 'confidenc'; did you mean 'conf"):
        markscheme.agree(result, confidenc=0.9)
    with pytest.raises(MarkschemeError, match=r"confidence is 2, and must be 0\.9999 or less"):
        markscheme.agree(result, confidence=2)
    with pytest.raises(MarkschemeError, match="by is 'judge', and must be one of system"):
        markscheme.agree(result, by="judge")


def test_options_that_do_nothing_any_more_are_ignored_with_one_warning(
    result: markscheme.Result,
) -> None:
    wanted = markscheme.compare(result, systems=True, judges="contains").to_json()
    with pytest.warns(DeprecationWarning, match="resamples and seed of CompareOptions") as warned:
        found = markscheme.compare(result, systems=True, judges="contains", resamples=9, seed=0)
    assert len(warned) == 1
    assert found.to_json() == wanted
    for function in (markscheme.agree, markscheme.rank):
        with pytest.warns(DeprecationWarning, match="resamples of"):
            assert function(result, resamples=9).to_json() == function(result).to_json()
    with pytest.warns(DeprecationWarning, match="seed of DiffOptions"):
        assert DiffOptions(seed=1) == DiffOptions()  # type: ignore[call-arg]
    with pytest.raises(UnknownNameError, match="no option named 'resample'"):
        markscheme.compare(result, resample=10)


def test_what_is_no_table_is_refused_with_what_is() -> None:
    with pytest.raises(DataError, match="a table cannot be read from int; give a path"):
        markscheme.agree(7)  # type: ignore[arg-type]


def test_a_result_answers_for_itself(result: markscheme.Result, example: Path) -> None:
    assert result.agree().to_json() == markscheme.agree(result).to_json()
    grades = pl.read_ndjson(example).select(answer_id="id", label=1 - pl.col("label"))
    turned = result.agree(grades).frame["accuracy"]
    assert turned.to_list() == pytest.approx(1 - result.agree().frame["accuracy"])
    pairs = result.compare().frame
    assert pairs.height == 6
    other = markscheme.judge(example, ["contains", "exact_match"])
    both = result.compare(other, judges=["contains"])
    (pair,) = both.pairs
    assert (pair.first, pair.second) == ("contains", "contains (other)")
    assert pair.difference.value == 0


def test_results_show_in_a_notebook_and_escape_what_others_wrote() -> None:
    hostile = "<img src=x onerror=alert(1)>"
    rows = [
        {"question": f"q{n}", "answer": "a", "system": hostile, hostile: n % 2, "label": n % 3 > 0}
        for n in range(30)
    ]
    shown = [
        markscheme.agree(rows, judges=[hostile], by="system")._repr_html_(),
        markscheme.judge(
            [{"question": "q", "references": ["r"], "answer": "a", "system": hostile}],
            "exact_match",
        )._repr_html_(),
    ]
    for html in shown:
        tags: set[str] = set()

        class Reader(HTMLParser):
            def handle_starttag(self, tag: str, attrs: Any, tags: set[str] = tags) -> None:
                tags.add(tag)

        Reader().feed(html)
        assert "&lt;img" in html
        assert {"table", "tr", "td"} <= tags
        assert "img" not in tags


def test_the_plan_is_a_labelling_file(
    result: markscheme.Result, folder: Path, tmp_path: Path
) -> None:
    plan = markscheme.plan_labels(result, judge="token_f1", count=20)
    assert plan.frame.height == 20
    assert {"question", "references", "answer", "label"} <= set(plan.frame.columns)
    assert not {"score", "verdict", "judge"} & set(plan.frame.columns)
    assert pl.read_csv(plan.write(tmp_path / "p.csv"))["inclusion_probability"][0] == 20 / 248
    assert json.loads(plan.to_json())["drawn"] == 20
    assert markscheme.plan_labels(folder, judge="token_f1", count=20).frame.height == 20


def test_a_calibration_map_is_saved_from_the_result(
    result: markscheme.Result, tmp_path: Path
) -> None:
    found = markscheme.calibrate(result, judge="token_f1")
    path = found.save_map(tmp_path / "map.json")
    judged = markscheme.judge(
        [{"question": "q", "references": ["r"], "answer": "r"}],
        f'calibrated(base=token_f1, map="{path}")',
    )
    assert judged.judgments["score"].to_list() == pytest.approx(found.map(np.array([1.0])).tolist())


@pytest.mark.parametrize("command", STATISTICS)
def test_the_command_only_parses_calls_and_prints(command: str) -> None:
    import markscheme.cli

    source = (Path(markscheme.cli.__file__).parent / f"{command}.py").read_text()
    tree = ast.parse(source)
    roots = {"__future__", "collections", "dataclasses", "pathlib", "typing"}
    ours = {
        "markscheme", "markscheme.agreement", "markscheme.contract", "markscheme.engine",
        "markscheme.errors", "markscheme.flags", "markscheme.tables",
    }  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            pytest.fail(f"{command}: import {node.names[0].name}")
        if isinstance(node, ast.ImportFrom):
            name = str(node.module)
            assert name.split(".")[0] in roots or name in ours or name.startswith("markscheme.cli.")
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert [one.name for one in functions] == [command], "nothing beside the command"
    loops = (ast.For, ast.While, ast.ListComp, ast.DictComp, ast.GeneratorExp)
    for node in ast.walk(functions[0]):
        if isinstance(node, loops):
            assert isinstance(node, ast.For), f"{command} makes a list at line {node.lineno}"
            assert "print(" in ast.unparse(node.body[0]), f"{command} loops to compute"


def test_every_function_is_public_at_both_doors() -> None:
    names = set(STATISTICS)
    assert names <= set(dir(markscheme))
    assert names <= set(dir(agreement))
    for name in names:
        assert getattr(markscheme, name) is getattr(agreement, name)
        assert "Raises:" in getattr(markscheme, name).__doc__
