"""`--format json` of a command is the Python call's `to_json`, to the byte."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from scripts.make_cli_reference import commands

import markscheme
from markscheme import agreement
from markscheme.analysis import describe_judge, ledger_figures, list_judges, plan_calls
from markscheme.cli import run
from markscheme.contract import judges, parse_judge
from markscheme.models import ModelOptions, Models
from markscheme.models.ledger import Ledger
from markscheme.tables import AnswersReader
from markscheme.testing import ScriptedChat
from with_research import needs_research

Captured = pytest.CaptureFixture[str]


def printed(captured: Captured, *words: str | Path) -> str:
    assert run([*map(str, words), "--format", "json"]) == 0
    return captured.readouterr().out


def test_explain(capsys: Captured) -> None:
    said = "It was Jane Austen, in 1815."
    words = ("explain", "-q", "Who wrote Emma?", "-r", "Jane Austen", "-a", said)
    found = markscheme.explain("Who wrote Emma?", ["Jane Austen"], said)
    assert printed(capsys, *words) == found.to_json()
    assert found.frame.columns == ["feature", "meaning", "value", "effect"]
    assert found.frame.height > 6
    assert len(found.tables[-1].rows) == 6


def test_failures(example: Path, tmp_path: Path, capsys: Captured) -> None:
    assert printed(capsys, "failures", example) == markscheme.failures(example).to_json()
    result = markscheme.judge(example, ["exact_match", "contains"], out=tmp_path / "run")
    found = markscheme.failures(result, judge_errors=True)
    assert printed(capsys, "failures", tmp_path / "run", "--judge-errors") == found.to_json()
    assert found.frame.height == 147
    assert found.error_rates is not None
    assert found.judge_errors is not None


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


def test_judge(example: Path, tmp_path: Path, capsys: Captured) -> None:
    found = markscheme.judge(example, ["exact_match", "contains"])
    words = ("judge", example, "-j", "exact_match,contains", "--out", tmp_path / "run", "-q")
    assert printed(capsys, *words) == found.to_json()
    assert found.frame.equals(found.summary)
    assert found.save(tmp_path / "figures.json").read_text() == found.to_json()
    assert found.to_latex().startswith("% Answers accepted, by judge and system")


def test_the_json_of_a_dry_run(example: Path, capsys: Captured) -> None:
    options = ModelOptions(model="small", dry_run=True)
    judges = [parse_judge("llm_grader"), parse_judge("contains")]
    found = plan_calls(AnswersReader([str(example)]), judges, options)
    words = ("judge", example, "-j", "llm_grader,contains", "--model", "small", "--dry-run")
    assert printed(capsys, *words) == found.to_json()
    assert found.frame["calls"].to_list()[1] == 0


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
    assert [gate.passed for gate in found.gates(0.6)] == [False]
    assert [gate.passed for gate in found.gates(0.6, slices=True)] == [False, True, False]
    code = run([*map(str, words), "--format", "json", "--fail-under", "0.6"])
    held = json.loads(capsys.readouterr().out)["gate"]
    assert (code, held["passed"], held["limit"]) == (1, False, 0.6)
    assert len(found.tables) == 2


def test_drift(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    models = Models(chat=ScriptedChat(replies=lambda _text: "Yes"))

    @contextmanager
    def opened(_options: ModelOptions, _advance: object) -> Iterator[Models]:
        yield models

    monkeypatch.setattr("markscheme.cli.llm_drift.opened", opened)
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
        "agree", "calibrate", "compare", "estimate", "plan-labels", "rank",
    },
    "analysis/test_diff.py": {"diff"},
    "cli/test_columns_command.py": {"columns"},
    "results/test_every_form.py": {"verify"},
}  # fmt: skip
"""Where the same is proved for the commands that are not in this file."""


@needs_research
def test_every_command_with_json_is_proved_equal() -> None:
    every = {
        name.removeprefix("llm "): one
        for name, one in commands().items()
        if not name.startswith("research")
    }
    with_json = {name for name, one in every.items() if any(f.name == "format" for f in one.params)}
    here = Path(__file__).read_text()
    named = {
        name for name in with_json if f"def test_{name.replace(' ', '_').replace('-', '_')}" in here
    }
    named |= {"ledger stats"}
    for file, names in ELSEWHERE.items():
        text = (Path(__file__).parents[1] / file).read_text()
        assert "to_json()" in text, file
        assert all(f'"{name.split()[0]}"' in text for name in names), file
        named |= names
    assert named >= with_json
    without = set(every) - with_json
    assert without == {
        # These serve, download, or write the files that they name; they have no figures.
        "annotate", "annotate-export", "batch read", "batch write", "init",
        "ledger export", "ledger import", "serve", "train examiner", "view",
    }  # fmt: skip


def test_judges(capsys: Captured) -> None:
    listed = list_judges()
    assert printed(capsys, "judges") == listed.to_json()
    assert set(listed.frame["name"]) == set(judges())
    found = describe_judge("regex")
    assert printed(capsys, "judges", "regex") == found.to_json()
    assert found.frame["parameter"].to_list() == ["ignore_case", "time_limit"]
    assert found.frame["default"].to_list() == ["True", "0.5"]
