"""Files from reports of people who run evaluations, with the right outcome, and their kinds.

`reported/NAME/README` says what was reported. The tests of 02 and 06 are in `test_final_answers`
and `test_native_files`.
"""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.cli import run
from markscheme.errors import BadRowsError, DataError
from markscheme.tables import AnswersReader, ReadOptions, load_labels, read_answers

REPORTED = Path(__file__).parent / "reported"
Captured = pytest.CaptureFixture[str]


def accuracy(source: Any, judge: str = "exact_match") -> float:
    result = markscheme.judge(source, judge)
    assert result.judgments["verdict"].null_count() == 0
    return float(result.judgments["verdict"].mean() or 0.0)


# 01: a gate passed when rows vanished.


@pytest.mark.parametrize("new", ["new.jsonl", "new_null.jsonl"])
def test_lost_rows_fail_a_gate(new: str, capsys: Captured) -> None:
    folder = REPORTED / "01-diff-gate-missing-rows"
    files = [str(folder / "base.jsonl"), str(folder / new)]
    assert run(["diff", *files, "-j", "exact_match", "--fail-on-regression"]) == 1
    assert "gate FAILED: The new answers are worse: -86.7 points" in capsys.readouterr().err


# 05: the reference "A" normalises to nothing, which every answer contained.


@pytest.mark.parametrize(
    ("judge", "right"),
    [
        ("exact_match", {"A", "Answer: A"}), ("token_f1", {"A", "Answer: A"}),
        ("char_similarity", {"A", "Answer: A"}),
        ("contains", {"A", "a)", "Answer: A"}),
    ],
)  # fmt: skip
def test_an_option_letter_is_no_article(judge: str, right: set[str]) -> None:
    result = markscheme.judge(REPORTED / "05-option-letter-A" / "mc.jsonl", judge)
    rows = result.judgments.join(result.answers, on="answer_id")
    assert set(rows.filter("verdict")["answer"]) == right
    note, empty = (
        one for one in result.run.notes if "wrapping" not in one and "other answers" not in one
    )
    assert note.startswith("a reference is an article or signs alone")
    assert empty == "rows without an answer, judged as wrong"
    assert result.run.notes[note] == 10


# 07: integers of more than 64 bits became floats.


@pytest.mark.parametrize("file", ["bignum.jsonl", "bigid.jsonl", "mixid.jsonl"])
def test_reported_long_integers(file: str) -> None:
    path = REPORTED / "07-long-integers" / file
    assert accuracy(path) == 1.0
    digits = [str(json.loads(line).get("id")) for line in path.read_text().splitlines()]
    if digits[0] != "None":
        assert read_answers(path)["answer_id"].to_list() == digits


BIG = 2**64 + 7


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.jsonl.gz", "columns.json", "dict"])
def test_digits_stay_in_every_form_of_json(name: str, tmp_path: Path) -> None:
    rows = [
        {"id": BIG + n, "question": f"q{n}?", "references": [BIG, -BIG], "answer": answer}
        for n, answer in enumerate([BIG, -BIG, BIG + 1, 5, 10**60, 2**63])
    ]
    path = tmp_path / name
    if name == "a.json":
        path.write_text(json.dumps({"rows": rows}))
    elif name == "columns.json":
        path.write_text(json.dumps({key: [row[key] for row in rows] for key in rows[0]}))
    elif name != "dict":
        text = "".join(json.dumps(row) + "\n" for row in rows).encode()
        path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    table = read_answers(rows if name == "dict" else path)
    assert table["answer_id"].to_list() == [str(BIG + n) for n in range(6)]
    assert table["references"][0].to_list() == [str(BIG), str(-BIG)]
    assert table["answer"].to_list() == [str(row["answer"]) for row in rows]


def test_digits_stay_in_lists_in_cells_and_in_labels(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f'question,gold,answer\nq,"[{BIG}, ""two""]",{BIG}\n')
    assert accuracy(path) == 1.0
    labels = tmp_path / "labels.jsonl"
    labels.write_text("".join(f'{{"id": {n}, "label": 1}}\n' for n in (5, BIG, BIG + 1)))
    assert load_labels(labels)["answer_id"].to_list() == ["5", str(BIG), str(BIG + 1)]


