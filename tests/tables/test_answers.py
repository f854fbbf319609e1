"""Reading answers: formats, column names, malformed rows."""

from __future__ import annotations

import ast
import bz2
import gzip
import io
import json
import lzma
import pickle
import re
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from markscheme.api import judge
from markscheme.engine.shards import input_pieces
from markscheme.errors import BadRowsError, DataError, UnknownNameError
from markscheme.integrations.pandas import judged as judged_in_pandas
from markscheme.tables.answers import (
    ANSWERS_SCHEMA,
    AnswersReader,
    ReadOptions,
    content_ids,
    read_answers,
    write_answers,
)
from markscheme.tables.files import system_names
from markscheme.tables.labels import load_labels
from markscheme.tables.previews import preview

ROWS: list[dict[str, Any]] = [
    {"question": "Who?", "references": ["Ann", "Anne"], "answer": "Ann", "system": "a", "label": 1},
    {
        "question": "Où?",
        "references": ["Orléans"],
        "answer": "à l’ouest",
        "system": "b",
        "label": 0,
    },
    {"question": "One or two?", "references": ["both"], "answer": "", "system": "a", "label": 1},
]


def jsonl(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture
def expected() -> pl.DataFrame:
    return read_answers(ROWS)


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".tsv", ".parquet", ".json"])
def test_what_is_written_reads_back(tmp_path: Path, expected: pl.DataFrame, ending: str) -> None:
    path = tmp_path / f"answers{ending}"
    if ending == ".json":
        path.write_text(json.dumps(expected.to_dicts()))
    else:
        write_answers(expected, path)
    assert read_answers(path).equals(expected)
    assert list(expected.columns) == list(ANSWERS_SCHEMA)


@pytest.mark.parametrize(
    ("ending", "compress"),
    [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress),
     (".zst", zstandard.ZstdCompressor().compress)],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_compressed(
    tmp_path: Path, expected: pl.DataFrame, ending: str, compress: Any, kind: str
) -> None:
    plain = tmp_path / f"answers.{kind}"
    write_answers(expected, plain)
    packed = tmp_path / f"answers.{kind}{ending}"
    packed.write_bytes(compress(plain.read_bytes()))
    assert read_answers(packed).equals(expected)


@pytest.mark.parametrize("kind", ["jsonl", "csv", "tsv", "parquet", "json"])
def test_standard_input_without_a_name(
    tmp_path: Path, expected: pl.DataFrame, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tmp_path / f"answers.{kind}"
    if kind == "json":
        plain.write_text(json.dumps(expected.to_dicts(), indent=1))
    else:
        write_answers(expected, plain)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(plain.read_bytes())))
    assert read_answers("-").equals(expected)


def test_damaged_compression_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(jsonl(ROWS * 500))[:-30])
    with pytest.raises(DataError, match=r"a\.jsonl\.gz: the compressed file is damaged or cut"):
        read_answers(path)


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        (("query", "gold", "prediction"), {}),
        (("Question", "Gold answers", "Model answer"), {}),
        (("q", "ground_truth", "response"), {}),
        (("question", "golden_answer", "output"), {}),
        (("frage", "soll", "ist"), {"question": "frage", "references": "soll", "answer": "ist"}),
    ],
)
def test_usual_column_names(names: tuple[str, str, str], columns: dict[str, str]) -> None:
    row = dict(zip(names, ["Who?", "Ann", "Anna"], strict=True))
    read = read_answers([row], ReadOptions(columns=columns))
    assert read.select("question", "references", "answer").row(0) == ("Who?", ["Ann"], "Anna")


def test_answer_beside_prediction_is_the_reference() -> None:
    row = {"question": "Who?", "answer": ["Ann"], "prediction": "Anna"}
    assert read_answers([row]).select("references", "answer").row(0) == (["Ann"], "Anna")


def test_two_columns_that_could_be_the_answer_are_not_guessed() -> None:
    row = {"question": "Who?", "gold": "Ann", "response": "A", "output": "B"}
    with pytest.raises(DataError, match=r"'response' and 'output' could each be the answer"):
        read_answers([row])
    chosen = read_answers([row], ReadOptions(columns={"answer": "output"}))
    assert chosen["answer"].to_list() == ["B"]


@pytest.mark.parametrize(
    ("given_references", "separator", "wanted"),
    [
        ("a | b", "auto", ["a", "b"]),
        ("a||b", "auto", ["a", "b"]),
        ("a/b", "auto", ["a/b"]),
        ("a/ b", "/", ["a", "b"]),
        ("a | b", "none", ["a | b"]),
        ('["a | b", "c"]', "auto", ["a | b", "c"]),
        ("[sic] a", "auto", ["[sic] a"]),
        ("['a | b', \"c's\", 1905, None]", "none", ["a | b", "c's", "1905"]),
        ("['it\\'s', ]", "auto", ["it's"]),
        ("['a'] or ['b']", "auto", ["['a'] or ['b']"]),
        ("[a, b]", "auto", ["[a, b]"]),
        ("{1, 2}", "auto", ["{1, 2}"]),
        ('{"text": ["a", "b"], "answer_start": [3, 9]}', "auto", ["a", "b"]),
        ("{'text': ['a', 'b'], 'answer_start': [3, 9]}", "auto", ["a", "b"]),
        ('{"a": ["b"]}', "auto", ['{"a": ["b"]}']),
        (["a / b"], "/", ["a / b"]),
        ([1905, 2.5, True], "auto", ["1905", "2.5", "true"]),
        (1905, "auto", ["1905"]),
        ({"text": ["a"], "answer_start": [3]}, "auto", ["a"]),
        (["", "a", None, " "], "auto", ["a"]),
    ],
)
def test_references(given_references: Any, separator: str, wanted: list[str]) -> None:
    row = {"question": "q", "references": given_references, "answer": "x"}
    read = read_answers([row], ReadOptions(reference_separator=separator))
    assert read["references"].to_list() == [wanted]


