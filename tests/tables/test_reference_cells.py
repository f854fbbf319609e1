"""References in one cell, and questions without an answer: nothing is split in silence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.contract import ModelSource, Needs, register
from markscheme.contract.registry import JUDGES
from markscheme.errors import BadRowsError
from markscheme.tables import AnswersReader, ReadOptions
from markscheme.text import declines


def read(cell: Any, **options: Any) -> tuple[list[str], AnswersReader]:
    reader = AnswersReader(
        [[{"question": "Who?", "references": cell, "answer": "a"}]], ReadOptions(**options)
    )
    (table,) = list(reader)
    return table["references"][0].to_list(), reader


@pytest.mark.parametrize(
    ("cell", "separator", "parts"),
    [
        ("Paris|Lyon", "|", ["Paris", "Lyon"]),
        ("k; b", ";", ["k", "b"]),
        ("one\ntwo", "newline", ["one", "two"]),
    ],
)
def test_separators_are_said_and_split_at_where_asked_for(
    cell: str, separator: str, parts: list[str]
) -> None:
    kept, reader = read(cell)
    assert kept == [cell]
    (note,) = reader.met.notes
    assert f"--reference-separator '{separator}' splits them" in note
    split, reader = read(cell, reference_separator=separator)
    assert split == parts
    assert not reader.met.notes
    assert not read(cell, reference_separator="none")[1].met.notes


@pytest.mark.parametrize(
    "cell", ["[0, 1]", "[1, 2, 3,]", " [-1.5] ", "[1e5]", "[123456789012345678901]"]
)
def test_a_list_of_numbers_in_a_text_is_one_reference(cell: str) -> None:
    kept, reader = read(cell)
    assert kept == [cell]
    (note,) = reader.met.notes
    assert '["0", "1"]' in note
    assert read(cell, reference_separator=",")[0] == [cell]
    kept, reader = read(cell, reference_separator="none")
    assert (kept, dict(reader.met.notes)) == ([cell], {})


@pytest.mark.parametrize(
    ("cell", "parts"),
    [
        ('["0", "1"]', ["0", "1"]),
        ("['0', 1]", ["0", "1"]),
        ([0, 1], ["0", "1"]),
        ("{'text': [1931], 'answer_start': [7]}", ["1931"]),
        ("[0, 1] | [0, 1)", ["[0, 1]", "[0, 1)"]),
    ],
)
def test_other_lists_are_several_references(cell: Any, parts: list[str]) -> None:
    assert read(cell)[0] == parts


def test_an_interval_in_a_file_has_the_verdicts_that_it_has_in_python(tmp_path: Path) -> None:
    question, gold, answers = "Where does it converge?", "[0, 1]", ["[0, 1]", "1"]
    path = tmp_path / "intervals.csv"
    pl.DataFrame({"question": question, "gold": gold, "answer": answers}).write_csv(path)
    of_file = markscheme.judge(path, "exact_match").judgments["verdict"].to_list()
    alone = [markscheme.mark(question, gold, one, "exact_match").verdict for one in answers]
    assert of_file == alone == [True, False]


def test_prose_and_lists_are_left_in_peace() -> None:
    said = "It was signed in the spring of that year; the king had long been ill by then."
    assert not read(said)[1].met.notes
    assert not read(["Paris|Lyon", "x"])[1].met.notes


SQUAD = [
    {"question": "a?", "answers": {"text": [], "answer_start": []}, "prediction": ""},
    {"question": "b?", "answers": {"text": [], "answer_start": []}, "prediction": "Paris"},
    {"question": "c?", "answers": {"text": ["Paris"], "answer_start": [1]}, "prediction": "Paris"},
    {"question": "d?", "answers": {"text": [], "answer_start": []},
     "prediction": "The passage does not say."},
    {"question": "e?", "answers": {"text": [], "answer_start": []}, "prediction": None},
]  # fmt: skip


@pytest.mark.parametrize(
    "judge",
    [
        "examiner",
        "exact_match",
        "auto",
        "panel(judges=[examiner, listwise_examiner])",
        "cascade(first=examiner, then=listwise_examiner)",
    ],
)
def test_of_a_question_without_an_answer_declining_is_right(judge: str) -> None:
    found = markscheme.judge(SQUAD, judge)
    assert found.judgments["verdict"].to_list() == [True, False, True, True, True]
    assert "the question has no answer" in found.judgments["explanation"][1]
    (note,) = found.run.notes
    assert "declining is right" in note
    assert found.run.notes[note] == 4


def test_judges_that_need_no_references_judge_a_question_without_an_answer() -> None:
    found = markscheme.judge(SQUAD[1:2], "listwise_examiner")
    assert "the question has no answer" not in found.judgments["explanation"][0]


def test_a_blank_cell_is_no_such_question(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("question,references,answer\nWho?,,nobody\nWho?,[],nobody knows\n")
    with pytest.raises(BadRowsError, match="line 2: no references"):
        markscheme.judge(file, "exact_match")
    found = markscheme.judge(file, "exact_match", on_bad_row="skip")
    assert found.judgments.height == 1


@dataclass(frozen=True, kw_only=True)
class NeedsNone:
    """Accepts everything."""

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Accepted."""
        return answers.select(verdict=pl.lit(value=True))


@pytest.fixture
def needs_none() -> Iterator[NeedsNone]:
    register("needs_none", needs=Needs(chat=False, references="unused"))(NeedsNone)
    yield NeedsNone()
    del JUDGES.known["needs_none"]


def test_beside_a_judge_that_needs_none_a_blank_cell_is_not_judged(needs_none: NeedsNone) -> None:
    rows = [{"question": "Who?", "references": None, "answer": "I do not know."}]
    found = markscheme.judge(rows, ["exact_match", needs_none]).judgments
    assert found["status"].to_list() == ["skipped", "judged"]
    assert found["explanation"][0] == "no reference to compare with"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("", True),
        ("Unanswerable", True),
        ("No answer.", True),
        ("The text does not mention it.", True),
        ("I don't know.", True),
        ("Paris", False),
        ("I am not sure, but I think Paris.", False),
        ("No one: it was founded by the town itself, however.", False),
    ],
)
def test_what_declines(said: str, expected: bool) -> None:
    assert declines(said) is expected


def test_the_reformatted_files_of_yao_and_barbosa_need_no_option(tmp_path: Path) -> None:
    path = tmp_path / "TQ-reformatted.jsonl"
    row = {"question": "Which river?", "golden_answer": "The Tiber||Tiber River", "system": "fid"}
    rows = [
        row | {"system_answer": "Tiber", "golden_judge": 1, "qid": 7},
        row | {"system": "gpt4", "system_answer": "The Po", "golden_judge": 0, "qid": 7},
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    answers = pl.concat(AnswersReader([path], ReadOptions()))
    assert answers["references"].to_list() == [["The Tiber", "Tiber River"]] * 2
    assert answers["label"].to_list() == [1.0, 0.0]
    assert answers["system"].to_list() == ["fid", "gpt4"]