def test_digits_stay_in_objects_in_cells_and_in_archives(tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    table.write_text(f'question,gold,output\nq,{BIG},"{{""answer"": {BIG}}}"\n')
    assert read_answers(table)["answer"].to_list() == [str(BIG)]
    log = json.loads((REPORTED.parent / "exports" / "inspect.json").read_bytes())
    samples = log.pop("samples")
    for sample in samples:
        sample["target"] = BIG
    found = []
    for name, parts in (
        ("a.json", None),
        ("a.eval", {"header.json": log} | {f"samples/{n}.json": s for n, s in enumerate(samples)}),
    ):
        path = tmp_path / name
        path.write_text(json.dumps({**log, "samples": samples}))
        if parts is not None:
            with zipfile.ZipFile(path, "w") as archive:
                for part, content in parts.items():
                    archive.writestr(part, json.dumps(content))
        found.append(read_answers(path)["references"].to_list())
    assert found == [[[str(BIG)]] * len(samples)] * 2


def test_numbers_of_usual_size_are_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        f'{{"question": "q", "gold": [2.50, 1e3, true, {2**63 - 1}], "answer": {10**18}}}\n'
    )
    table = read_answers(path)
    assert table["references"][0].to_list() == ["2.5", "1000", "true", str(2**63 - 1)]
    assert table["answer"].to_list() == [str(10**18)]


# 08: the header stands again within the file.


def test_a_header_that_stands_again_is_left_out() -> None:
    path = REPORTED / "08-header-repeated" / "cat.csv"
    reader = AnswersReader([path])
    assert pl.concat(list(reader)).height == 10
    (note,) = [one for one in reader.met.recognised if "header" in one]
    assert "the header is repeated in 1 row, left out (the first is line 7)" in note


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("before", ["", "\ufeff"])
def test_files_put_together_with_their_headers(mark: str, before: str, tmp_path: Path) -> None:
    one = before + "".join(mark.join(row) + "\r\n" for row in (("question", "gold", "answer"),
                                                             ("q?", "a", "answer")))  # fmt: skip
    path = tmp_path / ("a.tsv" if mark == "\t" else "a.csv")
    path.write_text(one * 3, newline="")
    assert read_answers(path)["answer"].to_list() == ["answer"] * 3
    labels = tmp_path / "labels.csv"
    labels.write_text("answer_id,label\na,1\nanswer_id,label\nb,0\n")
    assert load_labels(labels)["label"].to_list() == [1.0, 0.0]


def test_a_header_in_another_order_is_no_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,question,gold,answer\n1,q,a,a\nid,gold,question,answer\n2,b,r,b\n")
    with pytest.raises(DataError, match="line 3: the header is repeated here with its columns"):
        read_answers(path)


def test_a_row_that_only_resembles_the_header_is_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("question,gold,answer\nquestion,gold,Answer\nWhat?,gold,answer\n")
    assert read_answers(path).height == 2


# 12: annotators who are tied.


def test_tied_annotators_are_counted_apart(tmp_path: Path) -> None:
    folder = REPORTED / "12-annotators-tied"
    result = markscheme.judge(folder / "b.jsonl", "exact_match", out=tmp_path / "run")
    found = markscheme.agree(tmp_path / "run", folder / "lab.csv")
    table = str(found)
    assert "6 labelled answers are left out, as their annotators are tied" in table
    assert "have no label" not in table
    said = [[1, 0], [1, 1], [1], [None, 0], [0, 1, 1, 0], [None]]
    lists = [{"answer_id": f"q{n}", "annotator_labels": votes} for n, votes in enumerate(said)]
    table = str(markscheme.agree(result, lists))
    assert "2 labelled answers are left out, as their annotators are tied" in table
    assert "7 judgments have no label and are left out" in table


# An Excel file: formulas that no program computed, several sheets.

MAIN, OFFICE = "http://schemas.openxmlformats.org/", "officeDocument/2006/relationships"


def workbook(path: Path, **sheets: list[list[str]]) -> Path:
    """A workbook; a cell that begins with `=` is a formula, its value after `->`, if any; one that
    begins with `#` is an error, and one of digits alone a number.
    """
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{MAIN}package/2006/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{MAIN}package/2006/relationships"><Relationship '
        f'Id="r" Type="{MAIN}{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    }
    links, names = "", ""
    for number, (title, rows) in enumerate(sheets.items(), start=1):
        links += f'<Relationship Id="s{number}" Type="{MAIN}{OFFICE}/worksheet" ' \
            f'Target="worksheets/sheet{number}.xml"/>'  # fmt: skip
        names += f'<sheet name="{title}" sheetId="{number}" r:id="s{number}"/>'
        lines = "".join(
            f'<row r="{row}">' + "".join(
                cell(f"{ascii_uppercase[column]}{row}", text) for column, text in enumerate(cells)
            ) + "</row>"
            for row, cells in enumerate(rows, start=1)
        )  # fmt: skip
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{MAIN}spreadsheetml/2006/main"><sheetData>{lines}</sheetData>'
            "</worksheet>"
        )
    parts["xl/_rels/workbook.xml.rels"] = (
        f'<Relationships xmlns="{MAIN}package/2006/relationships">{links}</Relationships>'
    )
    parts["xl/workbook.xml"] = (
        f'<workbook xmlns="{MAIN}spreadsheetml/2006/main" xmlns:r="{MAIN}{OFFICE}">'
        f"<sheets>{names}</sheets></workbook>"
    )
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return path