BAD = [
    (b'{"question":"","references":["a"],"answer":"x"}', "no question"),
    (b'{"references":["a"],"answer":"x"}', "no question"),
    (b'{"question":"q","references":[],"answer":"x"}', "no references"),
    (b'{"question":"q","references":[" "],"answer":"x"}', "no references"),
    (b'{"question":"q","references":null,"answer":"x"}', "no references"),
    (b'{"question":"q","references":{"a":1},"answer":"x"}', "must be a list or text"),
    (b'{"question":"q","references":["a"],"answer":["x"]}', "answer must be text, not list"),
    (b'{"question":{"a":1},"references":["a"],"answer":"x"}', "question must be text, not dict"),
    (b'{"question":"q","references":["a"],"answer":"x"', "not valid JSON"),
    (b'{"question":"q","references":["a"],"answer":"x","\xc3\xa9":NaN}', "NaN is .* write null"),
    (b'{"question":"q","references":["a"],"answer":"x","s":[-Infinity]}', "Infinity is .* null"),
    (b'{"question":"q","references":["a"],"answer":"NaN","s":oh NaN}', "JSON: unexpected"),
    (b'{"question":"q","references":["a"],"answer":"\\ud800"}', "not valid JSON: .*surrogate"),
    (b'{"question":"q","references":["a"],"answer":"x\x00"}', "NUL byte"),
    (b'{"question":"q","references":["a"],"answer":"x\\u0000"}', "NUL byte in the answer"),
    (b'{"question":"q","references":["a"],"answer":"\xff\xfe"}', "not valid JSON"),
    (b"[1, 2]", "JSON object with fields was expected"),
    (b'{"question":"q","references":["a"],"answer":"x","label":"perhaps"}', "label 'perhaps'"),
    (b'{"question":"q","references":["a"],"answer":"x","reference_kind":"glob"}', "text or regex"),
    (b'{"question":"q","references":["a"],"answer":"x","reference_grades":[1,2]}', "as many"),
    (b'{"question":"q","references":["a"],"answer":"' + b"x" * 5_000_000 + b'"}', "5,000,000 byte"),
]


@pytest.mark.parametrize(("line", "message"), BAD)
def test_a_malformed_row_is_named_or_skipped(tmp_path: Path, line: bytes, message: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + jsonl(ROWS).replace(b"\n", b"\r\n") + line + b"\n")
    with pytest.raises(BadRowsError, match=rf"bad\.jsonl, line 4: .*{message}"):
        read_answers(path)
    reader = AnswersReader([path], ReadOptions(on_bad_row="skip"))
    read = pl.concat(list(reader))
    kept = ["x"] * ("label" in message)  # judged, without a label
    assert read["answer"].to_list() == [row["answer"] for row in ROWS] + kept
    assert [(problem.line, problem.kept) for problem in reader.met.problems] == [(4, bool(kept))]


def test_numbers_that_json_does_not_have_are_named_in_a_document_too(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{**ROWS[0], "score": float("nan")}], indent=1))
    with pytest.raises(DataError, match=r"a\.json, line 11, .*: NaN is no value of JSON; write nu"):
        read_answers(path)


def test_alike_bad_rows_are_one_error_with_the_first_lines(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    row = b'{"question":"q","references":["a"],"answer":"x","label":"%s"}\n'
    path.write_bytes(b"{\n" * 30 + row % b"perhaps" + row % b"dunno" + row % b"perhaps")
    with pytest.raises(BadRowsError) as caught:
        read_answers(path)
    assert len(caught.value.problems) == 33
    first, broken, more, labels, others, _ = str(caught.value).splitlines()
    assert first == "33 rows cannot be used:"
    assert "bad.jsonl, line 1: not valid JSON" in broken
    assert more.strip() == "and 29 like it: lines 2, 3, 4, 5, 6, ..."
    assert "line 31: label 'perhaps' is none of yes/no" in labels
    assert others.strip() == "and 2 like it: lines 32, 33, with 'dunno'"


def test_up_to_twenty_kinds_of_bad_rows_are_named(tmp_path: Path) -> None:
    files = [tmp_path / f"bad{place}.jsonl" for place in range(30)]
    for file in files:
        file.write_bytes(b"{\n{\n")
    with pytest.raises(BadRowsError) as caught:
        list(AnswersReader(files))
    assert str(caught.value).count("like it") == 10
    assert "60 rows in all" in str(caught.value)


def test_labels_that_cannot_be_read_leave_their_answers_in() -> None:
    said = ["yes", "?", "maybe", "N/A", "", None, "maybe", "no", "inf", "?"]
    rows = [{"question": "q", "gold": "g", "answer": "b", "label": one} for one in said]
    reader = AnswersReader([rows], ReadOptions(on_bad_row="skip"))
    read = pl.concat(list(reader))
    assert read["label"].to_list() == [1.0, *[None] * 6, 0.0, None, None]
    assert [one.line for one in reader.met.problems if one.kept] == [3, 7, 9]
    assert len(reader.met.problems) == 3
    assert reader.met.no_labels == {"'?'": 2, "'N/A'": 1}
    assert reader.met.counted[-2:] == [
        "label '?' is read as no label (2 rows)",
        "label 'N/A' is read as no label (1 row)",
    ]


def test_files_of_one_name_in_several_folders_are_several_systems(tmp_path: Path) -> None:
    rows = [{"question": "q1", "gold": "a", "answer": "a"}]
    files = [tmp_path / "gpt/answers.jsonl", tmp_path / "claude/answers.jsonl"]
    more = [tmp_path / "other.jsonl", tmp_path / "claude/answers.part2.jsonl"]
    for file in (*files, *more):
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(jsonl(rows))
    alone = AnswersReader([files[0]])
    assert pl.concat(list(alone))["system"].to_list() == ["answers"]
    reader = AnswersReader([*files, *more])
    expected = ["gpt/answers", "claude/answers", "other", "claude/answers"]
    assert pl.concat(list(reader))["system"].to_list() == expected
    assert [said for said in reader.met.recognised if "folders" in said] == [
        "several files are called 'answers', so their folders are part of their systems' names; "
        "parts of one system need a column that names it"
    ]
    assert [one.rows["system"].item() for one in preview(files)] == expected[:2]
    pieces, _ = input_pieces([str(tmp_path / "*/answers.jsonl")])
    assert [piece.system for piece in pieces] == ["claude/answers", "gpt/answers"]
    for file, system in zip(files, ("a", "b"), strict=True):
        file.write_bytes(jsonl([{**rows[0], "system": system}]))
    reader = AnswersReader(files)
    assert pl.concat(list(reader))["system"].to_list() == ["a", "b"]
    assert not any("folders" in said for said in reader.met.recognised)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("gpt-4.1.jsonl", "gpt-4.1"),
        ("llama-3.1-8b.jsonl.gz", "llama-3.1-8b"),
        ("qwen2.5-72b", "qwen2.5-72b"),
        ("answers.part2.jsonl", "answers"),
        ("efficientqa.test.1.1.jsonl", "efficientqa"),
        ("dev.2.jsonl", "dev"),
        (".jsonl", "system"),
    ],
)
def test_a_version_in_a_file_s_name_is_no_ending(file: str, name: str) -> None:
    assert system_names([file]) == [name]


