"""promptfoo's CSV files: the output without its verdict and the grader's reason, by provider.

The layouts are those of promptfoo's own writers: `outputToSimpleString` of older versions, and
`tableRowToCsvValues` of newer ones.
"""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest

import markscheme
from markscheme.errors import DataError
from markscheme.tables import AnswersReader, ReadOptions

ONE, TWO = "[openai:gpt-4o] {{question}}", "[anthropic:claude] {{question}}"
AFTER = ["Status", "Score", "Named Scores", "Grader Reason", "Comment"]


def read(
    path: Path, rows: list[list[str]], batch_rows: int = 100
) -> tuple[pl.DataFrame, AnswersReader]:
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    reader = AnswersReader([path], ReadOptions(batch_rows=batch_rows))
    return pl.concat(list(reader)), reader


@pytest.mark.parametrize(
    ("cell", "answer"),
    [
        ("[PASS] (1.00) Paris", "Paris"),
        ("[FAIL] (0.00) Rome", "Rome"),
        ("[PASS] Paris", "Paris"),
        ("[PASS] (1.00)\n\nParis\n\nPass Reason: All assertions passed", "Paris"),
        ("[PASS] (0.50, accuracy: 0.50, a (b): 1.00)\n\nParis (France)", "Paris (France)"),
        ("[PASS] (1.00) Paris\n---\nAll assertions passed", "Paris"),
        ("[FAIL] (0.00) Rome\n---\nThe answer names another city.\n---\n", "Rome"),
        ("[FAIL] (0.00) Rome\n---\nExpected output \"Rome\" to contain \"Paris\"", "Rome"),
        ("[FAIL] (0.00) Expected output \"Rome\" to contain \"Paris\"\n---\nRome", "Rome"),
        ("[FAIL] (0.00)\n\nWrong city\n---\nRome\n\nFail Reason: Wrong city", "Rome"),
        ("[FAIL] (0.00)\n\nRome\n---\nItaly\n\nFail Reason: Wrong city", "Rome\n---\nItaly"),
        ("[FAIL] (0.00)\n\n\n\nFail Reason: nothing came", ""),
        ("[ERROR] (0.00) API error: 500", None),
        ("[ERROR] (undefined)\n\n\n\nFail Reason: timeout", None),
    ],
)  # fmt: skip
def test_the_wrapper_is_cut(cell: str, answer: str | None, tmp_path: Path) -> None:
    rows = [["question", "expected", "reply"], ["Capital of France?", "Paris", cell]]
    table, reader = read(tmp_path / "out.csv", rows)
    assert table.select("question", "references", "answer", "system").row(0) == (
        "Capital of France?", ["Paris"], answer, "reply"
    )  # fmt: skip
    assert "promptfoo" in next(iter(reader.met.recognised))
    assert sum(reader.met.notes.values()) == (not answer)


def test_providers_are_systems(tmp_path: Path) -> None:
    rows = [
        [ONE, "expected", TWO, "question", "id"],
        ["[PASS] (1.00) Paris", "Paris", "[FAIL] (0.00) Rome", "Capital of France?", "a"],
        ["", "Rome", "[PASS] (1.00) Rome", "Capital of Italy?", "b"],
        ["[ERROR] (0.00) 429", "429", "[FAIL] (0.00) 3", "How many ships?", "c"],
    ]
    table, reader = read(tmp_path / "out.csv", rows)
    assert table["system"].to_list() == ["openai:gpt-4o", "anthropic:claude"] * 3
    assert table["answer"].to_list() == ["Paris", "Rome", "", "Rome", None, "3"]
    assert table["answer_id"].to_list()[:2] == ["a:openai:gpt-4o", "a:anthropic:claude"]
    assert reader.met.notes == {
        "results are errors of promptfoo, not answers: not judged": 1,
        "rows without an answer, judged as wrong": 1,
    }
    result = markscheme.judge(tmp_path / "out.csv", judges=["exact_match"])
    assert result.judgments["status"].to_list() == ["judged"] * 4 + ["skipped", "judged"]
    assert result.judgments["explanation"][4] == "the call of the system failed: 429"
    assert result.judgments["verdict"].to_list() == [True, False, False, True, None, False]


