"""Every printed figure is in the package, and what a user names computes those that need it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import orjson
import pytest

import made_data
from markscheme.cli import run
from markscheme.contract import parse_judge
from markscheme.errors import DataError
from markscheme.models import Models
from markscheme.testing import ScriptedChat
from markscheme_research.datasets import dataset, load
from markscheme_research.datasets.download import _wanted
from markscheme_research.papers import PAPERS, Asked, reproduce, reproduce_tables
from markscheme_research.papers.cell import Cell
from markscheme_research.papers.kamalloo_2023 import (
    GPT4_MISSING,
    KNOWN_2,
    OWN_CODE,
    TABLE_2,
    printed_2,
)
from markscheme_research.papers.page import outcome, page_of
from markscheme_research.papers.yao_2024 import REASON


def test_every_table_belongs_to_an_item_of_its_paper() -> None:
    for paper in PAPERS.values():
        assert paper.items
        for table in paper.tables:
            assert table.item in paper.items, (paper.name, table.name)


def test_papers_have_as_many_items_as_they_print() -> None:
    """Tables 1 and 2 and seven figures; sixteen of Yao & Barbosa's seventeen tables in groups."""
    assert {"Table 1", "Table 2", *(f"Figure {n}" for n in range(1, 8))} <= set(
        PAPERS["kamalloo-2023"].items
    )
    yao = " ".join(PAPERS["yao-2024"].items)
    for table in ("1", "2", "3", "4 to 7", "8", "9 and 10", "11", "12", "13", "14", "17"):
        assert f"Table {table}" in yao or f"Tables {table}" in yao
    yang = " ".join(PAPERS["yang-2024"].items)
    for table in ("1", "2", "3", "4", "5", "6", "7 and 8", "9 and 10"):
        assert f"Table {table}" in yang or f"Tables {table}" in yang


def test_the_five_cells_that_the_authors_code_gives_otherwise_are_known() -> None:
    assert len(KNOWN_2) == 5
    printed = {(cell.row, cell.column): cell for cell in printed_2()}
    assert len(printed) == 2 * len(TABLE_2) + 4
    for place, ours in KNOWN_2.items():
        cell = printed[place]
        found = Cell(
            row=cell.row, column=cell.column, paper=cell.paper, ours=ours, digits=cell.digits,
            reason=OWN_CODE, known=ours,
        )  # fmt: skip
        assert found.status == "known"


def test_a_command_that_is_to_fetch_a_file_fetches_it() -> None:
    """An optional file is fetched by `--file` alone."""
    for text, name in ((GPT4_MISSING, "NQ301_gpt-4.tsv"), (REASON, "NQ-nli-gpt35.json")):
        [words] = re.findall(r"'(?:markscheme research )?datasets fetch ([^']+)'", text)
        dataset_name, *file = words.split(" --file ")
        assert name in [one.name for one in _wanted(dataset(dataset_name), file)]


def test_judges_of_the_commands_that_compute_figures_can_be_made() -> None:
    for paper in PAPERS.values():
        for table in paper.tables:
            for first, second in re.findall(r" -j (?:'([^']+)'|(\w+))", table.run):
                parse_judge(first or second)


def test_what_a_cell_needs_is_its_status() -> None:
    def status(needs: str, **more: object) -> str:
        return Cell(row="r", column="c", paper=1.0, ours=None, needs=needs, **more).status  # type: ignore[arg-type]

    assert [status(needs) for needs in ("model", "GPU", "data")] == [
        "needs a model", "needs a GPU", "needs data",
    ]  # fmt: skip
    own = Cell(row="r", column="c", paper=1.0, ours=2.0, needs="model", asked=True)
    assert own.status == "other inputs"
    noted = Cell(row="r", column="c", paper=92.5, ours=92.5, notebook=93.4)
    assert outcome(noted) == "same (the authors' notebook: 93.4)"


def test_a_page_has_every_item_and_says_how_much_is_computed() -> None:
    paper = PAPERS["kamalloo-2023"]
    cells = [
        Cell(row="a", column="x", paper=1.0, ours=1.0),
        Cell(row="a", column="y", paper=2.0, ours=None, needs="data", reason="not available"),
    ]
    text = page_of(paper, {"table-1": cells})
    assert "**1 of 2 printed figures have a computed counterpart (50%).**" in text
    assert "1.0 =" in text
    assert "2.0 / –" in text
    assert "- 1 of 2 (a, y) needs data: not available" in text
    for item in paper.items:
        assert f"## {item}" in text


@pytest.fixture
def made(tmp_path: Path) -> Path:
    made_data.write(tmp_path)
    return tmp_path


def entailing(asked: str) -> str:
    """A model that makes a plain statement and finds everything entailed."""
    if "Premise:" in asked:
        return "entailment"
    if "score from 1 to 5" in asked or "Return a number" in asked:
        return "4"
    if "list the reasoning process" in asked:
        return "1. S1 says so. [[INFO]]\n2. So S2 holds."
    if "Convert a question answer pair" not in asked:
        return "Yes"
    question, answer = asked.rpartition("Q: ")[2].removesuffix("S:").split("A: ")
    return f"The answer to {question.strip()} is {answer.strip()}."