def test_files_of_two_versions_are_two_systems(tmp_path: Path) -> None:
    files = [tmp_path / f"gpt-4.{version}.jsonl" for version in (1, 5)]
    for file, answer in zip(files, "ab", strict=True):
        file.write_bytes(jsonl([{"question": "q", "gold": "a", "answer": answer}]))
    found = judge(files, "exact_match")
    shares = dict(found.summary.select("system", "accuracy").iter_rows())
    assert shares == {"gpt-4.1": 1.0, "gpt-4.5": 0.0, "(all)": 0.5}


def test_files_that_are_read_as_one_system_are_named(tmp_path: Path) -> None:
    files = [tmp_path / f"gpt4.{name}.jsonl" for name in ("base", "rag", "more")]
    for file in files:
        file.write_bytes(jsonl([{"question": "q", "gold": "a", "answer": file.name}]))
    reader = AnswersReader(files)
    assert pl.concat(list(reader))["system"].to_list() == ["gpt4"] * 3
    (note,) = (said for said in reader.met.recognised if "one system" in said)
    assert note.startswith(f"{files[0]} and {files[1]} are read as one system, 'gpt4', since ")
    for file in files:
        file.write_bytes(jsonl([{"question": "q", "gold": "a", "answer": "a", "system": "s"}]))
    reader = AnswersReader(files)
    assert pl.concat(list(reader)).height == 3
    assert "one system" not in str(reader.met.recognised)


def test_files_of_one_folder_s_name_are_distinguished_by_the_next_one(tmp_path: Path) -> None:
    files = [tmp_path / f"{name}/run/answers.csv" for name in "ab"]
    assert system_names(files) == ["a/run/answers", "b/run/answers"]
    assert system_names(["-", "s3://bucket/a/x.parquet", "s3://bucket/b/x.parquet"]) == [
        "system", "a/x", "b/x"
    ]  # fmt: skip