@pytest.mark.parametrize("described", [True, False])
@pytest.mark.parametrize("reasoning", [True, False])
def test_columns_after_each_output(described: bool, reasoning: bool, tmp_path: Path) -> None:
    after = [*(["Reasoning"] if reasoning else []), *AFTER[:3], "Metric: ease", *AFTER[3:]]
    thought = ["Paris? Rome?"] if reasoning else []

    def beside(status: str, reason: str) -> list[str]:
        return [*thought, status, "0.00", "", "1", reason, "Expected it"]

    rows = [
        ["question", "expected", ONE, *after, TWO, *after],
        ["Capital of France?", "Paris", "Paris", *beside("PASS", "All assertions passed"),
         "wrong city\n---\nRome", *beside("FAIL", "wrong city")],
        ["Capital of Italy?", "Rome", "", *beside("ERROR", ""),
         "Rome\n---\nis it", *beside("PASS", "All assertions passed")],
    ]  # fmt: skip
    if described:
        rows = [[first, *row] for first, row in zip(("Description", "a", ""), rows, strict=True)]
    table, reader = read(tmp_path / "out.csv", rows)
    assert table["answer"].to_list() == ["Paris", "Rome", None, "Rome\n---\nis it"]
    assert table["references"].to_list() == [["Paris"]] * 2 + [["Rome"]] * 2
    assert table["system"].to_list() == ["openai:gpt-4o", "anthropic:claude"] * 2
    assert sum(reader.met.notes.values()) == 1


def test_prompts_of_one_provider_are_told_apart(tmp_path: Path) -> None:
    prompts = ["[openai:gpt-4o] Briefly: {{q}}", "[openai:gpt-4o] At length: {{q}}"]
    again = [*prompts[:1] * 2]
    for names, systems in ((prompts, prompts), (again, [prompts[0], f"{prompts[0]} (2)"])):
        rows = [["question", "answer"], ["Capital of France?", "Paris"]]
        for name, cell in zip(names, ("Paris", "Rome"), strict=True):
            rows = [[*rows[0], name, *AFTER], [*rows[1], cell, "PASS", "1.00", "", "", ""]]
        table, _ = read(tmp_path / "out.csv", rows)
        assert table["system"].to_list() == systems
        assert table["references"].to_list() == [["Paris"]] * 2, "a variable `answer`"


def test_a_column_of_answers_is_no_system(tmp_path: Path) -> None:
    rows = [["question", "gold", "output"], ["Which?", "A", "[PASS] (1.00) B"]]
    table, _ = read(tmp_path / "run-7.csv", rows)
    assert table.select("answer", "system").row(0) == ("B", "run-7")


@pytest.mark.parametrize(
    "rows",
    [
        [["question", "gold", "answer", "Status"], ["?", "A", "[1] B", "PASS"]],
        [["question", "gold", "answer"], ["?", "A", "[PASS] it on"], ["?", "B", "B"]],
        [["question", "gold", "answer"], ["?", "[PASSED]", "[PASSED] (1.00) A"]],
    ],
)
def test_other_tables_are_read_as_they_are(rows: list[list[str]], tmp_path: Path) -> None:
    table, reader = read(tmp_path / "table.csv", rows)
    assert table["answer"].to_list() == [row[2] for row in rows[1:]]
    assert not any("promptfoo" in said for said in reader.met.recognised)


def test_columns_named_twice_are_an_error_elsewhere(tmp_path: Path) -> None:
    rows = [["question", "gold", "answer", "Status", "Status"], ["?", "A", "B", "x", "y"]]
    with pytest.raises(DataError, match="columns named twice: Status"):
        read(tmp_path / "table.csv", rows)


def test_a_file_without_references_says_which_columns_there_are(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no column for references.*topic"):
        read(tmp_path / "out.csv", [["topic", ONE], ["France", "[PASS] (1.00) Paris"]])


def test_a_file_is_of_one_kind_to_its_end(tmp_path: Path) -> None:
    """Later rows that happen to look like promptfoo's are answers, and a second header is said."""
    plain = [["question", "gold", "answer"], ["q1", "a", "a"], ["q2", "b", "[PASS] (1.00) b"]]
    table, _ = read(tmp_path / "plain.csv", plain, batch_rows=1)
    assert table["answer"].to_list() == ["a", "[PASS] (1.00) b"]
    rows = [["question", "expected", ONE, TWO], ["q1", "a", "[PASS] (1.00) a", "[FAIL] (0.00) b"]]
    table, reader = read(tmp_path / "twice.csv", [*rows, *rows])
    assert table["answer"].to_list() == ["a", "b"] * 2
    assert any("the header is repeated in 1 row" in one for one in reader.met.recognised)


def test_assertions_of_a_file_of_tests_are_references(tmp_path: Path) -> None:
    rows = [
        ["question", "__expected", "answer"],
        ["Capital of Peru?", "icontains: Lima", "Lima"],
        ["3 + 4?", "equals:7", "7"],
        ["Who?", "Ann: the first", "Ann"],
    ]
    table, _ = read(tmp_path / "a.csv", rows)
    assert table["references"].to_list() == [["Lima"], ["7"], ["Ann: the first"]]
    rows.append(["Nice?", "llm-rubric: is polite", "yes"])
    with pytest.raises(DataError, match="line 5: no references"):
        read(tmp_path / "a.csv", rows)