def test_a_model_fills_the_rows_of_language_models(made: Path) -> None:
    asked = Asked(models=Models(chat=ScriptedChat(replies=entailing)))
    (found,) = reproduce("yao-2024/table-1-entailment-model", data_dir=made, asked=asked)
    cells = {cell.column: cell for cell in found.cells}
    # Everything is entailed, so every answer counts as right: accuracy is people's share of yes.
    assert cells["DPR+FiD accuracy"].ours == 100.0
    assert cells["GPT-4 accuracy"].ours == round(100 * 2 / 3, 1)
    assert cells["GPT-4 accuracy"].status == "other inputs"
    (found,) = reproduce("yao-2024/tables-9-10-model", data_dir=made, asked=asked)
    counts = {cell.column: cell.ours for cell in found.cells if cell.row == "NQ"}
    assert counts["equivalent"] == 14
    assert counts["incorrect"] == 0
    missing = [cell for cell in found.cells if cell.row == "TQ"]
    assert {cell.status for cell in missing} == {"needs a model"}


def test_a_model_fills_table_7_and_the_best_of_the_prompts(made: Path) -> None:
    asked = Asked(models=Models(chat=ScriptedChat(replies=entailing)), questions=1)
    (found,) = reproduce("wang-2023/table-7", data_dir=made, asked=asked)
    assert {cell.row for cell in found.cells} >= {"GPT-3.5", "ignoring background"}
    assert all(cell.status == "no figure" for cell in found.cells)
    (found,) = reproduce("yao-2024/table-1-prompted", data_dir=made, asked=asked)
    best = [c for c in found.cells if c.row == "GPT-3.5 (best prompting)" and c.ours is not None]
    assert best


@pytest.mark.parametrize(
    ("what", "named", "message"),
    [
        ("kamalloo-2023", "models", "computes nothing without --system-answers FILE"),
        ("kamalloo-2023/figure-3", "predictions", "it computes kamalloo-2023/figure-5"),
        ("yang-2024/webglm", "models", "it computes yang-2024/table-2-mistral, yang-2024/table-2"),
        ("wang-2023", "predictions", "of wang-2023 it computes nothing"),
    ],
)
def test_an_option_without_effect_is_refused(
    made: Path, what: str, named: str, message: str
) -> None:
    value: Any = {"models": Models(chat=ScriptedChat(replies=entailing)), "predictions": "x.jsonl"}
    with pytest.raises(DataError, match=re.escape(message)):
        reproduce_tables(what, data_dir=made, **{named: value[named]})


def test_rows_of_models_are_left_without_one(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["reproduce", "wang-2023/table-7", "--data-dir", str(made)]) == 2
    assert "needs --model NAME" in capsys.readouterr().err
    (found,) = reproduce("yao-2024/table-1-entailment-model", data_dir=made)
    assert {cell.ours for cell in found.cells} == {None}
    assert found.cells[0].notebook == 95.3


def test_answers_to_curatedtrec_give_figure_5(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:

    questions = load("curatedtrec", data_dir=made)
    rows = [
        {"question": row["question"].upper(), "answer": answer, "system": system, "label": label}
        for row in questions.iter_rows(named=True)
        for system, answer, label in (("one", "no idea at all", 0), ("two", "nothing", 0))
    ]
    path = made / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    found = reproduce_tables("kamalloo-2023/figure-5", data_dir=made, predictions=path)
    ours = {(row["row"], row["column"]): row["ours"] for row in found.frame.to_dicts()}
    assert ours["one", "patterns"] == 0.0
    assert ours["two", "people"] == 0.0
    assert ours["all systems", "average gain of people over patterns"] == 0.0
    code = run(
        ["reproduce", "kamalloo-2023/figure-5", "--data-dir", str(made),
         "--system-answers", str(path), "--format", "json"]
    )  # fmt: skip
    assert code == 0
    assert orjson.loads(capsys.readouterr().out) == orjson.loads(found.to_json())
    path.write_text(json.dumps({"question": "who?", "answer": "me", "system": "one"}))
    with pytest.raises(DataError, match="none of its questions"):
        reproduce_tables("kamalloo-2023/figure-5", data_dir=made, predictions=path)


def test_figure_5_has_the_examiner_and_the_model_that_is_named(made: Path) -> None:
    questions = load("curatedtrec", data_dir=made)["question"].unique(maintain_order=True)
    said = {"Who kept the bees?": "It was Anna Lee.", "When was the mill built?": "1813"}
    path = made / "answers.jsonl"
    rows = [{"question": one, "answer": said.get(one.strip(), "no idea")} for one in questions]
    path.write_text("\n".join(map(json.dumps, rows)))
    chat = ScriptedChat(replies=lambda _: "Yes, it is.")
    where = {"data_dir": made, "predictions": path, "models": Models(chat=chat)}
    found = reproduce_tables("kamalloo-2023/figure-5", **where)  # type: ignore[arg-type]
    ours = {row["column"]: row["ours"] for row in found.frame.to_dicts()}
    assert (ours["patterns"], ours["examiner"], ours["language model"]) == (66.7, 66.7, 100.0)
    assert any("Ann Lee" in request.last_user for request in chat.seen)
    chat.seen.clear()
    reproduce_tables("kamalloo-2023/figure-5", questions=2, **where)  # type: ignore[arg-type]
    assert len(chat.seen) == 2
