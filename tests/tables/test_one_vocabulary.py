"""`judge` and `agree` read the same columns and the same label words, through the commands."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.cli import run
from markscheme.errors import DataError
from markscheme.tables import count_rows, load_judgments, load_labels, read_answers, write_table
from markscheme.tables.columns import ALIASES, KEYS, plain_name
from markscheme.tables.label_values import BLANK, NO, YES, parse_values, value_of

WORDS = ("acceptable", "pass", "-", "?", "yes.", "No.", "correct!", "1.", "0", "FAIL", "n/a", "")
VALUES = [1.0, 1.0, None, None, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, None, None]


def file_of(path: Path, column: str = "label", words: tuple[str, ...] = WORDS) -> Path:
    table = pl.DataFrame(
        {
            "question": [f"q{n}" for n in range(len(words))],
            "gold": ["paris"] * len(words),
            "answer": ["paris"] * len(words),
            column: list(words),
        }
    )
    table.write_csv(path)
    return path


@pytest.mark.parametrize("column", ["label", "grade", "gold_label", "Acceptable?", "OK?"])
def test_the_same_file_passes_judge_and_agree(column: str, tmp_path: Path) -> None:
    file = file_of(tmp_path / "answers.csv", column)
    folder = tmp_path / "run"
    assert run(["judge", str(file), "-j", "exact_match", "-o", str(folder), "--quiet"]) == 0
    kept = pl.read_parquet(folder / "answers.parquet")
    assert kept["label"].to_list() == VALUES  # in the run's folder, for `agree RUN`
    out = tmp_path / "agreement.json"
    assert run(["agree", str(folder), "--out", str(out)]) == 0
    from_run = json.loads(out.read_text())
    judged = tmp_path / "judged.csv"
    pl.read_csv(file).with_columns(em=pl.lit(1)).write_csv(judged)
    assert run(["agree", str(judged), "--judges", "em", "--out", str(out)]) == 0
    from_file = json.loads(out.read_text())
    for found in (from_run, from_file):
        (one,) = found["judges"]
        assert (one["counts"]["true_positive"], one["counts"]["false_positive"]) == (5, 3)


@pytest.mark.parametrize("names", [("annotator1", "annotator2"), ("Annotator 1", "Annotator 2"),
                                   ("rater a", "rater b")])  # fmt: skip
def test_labels_of_several_people_are_read_as_agree_reads_them(
    names: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "answers.csv"
    words = {names[0]: ["yes", "no", "1", "?", "no"] * 30, names[1]: ["1", "no", "0", "1", ""] * 30}
    table = {"question": [f"q{n}" for n in range(150)], "gold": ["paris"] * 150,
             "answer": ["paris"] * 150, **words}  # fmt: skip
    pl.DataFrame(table).write_csv(file)
    given = []
    if names[0].startswith("rater"):
        given = ["--columns", f"annotator1={names[0]},annotator2={names[1]}"]
    folder = tmp_path / "run"
    assert run(["judge", str(file), "-j", "exact_match", "-o", str(folder), *given]) == 0
    printed = capsys.readouterr()
    assert "50.0 (120)" in printed.out  # 30 are tied
    assert "people's labels?" not in printed.err
    out = tmp_path / "agreement.json"
    found = []
    for labels in ([], ["--labels", str(file), *given]):
        assert run(["agree", str(folder), *labels, "--annotators", "--out", str(out)]) == 0
        found.append(json.loads(out.read_text()))
        assert len(found[-1]["tied"]) == 30
    assert found[0]["judges"] == found[1]["judges"]
    assert found[0]["label_noise"] == found[1]["label_noise"]
    capsys.readouterr()
    assert run(["columns", str(file), *given]) == 0
    said = capsys.readouterr().out
    assert f"annotator1={names[0]},annotator2={names[1]}" in " ".join(said.split())


def test_columns_that_are_called_like_annotators_are_no_labels(tmp_path: Path) -> None:
    table = {"question": ["q"], "gold": ["g"], "answer": ["a"], "annotator1": ["Ann"],
             "annotator2": ["Ben"]}  # fmt: skip
    pl.DataFrame(table).write_csv(tmp_path / "answers.csv")
    assert read_answers(tmp_path / "answers.csv")["annotator_labels"].to_list() == [None]


def test_columns_of_annotators_are_the_same_for_answers_and_for_labels(tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    table = {"question": ["q", "r"], "gold": ["g", "g"], "answer": ["a", "b"]}
    two = {"annotator1": ["yes", "no"], "annotator2": ["yes", "yes"]}
    pl.DataFrame({**table, **two, "annotator_notes": ["a doubt", ""]}).write_csv(file)
    for read in (read_answers, load_labels):
        assert read(file)["annotator_labels"].to_list() == [[1.0, 1.0], [0.0, 1.0]]
    names = {"annotator_anna": two["annotator1"], "annotator_ben": two["annotator2"]}
    pl.DataFrame({**table, **names}).write_csv(file)
    assert read_answers(file)["annotator_labels"].to_list() == [None, None]
    with pytest.raises(DataError, match="--columns annotator1=NAME,annotator2=NAME"):
        load_labels(file)
    given = {"annotator1": "annotator_anna", "annotator2": "annotator_ben"}
    assert load_labels(file, names=given)["annotators"].to_list() == [[*names]] * 2


def test_the_two_readers_give_the_same_labels(tmp_path: Path) -> None:
    file = file_of(tmp_path / "answers.csv")
    assert read_answers(file)["label"].to_list() == VALUES
    assert load_labels(file)["label"].to_list() == VALUES


@pytest.mark.parametrize("word", [*YES, *NO, *BLANK])
def test_every_word_may_end_in_a_full_stop(word: str) -> None:
    value = 1.0 if word in YES else 0.0 if word in NO else None
    assert value_of(f" {word.title()}. ") == value_of(word) == value


@pytest.mark.parametrize("word", ["maybe", "A", "yes no", "inf", "1e999", "!!"])
def test_what_is_no_label_is_refused_by_both(word: str, tmp_path: Path) -> None:
    file = file_of(tmp_path / "answers.csv", words=("yes", word))
    with pytest.raises(DataError, match=r"line 3.*label '.*--columns label=none"):
        read_answers(file)
    with pytest.raises(DataError, match=r"not verdicts, such as|infinite"):
        load_labels(file)


def test_a_word_that_is_no_label_is_found_in_the_users_own_column() -> None:
    table = pl.DataFrame({"id": ["a", "b", "c"], "Ann": ["yes", None, "unsure"]})
    with pytest.raises(DataError, match=r"'Ann' has 1 values .* 'unsure', the first in row 3; .*"):
        load_labels(table, names={"label": "Ann"})
    with pytest.raises(DataError, match="no column 'label'; did you mean 'lable'\\? name it"):
        load_labels(table.rename({"Ann": "lable"}))


def test_an_infinite_number_is_a_score_but_no_label() -> None:
    assert parse_values(pl.Series(["-inf", "0.5"])).to_list() == [float("-inf"), 0.5]
    table = {"id": ["1", "2"], "label": [1.0, float("inf")]}
    with pytest.raises(DataError, match="1 infinite numbers"):
        load_labels(pl.DataFrame(table))
    rows = [
        {"question": "q", "gold": "a", "answer": "a", "label": label} for label in table["label"]
    ]
    with pytest.raises(DataError, match=r"row 2.*label inf"):
        read_answers(rows)


def test_labels_and_judgments_are_read_from_all_that_answers_are_read_from() -> None:
    rows = [{"Answer-ID": "1", "grade": "yes.", "score": "0.7"}, {"Answer-ID": "2", "score": "?"}]
    frame = pl.DataFrame(rows)
    for source in (rows, frame, frame.lazy(), pd.DataFrame(rows)):
        assert load_labels(source).rows() == [("1", 1.0), ("2", None)]
        assert load_judgments(source)["verdict"].to_list() == [True, None]


def test_none_leaves_a_column_out_of_every_reader() -> None:
    table = pl.DataFrame({"id": ["7"], "question": ["q"], "answer": ["a"], "label": [1]})
    assert load_labels(table, names={"answer_id": "none"}).columns == [
        "question",
        "answer",
        "label",
    ]


def test_every_column_is_known_by_its_own_name() -> None:
    assert set(KEYS) <= set(ALIASES)
    for ours, names in ALIASES.items():
        assert plain_name(ours) in names
        assert all(name == plain_name(name) for name in names)


def test_rows_are_counted_alike_in_every_format(tmp_path: Path) -> None:
    table = pl.DataFrame({"question": ["a", "b", "c"]})
    for ending in ("jsonl", "csv", "tsv", "parquet"):
        write_table(table, tmp_path / f"rows.{ending}")
        assert count_rows([tmp_path / f"rows.{ending}"]) == 3
    write_table(table, tmp_path / "rows.json")
    assert count_rows([tmp_path / "rows.csv", tmp_path / "rows.tsv"]) == 6
    assert count_rows([tmp_path / "rows.csv", tmp_path / "rows.json"]) is None
    assert count_rows(["-"]) is None
    exports = Path(__file__).parent / "exports"
    for name in ("workbook.xlsx", "hf-dataset/data-00000-of-00001.arrow"):
        assert count_rows([exports / name]) is None


@pytest.mark.parametrize(
    ("word", "value"),
    [("OK", 1.0), ("okay.", 1.0), ("Passed", 1.0), ("failed", 0.0), ("not ok", 0.0), ("?", None)],
)
def test_words_that_people_type_into_sheets_are_labels(word: str, value: float | None) -> None:
    assert value_of(word) == value


CELL = st.sampled_from(["a", "b\nc", 'q"x"', "", "**x**\n\n- y\r\n- z", "1,2"])


@given(
    rows=st.lists(st.tuples(CELL, CELL, CELL), max_size=9),
    ending=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    ended=st.booleans(),
)
def test_line_breaks_within_cells_are_no_rows(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, ...]],
    ending: str,
    quoting: Any,
    *,
    ended: bool,
) -> None:
    """The progress bar said "360 of 1,238" at the end of a file of Markdown answers."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=quoting, lineterminator=ending)
    writer.writerows([("question", "gold", "answer"), *rows])
    path = tmp_path_factory.mktemp("counted") / "a.csv"
    content = text.getvalue()
    path.write_text(content if ended else content.removesuffix(ending), newline="")
    assert count_rows([path]) == len(rows)


@pytest.mark.parametrize(
    ("word", "value"),
    [("да", 1), ("WAHR", 1), ("错", 0), ("不正解", 0), ("certo", 1), ("fout", 0), ("✓", 1),
     ("✗", 0), ("1,0", 1), ("0,5", 0.5), ("0,873", 0.873), ("100%", 1), ("0 %", 0), ("85%", 0.85)],
)  # fmt: skip
def test_words_of_other_languages_and_spreadsheets(word: str, value: float) -> None:
    assert value_of(word) == value