TABLE = [["question", "gold", "answer"], ["q1", "a, b", "a"], ["q2", "c", "d"]]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("said", [False, True], ids=["found out", "said as Excel does"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_csv_files_of_spreadsheets(tmp_path: Path, mark: str, ending: str, *, said: bool) -> None:
    lines = [f"sep={mark}"] * said + [mark.join(f'"{cell}"' for cell in row) for row in TABLE]
    path = tmp_path / "sheet.csv"
    path.write_bytes(ending.join([*lines, mark.join("xy")]).encode("utf-8-sig"))
    with pytest.raises(BadRowsError, match=rf"line {len(lines) + 1}: 2 fields where .* has 3"):
        read_answers(path)
    read = read_answers(path, ReadOptions(on_bad_row="skip"))
    assert read["references"].to_list() == [["a, b"], ["c"]]
    assert read["answer"].to_list() == ["a", "d"]


@pytest.mark.parametrize(("mark", "sign"), [(";", ","), ("\t", ";"), (",", ";")])
def test_a_sign_in_the_names_of_columns_separates_nothing(
    tmp_path: Path, mark: str, sign: str
) -> None:
    path = tmp_path / "sheet.csv"
    names = ["question", "gold", "answer", f"remark{sign} if any{sign} of ours{sign} in short"]
    lines = [mark.join(names)] + [mark.join(["Who?", "Emma", f"a{sign}b", ""])] * 2
    path.write_text("\n".join(lines))
    assert read_answers(path)["answer"].to_list() == [f"a{sign}b"] * 2


def test_lines_of_separators_alone_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text('question,gold,answer\nq,a,b\n,,\n,,,,\n" ","",\nr,a,c\n,,\n')
    assert read_answers(path)["answer"].to_list() == ["b", "c"]
    path.write_text("question,gold,answer\nq,a,b\n,,\nr,a\n")
    with pytest.raises(BadRowsError, match="line 4: 2 fields where the header has 3"):
        read_answers(path)


def test_a_blank_id_is_none_in_any_form_of_table(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    for names, cells in (("answer", "a"), ("gpt-4o,claude", "a,b")):
        path.write_text(f"id,question,gold,{names}\n1,q,a,{cells}\n,r,a,{cells}\n")
        with pytest.raises(BadRowsError, match="line 3: no id, though other rows have one"):
            read_answers(path)
        path.write_text(f"id,question,gold,{names}\n,q,a,{cells}\n,r,a,{cells}\n")
        assert read_answers(path)["answer_id"].str.len_chars().min() == 24


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
def test_a_blank_cell_of_an_optional_column_is_none_in_any_form_of_table(
    tmp_path: Path, ending: str
) -> None:
    table = pl.DataFrame(
        {
            "question": ["Q1", "Q2", "Q3"],
            "references": ["^Par.*", "Rome", "Bonn"],
            "answer": ["Paris", "Rome", "Bonn"],
            "reference_kind": ["regex", "", None],
            "context": ["c", " ", None],
            "answer_error": ["", " ", None],
            "topic": ["x", "", None],
        }
    )
    path = tmp_path / f"a.{ending}"
    if ending == "jsonl":
        table.write_ndjson(path)
    else:
        table.write_csv(path, separator="," if ending == "csv" else "\t")
    options = ReadOptions(slices=("topic",))
    found = read_answers(path, options)
    for name in ("reference_kind", "context", "answer_error", "topic"):
        value = None if name == "answer_error" else table[name][0]
        assert found[name].to_list() == [value, None, None]
    write_answers(found, tmp_path / "again.csv")
    assert read_answers(tmp_path / "again.csv", options).equals(found)


def test_columns_without_a_name_are_let_be(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("question,gold,answer,,, \nq,a,b,,,\n")
    reader = AnswersReader([path])
    assert pl.concat(list(reader))["answer"].to_list() == ["b"]
    assert not reader.met.ignored
    path.write_text("question,gold,answer,,,gold\nq,a,b,,,c\n")
    with pytest.raises(DataError, match=r"columns named twice: gold$"):
        read_answers(path)


def test_a_run_s_folder_is_no_table_of_answers(tmp_path: Path) -> None:
    judge(ROWS, "contains", out=tmp_path / "run")
    with pytest.raises(DataError, match=r"is the folder of a run.*run/answers\.parquet"):
        read_answers(tmp_path / "run")


def test_content_under_another_kind_s_name_is_said(tmp_path: Path) -> None:
    table, lines = tmp_path / "answers.csv", tmp_path / "answers.jsonl"
    table.write_bytes(jsonl(ROWS))
    with pytest.raises(DataError, match="an object of JSON a line; pass --input-format jsonl"):
        read_answers(table)
    for indent in (None, 1):
        lines.write_text(json.dumps(ROWS, indent=indent))
        with pytest.raises(DataError, match=r"one list of JSON.* pass --input-format json"):
            read_answers(lines)
        assert read_answers(lines, ReadOptions(input_format="json")).height == len(ROWS)


def test_every_column_that_is_missing_is_asked_for() -> None:
    with pytest.raises(DataError, match=r"--columns question=NAME,references=NAME \(Py"):
        read_answers([{"Frage": "q", "Soll": "a", "answer": "x"}])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(
            b'question,gold,answer\r\nq,a,x\r\nq,a\r\n"two\nlines",a,x\r\nq,a,\xff\r\nq,,x',
            {
                3: "2 fields where the header has 3",
                6: "the answer holds a byte that is not UTF-8 (0xFF) at character 1; "
                "save the file as UTF-8",
                7: "no references",
            },
            id="rows",
        ),
        pytest.param(
            b"question,gold,answer\nq,a,x\n"
            b"q,\"['New York' 'NYC']\",x\n"
            b"q,\"{'text': array(['a', 'b'], dtype=object), 'answer_start': array([3, 9])}\",x\n"
            b'q,"[[1]]",x\n',
            {
                3: "the references are a NumPy array printed as text, \"['New York' 'N",
                4: "the references are a NumPy array printed as text",
                5: "the references must be text, not list '[1]'",
            },
            id="references",
        ),
    ],
)
def test_bad_rows_in_csv(tmp_path: Path, content: bytes, said: dict[int, str]) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(BadRowsError) as caught:
        read_answers(path)
    found = {problem.line: problem.message for problem in caught.value.problems}
    for line, problem in said.items():
        assert found[line].startswith(problem)
    assert len(caught.value.problems) == len(said)


def test_lists_as_pandas_writes_them_to_csv(tmp_path: Path) -> None:
    path = tmp_path / "pandas.csv"
    gold = [["Jane Austen", "Austen"], ["8"], ["Jane Austen", "Austen"]]
    pd.DataFrame({"question": "q", "gold": gold, "answer": "x"}).to_csv(path)
    reader = AnswersReader([path])
    assert pl.concat(list(reader))["references"].to_list() == gold
    assert reader.met.notes == {"references read as Python lists": 3}


def test_notes_count_the_rows_that_they_are_of(tmp_path: Path) -> None:
    path = tmp_path / "mixed.csv"
    path.write_text(
        "question,gold,answer\nq,g | b,x\nq,g | b,y\nq,\"['c', 'd']\",x\nq,e,x\nq,f,x\n"
    )
    reader = AnswersReader([path])
    assert pl.concat(list(reader))["references"].list.len().to_list() == [2, 2, 2, 1, 1]
    assert reader.met.notes == {
        "references split at '|'; --reference-separator none keeps them": 2,
        "references read as Python lists": 1,
        "a question has other answers of the same system, which all count; no column says whose "
        "they are, --columns system=NAME names one": 1,
    }


def test_notes_on_references_of_a_wide_table_count_its_rows() -> None:
    rows = [
        {"question": f"q{n}", "gold": "a; b" if n < 3 else "a", "one": "a", "two": ""}
        for n in range(5)
    ]
    reader = AnswersReader([rows], ReadOptions(answer_columns=("one", "two")))
    assert sum(frame.height for frame in reader) == 10
    notes = {text.partition(";")[0]: count for text, count in reader.met.notes.items()}
    assert notes["references with '"] == 3
    assert reader.met.blank_cells == {"two": 5}


def test_blank_cells_of_a_wide_table_are_counted_by_system_and_can_be_left_out() -> None:
    rows = [
        {"question": f"q{n}", "gold": "x", "one": "x" if n < 4 else "", "two": "y" if n else None}
        for n in range(6)
    ]
    wide = ("one", "two")
    reader = AnswersReader([rows], ReadOptions(answer_columns=wide))
    assert pl.concat(reader).height == 12
    assert not reader.met.notes
    assert reader.met.blank_cells == {"one": 2, "two": 1}
    assert "two: blank cells, judged as wrong; if the system" in reader.met.blank[1]
    reader = AnswersReader([rows], ReadOptions(answer_columns=wide, blank_answers="drop"))
    counts = pl.concat(reader)["system"].value_counts().rows()
    assert sorted(counts) == [("one", 4), ("two", 5)]
    assert reader.met.notes == {"rows without an answer, left out": 3}


def test_a_failed_call_is_no_blank_answer() -> None:
    rows = [
        {"question": "q", "gold": "a", "answer": None, "answer_error": error}
        for error in (None, "", " ", "No error", "timeout")
    ]
    found = read_answers(rows, ReadOptions(blank_answers="drop"))
    assert found["answer_error"].to_list() == ["timeout"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("frage", "soll", "ist"), "has no column for"),
        (("question", "references", "ist"), "has no column for answer"),
        (("question", "references", "prediction", "response"), "could each be the answer"),
    ],
)
def test_errors_name_the_argument_of_python_too(names: tuple[str, ...], message: str) -> None:
    rows = [dict.fromkeys(names, f"x{n}") for n in range(3)]
    with pytest.raises(DataError, match=message) as error:
        judge(rows, "exact_match")
    given = re.search(r"\(Python: columns=({.+?})\)", str(error.value))
    assert given is not None
    ours = ast.literal_eval(given[1])
    theirs = dict(zip(("question", "references", "answer"), names, strict=False))
    columns = {one: theirs[one] if name == "NAME" else name for one, name in ours.items()}
    assert judge(rows, "exact_match", columns=columns).summary["accuracy"][0] == 1.0


