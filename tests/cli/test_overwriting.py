"""No command writes over a file that it reads, or over what somebody wrote by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from markscheme.agreement import agree, plan_labels
from markscheme.cli import run
from markscheme.contract import parse_judge, register, registry
from markscheme.contract.outcomes import run_judge
from markscheme.errors import JudgeError
from markscheme.models import Models

ROWS = [
    {"question": f"Q{n}?", "references": ["yes"], "answer": "yes" if n % 3 else "no", "label": 1}
    for n in range(30)
]


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    assert run(["judge", str(path), "-j", "contains", "-o", "run"]) == 0
    return path


@pytest.mark.parametrize(
    "words",
    ["agree run --labels answers.jsonl --errors answers.jsonl",
     "failures run --labels answers.jsonl --details answers.jsonl",
     "agree run --labels answers.jsonl --out ./answers.jsonl",
     "plan-labels answers.jsonl --count 1 --out answers.jsonl",
     "plan-labels run --answers answers.jsonl --count 1 --out answers.jsonl",
     "research tags run --labels answers.jsonl --to-tag answers.jsonl",
     "research tune-judge answers.jsonl -j contains --chart answers.jsonl",
     "research bench nq301 --judgments answers.jsonl --thresholds --picture answers.jsonl"],
)  # fmt: skip
def test_a_file_that_is_read_is_not_written(
    answers: Path, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = answers.read_bytes()
    assert run(words.split()) == 2
    assert "is read by this command and would be overwritten" in " ".join(
        capsys.readouterr().err.split()
    )
    assert answers.read_bytes() == before


def test_a_report_replaces_no_other_file(answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = answers.rename(answers.with_suffix(".html"))
    before = answers.read_bytes()
    assert run(["report", "run", "-o", str(answers)]) == 2
    assert "is no report and would be lost" in " ".join(capsys.readouterr().err.split())
    assert answers.read_bytes() == before


@pytest.mark.parametrize(
    "words",
    ["estimate run --out out.json", "failures run --labels answers.jsonl --details out.csv",
     "agree run --errors out.csv", "report run --without-answers",
     "plan-labels run --count 20 --out out.csv", "plan-labels run --count 20"],
)  # fmt: skip
def test_a_quiet_command_prints_its_results_alone(
    answers: Path, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run(words.split()) == 0
    printed = capsys.readouterr()
    assert run([*words.split(), "-q"]) == 0
    again = capsys.readouterr()
    assert (again.out, again.err) == (printed.out, "")
    assert printed.err or words.startswith("report")


def test_a_plan_by_system_is_in_random_order() -> None:
    rows = [
        {**row, "answer_id": f"{system}{n}", "system": system, "judge": "j", "verdict": True,
         "score": 1.0}
        for system in ("a", "b", "c")
        for n, row in enumerate(ROWS)
    ]  # fmt: skip
    table = pl.DataFrame(rows).drop("label")
    plan = plan_labels(table, by="system", count=20, with_system=True).frame
    systems = plan["system"].to_list()
    assert sorted(systems) == ["a"] * 20 + ["b"] * 20 + ["c"] * 20
    assert len(set(systems[:20])) == 3


def test_of_a_rare_class_no_figure_of_ranks_has_an_interval() -> None:
    rows = [
        {"question": f"Q{n}?", "answer": "a", "judge": "j", "verdict": n < 4, "score": n / 60,
         "label": float(n in (1, 5, 9))}
        for n in range(60)
    ]  # fmt: skip
    table = pl.DataFrame(rows)
    [found] = agree(table.drop("label"), table.select("question", "answer", "label")).judges
    assert found.left_out["auroc"].value is not None
    assert found.left_out["auroc"].low is None


@dataclass(frozen=True, kw_only=True)
class EndsTheProgram:
    """A judge of somebody else's that calls `sys.exit`."""

    def judge(self, answers: pl.DataFrame, models: object) -> pl.DataFrame:
        raise SystemExit(0)


def test_a_judge_that_ends_the_program_is_an_error() -> None:
    """Nothing would be judged, and a gate passed."""
    try:
        register("ends_the_program")(EndsTheProgram)
        table = pl.DataFrame(ROWS).with_columns(reference_kind=pl.lit("text"))
        with pytest.raises(JudgeError, match=r"ends_the_program ended the program \(exit code 0\)"):
            run_judge(parse_judge("ends_the_program"), table, Models())
    finally:
        del registry.JUDGES.known["ends_the_program"]


@pytest.mark.parametrize("target", ["runs/ledger.sqlite", "./runs/../runs/ledger.sqlite"])
def test_an_export_does_not_replace_the_ledger_that_it_is_of(
    answers: Path, target: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("MARKSCHEME_LEDGER", raising=False)
    batch = "llm batch write answers.jsonl -j llm_grader -m gpt-4o -o requests.jsonl"
    assert run(batch.split()) == 0
    before = Path("runs/ledger.sqlite").read_bytes()
    capsys.readouterr()
    assert run(["llm", "ledger", "export", target]) == 2
    assert "is the ledger itself" in " ".join(capsys.readouterr().err.split())
    assert Path("runs/ledger.sqlite").read_bytes() == before
    assert run(["llm", "ledger", "export", "replies.jsonl"]) == 0


@pytest.mark.parametrize(
    "words",
    ["agree run --labels answers.jsonl --errors all.csv --out all.csv",
     "failures run --labels answers.jsonl --details ./all.csv --out all.csv",
     "diff run run --junit gate.xml --sarif gate.xml"],
)  # fmt: skip
def test_two_results_are_not_written_to_one_file(
    answers: Path, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {one.name for one in Path().iterdir()}
    assert run(words.split()) == 2
    assert "is named by two options" in " ".join(capsys.readouterr().err.split())
    assert {one.name for one in Path().iterdir()} == before
