"""`--format json` of a command is the Python call's `to_json`, to the byte."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer

import markscheme
from markscheme import agreement
from markscheme.analysis import (
    Setup,
    StudyResult,
    check_dataset,
    describe_dataset,
    describe_judge,
    ledger_figures,
    list_datasets,
    list_judges,
    make_statements,
    mark_claims,
    open_study,
    plan_calls,
    study_cost,
    study_lists,
    study_order,
    study_seeds,
    study_shots,
)
from markscheme.cli import load_commands, run
from markscheme.cli.app import app
from markscheme.contract import parse_judge
from markscheme.models import ModelOptions, Models
from markscheme.models.ledger import Ledger
from markscheme.papers import reproduce_tables
from markscheme.tables import AnswersReader
from markscheme.testing import ScriptedChat

Captured = pytest.CaptureFixture[str]


def printed(captured: Captured, *words: str | Path) -> str:
    assert run([*map(str, words), "--format", "json"]) == 0
    return captured.readouterr().out


def commands() -> list[tuple[str, Any]]:
    """Every command by its full name."""
    found = []
    for name, one in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        inner = getattr(one, "commands", None)
        found += (
            [(f"{name} {sub}", each) for sub, each in inner.items()] if inner else [(name, one)]
        )
    return found


def test_explain(capsys: Captured) -> None:
    said = "It was Jane Austen, in 1815."
    words = ("explain", "-q", "Who wrote Emma?", "-r", "Jane Austen", "-a", said)
    found = markscheme.explain("Who wrote Emma?", ["Jane Austen"], said)
    assert printed(capsys, *words) == found.to_json()
    assert found.frame.columns == ["feature", "meaning", "value", "effect"]
    assert found.frame.height > 6
    assert len(found.tables[-1].rows) == 6


def test_probe(example: Path, capsys: Captured) -> None:
    words = ("probe", "contains", example, "-q", "--limit", "50", "--probes", "capitals,injection")
    found = markscheme.probe("contains", example, limit=50, probes=("capitals", "injection"))
    assert printed(capsys, *words) == found.to_json()
    assert found.frame["probe"].to_list() == ["capitals", "injection"]
    assert found.frame["answers"].to_list() == [50, 50]


def test_failures(example: Path, tmp_path: Path, capsys: Captured) -> None:
    assert printed(capsys, "failures", example) == markscheme.failures(example).to_json()
    result = markscheme.judge(example, ["exact_match", "contains"], out=tmp_path / "run")
    found = markscheme.failures(result, judge_errors=True)
    assert printed(capsys, "failures", tmp_path / "run", "--judge-errors") == found.to_json()
    assert found.frame.height == 147
    assert found.error_rates is not None
    assert found.judge_errors is not None


def test_claims(capsys: Captured) -> None:
    said = "It was Jane Austen. She wrote it in 1815."
    words = ("claims", "-q", "Who wrote Emma?", "-r", "Jane Austen wrote it.", "-a", said)
    found = mark_claims("Who wrote Emma?", ["Jane Austen wrote it."], said, models=Models())
    assert printed(capsys, *words) == found.to_json()
    assert found.frame.height == 2


def test_ledger_stats(tmp_path: Path, capsys: Captured) -> None:
    place = str(tmp_path / "ledger.sqlite")
    Ledger(place).close()
    printed_text = printed(capsys, "ledger", "stats", "--ledger", place)
    assert printed_text == ledger_figures(place).to_json()


def test_a_dry_run_is_planned_from_python_as_well(example: Path, capsys: Captured) -> None:
    options = ModelOptions(model="small", dry_run=True)
    found = plan_calls(AnswersReader([str(example)]), [parse_judge("llm_grader")], options)
    words = ("judge", example, "-j", "llm_grader", "--model", "small", "--dry-run")
    assert run([*map(str, words)]) == 0
    shown = capsys.readouterr().out
    assert f"{found.frame['calls'].item():,}" in shown
    assert found.tables[0].title in shown


def test_statements_from_python(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text('{"question": "who wrote emma", "answer": "Jane Austen"}\n')
    found = make_statements(str(file), models=Models())
    assert found.frame["statement"].to_list() == ["Jane Austen wrote emma."]
    assert found.counts == {"rules": {"judged": 1}}
    assert found.tables == ()


def test_judge(example: Path, tmp_path: Path, capsys: Captured) -> None:
    found = markscheme.judge(example, ["exact_match", "contains"])
    words = ("judge", example, "-j", "exact_match,contains", "--out", tmp_path / "run", "-q")
    assert printed(capsys, *words) == found.to_json()
    assert found.frame.equals(found.summary())
    assert found.save(tmp_path / "figures.json").read_text() == found.to_json()
    assert found.to_latex().startswith("% Correctness by judge and system")


def test_the_json_of_a_dry_run(example: Path, capsys: Captured) -> None:
    options = ModelOptions(model="small", dry_run=True)
    judges = [parse_judge("llm_grader"), parse_judge("contains")]
    found = plan_calls(AnswersReader([str(example)]), judges, options)
    words = ("judge", example, "-j", "llm_grader,contains", "--model", "small", "--dry-run")
    assert printed(capsys, *words) == found.to_json()
    assert found.frame["calls"].to_list()[1] == 0


def test_statements(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(
        '{"question": "who wrote emma", "answer": "Jane Austen", "statement": "Austen wrote it."}\n'
        '{"question": "when was emma written", "answer": "1815", "statement": "In 1815."}\n'
    )
    found = make_statements(str(file))
    assert printed(capsys, "statements", file) == found.to_json()
    assert len(json.loads(found.to_json())["statements"]) == found.frame.height == 2


def graded(folder: Path) -> str:
    rows = [
        {"question": f"Why is thing {number} so?", "label": grade,
         "answer": f"because of {number}, " + "which matters, " * grade + copy}
        for number in range(6) for grade in (3, 2, 1, 0) for copy in "ab"
    ]  # fmt: skip
    file = folder / "graded.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file)


STUDIES: dict[str, Callable[[Setup], StudyResult]] = {
    "lists": study_lists,
    "seeds": study_seeds,
    "order": study_order,
    "cost": study_cost,
}


@pytest.mark.parametrize("name", STUDIES)
def test_study(name: str, tmp_path: Path, capsys: Captured) -> None:
    file, judges = graded(tmp_path), ["token_f1", "rougeL"]
    setup = open_study(file, judges, draws=2, models=Models())
    found = STUDIES[name](setup)
    words = ("study", name, file, "-j", ",".join(judges), "--draws", "2")
    made, python = json.loads(printed(capsys, *words)), json.loads(found.to_json())
    if name == "cost":
        # The only figure that is measured anew by each call.
        assert all(row.pop("ms_per_answer") > 0 for row in made["rows"] + python["rows"])
    assert made == python
    assert len(made["rows"]) == found.frame.height
    text = {"judge", "composition", "layout"}
    kinds = {column: kind for column, kind in found.frame.schema.items() if column not in text}
    assert all(kind.is_numeric() or kind == pl.Null for kind in kinds.values()), kinds
    figure = {"seeds": "mean"}.get(name, "spearman")
    shown = f"{found.frame[figure][0]:.3f}"
    assert any(cell.startswith(shown) for cell in found.tables[0].rows[0])


def test_study_of_shots(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    models = Models(chat=ScriptedChat(replies=lambda text: f"[[{1 + len(text) % 3}]]"))

    @contextmanager
    def opened(_options: ModelOptions) -> Iterator[Models]:
        yield models

    monkeypatch.setattr("markscheme.cli.study.opened", opened)
    file = graded(tmp_path)
    found = study_shots(open_study(file, ["listwise"], models=models), shots=(0, 1))
    words = ("study", "shots", file, "--shots", "0", "--shots", "1")
    assert printed(capsys, *words) == found.to_json()
    assert found.frame["shots"].to_list() == [0, 1]


def test_reproduce(data_dir: Path, capsys: Captured) -> None:
    what = "kamalloo-2023/table-1"
    found = reproduce_tables(what, data_dir=data_dir)
    run(["reproduce", what, "--data-dir", str(data_dir), "--format", "json"])
    assert capsys.readouterr().out == found.to_json()
    assert found.frame.height == sum(len(one["cells"]) for one in json.loads(found.to_json()))


def test_report(example: Path, tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "run"
    markscheme.judge(example, "contains", out=folder)
    page = tmp_path / "page.html"
    found = markscheme.report(folder, page)
    by_call = page.read_bytes()
    said = printed(capsys, "report", folder, "--out", page)
    assert said == found.to_json()
    assert json.loads(said)["answers"] == found.answers
    assert page.read_bytes() == by_call


def test_judge_by_slice(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "answers.csv"
    file.write_text(
        "question,reference,answer,topic\n"
        "Who wrote Emma?,Jane Austen,Jane Austen,books\n"
        "Where is Oslo?,Norway,Sweden,places\n"
    )
    found = markscheme.judge(file, "contains", slices=["topic"])
    words = ("judge", file, "-j", "contains", "--slices", "topic", "--out", tmp_path / "run", "-q")
    said = printed(capsys, *words)
    assert said == found.to_json()
    by_topic = {one["system"]: one["accuracy"] for one in json.loads(said)["slices"]["topic"]}
    assert by_topic == {"topic=books": 1.0, "topic=places": 0.0}
    assert [gate.passed for gate in found.gates(0.6)] == [False, True, False]
    assert len(found.tables) == 2


def test_drift(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    models = Models(chat=ScriptedChat(replies=lambda _text: "Yes"))

    @contextmanager
    def opened(_options: ModelOptions, _advance: object) -> Iterator[Models]:
        yield models

    monkeypatch.setattr("markscheme.cli.drift.opened", opened)
    rows = [{"question": f"Number {n}?", "references": ["x"], "answer": "a"} for n in range(12)]
    file = tmp_path / "anchors.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    checks = tmp_path / "checks"
    asked = {"judges": ["llm_evouna"], "models": models, "folder": checks}
    assert agreement.drift(file, **asked).asked
    found = agreement.drift(file, every=1, **asked)
    assert not found.asked
    words = ("drift", file, "-j", "llm_evouna", "--checks", checks, "--every", "1", "-q")
    assert printed(capsys, *words) == found.to_json()


ELSEWHERE = {
    "agreement/test_public_functions.py": {
        "agree", "amend", "calibrate", "cascade", "compare", "estimate", "hierarchy",
        "plan-labels", "rank", "reliability",
    },
    "agreement/test_juries.py": {"jury"},
    "agreement/test_tuning.py": {"tune-judge"},
    "analysis/test_diff.py": {"diff"},
    "analysis/test_entailed_pairs.py": {"entail"},
    "cli/test_columns_command.py": {"columns"},
    "metrics/test_pattern_expansion.py": {"references expand"},
    "papers/test_bench.py": {"bench"},
    "results/test_every_form.py": {"verify"},
}  # fmt: skip
"""Where the same is proved for the commands that are not in this file."""


def test_every_command_with_json_is_proved_equal() -> None:
    load_commands()
    with_json = {name for name, one in commands() if any(f.name == "format" for f in one.params)}
    here = Path(__file__).read_text()
    named = {
        name for name in with_json if f"def test_{name.replace(' ', '_').replace('-', '_')}" in here
    }
    named |= {f"study {name}" for name in STUDIES} | {"study shots", "ledger stats"}
    named |= {"datasets show", "datasets check"}
    for file, names in ELSEWHERE.items():
        text = (Path(__file__).parents[1] / file).read_text()
        assert "to_json()" in text, file
        assert all(f'"{name.split()[0]}"' in text for name in names), file
        named |= names
    assert named >= with_json
    without = {name for name, one in commands()} - with_json
    assert without == {
        # These serve, download, or write the files that they name; they have no figures.
        "annotate", "annotate-export", "batch read", "batch write", "datasets export",
        "datasets fetch", "init", "ledger export", "ledger import", "llm-examples",
        "references apply", "references build", "references draw", "references shots", "serve",
        "train entailment", "train examiner", "train learned", "train listwise",
        "train question-kind", "train-listwise", "train-question-kind", "view",
    }  # fmt: skip


def test_judges(capsys: Captured) -> None:
    listed = list_judges()
    assert printed(capsys, "judges") == listed.to_json()
    assert set(listed.frame["name"]) == set(markscheme.judges())
    found = describe_judge("regex")
    assert printed(capsys, "judges", "regex") == found.to_json()
    assert found.frame["parameter"].to_list() == ["ignore_case", "time_limit"]
    assert found.frame["default"].to_list() == ["True", "1.0"]


def test_datasets(data_dir: Path, capsys: Captured) -> None:
    where = ("--data-dir", data_dir)
    assert printed(capsys, "datasets", *where) == list_datasets(data_dir).to_json()
    shown = describe_dataset("curatedtrec", data_dir)
    assert printed(capsys, "datasets", "curatedtrec", *where) == shown.to_json()
    assert shown.folder is not None
    checked = check_dataset("curatedtrec", data_dir)
    assert printed(capsys, "datasets", "check", "curatedtrec", *where) == checked.to_json()
    assert checked.frame["same"].any()
