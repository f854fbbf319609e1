"""Files of HotpotQA, 2WikiMultihopQA, MuSiQue and TriviaQA as their authors lay them out, judged
with the prediction files that their own scorers take.

`reported/06-multihop-native-files` holds small files in these layouts, made for these tests.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.errors import BadRowsError, DataError
from markscheme.tables import AnswersReader, ReadOptions

RUNS = Path(__file__).parent / "reported" / "06-multihop-native-files"
ACCURACY = {
    ("musique_merged.jsonl",): 1.0,
    ("hotpot_dev.json", "hotpot_pred.json"): 2 / 3,
    ("hotpot_pred.json", "hotpot_dev.json"): 2 / 3,
    ("2wiki_dev.json", "2wiki_pred.json"): 2 / 3,
    ("musique_dev.jsonl", "musique_pred.jsonl"): 1.0,
    ("trivia.json", "trivia_pred.json"): 1.0,
}


def read(*sources: Path, **options: Any) -> tuple[pl.DataFrame, AnswersReader]:
    reader = AnswersReader(list(sources), ReadOptions(**options))
    return pl.concat(list(reader)), reader


def written(path: Path, content: Any) -> Path:
    lines = path.suffix == ".jsonl"
    path.write_text("\n".join(map(json.dumps, content)) if lines else json.dumps(content))
    return path


@pytest.mark.parametrize("files", ACCURACY, ids=" ".join)
def test_accuracy_of_native_files(files: tuple[str, ...]) -> None:
    result = markscheme.judge([RUNS / name for name in files], judges=["exact_match"])
    verdicts = result.judgments["verdict"]
    assert verdicts.null_count() == 0
    assert verdicts.mean() == pytest.approx(ACCURACY[files])


@pytest.mark.parametrize(
    "columns", [{"answer_id": "_id"}, {"references": "answer", "answer_id": "_id"}]
)
def test_columns_may_be_given(columns: dict[str, str]) -> None:
    table, _ = read(RUNS / "hotpot_dev.json", RUNS / "hotpot_pred.json", columns=columns)
    assert table["references"].to_list() == [["Danube"], ["no"], ["1838"]]
    trivia, _ = read(
        RUNS / "trivia.json", RUNS / "trivia_pred.json", columns={"answer_id": "QuestionId"}
    )
    assert trivia["answer_id"].to_list() == ["tc_0", "tc_1", "tc_2"]


GOLD = [
    {"id": "a", "question": "Which river?", "answer": "Danube", "answer_aliases": ["Donau"]},
    {"id": "b", "question": "Which year?", "answer": "1838", "answer_aliases": []},
    {"id": "c", "question": "Which town?", "answer": "Vác", "answer_aliases": None},
]
TEXTS = {"a": "Donau", "b": "1838", "c": "Pest"}
LAYOUTS: dict[str, Any] = {
    "ids.json": TEXTS,
    "numbers.json": TEXTS | {"b": 1838},
    "answer_and_sp.json": {"sp": {"a": []}, "answer": TEXTS},
    "predictions.json": {"predictions": TEXTS, "seconds": 3},
    "rows.jsonl": [{"predicted_answer": text, "id": name} for name, text in TEXTS.items()],
    "text.jsonl": [{"qid": name, "text": text} for name, text in TEXTS.items()],
    "list.json": [{"prediction": text, "question_id": name} for name, text in TEXTS.items()],
    "objects.json": {name: {"answer": text, "score": 1} for name, text in TEXTS.items()},
    "lists.json": {name: [text] for name, text in TEXTS.items()},
    "data.json": {
        "version": 1,
        "data": [{"id": name, "predicted_answer": text} for name, text in TEXTS.items()],
    },
    "results.json": {
        "models": ["one"],
        "results": [{"id": name, "predicted_answer": text} for name, text in TEXTS.items()],
    },
    "with_question.jsonl": [
        {"_id": name, "question": "?", "predicted_answer": text} for name, text in TEXTS.items()
    ],
}


@pytest.mark.parametrize("ids", ["id", "_id", "QuestionId", "question_id", "qid"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_predictions(layout: str, ids: str, tmp_path: Path) -> None:
    gold = [{ids if name == "id" else name: value for name, value in row.items()} for row in GOLD]
    questions = written(tmp_path / "gold.jsonl", gold[::-1])
    table, reader = read(written(tmp_path / layout, LAYOUTS[layout]), questions)
    found = dict(zip(table["answer_id"], table["answer"], strict=True))
    assert found == TEXTS
    assert table["references"].to_list() == [["Vác"], ["1838"], ["Danube", "Donau"]]
    assert table["system"].unique().to_list() == [layout.split(".")[0]]
    assert not reader.met.notes


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_predictions_are_opened_as_any_file_is(encoding: str, tmp_path: Path) -> None:
    gold, pred = written(tmp_path / "gold.json", GOLD), tmp_path / "pred.json"
    pred.write_text(json.dumps(TEXTS | {"b": True, "c": 2.5}), encoding=encoding)
    table, _ = read(gold, pred)
    assert table["answer"].to_list() == ["Donau", "true", "2.5"]
    pred.write_text("[" * 900 + "1" * 24 + "]" * 900)
    with pytest.raises(DataError, match=r"pred\.json: .*nested in one another too deeply"):
        read(pred, gold)


def test_predictions_are_read_with_the_options_of_the_questions(tmp_path: Path) -> None:
    gold, pred = tmp_path / "gold.csv", tmp_path / "pred.csv"
    gold.write_text("id,question,references\na,Who?,Dvořák\n", encoding="cp1250")
    pred.write_text("id,prediction\na,Dvořák\n", encoding="cp1250")
    table, reader = read(gold, pred, encoding="cp1250")
    assert table["answer"].to_list() == ["Dvořák"]
    assert "cp125" not in str(reader.met.recognised)
    _, reader = read(gold, pred)
    for file in (gold, pred):
        assert f"{file} is not UTF-8 and was read as cp1252" in str(reader.met.recognised)
    pred.rename(tmp_path / "pred.txt")
    table, _ = read(gold, tmp_path / "pred.txt", encoding="cp1250", input_format="csv")
    assert table["answer"].to_list() == ["Dvořák"]


def test_predictions_may_be_compressed(tmp_path: Path) -> None:
    pred = tmp_path / "pred.json.gz"
    pred.write_bytes(gzip.compress(json.dumps(TEXTS).encode()))
    table, _ = read(written(tmp_path / "gold.json", GOLD), pred)
    assert table["answer"].to_list() == list(TEXTS.values())


def test_answers_of_predictions_in_csv(tmp_path: Path) -> None:
    answers = tmp_path / "system.csv"
    answers.write_text("answer,qid\nDonau,a\n1838,b\nPest,c\n")
    table, _ = read(written(tmp_path / "gold.json", GOLD), answers)
    assert table["answer"].to_list() == list(TEXTS.values())


def test_missing_and_further_ids_are_counted(tmp_path: Path) -> None:
    gold = written(tmp_path / "gold.json", GOLD)
    one = written(tmp_path / "one.json", {"answer": {"a": "Donau", "b": None, "z": "?"}})
    two = written(tmp_path / "two.jsonl", [{"id": "c", "predicted_answer": "Vác"}])
    table, reader = read(gold, one, two)
    assert table["answer"].to_list() == ["Donau", None, None, None, None, "Vác"]
    assert table["system"].to_list() == ["one"] * 3 + ["two"] * 3
    assert reader.met.notes == {
        "questions have no answer in one.json and count as not answered": 2,
        "questions have no answer in two.jsonl and count as not answered": 2,
        "answers of one.json are to no question that was read": 1,
        "rows without an answer, judged as wrong": 4,
    }
    result = markscheme.judge([gold, one, two], judges=["exact_match"])
    assert result.judgments["verdict"].to_list() == [True, *[False] * 4, True]


def test_batches_of_questions_share_the_answers(tmp_path: Path) -> None:
    gold = written(tmp_path / "gold.jsonl", GOLD)
    table, reader = read(gold, written(tmp_path / "one.json", TEXTS), batch_rows=1)
    assert table["answer"].to_list() == list(TEXTS.values())
    assert not reader.met.notes


def test_two_files_of_one_name_are_two_systems(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        written(tmp_path / name / "pred.json", TEXTS)
    gold = written(tmp_path / "gold.json", GOLD)
    table, _ = read(gold, *(tmp_path / name / "pred.json" for name in ("old", "new")))
    assert table["system"].unique(maintain_order=True).to_list() == ["old/pred", "new/pred"]


def test_predictions_alike_up_to_the_first_ending_are_of_several_systems(tmp_path: Path) -> None:
    files = [written(tmp_path / f"bert.{size}.json", TEXTS) for size in ("base", "large")]
    table, _ = read(written(tmp_path / "gold.json", GOLD), *files)
    assert table["system"].unique(maintain_order=True).to_list() == ["bert.base", "bert.large"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"id": "a", "prediction": "x"}, {"id": "a", "prediction": "y"}], "line 2: the id 'a'"),
        ([{"id": "a", "prediction": "x"}, {"id": None, "prediction": "y"}], "line 2: .*without"),
        ([{"id": "a", "prediction": ["x"]}], "line 1: the answer must be text, not list"),
        ([{"id": "z", "prediction": "x"}], "none of the 1 ids of pred.jsonl, such as 'z'"),
    ],
)
def test_what_is_wrong_with_predictions_is_said(
    rows: list[dict[str, Any]], said: str, tmp_path: Path
) -> None:
    gold = written(tmp_path / "gold.json", GOLD)
    with pytest.raises(DataError, match=said):
        read(gold, written(tmp_path / "pred.jsonl", rows))


def test_malformed_lines_of_predictions_are_named(tmp_path: Path) -> None:
    gold, pred = written(tmp_path / "gold.json", GOLD), tmp_path / "pred.jsonl"
    pred.write_text('{"id": "a", "prediction": "x"}\n{"id": "b", \n')
    with pytest.raises(BadRowsError, match=r"pred\.jsonl, line 2"):
        read(gold, pred)


@pytest.mark.parametrize("column", ["answer_aliases", "aliases", "Answer-Aliases"])
@pytest.mark.parametrize("aliases", [["Donau", "Danube"], '["Donau"]', "Donau", "Donau | Danube"])
def test_columns_of_aliases_are_further_references(
    column: str, aliases: Any, tmp_path: Path
) -> None:
    row = {column: aliases, "prediction": "Donau", "answer": "Danube", "question": "Which river?"}
    table, reader = read(written(tmp_path / "rows.jsonl", [row]))
    assert table["references"].to_list() == [["Danube", "Donau"]]
    assert table["answer"].to_list() == ["Donau"]
    assert f"references = answer and {column}" in next(iter(reader.met.recognised))
    assert not reader.met.ignored


def test_aliases_alone_are_the_references_and_a_given_column_is_the_only_one(
    tmp_path: Path,
) -> None:
    row = {"question": "Which river?", "aliases": ["Danube", "Donau"], "answer": "Rhine"}
    path = written(tmp_path / "rows.jsonl", [row])
    assert read(path)[0]["references"].to_list() == [["Danube", "Donau"]]
    row |= {"gold": "Danube"}
    table, reader = read(written(path, [row]), columns={"references": "gold"})
    assert table["references"].to_list() == [["Danube"]]
    assert list(reader.met.ignored) == ["aliases"]


def test_gold_alone_is_not_judged_as_its_own_answer(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no column for answer"):
        read(RUNS / "trivia.json")
    with pytest.raises(DataError, match="no column for references"):
        read(RUNS / "hotpot_dev.json")
    rows = [{"question": "Which?", "answer": {"value": "A", "aliases": ["a"]}, "output": "B"}]
    table, _ = read(written(tmp_path / "rows.jsonl", rows))
    assert table.select("references", "answer").row(0) == (["A", "a"], "B")


def test_questions_without_an_id_are_not_answered(tmp_path: Path) -> None:
    rows = [GOLD[0], {**GOLD[1], "id": None}, {k: v for k, v in GOLD[2].items() if k != "id"}]
    table, reader = read(
        written(tmp_path / "gold.jsonl", rows), written(tmp_path / "one.json", TEXTS)
    )
    assert table["answer_id"].to_list() == ["a", "line 2", "line 3"]
    assert table["answer"].to_list() == ["Donau", None, None]
    assert list(reader.met.notes.values()) == [2, 2, 2]


def test_tables_by_columns_are_not_predictions(tmp_path: Path) -> None:
    tables = [
        pl.DataFrame({"question": ["Which?", "Who?"], "gold": ["A", "B"], "answer": [name, "B"]})
        for name in ("A", "C")
    ]
    for name, table in zip("ac", tables, strict=True):
        rows = {column: dict(enumerate(table[column])) for column in table.columns}
        written(tmp_path / f"{name}.json", rows)
    table, _ = read(tmp_path / "a.json", tmp_path / "c.json")
    assert table["answer"].to_list() == ["A", "B", "C", "B"]


@pytest.mark.parametrize("answer", [{"Value": "Danube"}, {"Value": "Danube", "Aliases": None}])
def test_trivia_qa_without_aliases(answer: dict[str, Any], tmp_path: Path) -> None:
    rows = [{"QuestionId": "a", "Answer": answer, "Question": "Which river?"}]
    gold = written(tmp_path / "gold.json", {"Split": "dev", "Data": rows})
    table, _ = read(gold, written(tmp_path / "pred.json", {"a": "Rhine"}))
    assert table.select("references", "answer").row(0) == (["Danube"], "Rhine")
