"""`markscheme research statements` and `markscheme research claims` as a user calls them."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import polars as pl
import pytest

from markscheme.cli import run
from markscheme.judges.entailment import statement_makers
from markscheme.models.chat.scripted import ScriptedChat
from markscheme.models.sources import Models
from markscheme_research.studies import make_statements

ROWS = [
    {"question": "who wrote emma", "answer": "Jane", "turker_answer": "Jane wrote emma."},
    {"question": "where is rome", "answer": "Italy", "turker_answer": "Rome is in Italy."},
    {"question": "when did it open", "answer": "", "turker_answer": "It opened then."},
]  # fmt: skip


@pytest.fixture
def qa2d(tmp_path: Path) -> str:
    file = tmp_path / "qa2d.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return str(file)


def test_it_compares_with_peoples_statements(qa2d: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["statements", qa2d]) == 0
    said = capsys.readouterr().out
    rules = next(line for line in said.splitlines() if line.strip().startswith("rules "))
    assert rules.split()[-2:] == ["66.7", "1"]
    assert "BLEU" in said
    assert "ROUGE-L" in said
    assert "72.5" in said, "the paper's row"
    assert "rules: 2 of 3 statements made, 1 unparsed" in said


def test_references_without_peoples_statements_are_not_compared(tmp_path: Path) -> None:
    file = tmp_path / "qa2d.jsonl"
    rows = [row | {"references": [f"the {row['answer']}"]} for row in ROWS[:2]]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with_references = make_statements(str(file), references=True)
    assert with_references.pairs == 4
    assert with_references.data["nearness"] == make_statements(str(file)).data["nearness"]


def test_makers_stand_side_by_side_and_everything_is_written(
    qa2d: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = ScriptedChat(replies=lambda text: "Jane wrote it." if "emma" in text else "")
    monkeypatch.setattr(
        "markscheme_research.cli.statements.opened", lambda _: nullcontext(Models(chat=chat))
    )
    out = tmp_path / "new" / "made.parquet"
    assert run(["statements", qa2d, "--maker", "rules", "--maker", "chat", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "chat: 1 of 3 statements made, 2 unparsed" in said
    table = pl.read_parquet(out)
    assert table["maker"].to_list() == ["rules"] * 3 + ["chat"] * 3
    assert table["statement"].to_list() == [
        "Jane wrote emma.", "Rome is in Italy.", None, "Jane wrote it.", None, None
    ]  # fmt: skip
    assert table["gold"].to_list()[:2] == [row["turker_answer"] for row in ROWS[:2]]
    assert statement_makers.OUTCOME.keys() >= set(table.columns) - {"gold", "maker", *ROWS[0]}


def test_answers_with_statements_in_another_file(
    root: Path, example: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = root / "examples" / "statements.jsonl"
    assert run(["statements", str(example), "--gold", str(gold)]) == 0
    said = capsys.readouterr().out
    assert "62 pairs" in said
    assert run(["statements", str(gold)]) == 0
    assert capsys.readouterr().out == said


@pytest.mark.parametrize("ending", ["jsonl", "csv", "tsv"])
def test_statements_of_answers_are_shown_and_written(
    example: Path, tmp_path: Path, ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / f"made.{ending}"
    assert run(["statements", str(example), "--references", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "Bizet composed the opera" in said
    assert "more; --out FILE writes all of them" in said
    assert out.stat().st_size > 20_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gold", "nix"], "neither a column"),
        (["--maker", "nix"], "no maker of statements named 'nix'"),
        (["--out", "x.xlsx"], "endings are"),
        (["--maker", "chat"], "--model"),
        (["--columns", "question=nix"], "no column 'nix'"),
    ],
)
def test_mistakes_are_explained(
    qa2d: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["statements", qa2d, *arguments]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_file_without_answers_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.csv"
    file.write_text("question,foo\nwho,x\n")
    assert run(["statements", str(file)]) == 2
    assert "no column for answer" in capsys.readouterr().err


def test_gold_of_other_pairs_is_named(
    qa2d: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = str(root / "examples" / "statements.jsonl")
    assert run(["statements", qa2d, "--gold", gold]) == 2
    assert "none of the questions and answers" in capsys.readouterr().err


CLAIM = ["claims", "-q", "when did the mill burn down", "-r", "1866"]


def test_claims_of_one_answer(capsys: pytest.CaptureFixture[str]) -> None:
    answer = "The mill burned down in 1866. It was owned by Ann."
    assert run([*CLAIM, "-a", answer, "--context", "Ann was rich."]) == 0
    said = capsys.readouterr().out
    assert said.startswith("accepted, marks ")
    assert "It was owned by Ann." in said
    assert "follows from context" in said
    assert run([*CLAIM, "-a", "  "]) == 0
    assert "the answer is empty" in capsys.readouterr().out


def test_claims_wants_its_own_judge(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*CLAIM, "-a", "x", "-j", "examiner"]) == 2
    assert "is not the judge claims" in capsys.readouterr().err