def test_references_without_a_word_are_counted() -> None:
    references = [["A"], ["the Danube"], ["*", "The"], ["C++"], ["A", "B"], [" an "]]
    reader = AnswersReader([[{**ROWS[0], "references": one} for one in references]])
    assert pl.concat(list(reader))["references"].to_list() == references
    assert reader.met.notes == {
        "a reference is an article or signs alone: lexical judges take it as written": 4,
    }


def test_ids_used_twice_are_named(tmp_path: Path) -> None:
    path = tmp_path / "ids.jsonl"
    path.write_bytes(jsonl([{**row, "id": "same"} for row in ROWS]))
    with pytest.raises(BadRowsError, match=r"line 2: the id 'same' was used before, for a row"):
        read_answers(path, ReadOptions(batch_rows=1))
    with pytest.raises(BadRowsError, match=r"line 2: the id 'same' was used before in line 1, for"):
        read_answers(path)
    options = ReadOptions(columns={"answer_id": "none"})
    assert read_answers(path, options)["answer_id"].n_unique() == 3


def test_ids_used_twice_stop_even_where_bad_rows_are_skipped(tmp_path: Path) -> None:
    """Neither answer is malformed: good ones of a week were left out as if they were."""
    path = tmp_path / "week.jsonl"
    bad = {**ROWS[0], "id": "bad", "references": None}
    path.write_bytes(jsonl([{**row, "id": "same"} for row in ROWS] + [bad]))
    for batch_rows in (1, 100):
        skipping = ReadOptions(on_bad_row="skip", batch_rows=batch_rows)
        with pytest.raises(BadRowsError, match="the id 'same' was used before") as caught:
            read_answers(path, skipping)
        assert [one.line for one in caught.value.problems] == [2, 3]
        assert "--on-bad-row" not in str(caught.value)
        reader = AnswersReader([path], replace(skipping, columns={"answer_id": "none"}))
        assert pl.concat(list(reader)).height == 3
        assert len(reader.met.problems) == 1


@pytest.mark.parametrize("name", ["error", "error_message", "Error Message"])
def test_a_column_of_errors_says_why_there_is_no_answer_and_nothing_else(name: str) -> None:
    said = [("time-out", None), ("none", None), (None, " "), ("a remark", "text"), ({"n": 5}, "")]
    rows = [{**ROWS[0], "id": f"{n}", "answer": answer, name: error}
            for n, (error, answer) in enumerate(said)]  # fmt: skip
    for batch_rows in (1, 100):
        reader = AnswersReader([rows], ReadOptions(batch_rows=batch_rows))
        found = pl.concat(list(reader))
        assert found["answer_error"].to_list() == ["time-out", None, None, None, "{'n': 5}"]
        assert reader.met.notes["rows without an answer, judged as wrong"] == 2
        (note,) = (text for text in reader.met.notes if "says that the call failed" in text)
        assert reader.met.notes[note] == 2
        assert repr(name) in note
    off = ReadOptions(columns={"answer_error": "none"})
    assert read_answers(rows, off)["answer_error"].null_count() == 5


@pytest.mark.parametrize("name", ["error", "answer_error"])
@pytest.mark.parametrize("word", ["NA", "none", "?", "No error", " "])
def test_words_for_no_error_are_the_same_in_every_column_of_errors(name: str, word: str) -> None:
    rows = [{**ROWS[0], "id": "1", "answer": "", name: word},
            {**ROWS[0], "id": "2", "answer": "", name: "time-out"}]  # fmt: skip
    assert read_answers(rows)["answer_error"].to_list() == [None, "time-out"]


def test_files_set_one_behind_another_have_a_byte_order_mark_each(
    tmp_path: Path, expected: pl.DataFrame
) -> None:
    path = tmp_path / "week.jsonl"
    path.write_bytes(b"".join(b"\xef\xbb\xbf" + jsonl([row]) for row in ROWS))
    assert read_answers(path).equals(expected)


def by_system(column: str) -> list[dict[str, Any]]:
    """Two systems' answers to three numbered questions, in a layout that many tools write."""
    return [
        {"nr": f"Q{n}", "question": f"q{n}", "gold": "a", "answer": f"{bot} {n}", column: bot}
        for n in range(3)
        for bot in ("gpt", "llama")
    ]


def test_ids_that_stand_once_for_each_system_number_questions() -> None:
    reader = AnswersReader([by_system("system")])
    found = pl.concat(list(reader))
    assert found["answer_id"].n_unique() == 6
    assert found["system"].to_list() == ["gpt", "llama"] * 3
    assert "nr is the same for several systems, so it numbers questions" in reader.met.recognised
    given = ReadOptions(columns={"answer_id": "nr"})
    with pytest.raises(BadRowsError, match="the id 'Q0' was used before"):
        read_answers(by_system("system"), given)


@pytest.mark.parametrize("column", ["system", "bot"])
def test_rows_that_repeat_do_not_change_what_ids_are_taken_for(column: str) -> None:
    twice = [*by_system(column), *by_system(column)[:2]]
    reader = AnswersReader([twice])
    assert pl.concat(list(reader))["answer_id"].n_unique() == 8
    assert reader.met.repeats == 2
    reader = AnswersReader([twice], ReadOptions(repeats="drop"))
    assert pl.concat(list(reader)).height == 6
    assert (reader.met.repeats, reader.met.problems) == (0, [])
    assert reader.met.notes["rows that repeat an earlier one exactly are left out"] == 2


