"""How judged answers and labels find each other, as every command does it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

import markscheme
from markscheme.errors import AgreementError, DataError

TEXTS = {"answer_id": "none", "question": "question", "answer": "answer", "system": "system"}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "agree": markscheme.agree,
    "compare": markscheme.compare,
    "compare systems": lambda s, **k: markscheme.compare(s, systems=True, judges="contains", **k),
    "estimate": lambda s, **k: markscheme.estimate(s, judge="contains", **k),
    "rank": markscheme.rank,
    "calibrate": lambda s, **k: markscheme.calibrate(s, judge="token_f1", **k),
    "failures": markscheme.failures,
}


def answers() -> pl.DataFrame:
    """80 answers of two systems, numbered; half of them right."""
    return pl.DataFrame(
        {
            "id": number + 1,
            "question": f"Question {number // 2}?",
            "references": f"word{number // 2}",
            "answer": f"word{number // 2}" if number % 3 else f"other{number} word",
            "system": "ab"[number % 2],
            "label": int(number % 3 > 0),
        }
        for number in range(80)
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("matching") / "run"
    markscheme.judge(answers().drop("label"), ("contains", "token_f1"), out=folder)
    return folder


def labels(*, turned: int = 0, edited: int = 0) -> pl.DataFrame:
    """The labels with the ids of other rows, or with texts that somebody edited."""
    table = answers().drop("references")
    ids = [*table["id"][turned:], *table["id"][:turned]]
    return table.with_columns(
        pl.Series("id", ids),
        pl.when(pl.int_range(pl.len()) < edited)
        .then(pl.col("answer") + " (edited)")
        .otherwise("answer")
        .alias("answer"),
    )


def notes(result: Any) -> str:
    return str(result)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_ids_that_the_texts_contradict_are_no_key(name: str, run: Path) -> None:
    right = FUNCTIONS[name](run, labels=labels())
    found = FUNCTIONS[name](run, labels=labels(turned=7))
    assert found.frame.equals(right.frame)
    assert "ids are of other rows" in notes(found)
    assert "ids are of other rows" not in notes(right)


def test_a_report_matches_as_the_statistics_do(run: Path, tmp_path: Path) -> None:
    found = markscheme.report(run, tmp_path / "report.html", labels=labels(turned=7))
    assert found.labelled == 80
    assert any("ids are of other rows" in note for note in found.notes)


def test_few_edited_texts_are_counted_and_many_are_an_error(run: Path) -> None:
    found = markscheme.agree(run, labels=labels(edited=3))
    assert "3 of the 80 rows matched by id have another question or answer" in notes(found)
    assert found.frame["answers"].to_list() == [80, 80]
    with pytest.raises(AgreementError, match=r"4 of the 80 .*id '1' is of .*--columns question"):
        markscheme.agree(run, labels=labels(edited=4))
    by_ids = {"question": "none", "answer": "none"}
    again = markscheme.agree(run, labels=labels(edited=40), columns=by_ids)
    assert again.frame.equals(found.frame)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "failures"])
def test_the_remedy_that_errors_name_is_one(name: str, run: Path) -> None:
    right = FUNCTIONS[name](run, labels=labels())
    found = FUNCTIONS[name](run, labels=labels(turned=7), columns=TEXTS)
    assert found.frame.equals(right.frame)
    assert "ids are of other rows" not in notes(found)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_words_that_are_no_label_are_counted(name: str, run: Path) -> None:
    words = ["?", "?", "?", "N/A", *map(str, answers()["label"][4:])]
    found = FUNCTIONS[name](
        run, labels=labels().with_columns(label=pl.Series(words)).drop("question", "answer"),
        **({"common": True} if name == "rank" else {}),
    )  # fmt: skip
    assert "label '?' is read as no label (3 rows)" in notes(found)
    assert "label 'N/A' is read as no label (1 row)" in notes(found)


@pytest.mark.parametrize("wanted", ["Urteill", "label"])
def test_a_misspelt_column_of_labels_is_named(wanted: str, run: Path) -> None:
    table = labels().rename({"label": "Urteil", "id": "answer key"})
    with pytest.raises(DataError, match=rf"no column '{wanted}'.*'answer key'.*'Urteil'"):
        markscheme.agree(run, labels=table, columns={"answer_id": "answer key", "label": wanted})


def test_labels_of_a_run_may_be_called_as_in_the_judged_file(tmp_path: Path) -> None:
    table, columns = answers().rename({"label": "Urteil"}), {"label": "Urteil"}
    markscheme.judge(table, "contains", columns=columns, out=tmp_path / "run")
    for name in ("agree", "estimate", "compare systems"):
        right = FUNCTIONS[name](tmp_path / "run")
        found = FUNCTIONS[name](tmp_path / "run", columns=columns)
        assert str(found) == str(right)
        assert "80" in str(found)


def test_another_run_with_other_ids_is_compared_by_the_texts(run: Path, tmp_path: Path) -> None:
    wide = answers().select("question", "references", "answer", "system")
    other = wide.pivot(on="system", index=["question", "references"], values="answer")
    other = other.rename({"a": "answer_a", "b": "answer_b"})
    markscheme.judge(other, "contains", out=tmp_path / "wide")
    for columns in ({}, TEXTS):
        found = markscheme.compare(
            run, labels(), other=tmp_path / "wide", judges=("contains",), columns=columns
        )
        (pair,) = found.pairs
        assert (pair.first, pair.second) == ("contains", "contains (other)")
        assert pair.difference.value == 0
        assert pair.shared == 80


@pytest.mark.parametrize("wide", [False, True])
def test_judges_named_may_each_be_in_one_of_two_tables(*, wide: bool) -> None:
    table = answers().select("question", "answer", "system", "label")
    first, second = (
        table.with_columns(pl.lit(name).alias("judge"), verdict=pl.col("label") == 1)
        for name in ("one", "two")
    )
    if wide:
        second = table.with_columns(two="label", three="label").drop("label")
    more = pl.concat([first, first.with_columns(judge=pl.lit("left out"))])
    (pair,) = markscheme.compare(more, other=second, judges=("one", "two")).pairs
    assert (pair.first, pair.second, pair.shared) == ("one", "two", 80)
    with pytest.raises(DataError, match="no judgments by 'none'; the judges are 'left out', 'one'"):
        markscheme.compare(more, other=second, judges=("two", "none"))


def test_another_run_of_other_answers_is_an_error(run: Path, tmp_path: Path) -> None:
    other = answers().with_columns(pl.col("question", "answer") + "x", pl.col("id") + 500)
    markscheme.judge(other, "contains", out=tmp_path / "other")
    with pytest.raises(AgreementError, match="the other judgments are of none of these answers"):
        markscheme.compare(run, labels(), other=tmp_path / "other")
    half = answers().tail(30).with_columns(pl.col("id") + 500)
    markscheme.judge(half, "contains", out=tmp_path / "half")
    found = markscheme.compare(run, labels(), other=tmp_path / "half", judges="contains")
    assert found.pairs[0].shared == 30


@pytest.mark.parametrize("named", [(), ("system",), ("question", "answer", "system")])
def test_verdicts_of_another_table_are_counted_by_the_questions_of_the_run(
    tmp_path: Path, named: tuple[str, ...]
) -> None:
    """Four answers to each of 20 questions, of which a table names the ids alone."""
    rows = [
        {"answer_id": f"{n}-{k}", "question": f"q{n}", "references": ["yes"], "system": "ab"[k % 2],
         "answer": "yes" if n % 3 else "no", "label": float(n % 4 > 0)}
        for n in range(20) for k in range(4)
    ]  # fmt: skip
    markscheme.judge(rows, "exact_match", out=tmp_path / "run")
    other = [
        {"answer_id": row["answer_id"], **{name: row[name] for name in named},
         "judge": "mine", "verdict": int(n // 4 % 5 > 0)}
        for n, row in enumerate(rows)
    ]  # fmt: skip
    found = markscheme.compare(tmp_path / "run", other=other)
    (pair,) = found.pairs
    assert (pair.shared, pair.questions) == (80, 20)
    assert "no question is known" not in str(found)
    whole = markscheme.compare(tmp_path / "run", other=[
        {**row, "judge": "mine", "verdict": one["verdict"]}
        for row, one in zip(rows, other, strict=True)
    ])  # fmt: skip
    assert pair == whole.pairs[0]
    unknown = [{**one, "answer_id": f"x{one['answer_id']}"} for one in other]
    if "question" not in named:
        with pytest.raises(AgreementError, match=r"none of these answers, by answer_id: .*'x0-0'"):
            markscheme.compare(tmp_path / "run", other=unknown)


def test_answers_given_apart_say_the_question_where_labels_lie_in_the_judgments() -> None:
    rows = [
        {"answer_id": str(n), "first": n < 30, "second": n % 3 > 0, "label": n < 25}
        for n in range(40)
    ]
    answers = [
        {"answer_id": str(n), "question": f"q{n // 2}", "answer": f"x{n}", "references": ["x"],
         "system": "st"[n % 2]}
        for n in range(40)
    ]  # fmt: skip
    found = markscheme.agree(rows, answers=answers, by="system").frame
    assert found["questions"].to_list() == [20] * 6
    assert found["system"].to_list() == [None, "s", "t"] * 2
    (pair,) = markscheme.compare(rows, answers=answers, judges=("first", "second")).pairs
    assert pair.questions == 20
    with pytest.raises(AgreementError, match="of one table of judgments"):
        markscheme.compare(rows, other=rows, answers=answers, systems=True)


def typed(*, answers: list[str]) -> pl.DataFrame:
    """Labels without ids whose first texts somebody typed again."""
    table = labels().drop("id")
    texts = [*answers, *table["answer"][len(answers) :]]
    return table.with_columns(
        question=pl.when(pl.int_range(pl.len()) < len(answers))
        .then(pl.format("  {} ", pl.col("question").str.to_uppercase()))
        .otherwise("question"),
        answer=pl.Series(texts),
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_texts_are_matched_although_case_or_white_space_differ(name: str, run: Path) -> None:
    right = FUNCTIONS[name](run, labels=labels().drop("id"))
    found = FUNCTIONS[name](run, labels=typed(answers=["Other0\nword", " WORD0", "word1"]))
    assert found.frame.equals(right.frame)
    assert "3 rows are matched by texts that differ in case or white space alone" in notes(found)
    assert "white space" not in notes(right)


def test_texts_that_two_others_are_near_to_match_neither(tmp_path: Path) -> None:
    rows = [*answers().rows(named=True),
            {"id": 81, "question": "Question 0?", "references": "word0", "answer": "WORD0",
             "system": "b", "label": 1}]  # fmt: skip
    markscheme.judge(rows, "contains", out=tmp_path / "run")
    said = notes(markscheme.agree(tmp_path / "run", typed(answers=["other0 word", "Word0"])))
    assert "1 row is matched by texts that differ in case or white space alone" in said
    assert "1 label is of another answer, and left out" in said
    # Nor is a label taken for an answer that has one of its own.
    twice = pl.concat([labels().drop("id"), typed(answers=["other0  word", "WORD0"]).head(2)])
    said = notes(markscheme.agree(tmp_path / "run", twice))
    assert "80 judgments matched" in said
    assert "white space" not in said


@pytest.mark.parametrize("ids", [True, False])
def test_labels_in_the_judged_file_are_of_the_answers_that_were_read(
    tmp_path: Path, ids: bool
) -> None:
    """Judges read no reasoning, tags or worked solutions, and numbers of JSON as written."""
    given = ["Bach", "<think>hmm</think>Bach", "<think>oh</think>Bach", "<answer>9</answer>",
             "so it is\n#### 1,200", "Bach</s>", "Bach\nQuestion: who else?", 4, 2.5, True,
             "<think>who"]  # fmt: skip
    rows = [
        {
            "question": f"q{n}",
            "references": ["Bach", "#### 1,200"],
            "answer": answer,
            "label": 1,
        }
        | ({"id": f"i{n}"} if ids else {})
        for n, answer in enumerate(given)
    ]
    file = tmp_path / "answers.jsonl"
    file.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    markscheme.judge(file, "contains", out=tmp_path / "run")
    found = markscheme.agree(tmp_path / "run", labels=file)
    assert found.data["judges"][0].answers == len(given)
    assert "other answers" not in notes(found)
    judged = [
        {"question": row["question"], "answer": row["answer"], "verdict": 1} for row in rows[:7]
    ]
    assert markscheme.agree(judged, answers=file, labels=file).data["judges"][0].answers == 7


def test_white_space_that_a_spreadsheet_took_away_contradicts_no_id(run: Path) -> None:
    trimmed = labels().with_columns(pl.col("answer").str.to_titlecase() + " ")
    found = markscheme.agree(run, trimmed)
    assert found.frame.equals(markscheme.agree(run, labels()).frame)
    assert "another question or answer" not in notes(found)


@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("gold", [str, list])
def test_the_judged_file_of_nq_open_is_its_own_file_of_labels(
    gold: type, numbered: bool, tmp_path: Path
) -> None:
    """There `answer` is the gold: by it, the labels of right answers alone would be found."""
    held = pl.col("answer") if gold is str else pl.concat_list("answer")
    table = answers().rename({"answer": "prediction", "references": "answer"}).with_columns(held)
    file = tmp_path / "nq.jsonl"
    table.drop([] if numbered else ["id"]).write_ndjson(file)
    markscheme.judge(file, "exact_match", out=tmp_path / "run")
    (found,) = markscheme.estimate(tmp_path / "run", file).estimates
    assert found.labelled == 80
    assert "80 judgments matched" in " ".join(str(markscheme.agree(tmp_path / "run", file)).split())


def test_a_judges_reply_next_to_its_verdict_is_no_answer() -> None:
    rows = [
        {"question": f"q{n}", "answer": f"a{n}", "judge": "mine", "verdict": n % 2,
         "response": f"I find it {'right' if n % 2 else 'wrong'}.", "label": n % 2}
        for n in range(20)
    ]  # fmt: skip
    judged = pl.DataFrame(rows)
    (found,) = markscheme.estimate(judged, judged.drop("response")).estimates
    assert found.labelled == 20


@pytest.mark.parametrize("command", ["agree", "estimate", "plan_labels"])
def test_figures_by_system_are_refused_where_no_system_is_known(command: str) -> None:
    rows = [
        {"question": f"q{n}", "answer": "a", "verdict": n < 30, "label": n < 25} for n in range(40)
    ]
    options = {"count": 5} if command == "plan_labels" else {}
    with pytest.raises(AgreementError, match="--by system requires --answers"):
        getattr(markscheme, command)(rows, by="system", **options)
