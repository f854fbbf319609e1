"""Exports of other tools are read without an option, and what was guessed is said.

Files in `exports/` were written by the tools themselves (README.md there has the versions). The
others are laid out here as the tools' documentation has them.
"""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.errors import DataError, MarkschemeError
from markscheme.flags import parse_columns
from markscheme.tables import AnswersReader, ReadOptions, read_answers, read_table

EXPORTS = Path(__file__).parent / "exports"
ROWS: list[tuple[str, list[str], str]] = [
    ("Which river flows through Brennfurt?", ["the Alder", "Alder"], "The Alder."),
    ("Who painted 'The Grey Harbour'?", ["Mira Tolland"], "It was painted by Jon Asker."),
    ("In which year was the Café Müller founded?", ["1931"], "1931"),
]
SINGLE = [(question, references[:1], answer) for question, references, answer in ROWS]


def read(*sources: Any, **options: Any) -> tuple[list[tuple[Any, ...]], AnswersReader]:
    reader = AnswersReader(list(sources), ReadOptions(**options))
    table = pl.concat(list(reader))
    return table.select("question", "references", "answer").rows(), reader


def jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


MADE_BY_TOOLS = {
    "ragas.jsonl": SINGLE,
    "ragas.csv": SINGLE,
    "deepeval.json": SINGLE,
    "deepeval.csv": SINGLE,
    "inspect.eval": ROWS,
    "inspect.json": ROWS,
    "promptfoo.json": [ROWS[0], *SINGLE[1:]],
    "promptfoo.jsonl": [ROWS[0], *SINGLE[1:]],
    "lm-eval-samples.jsonl": ROWS,
    "lm-eval-samples-choices.jsonl": [
        (SINGLE[0][0], ["the Alder"], "the Alder"),
        (SINGLE[1][0], ["Mira Tolland"], "Jon Asker"),
        (SINGLE[2][0], ["1931"], "1931"),
    ],
    "mlflow.json": SINGLE,
    "hf-dataset": ROWS,
    "workbook.xlsx": SINGLE,
}


@pytest.mark.parametrize("name", MADE_BY_TOOLS)
def test_files_that_tools_wrote(name: str) -> None:
    if name == "workbook.xlsx":
        pytest.importorskip("python_calamine")
    found, reader = read(EXPORTS / name)
    assert found == MADE_BY_TOOLS[name]
    if name != "hf-dataset":
        assert reader.met.recognised, "what was guessed is said"


def test_a_single_continuation_is_the_answer_where_the_model_would_write_it(tmp_path: Path) -> None:
    samples = [
        {
            "doc_id": number,
            "doc": {"text": f"Line {number} of the story has no signs"},
            "target": " signs",
            "arguments": {"gen_args_0": {"arg_0": f"Line {number} of the story has no",
                                         "arg_1": " signs"}},
            "resps": [[["-2.1", greedy]]],
            "filtered_resps": [["-2.1", greedy]],
            "filter": "none",
        }
        for number, greedy in enumerate(("False", "True", "False"))
    ]  # fmt: skip
    file = jsonl(tmp_path / "samples_lambada_openai_2026.jsonl", samples)
    found = markscheme.judge(file, "exact_match")
    assert found.judgments["verdict"].to_list() == [False, True, False]
    (note,) = [one for one in found.run.notes if "one continuation" in one]
    assert found.run.notes[note] == 3


def test_the_system_is_the_one_that_the_log_names() -> None:
    assert read_answers(EXPORTS / "inspect.eval")["system"].unique().to_list() == ["mockllm/model"]
    assert read_answers(EXPORTS / "promptfoo.json")["system"].unique().to_list() == ["system-one"]


def test_epochs_of_one_sample_are_answers_of_their_own(tmp_path: Path) -> None:
    log = json.loads((EXPORTS / "inspect.json").read_text())
    log["samples"] += [{**sample, "epoch": 2} for sample in log["samples"]]
    (tmp_path / "log.json").write_text(json.dumps(log))
    ids = read_answers(tmp_path / "log.json")["answer_id"].to_list()
    assert ids == ["q0", "q1", "q2", "q0-epoch2", "q1-epoch2", "q2-epoch2"]