@pytest.mark.parametrize("batch_rows", [1, 2, 100])
def test_a_repeated_row_with_an_id_of_its_own_counts_again_or_is_dropped(batch_rows: int) -> None:
    rows = [{**row, "id": str(place)} for place, row in enumerate(ROWS)]
    twice = [*rows, rows[0], rows[0]]
    reader = AnswersReader([twice], ReadOptions(batch_rows=batch_rows))
    ids = pl.concat(list(reader))["answer_id"].to_list()
    assert ids == ["0", "1", "2", "0 (row 4)", "0 (row 5)"]
    assert reader.met.repeats == 2
    dropped = ReadOptions(batch_rows=batch_rows, repeats="drop")
    assert read_answers(twice, dropped).height == len(rows)
    for reading in (ReadOptions(batch_rows=batch_rows), dropped):
        with pytest.raises(BadRowsError, match="row 5: the id '0' was used before"):
            read_answers([*rows, rows[0], {**rows[0], "label": 0}], reading)


def test_rows_that_differ_in_a_label_are_no_repeats(tmp_path: Path) -> None:
    """The note offered `--repeats drop`, which left them in, and came again."""
    path = tmp_path / "labels.csv"
    row = "Q,Paris,Paris,"
    path.write_text(f"question,references,answer,label\n{row}1\n{row}0\n{row}1\n")
    for repeats, kept, counted in (("count", 3, 1), ("drop", 2, 0)):
        reader = AnswersReader([path], ReadOptions(repeats=repeats))  # type: ignore[arg-type]
        assert pl.concat(list(reader))["answer_id"].n_unique() == kept
        assert reader.met.repeats == counted
        assert any("--repeats drop" in said for said in reader.said()) is bool(counted)


def test_what_repeats_may_be() -> None:
    with pytest.raises(DataError, match="repeats='twice' is neither"):
        ReadOptions(repeats="twice")  # type: ignore[arg-type]


def test_other_answers_of_the_same_system_are_counted() -> None:
    more = {**by_system("system")[0], "answer": "something else"}
    reader = AnswersReader([[*by_system("system"), more]])
    assert pl.concat(list(reader)).height == 7
    assert reader.met.notes["a question has other answers of the same system, which all count"] == 1


def nested(systems: str = "AB") -> list[dict[str, Any]]:
    """A log of nested fields, as an application writes it."""
    return [
        {
            "run": {"model": system, "nr": n},
            "input": {"prompt": f"q{n}"},
            "expected": {"gold": [{"text": "a"}]},
            "result": {"choices": [{"output": f"{system} {n} {place}"}]},
            "review": {"human": ["yes", "no", None][n % 3]},
        }
        for n in range(6)
        for place, system in enumerate(systems)
    ]


def test_system_and_label_are_found_inside_objects() -> None:
    reader = AnswersReader([nested()])
    read = pl.concat(list(reader))
    assert read["system"].to_list() == ["A", "B"] * 6
    assert read["label"].to_list()[::2] == [1.0, 0.0, None] * 2
    assert reader.last is not None
    assert (reader.last.place_of("system"), reader.last.place_of("label")) == (
        "run.model",
        "review.human",
    )
    left = ReadOptions(columns={"system": "none", "label": "none"})
    assert read_answers(nested(), left)["label"].null_count() == 12


@pytest.mark.parametrize(
    ("more", "column"),
    [
        ({"scores": {"correct": True}}, "label"),  # a tool's verdict
        ({"review": {"grade": 4}}, "label"),
        ({"a": {"model": "x"}, "b": {"model": "y"}}, "system"),  # either could be
        ({"a": {"model": "long " * 20}}, "system"),
        ({"input": {"prompt": "q", "system": "You help."}}, "system"),  # a prompt
    ],
)
def test_what_only_looks_like_a_system_or_a_label_is_not_read(
    more: dict[str, Any], column: str
) -> None:
    row = {"input": {"prompt": "q"}, "expected": {"gold": "a"}, "result": {"output": "x"}, **more}
    reader = AnswersReader([[row]])
    assert list(reader)
    assert reader.last is not None
    assert column not in reader.last.places


def test_answers_of_systems_that_no_column_names_are_counted_with_candidates() -> None:
    rows = [{**row, "run": {"engine": row["run"]["model"]}} for row in nested()]
    reader = AnswersReader([rows])
    assert list(reader)
    assert "run.engine may say whose answer each row is (A, B)" in "".join(reader.met.recognised)
    rows = [{**row, "run": {"number": n}} for n, row in enumerate(nested("AA"))]
    reader = AnswersReader([rows])
    assert list(reader)
    ((note, count),) = ((one, n) for one, n in reader.met.notes.items() if "other answers" in one)
    assert count == 6
    assert "--columns system=NAME names one (not used: run.number)" in note


def test_a_column_that_may_name_systems_is_offered() -> None:
    reader = AnswersReader([by_system("bot")])
    assert pl.concat(list(reader))["system"].unique().to_list() == ["system"]
    (offer,) = (one for one in reader.met.recognised if "--columns" in one)
    assert offer == (
        "bot may say whose answer each row is (gpt, llama): --columns system=bot reads it"
    )
    reader = AnswersReader([by_system("bot")], ReadOptions(columns={"system": "bot"}))
    assert pl.concat(list(reader))["system"].to_list() == ["gpt", "llama"] * 3
    assert not any("--columns" in one for one in reader.met.recognised)
    rows = [
        {"question": f"q{n % 2}", "gold": "a", "answer": f"x{n}", "topic": "t"} for n in range(4)
    ]
    reader = AnswersReader([rows])
    assert list(reader)
    assert not any("--columns" in one for one in reader.met.recognised)


def test_a_missing_answer_column_is_asked_for_together_with_the_systems() -> None:
    rows = [{"said": row.pop("answer"), **row} for row in by_system("bot")]
    with pytest.raises(DataError, match=r"'system': 'bot'}\): 'bot' may say"):
        read_answers(rows)


def test_given_ids_are_kept() -> None:
    assert read_answers([{**ROWS[0], "id": 17}])["answer_id"].to_list() == ["17"]


def test_repeated_rows_are_kept_counted_and_told_apart() -> None:
    reader = AnswersReader([[ROWS[0], ROWS[1], ROWS[0]]], ReadOptions(batch_rows=2))
    read = pl.concat(list(reader))
    assert read.height == 3
    assert read["answer_id"].n_unique() == 3
    assert reader.met.repeats == 1


