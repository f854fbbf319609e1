"""The quirks of the published data on rows of our own: what stands where the data are not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import made_data
from markscheme.cli import run
from markscheme.errors import DataError, UnknownNameError
from markscheme.judges.lexical.regex import Regex
from markscheme.metrics.patterns import read_pattern
from markscheme.tables.answers import ANSWERS_SCHEMA, read_answers
from markscheme_research.datasets import (
    check,
    dataset,
    evouna,
    find,
    load,
    locate,
    openqa,
    passages,
    recorded,
)
from markscheme_research.papers.reproduction import reproduce

NAMES = ("antique", "curatedtrec", "evouna-nq", "nq-open-predictions", "nq301", "trec-dl-nf",
         "webglm")  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_loader_gives_an_answers_table(name: str, made: Path) -> None:
    answers = load(name, data_dir=made)
    assert dict(answers.schema) == ANSWERS_SCHEMA
    assert answers["answer_id"].n_unique() == answers.height > 0
    assert answers["answer_id"].str.starts_with(f"{name}/").all()
    assert answers["references"].list.len().min() > 0


@pytest.mark.parametrize("name", NAMES)
def test_made_files_are_not_taken_for_the_published_ones(name: str, made: Path) -> None:
    wrong = [item.what for item in check(name, data_dir=made) if not item.ok]
    assert [what for what in wrong if what.startswith("sha256")]
    assert [what for what in wrong if not what.startswith("sha256")]


# --- EVOUNA -----------------------------------------------------------------------------------


def test_evouna_leaves_out_what_is_improper_or_has_no_verdict(made: Path) -> None:
    answers = load("evouna-nq", data_dir=made)
    assert answers.height == 3 * 5 - 1
    assert load("evouna-nq", data_dir=made, labelled_only=False).height == 15
    assert load("evouna-nq", data_dir=made, include_improper=True).height == 19
    every = load("evouna-nq", data_dir=made, include_improper="yes", labelled_only="false")
    assert every.height == 20
    missing = every.filter(pl.col("label").is_null())
    assert missing["answer_id"].to_list() == ["evouna-nq/1/newbing"]
    # The same text asked twice is two questions by their ids.
    assert answers["question"].n_unique() == 2
    assert answers["answer_id"].str.extract(r"/(\d+)/").n_unique() == 3


def test_evouna_references_are_split_and_stripped(made: Path) -> None:
    references = dict(
        load("evouna-nq", data_dir=made).select("answer_id", "references").iter_rows()
    )
    assert references["evouna-nq/1/fid"] == ["two", "2", "a pair"]
    assert references["evouna-nq/3/gpt4"] == ["purple", "violet"]


def test_evouna_lexical_figures_are_those_by_hand(made: Path) -> None:
    (table,) = reproduce("wang-2023/lexical-nq", data_dir=made)
    ours = {(cell.row, cell.column): cell.ours for cell in table.cells}
    # fid: three of three right and found.
    assert ours["DPR+FiD", "accuracy"] == ours["DPR+FiD", "F1"] == 100
    # gpt35: right and not found; wrong and found; wrong and not found.
    assert (ours["InstructGPT", "accuracy"], ours["InstructGPT", "F1"]) == (33.3, 0)
    # chatgpt: one wrong one is found, two right ones are: F1 = 4 / 5.
    assert (ours["ChatGPT", "accuracy"], ours["ChatGPT", "F1"]) == (66.7, 80)
    (people,) = reproduce("wang-2023/human-nq", data_dir=made)
    assert [cell.ours for cell in people.cells] == [100, 33.3, 66.7, 66.7, 100]


def test_figures_of_what_small_data_lack_are_left_out(made: Path, tmp_path: Path) -> None:
    """No failure of lexical match, a system without a label, a mode that no failure has."""
    row: dict[str, object] = {"question": made_data.LEGS, "golden_answer": "two", "improper": False}
    for system in made_data.SYSTEMS:
        row |= {f"answer_{system}": "two", f"judge_{system}": True if system == "fid" else None}
    row |= {"answer_gpt35": "four", "judge_gpt35": False}
    path = tmp_path / "evouna" / "NQ.json"
    path.parent.mkdir()
    path.write_text(json.dumps([row]), "utf-8")
    for name in ("figure-1", "human-nq", "table-11"):
        (found,) = reproduce(f"wang-2023/{name}", data_dir=tmp_path)
        assert None in {cell.ours for cell in found.cells}
    for name in ("table-1", "table-11"):
        (found,) = reproduce(f"yao-2024/{name}", data_dir=made)
        assert {cell.row for cell in found.cells if cell.ours is None} >= {"BingChat"}
    (found,) = reproduce("kamalloo-2023/figure-3", data_dir=made)
    assert 0.0 in {cell.ours for cell in found.cells}


# --- NQ301 ------------------------------------------------------------------------------------


def test_predictions_join_on_the_question_with_their_own_references(made: Path) -> None:
    answers = load("nq301", data_dir=made)
    assert answers.height == 3 * 12
    assert answers["answer_id"][0] == "nq301/1/text-davinci-003_zeroshot"
    rows = {row["answer_id"]: row for row in answers.iter_rows(named=True)}
    assert rows["nq301/3/EviGen"]["references"] == ["Swan"]
    assert rows["nq301/3/FiD"]["references"] == ["Swan\u00a0of Hull", "the Swan"]
    assert rows["nq301/2/text-davinci-003_fewshot-n64"]["answer"] == "purple"
    assert rows["nq301/1/FiD"]["answer"] == "Two"
    assert load("nq-open-predictions", data_dir=made).height == 10 * 4


def test_labels_are_found_by_text_then_without_articles_then_by_number(made: Path) -> None:
    rows = {row["answer_id"]: row for row in load("nq301", data_dir=made).iter_rows(named=True)}
    assert rows["nq301/1/FiD"]["label"] == 1  # Two, beside two
    assert rows["nq301/3/FiD"]["label"] == 1  # swan, beside the Swan
    assert rows["nq301/2/DPR"]["label"] == 0  # 07, beside 7
    assert rows["nq301/1/DPR"]["label"] == 1  # its quotation mark is its own
    unjudged = [name for name, row in rows.items() if row["label"] is None]
    assert unjudged == ["nq301/3/EMDR2"]
    bem = recorded("nq301", "bem", data_dir=made, rows="predictions")
    assert dict(bem["status"].value_counts().iter_rows()) == {"judged": 35, "skipped": 1}


def test_pairs_keep_quotation_marks_twins_and_blanks(made: Path) -> None:
    pairs = load("nq301", data_dir=made, rows="pairs")
    assert pairs.height == 7
    assert pairs["answer"][1] == '"A pair" of them'
    assert pairs.row(2)[1:] == pairs.row(3)[1:]
    assert pairs["answer_id"][-1] == "nq301/pair/7"
    assert pairs["references"][0].to_list() == ["two", "2"]
    blanks = [pairs["annotator_labels"].list.get(place).null_count() for place in range(3)]
    assert blanks == [0, 1, 6]


def test_recorded_judges_say_what_their_files_say(made: Path) -> None:
    bem = recorded("nq301", "bem", data_dir=made)
    assert bem["score"].to_list() == [0.9, 0.3, 0.2, 0.2, 0.8, 0.6, 0.95]
    assert bem["verdict"].to_list() == [True, False, False, False, True, True, True]
    local = locate(dataset("nq301"), made)
    released = [row[4] == "Yes" for row in openqa.read_bem(local, openqa.read_pairs(local))]
    assert bem["verdict"].to_list() == released
    davinci = recorded("nq301", "text-davinci-003", data_dir=made)
    assert davinci["verdict"].to_list() == [True, True, False, False, True, False, True]
    assert davinci["raw"][1] == "yes. A pair is two."
    with pytest.raises(DataError, match=r"NQ301_gpt-4.tsv is not in .* --file NQ301_gpt-4.tsv"):
        recorded("nq301", "gpt-4", data_dir=made)


def test_a_judges_file_in_another_order_is_refused(tmp_path: Path) -> None:
    place = made_data.openqa(tmp_path)
    path = place / "NQ301_text-davinci-003.tsv"
    head, *lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([head, *lines[::-1]]), "utf-8")
    with pytest.raises(DataError, match="are not in the order"):
        recorded("nq301", "text-davinci-003", data_dir=tmp_path)


def test_tables_of_the_release_by_hand(made: Path) -> None:
    (people,) = reproduce("kamalloo-2023/annotators", data_dir=made)
    ours = {(cell.row, cell.column): cell.ours for cell in people.cells}
    assert 2 in ours.values()  # two of seven pairs are disagreed on, a blank among them
    (table,) = reproduce("kamalloo-2023/table-1", data_dir=made)
    cells = {(cell.row, cell.column): cell.ours for cell in table.cells}
    assert {row for row, _ in cells} >= {"DPR", "EMDR2", "EviGen"}
    assert [value for value in cells.values() if value is not None]


# --- LINKAGE ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "per_grade"), [("antique", 2), ("trec-dl-nf", 1)])
def test_references_leave_the_candidates_and_order_tells_nothing(
    name: str, per_grade: int, made: Path
) -> None:
    whole, answers = passages(name, data_dir=made), load(name, data_dir=made, seed=3)
    assert answers.height == whole.height - 12 * 4 * per_grade
    grades = answers["reference_grades"]
    assert (grades.list.sort(descending=True) == grades).all()
    assert answers["references"].list.len().to_list() == [4 * per_grade] * answers.height
    assert load(name, data_dir=made, seed=3).equals(answers)
    assert not load(name, data_dir=made, seed=4).equals(answers)
    assert load(name, data_dir=made, references_per_grade=0).height == whole.height

    def leak(frame: pl.DataFrame, column: str) -> float:
        ranks = (
            frame.with_columns(pl.int_range(pl.len()).over("question").alias("place"))
            .group_by("question")
            .agg(pl.corr(-pl.col("place"), column, method="spearman").alias("r"))
        )
        return float(ranks["r"].mean())  # type: ignore[arg-type]

    assert leak(whole, "grade") > 0.9
    drawn = [leak(load(name, data_dir=made, seed=seed), "label") for seed in range(10)]
    assert abs(sum(drawn) / len(drawn)) < 0.1


def test_ids_of_passages_are_read_in_both_spellings(made: Path) -> None:
    ids = passages("trec-dl-nf", data_dir=made)["passage_id"]
    assert {"1_0", "1_1", "12_9"} <= set(ids)
    assert sorted(passages("antique", data_dir=made)["grade"].unique()) == [1, 2, 3, 4]
    with pytest.raises(DataError, match=r"ANTIQUE\.json is not in"):
        passages("antique", data_dir=made, part="all")
    with pytest.raises(DataError, match="webglm has no graded passages; antique and trec-dl-nf"):
        passages("webglm", data_dir=made)


def test_webglm_has_graded_references_best_first(made: Path) -> None:
    answers = load("webglm", data_dir=made)
    assert answers["reference_grades"].to_list() == [[3, 2, 1, 0]] * 3 + [[3, 3, 2, 1, 0]] * 3
    assert answers["references"][0][0] == "reference 1 of grade 3"
    assert answers["label"].to_list() == [3, 2, 1, 3, 3, 2]
    ties = {item.what: item.found for item in check("webglm", data_dir=made)}
    assert ties["questions with ties"] == "1"


# --- CuratedTREC ------------------------------------------------------------------------------


def test_patterns_are_kept_to_the_character(made: Path) -> None:
    full = load("curatedtrec", data_dir=made, split="full")
    assert full["references"].list.first().to_list() == [row[2] for row in made_data.PATTERNS]
    assert set(full["reference_kind"]) == {"regex"}
    assert full["answer"].null_count() == full.height == 6
    assert (full["question"].str.strip_chars() == full["question"]).all()
    halves = [load("curatedtrec", data_dir=made, split=part) for part in ("train", "test")]
    assert [half.height for half in halves] == [3, 3]
    assert load("curatedtrec", data_dir=made).height == 3


def test_patterns_run_in_linear_time_and_as_python_reads_them(made: Path) -> None:
    patterns = load("curatedtrec", data_dir=made, split="full")["references"].list.first()
    for pattern in patterns:
        assert re.compile(pattern).search("") is None
        assert read_pattern(pattern, ignore_case=True).fast is not None
    said = [
        "Ann Lee",
        "in 1813",
        "20\u201325 °C",
        "about nine miles",
        "10 12 hours",
        "Mr\u00a0Lee",
    ]
    hostile = "9 " * 20_000 + "x"
    rows = [(text, [pattern], "regex") for text, pattern in zip(said, patterns, strict=True)]
    rows += [(hostile, [patterns[4]], "regex")]
    table = pl.DataFrame(
        rows, orient="row",
        schema={"answer": pl.String, "references": pl.List(pl.String), "reference_kind": pl.String},
    )  # fmt: skip
    verdicts = Regex().judge(table, None)["verdict"].to_list()
    assert verdicts == [True] * 6 + [False]


# --- the commands -----------------------------------------------------------------------------


def test_the_command_lists_shows_checks_and_exports(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--data-dir", str(made)]
    assert run(["datasets", "--format", "json", *where]) == 0
    rows = {row["name"]: row["here"] for row in json.loads(capsys.readouterr().out)["datasets"]}
    assert (rows["evouna-nq"], rows["triviaqa"]) == (True, False)
    assert run(["datasets", "nq301", *where]) == 0
    assert str(made / "openqa-eval") in capsys.readouterr().out
    assert run(["datasets", "check", "curatedtrec", *where]) == 1
    assert "DIFFERENT" in capsys.readouterr().out
    for ending in ("jsonl", "csv", "parquet"):
        out = tmp_path / f"evouna.{ending}"
        assert run(["datasets", "export", "evouna-nq", "--out", str(out), *where]) == 0
        columns = ["answer_id", "question", "references", "system", "label"]
        expected = load("evouna-nq", data_dir=made).select(columns)
        assert read_answers(str(out)).select(columns).equals(expected)
    out = tmp_path / "train.parquet"
    option = ["--option", "split=train"]
    assert run(["datasets", "export", "curatedtrec", "--out", str(out), *option, *where]) == 0
    assert pl.read_parquet(out).height == 3


def test_reproduce_exits_with_1_where_figures_are_off(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["reproduce", "wang-2023/lexical-nq", "--data-dir", str(made)]) == 1
    printed = capsys.readouterr()
    assert "OFF" in printed.out
    assert "off by more than rounding: wang-2023/lexical-nq" in printed.err
    assert run(["reproduce", "kamalloo-2023/table-2", "--data-dir", str(made)]) == 2
    assert "NQ301_gpt-4.tsv is not in" in capsys.readouterr().err


def test_a_folder_that_is_given_is_never_silently_replaced(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARKSCHEME_DATA", str(made))
    assert find(dataset("evouna-nq")) is not None
    assert find(dataset("evouna-nq"), tmp_path) is None


def test_entailment_labels_of_gpt35_are_judgments_where_their_file_is(tmp_path: Path) -> None:
    folder = tmp_path / "evouna"
    folder.mkdir()
    item: dict[str, Any] = {"question": "Who wrote Emma?", "golden_answer": "Jane Austen/Austen"}
    item |= {"improper": False}
    for key in evouna.SYSTEMS:
        item |= {f"answer_{key}": f"Austen, says {key}", f"judge_{key}": True}
    other = {**item, "question": "Who wrote Evelina?"}
    (folder / "NQ.json").write_text(json.dumps([item, other]))
    with pytest.raises(DataError, match=r"NQ-nli-gpt35\.json is not in .*--file NQ-nli-gpt35"):
        recorded("evouna-nq", "gpt-3.5", data_dir=tmp_path)
    said = {
        "fid": ("entailment||neutral", "Entailment||neutral"),
        "gpt35": ("entailment||neutral", "neutral||neutral"),
        "chatgpt": ("neutral||contradiction", "neutral||entailment"),
        "gpt4": ("neutral||neutral", "contradiction||neutral"),
    }
    labels = [
        {"question": "who wrote Emma", "system": key, "a2astar": up, "astar2a": down}
        for key, (up, down) in said.items()
    ]
    (folder / "NQ-nli-gpt35.json").write_text(json.dumps(labels))
    found = recorded("evouna-nq", "gpt-3.5", data_dir=tmp_path)
    assert found["answer_id"].equals(load("evouna-nq", data_dir=tmp_path)["answer_id"])
    relations = ["equivalent", "superior", "inferior", "incorrect"]
    assert found["relation"].to_list()[:4] == relations
    assert found["verdict"].to_list()[:4] == [True, True, True, False]
    assert found["status"].to_list() == ["judged"] * 4 + ["skipped"] * 6
    assert found["raw"][2] == "a2astar: neutral||contradiction; astar2a: neutral||entailment"
    with pytest.raises(UnknownNameError, match=r"There are gpt-3\.5"):
        recorded("evouna-nq", "bem", data_dir=tmp_path)


def test_a_number_that_an_option_is_by_default_is_shown_as_one(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["datasets", "antique", "--data-dir", str(made)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "a whole number (default 0)" in shown
    assert "a whole number (default false)" not in shown