def message(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def openai_evals(rows: list[tuple[str, list[str], str]]) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [{"spec": {"completion_fns": ["one"], "eval_name": "made"}}]
    for n, (question, references, answer) in enumerate(rows):
        prompt = [message("system", "Be brief."), message("user", question)]
        about = {"run_id": "r", "sample_id": f"made.{n}"}
        events += [
            about | {"type": "sampling", "data": {"prompt": prompt, "sampled": [answer]}},
            about | {"type": "match", "data": {"correct": False, "expected": references}},
        ]
    return [*events, {"final_report": {"accuracy": 0.5}}]


LAID_OUT = {
    "ragas, old": lambda q, r, a: {
        "question": q, "contexts": ["c"], "answer": a, "ground_truth": r[0],
    },
    "Langfuse, objects": lambda q, r, a: {
        "id": q, "input": {"question": q}, "output": {"answer": a, "sources": ["s"]},
        "expectedOutput": {"answer": r[0]},
    },
    "Langfuse, JSON in texts": lambda q, r, a: {
        "input": json.dumps({"question": q}), "output": json.dumps({"answer": a}),
        "expectedOutput": json.dumps({"answer": r[0]}),
    },
    "Langfuse, plain": lambda q, r, a: {"input": q, "output": a, "expectedOutput": r[0]},
    "MLflow, nested": lambda q, r, a: {
        "inputs": {"question": q}, "outputs": {"response": a},
        "expectations": {"expected_response": r[0]},
    },
    "MLflow, flat": lambda q, r, a: {
        "inputs/question": q, "outputs/response": a, "expectations/expected_response": r[0],
    },
    "LangSmith, flat": lambda q, r, a: {
        "inputs.question": q, "outputs.output": a, "reference.answer": r[0], "execution_time": 0.5,
    },
    "LangSmith, nested": lambda q, r, a: {
        "id": q, "run_type": "chain", "inputs": {"question": q}, "outputs": {"answer": a},
        "reference_example": {"inputs": {"question": q}, "outputs": {"answer": r[0]}},
    },
    "Phoenix, flat": lambda q, r, a: {
        "context.span_id": q, "attributes.input.value": q, "attributes.output.value": a,
        "expected": r[0],
    },
    "Phoenix, nested": lambda q, r, a: {
        "name": "answer", "attributes": {"input": {"value": q}, "output": {"value": a}},
        "reference_output": {"answer": r[0]},
    },
    "a log of chats": lambda q, r, a: {
        "messages": [
            message("system", "Be brief."), message("user", "Hi"), message("assistant", "Hello"),
            message("user", q), message("assistant", [{"type": "text", "text": a}]),
        ],
        "ideal": r[0],
    },
    "an app's own log": lambda q, r, a: {
        "at": "2026-01-01", "request": {"query": q, "user": "u1"},
        "response": {"text": a, "model": "m", "ms": 12}, "expected": {"answer": r[0]},
    },
    "OpenAI's reply in a log": lambda q, r, a: {
        "request": {"messages": [message("user", q)]}, "gold": r[0],
        "response": {"model": "m", "choices": [{"index": 0, "message": message("assistant", a)}]},
    },
    "SimpleQA": lambda q, r, a: {
        "metadata": "{'topic': 'Art'}", "problem": q, "answer": r[0], "response": a,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", LAID_OUT)
def test_rows_laid_out_as_tools_have_them(name: str, tmp_path: Path) -> None:
    rows = [LAID_OUT[name](*row) for row in ROWS]
    assert read(jsonl(tmp_path / "log.jsonl", rows))[0] == SINGLE
    (tmp_path / "log.json").write_text(json.dumps(rows, indent=1))
    assert read(tmp_path / "log.json")[0] == SINGLE
    assert read(rows)[0] == SINGLE


LISTS = {
    "NQ-open": lambda q, r, a: {"question": q, "answer": r, "prediction": a},
    "PopQA": lambda q, r, a: {
        "id": q, "subj": "s", "prop": "river", "obj": r[0], "question": q,
        "possible_answers": json.dumps(r), "response": a,
    },
    "TriviaQA": lambda q, r, a: {
        "question": q, "question_id": "tc_1", "prediction": a,
        "answer": {"value": r[0], "aliases": r, "normalized_aliases": ["x"], "type": "W"},
    },
    "SQuAD, rows": lambda q, r, a: {
        "id": q, "context": "c", "question": q, "prediction": a,
        "answers": {"text": r, "answer_start": [0] * len(r)},
    },
    "HF datasets-server": lambda q, r, a: {
        "row_idx": 0, "row": {"question": q, "references": r, "answer": a},
    },
}  # fmt: skip


@pytest.mark.parametrize("name", LISTS)
def test_rows_with_lists_of_references(name: str, tmp_path: Path) -> None:
    rows = [LISTS[name](*row) for row in ROWS]
    assert read(jsonl(tmp_path / "log.jsonl", rows))[0] == ROWS


def test_openai_evals_logs_are_joined_by_sample(tmp_path: Path) -> None:
    found, reader = read(jsonl(tmp_path / "log.jsonl", openai_evals(ROWS)))
    assert found == ROWS
    assert "OpenAI evals log" in next(iter(reader.met.recognised))


def squad(rows: list[tuple[str, list[str], str]]) -> dict[str, Any]:
    qas = [
        {"id": f"i{n}", "question": q, "answers": [{"text": t, "answer_start": 0} for t in r]}
        for n, (q, r, _) in enumerate(rows)
    ]
    return {
        "version": "1.1",
        "data": [{"title": "t", "paragraphs": [{"context": "c", "qas": qas}]}],
    }


def test_squad_with_the_answers_of_two_systems(tmp_path: Path) -> None:
    data, one, two = (tmp_path / f"{name}.json" for name in ("dev", "one", "two"))
    data.write_text(json.dumps(squad(ROWS)))
    one.write_text(json.dumps({f"i{n}": row[2] for n, row in enumerate(ROWS)}))
    two.write_text(json.dumps({"i0": "Alder", "i9": "x"}))
    assert read(data, one)[0] == ROWS
    reader = AnswersReader([data, one, two])
    table = pl.concat(list(reader))
    assert table["system"].to_list() == ["one"] * 3 + ["two"] * 3
    assert table["answer"].to_list()[3:] == ["Alder", None, None]
    assert table["answer_id"][3] == "i0:two"
    assert any("no question" in note for note in reader.met.notes)
    with pytest.raises(DataError, match="give the file of the answers"):
        read_answers(data)
    two.write_text(json.dumps({"x": "y"}))
    with pytest.raises(DataError, match="none of the 1 ids of two"):
        read_answers([data, two])


def test_the_table_in_an_object_of_json_is_read_and_a_row_with_passages_is_one_row(
    tmp_path: Path,
) -> None:
    path = tmp_path / "table.json"
    rows = [{"question": q, "references": r, "answer": a} for q, r, a in ROWS]
    for more in ({"models": ["one"]}, {"prompt": "Be brief.", "tags": ["a"]}, {"questions": 3}):
        path.write_text(json.dumps({**more, "results": rows}))
        assert read(path)[0] == ROWS
    path.write_text(json.dumps({"models": ["one"], "results": rows, "failed": rows}))
    with pytest.raises(DataError, match=r"several tables \(results, failed\)"):
        read(path)
    for row in (rows[0], dict(reversed(rows[0].items()))):
        for name in ("passages", "messages"):
            path.write_text(json.dumps({name: [{"title": "t", "text": "x"}], **row}))
            assert read(path)[0] == ROWS[:1]


def test_mlflow_and_pandas_tables_as_json(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    names = ["inputs", "ground_truth", "outputs"]
    data = [[q, r[0], a] for q, r, a in ROWS]
    path.write_text(json.dumps({"columns": names, "data": data}))
    assert read(path)[0] == SINGLE
    by_row = {name: {str(n): row[k] for n, row in enumerate(data)} for k, name in enumerate(names)}
    path.write_text(json.dumps(by_row))
    assert read(path)[0] == SINGLE


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-8-sig"])
@pytest.mark.parametrize("mark", [",", ";"])
def test_encodings_and_separators(encoding: str, mark: str, tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    lines = [("question", "gold", "answer"), *((q, r[0], a) for q, r, a in ROWS)]
    path.write_bytes("\r\n".join(mark.join(line) for line in lines).encode(encoding))
    found, reader = read(path)
    assert found == SINGLE
    if encoding != "utf-8-sig":
        assert any("was read as" in said and "--encoding" in said for said in reader.met.recognised)


def test_a_named_encoding_is_taken_and_a_wrong_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_bytes("question,gold,answer\nГде?,Дом,дом\n".encode("koi8-r"))
    assert read(path, encoding="koi8-r")[0] == [("Где?", ["Дом"], "дом")]
    with pytest.raises(DataError, match="no encoding named 'koi9'"):
        read(path, encoding="koi9")
    with pytest.raises(DataError, match="neither UTF-8 nor ascii"):
        read(path, encoding="ascii")


@pytest.mark.parametrize("ending", ["arrow", "feather", "bin"])
def test_arrow_files(ending: str, tmp_path: Path) -> None:
    table = pl.DataFrame(ROWS, schema=["question", "references", "answer"], orient="row")
    path = tmp_path / f"table.{ending}"
    table.write_ipc(path)
    assert read(path)[0] == ROWS
    table.write_ipc_stream(path)
    assert read(path)[0] == ROWS


def test_objects_that_hold_tables() -> None:
    columns = {
        "question": [row[0] for row in ROWS],
        "references": [row[1] for row in ROWS],
        "answer": [row[2] for row in ROWS],
    }
    frame = pl.DataFrame(columns)
    assert read(columns)[0] == ROWS
    assert read(frame.to_arrow())[0] == ROWS
    assert read(frame.to_pandas())[0] == ROWS
    assert read({"question": "q", "references": ["a"], "answer": "b"})[0] == [("q", ["a"], "b")]
    with pytest.raises(DataError, match="not equally long"):
        read(columns | {"answer": ["x"]})


def test_a_dataset_of_hugging_face() -> None:
    datasets = pytest.importorskip("datasets")
    rows = [{"question": q, "references": r, "answer": a} for q, r, a in ROWS]
    data = datasets.Dataset.from_list(rows)
    assert read(data)[0] == ROWS
    assert read(data.select([2, 0]))[0] == [ROWS[2], ROWS[0]]
    assert read(datasets.DatasetDict(test=data))[0] == ROWS
    with pytest.raises(DataError, match=r"has 2 splits, 'a', 'b'; give one"):
        read(datasets.DatasetDict(a=data, b=data))


WIDE = [
    {"question": q, "gold": r[0], "topic": "t", "gpt-4o": a, "claude": "Alder"} for q, r, a in ROWS
]


@pytest.mark.parametrize("given", [(), ("gpt-4o", "claude")])
def test_wide_tables_have_a_system_a_column(given: tuple[str, ...]) -> None:
    reader = AnswersReader([WIDE], ReadOptions(answer_columns=given))
    table = pl.concat(list(reader))
    assert table["system"].to_list() == ["gpt-4o"] * 3 + ["claude"] * 3
    assert table["answer"].to_list() == [row[2] for row in ROWS] + ["Alder"] * 3
    assert list(reader.met.ignored) == ["topic"]
    assert "answer = each of gpt-4o, claude" in next(iter(reader.met.recognised))


def test_columns_that_say_answer_of_a_system() -> None:
    rows = [{"question": "q", "gold": "g", "answer_a": "x", "answer_b": "y", "answer_time": "3"}]
    assert read_answers(rows)["system"].to_list() == ["a", "b"]
    given = ReadOptions(answer_columns=("answer_a", "answer_b"))
    assert read_answers(rows, given).equals(read_answers(rows))
    given = ReadOptions(answer_columns=("answer_a", "answer_time"), columns={"label": "none"})
    assert read_answers(rows, given)["system"].to_list() == ["a", "time"]
    rows = [{"question": "q", "gold": "g", "answer_a": "x", "a_answer": "y"}]
    assert read_answers(rows)["system"].to_list() == ["answer_a", "a_answer"]


def test_texts_that_may_be_answers_are_not_guessed() -> None:
    rows = [{"question": "q", "gold": "g", "topic": "art", "left": "x", "right": "y"}]
    with pytest.raises(DataError, match="--answer-columns topic,left,right"):
        read_answers(rows)


def test_a_column_given_twice_is_refused() -> None:
    with pytest.raises(MarkschemeError, match=r"answer twice, as 'a' and as .* --answer-columns"):
        parse_columns("answer=a,answer=b")
    with pytest.raises(DataError, match="given as question and as answer"):
        read([{"x": "q", "gold": "g"}], columns={"question": "x", "answer": "x"})


def test_paths_into_objects_and_lists() -> None:
    row = {"doc": {"q": "Who?", "refs": [{"t": "Ann"}, {"t": "Anne"}]}, "said": [["no"], ["Ann"]]}
    columns = {"question": "doc.q", "references": "doc.refs.t", "answer": "said.-1.0"}
    assert read([row], columns=columns)[0] == [("Who?", ["Ann", "Anne"], "Ann")]
    with pytest.raises(DataError, match=r"no row holds anything at 'doc.z' .*doc\.q"):
        read([row], columns=columns | {"question": "doc.z"})


def test_json_in_cells_is_said_where_it_is_judged_as_text() -> None:
    rows = [{"question": "q", "gold": '{"a": "Paris"}', "answer": '{"city": "Rome", "in": "IT"}'}]
    found, reader = read(rows)
    assert found[0][2] == '{"city": "Rome", "in": "IT"}'
    notes = list(reader.met.notes)
    assert any("answer hold JSON objects" in note and "answer.KEY" in note for note in notes)


def test_two_places_that_could_be_the_answer_are_not_guessed() -> None:
    row = {"question": "q", "gold": "g", "run": {"answer": "a", "output": "b", "response": "c"}}
    assert read([row])[0] == [("q", ["g"], "a")]
    row["run"] = {"output": "b", "response": "c"}
    with pytest.raises(DataError, match=r"could each be the answer; say which with --columns"):
        read([row])


def zipped(path: Path, parts: dict[str, str]) -> str:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return str(path)


def xlsx(path: Path, cell: str) -> str:
    """A workbook with a value in A1 and one in another cell."""
    main, office = "http://schemas.openxmlformats.org/", "officeDocument/2006/relationships"
    row = "".join(filter(str.isdigit, cell))
    return zipped(path, {
        "[Content_Types].xml": f'<Types xmlns="{main}package/2006/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{main}package/2006/relationships"><Relationship '
        f'Id="r" Type="{main}{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{main}package/2006/relationships">'
        f'<Relationship Id="s" Type="{main}{office}/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{main}spreadsheetml/2006/main" '
        f'xmlns:r="{main}{office}"><sheets><sheet name="a" sheetId="1" r:id="s"/></sheets>'
        "</workbook>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}spreadsheetml/2006/main"><sheetData>'
        f'<row r="1"><c r="A1" t="str"><v>question</v></c></row><row r="{row}"><c r="{cell}" '
        't="str"><v>far</v></c></row></sheetData></worksheet>',
    })  # fmt: skip


def ods(path: Path, rows: int, columns: int) -> str:
    """A table with one value repeated, then empty cells to the sheet's end."""
    namespaces = " ".join(f'xmlns:{one}="urn:oasis:names:tc:opendocument:xmlns:{one}:1.0"'
                          for one in ("office", "table", "text"))  # fmt: skip
    return zipped(path, {
        "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
        "META-INF/manifest.xml": "<manifest/>",
        "content.xml": f"<office:document-content {namespaces}><office:body><office:spreadsheet>"
        f'<table:table table:name="a"><table:table-row table:number-rows-repeated="{rows}">'
        f'<table:table-cell office:value-type="string" table:number-columns-repeated="{columns}">'
        "<text:p>q</text:p></table:table-cell></table:table-row>"
        '<table:table-row table:number-rows-repeated="1048570"><table:table-cell '
        'table:number-columns-repeated="16384"/></table:table-row></table:table>'
        "</office:spreadsheet></office:body></office:document-content>",
    })  # fmt: skip


def test_a_cell_far_away_is_an_error_and_not_the_end_of_the_process(tmp_path: Path) -> None:
    """A few bytes must not ask for 17 thousand million cells, whichever program wrote them."""
    far = "17,179,869,184 cells"
    for path in (
        xlsx(tmp_path / "far.xlsx", "XFD1048576"), ods(tmp_path / "far.ods", 1_048_576, 16_384)
    ):  # fmt: skip
        with pytest.raises(DataError, match=far):
            read_table(path)
    for path in (xlsx(tmp_path / "near.xlsx", "C4"), ods(tmp_path / "near.ods", 3, 1)):
        assert read_table(path).height >= 1


def test_an_archive_of_an_unknown_version_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "new.xlsx"
    content = Path(xlsx(path, "C4")).read_bytes()
    version = content.index(b"PK\x01\x02") + 6
    path.write_bytes(content[:version] + b"\xff" + content[version + 1 :])
    with pytest.raises(DataError, match="the archive is damaged or cut"):
        read_table(str(path))


def test_exports_of_two_weeks_are_read_together(tmp_path: Path) -> None:
    """Records of promptfoo have an id and a `response`, and are no rows of ids and answers."""
    week = (EXPORTS / "promptfoo.jsonl").read_text("utf-8")
    weeks = [tmp_path / "week1.jsonl", tmp_path / "week2.jsonl"]
    weeks[0].write_text(week, "utf-8")
    weeks[1].write_text(week.replace('"id":"', '"id":"next-'), "utf-8")
    rows, reader = read(*weeks)
    assert rows == 2 * MADE_BY_TOOLS["promptfoo.jsonl"]
    assert any("week2.jsonl read as promptfoo results" in one for one in reader.met.recognised)


def test_an_archive_that_is_neither_log_nor_workbook(tmp_path: Path) -> None:
    path = tmp_path / "broken.eval"
    path.write_bytes((EXPORTS / "inspect.eval").read_bytes()[:3000])
    with pytest.raises(DataError, match="the archive is damaged or cut"):
        read_answers(path)


PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
SAME_TOOL_AGAIN = {"ragas.csv", "deepeval.csv", "promptfoo.jsonl", "workbook.xlsx"}
"""Other file formats of an export that is counted, and a workbook, which is nobody's export."""


def exports(folder: Path) -> dict[str, tuple[Any, list[tuple[str, list[str], str]]]]:
    """What is given to `judge`, and the rows that it should read."""
    found: dict[str, Any] = {
        name: (EXPORTS / name, rows)
        for name, rows in MADE_BY_TOOLS.items()
        if name not in SAME_TOOL_AGAIN
    }
    for rows, layouts in ((SINGLE, LAID_OUT), (ROWS, LISTS)):
        for name, laid_out in layouts.items():
            file = jsonl(folder / f"{len(found)}.jsonl", [laid_out(*row) for row in ROWS])
            found[name] = (file, rows)
    found["OpenAI evals"] = (jsonl(folder / "evals.jsonl", openai_evals(ROWS)), ROWS)
    questions, answers = folder / "squad.json", folder / "answers.json"
    questions.write_text(json.dumps(squad(ROWS)))
    answers.write_text(json.dumps({f"i{n}": row[2] for n, row in enumerate(ROWS)}))
    found["SQuAD, JSON and answers"] = ([questions, answers], ROWS)
    return found


def test_all_are_judged_without_an_option_and_none_is_misread(tmp_path: Path) -> None:
    given = exports(tmp_path)
    judged, misread = [], []
    for name, (source, rows) in given.items():
        result = markscheme.judge(source, ["exact_match"])
        as_read = result.answers.select("question", "references", "answer").rows()
        if as_read != rows:
            misread.append(name)
        elif result.judgments.filter(pl.col("status") != "judged").is_empty():
            judged.append(name)
    assert not misread
    stated = re.search(r"\*\*(\d+) of (\d+) exports\*\*", PAGE.read_text("utf-8"))
    assert stated is not None
    assert (len(judged), len(given)) == tuple(map(int, stated.groups()))
    assert len(judged) >= 23


def test_columns_called_like_models_are_offered_as_answers() -> None:
    rows = [{"Thema": "t", "Frage": "q?", "Lösung": "a", "alpha-7b": "x", "beta-large": "y"}]
    with pytest.raises(DataError, match=r"--answer-columns alpha-7b,beta-large in place"):
        read_answers(rows)
    reader = AnswersReader([rows], ReadOptions(
        columns={"question": "Frage", "references": "Lösung", "answer": "alpha-7b"}
    ))  # fmt: skip
    table = pl.concat(list(reader))
    assert table["answer"].to_list() == ["x"]
    (note,) = (note for note in reader.met.notes if "other systems" in note)
    assert note.startswith("'beta-large' may hold")
    assert "alpha-7b,beta-large reads all" in note