def test_content_ids_do_not_change() -> None:
    """Ids join files made by different versions, so a change here breaks users' files."""
    assert content_ids(read_answers(ROWS[:1])).to_list() == ["d5408a18f2a0bd65fe5aa987"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "holds no answers"),
        (b'{"question":"q"}', "no column for references and answer; its columns are: question"),
    ],
)
def test_files_that_hold_no_answers(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_answers(path)


def test_missing_file_folder_and_format(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot read .*nothing\.jsonl: No such file"):
        read_answers(tmp_path / "nothing.jsonl")
    with pytest.raises(DataError, match="is a folder"):
        read_answers(tmp_path)
    odd = tmp_path / "odd.bin"
    odd.write_bytes(b"some words")
    with pytest.raises(DataError, match=r"cannot tell the format .* --input-format"):
        read_answers(odd)


def test_columns_that_do_not_exist() -> None:
    with pytest.raises(DataError, match="has no column 'frage'"):
        read_answers(ROWS, ReadOptions(columns={"question": "frage"}))
    with pytest.raises(UnknownNameError, match="did you mean 'question'"):
        read_answers(ROWS, ReadOptions(columns={"qestion": "question"}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_bad_row": "ignore"}, "on_bad_row='ignore' is neither 'error' nor 'skip'"),
        ({"max_bytes": -1}, "max_bytes=-1 must be 1 or more"),
    ],
)
def test_options_that_do_not_exist(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        ReadOptions(**options)


@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_name_is_not_this_folder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    row = {"question": "Who?", "references": ["Ann"], "answer": "Ann"}
    write_answers(read_answers([row]), Path("answers.parquet"))
    assert read_answers(".").height == 1
    with pytest.raises(DataError, match="the name of a file is empty"):
        read_answers(name)
    with pytest.raises(DataError, match="the name of a file is empty"):
        input_pieces([name])


@pytest.mark.parametrize(
    ("numbers", "read"),
    [
        ([8, None, 12], ["8", None, "12"]),  # floats to pandas
        ([8.5, None, 12], ["8.5", None, "12"]),
        ([8.0, 12.0], ["8", "12"]),
        ([1e300, None], ["1e+300", None]),
        ([float("inf"), None], ["inf", None]),
        ([None, None], [None, None]),
    ],
)
def test_whole_numbers_with_gaps_in_pandas(
    numbers: list[float | None], read: list[str | None]
) -> None:
    frame = pd.DataFrame({"answer": pd.Series(numbers, dtype=float)})
    frame = frame.assign(question="How many legs?", references="8")
    assert read_answers(frame)["answer"].to_list() == read
    judged = judged_in_pandas(frame, judge="exact_match")
    assert judged["verdict"].to_list() == [answer == "8" for answer in read]


@pytest.mark.parametrize(
    "container", ["pandas", "parquet", "polars", "lazy", "arrow", "columns", "rows", "jsonl"]
)
def test_a_number_is_the_same_text_from_every_table(tmp_path: Path, container: str) -> None:
    """A file of pandas, which makes floats of 8 and a gap, was read as 8.0, NaN as an answer."""
    numbers = {"answer": [8, None, 9.5, 12], "references": [8.0, 9.0, 9.5, 12.0], "label": [1] * 4}
    frame = pd.DataFrame({"question": ["a", "b", "c", "d"], **numbers})
    polars = pl.from_pandas(frame, nan_to_null=False)
    assert polars["answer"].is_nan().any()
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    source: Any = {
        "pandas": frame,
        "parquet": tmp_path / "a.parquet",
        "polars": polars,
        "lazy": polars.lazy(),
        "arrow": polars.to_arrow(),
        "columns": polars.to_dict(),
        "rows": frame.to_dict("records"),
        "jsonl": tmp_path / "a.jsonl",
    }[container]
    read = read_answers(source, ReadOptions(batch_rows=1))
    assert read["answer"].to_list() == ["8", None, "9.5", "12"]
    assert read["references"].to_list() == [["8"], ["9"], ["9.5"], ["12"]]
    lists = frame[:1].assign(references=[[8.0, float("nan"), 9.5]])
    assert read_answers(lists)["references"].to_list() == [["8", "9.5"]]
    assert load_labels(source)["answer"].to_list() == read["answer"].to_list()


def test_a_label_that_is_no_number_is_none_in_a_list_of_a_frame_too() -> None:
    nan = float("nan")
    rows = [{**ROWS[0], "annotator_labels": labels} for labels in ([1.0, nan], [nan])]
    frame = pl.DataFrame(rows)
    assert frame.schema["annotator_labels"] == pl.List(pl.Float64)
    read = read_answers(frame)["annotator_labels"]
    assert read.to_list() == read_answers(rows)["annotator_labels"].to_list() == [[1, None], [None]]


def test_pandas_frames_of_mixed_columns() -> None:
    frame = pd.DataFrame(
        {
            "question": ["q1", "q2", "q3", "q4"],
            "gold": [8, "b", ["c", "d"], np.array(["e"])],
            "answer": [8, "b", pd.NA, np.int64(9)],
        }
    )
    read = read_answers(frame)
    assert read["references"].to_list() == [["8"], ["b"], ["c", "d"], ["e"]]
    assert read["answer"].to_list() == ["8", "b", None, "9"]


def test_pandas_frames_where_pyarrow_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a plain install beside pandas, which does not bring pyarrow."""

    def lacking(_: Any) -> None:
        raise ImportError("pyarrow is required for converting a pandas dataframe to Polars")

    frame = pd.DataFrame(ROWS)
    expected = read_answers(frame)
    monkeypatch.setattr(pl, "from_pandas", lacking)
    assert read_answers(frame).equals(expected)


def test_bytes_are_read_as_utf_8_or_named(tmp_path: Path) -> None:
    path = tmp_path / "bytes.parquet"
    rows = {"question": [b"q1", b"q2"], "references": [b"x", b"y"]}
    pl.DataFrame({**rows, "answer": ["né".encode(), None]}).write_parquet(path)
    read = read_answers(path)
    assert read["answer"].to_list() == ["né", None]
    assert read["references"].to_list() == [["x"], ["y"]]
    pl.DataFrame({**rows, "answer": [b"x", b"ab\xff"]}).write_parquet(path)
    with pytest.raises(BadRowsError, match=r"row 2: the answer holds a byte .* \(0xFF\) at .* 3"):
        read_answers(path)


def test_numbers_of_numpy_are_text_and_sets_are_named() -> None:
    read = read_answers([{"question": "q", "references": [np.int64(8)], "answer": np.int64(8)}])
    assert (read["references"].to_list(), read["answer"].to_list()) == ([["8"]], ["8"])
    for name in ("references", "answer", "label"):
        row = {"question": "q", "references": ["a"], "answer": "a", name: {"a"}}
        with pytest.raises(BadRowsError, match=r"row 1: the .* must be text, not set"):
            read_answers([row])


def test_frames(expected: pl.DataFrame) -> None:
    polars = pl.DataFrame(ROWS)
    assert read_answers(polars).equals(expected)
    assert read_answers(polars.lazy()).equals(expected)
    assert read_answers(pd.DataFrame(ROWS)).equals(expected)


def test_a_null_answer_is_kept() -> None:
    read = read_answers([{**ROWS[0], "answer": None}, ROWS[1]])
    assert read["answer"].to_list() == [None, ROWS[1]["answer"]]


def test_the_system_is_the_file_where_no_column_says(tmp_path: Path) -> None:
    row = {key: value for key, value in ROWS[0].items() if key != "system"}
    for name in ("gpt.jsonl", "fid.jsonl"):
        (tmp_path / name).write_bytes(jsonl([row]))
    read = read_answers([tmp_path / "gpt.jsonl", tmp_path / "fid.jsonl"])
    assert read["system"].to_list() == ["gpt", "fid"]
    (tmp_path / "t5.csv").write_text("question,gold,answer,system\nq,a,a,\nq,a,b, \nq,a,c,bert\n")
    assert read_answers(tmp_path / "t5.csv")["system"].to_list() == ["t5", "t5", "bert"]


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "question": st.text(min_size=1).filter(str.strip),
                "references": st.lists(st.text(min_size=1).filter(str.strip), min_size=1),
                "answer": st.none() | st.text(),
            }
        ),
        min_size=1,
    )
)
def test_no_row_is_lost(rows: list[dict[str, Any]]) -> None:
    """Every row is read or named as a problem, whatever characters it holds."""
    reader = AnswersReader([rows], ReadOptions(on_bad_row="skip", batch_rows=3))
    try:
        read = pl.concat(list(reader))
    except DataError:
        assert len(reader.met.problems) == len(rows)
    else:
        assert read.height + len(reader.met.problems) == len(rows)
        assert read["answer_id"].n_unique() == read.height


def zipped(*names: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in names:
            archive.writestr(name, "question,gold,answer\n")
    return content.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n",
        b"%PDF-1.7\n1 0 obj\n",
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
        b"SQLite format 3\x00\x10\x00",
        pickle.dumps({"a": [1, 2]}),
        b"a.csv" + b"\x00" * 252 + b"ustar\x0000",
        bytes(range(256)) * 4,
        zipped("word/document.xml"),
        zipped("a.csv", "b.csv"),
    ],
)
@pytest.mark.parametrize("name", ["table.csv", "table.jsonl", "table"])
def test_a_file_that_is_no_table_is_one_error_with_what_to_do(
    tmp_path: Path, content: bytes, name: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=f"{name} is not a table.*[:;] export its table as .csv"):
        read_answers(tmp_path / name)


def test_tables_with_bars_between_their_fields_are_read(tmp_path: Path) -> None:
    for name in ("qa.txt", "qa.csv"):
        (tmp_path / name).write_text("question|reference|answer\nWho, then?|Ann; Ben|Ann\n")
        read = read_answers(tmp_path / name)
        assert read.select("question", "references", "answer").rows() == [
            ("Who, then?", ["Ann; Ben"], "Ann")
        ]


def test_labels_may_be_of_other_languages() -> None:
    said = ["richtig", "Falsch", "oui", "faux", "sí", "incorrecto", "vero", "sbagliato"]
    rows = [{"question": "q", "gold": "a", "answer": "b", "label": one} for one in said]
    assert read_answers(rows)["label"].to_list() == [1.0, 0.0] * 4


def test_missing_columns_are_listed_as_people_write() -> None:
    with pytest.raises(DataError, match="no column for question, references and answer; its"):
        read_answers([{"a": "b", "c": "d"}])


def test_what_lies_beside_a_path_that_is_given_is_still_recognised() -> None:
    rows = [
        {
            "trace": {"input": {"Anliegen": "Who wrote Emma?"}, "output": {"text": "Jane Austen"}},
            "meta": {"expected": "Austen"},
        }
    ]
    read = read_answers(rows, ReadOptions(columns={"question": "trace.input.Anliegen"}))
    assert read.select("question", "references", "answer").rows() == [
        ("Who wrote Emma?", ["Austen"], "Jane Austen")
    ]
    del rows[0]["trace"]["output"]
    with pytest.raises(DataError, match=r"no column for answer.* \(inside them are trace\.input"):
        read_answers(rows, ReadOptions(columns={"question": "trace.input.Anliegen"}))


def test_a_column_that_is_not_there_is_named_with_a_near_one() -> None:
    with pytest.raises(DataError, match=r"no column 'promt'; did you mean 'prompt'\?"):
        read_answers(
            [{"prompt": "q", "gold": "a", "output": "x"}],
            ReadOptions(columns={"question": "promt"}),
        )
    with pytest.raises(DataError, match=r"did you mean 'review.human'\?"):
        read_answers(nested(), ReadOptions(columns={"label": "review.humna"}))


def test_examples_of_columns_are_of_one_row() -> None:
    rows = [
        {"question": f"q{n}", "gold": "a", "answer": f"x{n}", "label": "yes" if n == 2 else ""}
        for n in range(4)
    ]
    (found,) = preview([rows])
    examples = {column.read_as: column.example for column in found.columns}
    assert (examples["question"], examples["answer"], examples["label"]) == ("q2", "x2", "yes")


@pytest.mark.parametrize("name", ["references", "reference_grades", "annotator_labels"])
def test_lists_are_no_slices(name: str) -> None:
    with pytest.raises(DataError, match=f"cannot be sliced by '{name}', which are lists"):
        AnswersReader([by_system("system")], ReadOptions(slices=(name,)))