def cell(name: str, text: str) -> str:
    if text.startswith("#"):
        return f'<c r="{name}" t="e"><v>{text}</v></c>'
    if text.isdecimal():
        return f'<c r="{name}"><v>{text}</v></c>'
    if not text.startswith("="):
        return f'<c r="{name}" t="str"><v>{text}</v></c>'
    formula, known, value = text[1:].partition("->")
    kind = ' t="str"' if known else ""
    held = f"<v>{value}</v>" if known else "<v/>"
    return f'<c r="{name}"{kind}><f>{formula}</f>{held}</c>'


HEADER = ["question", "gold", "answer"]


def test_a_formula_without_a_value_is_no_empty_answer(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "a.xlsx",
        data=[HEADER, ["q1", "a", "a"], ["q2", "b", "=C2"], ["q3", "c", "=LOWER(B4)->c"],
              ["q4", "d", '=IF(1,"",B5)->']],
    )  # fmt: skip
    with pytest.raises(BadRowsError, match=r"row 3: the cell C3 \(answer\) is a formula without"):
        read_answers(path)
    kept = read_answers(path, ReadOptions(on_bad_row="skip"))
    assert kept["question"].to_list() == ["q1", "q3", "q4"]
    assert kept["answer"].to_list() == ["a", "c", ""]


@pytest.mark.parametrize("error", ["#N/A", "#REF!", "#DIV/0!"])
def test_an_error_in_a_cell_is_no_empty_answer(error: str, tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", data=[HEADER, ["q1", "a", "a"], ["q2", "b", error]])
    with pytest.raises(BadRowsError, match=rf"row 3: the cell C3 \(answer\) is the error {error}"):
        read_answers(path)
    assert read_answers(path, ReadOptions(on_bad_row="skip"))["question"].to_list() == ["q1"]


def test_a_sheet_may_be_named(tmp_path: Path, capsys: Captured) -> None:
    path = workbook(
        tmp_path / "a.xlsx",
        first=[HEADER, ["q", "a", "a"], ["r", "b", "=C2"]],
        second=[HEADER, ["q", "a", "b"]],
        empty=[],
    )
    with pytest.raises(
        DataError, match=r"several sheets \('first', 'second'\): save one .* or, .*--sheet"
    ):
        read_answers(path)
    assert read_answers(path, ReadOptions(sheet="second"))["answer"].to_list() == ["b"]
    with pytest.raises(BadRowsError, match="C3"):
        read_answers(path, ReadOptions(sheet="first"))
    with pytest.raises(DataError, match="no sheet 'third'; there are 'first', 'second', 'empty'"):
        read_answers(path, ReadOptions(sheet="third"))
    command = ["judge", str(path), "-j", "exact_match", "-q", "-o", str(tmp_path / "run")]
    assert run([*command, "--sheet", "second"]) == 0
    assert "exact_match" in capsys.readouterr().out


def test_a_workbook_of_promptfoo_has_columns_after_each_provider(tmp_path: Path) -> None:
    after = ["Status", "Score"]
    header = ["question", "expected", "[openai:gpt-4o] {{question}}", *after,
              "[anthropic:claude] {{question}}", *after]  # fmt: skip
    row = ["Capital of France?", "Paris", "Paris", "PASS", "1", "Rome", "FAIL", "0"]
    table = read_answers(workbook(tmp_path / "results.xlsx", data=[header, row]))
    assert table["system"].to_list() == ["openai:gpt-4o", "anthropic:claude"]
    assert table["answer"].to_list() == ["Paris", "Rome"]
    path = workbook(tmp_path / "a.xlsx", data=[["gold", *HEADER], ["a", "q", "b", "a"]])
    with pytest.raises(DataError, match=r"row 1: columns named twice: gold$"):
        read_answers(path)


def test_a_number_in_the_header_is_the_name_that_a_spreadsheet_shows(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", data=[[*HEADER, "2024"], ["q", "a", "a", "1"]])
    assert read_answers(path, ReadOptions(columns={"label": "2024"}))["label"].to_list() == [1]
