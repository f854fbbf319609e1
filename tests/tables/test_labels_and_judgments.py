"""Reading labels and judgments in their many shapes, and matching them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.errors import AgreementError, BadRowsError, DataError, RunError, UnknownNameError
from markscheme.tables import judgments_file
from markscheme.tables.answers import write_table
from markscheme.tables.joins import join_labels, with_answers
from markscheme.tables.judgment_files import load_judgments, one_judge
from markscheme.tables.label_values import NO, YES, as_binary, parse_values
from markscheme.tables.labels import load_labels


@given(st.lists(st.sampled_from([*YES, *NO, "", "n/a", "2", "0.5"]), min_size=1))
def test_words_and_numbers_are_read_in_any_case(words: list[str]) -> None:
    def expected(word: str) -> float | None:
        if word in ("", "n/a"):
            return None
        return 1.0 if word in YES else 0.0 if word in NO else float(word)

    spelled = [f" {word.upper()} " for word in words]
    assert parse_values(pl.Series("v", spelled)).to_list() == [expected(word) for word in words]


def test_other_words_are_named() -> None:
    with pytest.raises(DataError, match=r"'verdict' has 2 values that are not verdicts.*'maybe'"):
        parse_values(pl.Series("verdict", ["yes", "maybe", "perhaps"]))
    with pytest.raises(DataError, match="not verdicts"):
        parse_values(pl.Series("verdict", [[1]]))


def test_a_csv_with_a_column_a_judge(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(
        "Question,Model answer,Acceptable?,bem,gpt\nq,a,Yes,0.7,yes\nq,b,No,0.2,\nr,a,no,0.5,TRUE\n"
    )
    judgments = load_judgments(path)
    assert judgments["judge"].unique(maintain_order=True).to_list() == ["bem", "gpt"]
    bem, gpt = (judgments.filter(pl.col("judge") == name) for name in ("bem", "gpt"))
    assert bem["verdict"].to_list() == [True, False, True]
    assert bem["score"].to_list() == [0.7, 0.2, 0.5]
    assert gpt["verdict"].to_list() == [True, None, True]
    assert gpt["status"].to_list() == ["judged", "failed", "judged"]
    assert load_labels(path)["label"].to_list() == [1.0, 0.0, 0.0]
    assert load_judgments(path, judges=["gpt"])["judge"].unique().to_list() == ["gpt"]


def test_a_long_table_with_several_judges(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_text(
        '{"id": 1, "judge": "a", "verdict": "yes"}\n{"id": 1, "judge": "b", "verdict": false}\n'
    )
    assert load_judgments(path).select("answer_id", "judge", "verdict").rows() == [
        ("1", "a", True),
        ("1", "b", False),
    ]
    assert load_judgments(path, judges=["b"]).height == 1
    with pytest.raises(DataError, match="no judgments by 'c'; the judges are 'a', 'b'"):
        load_judgments(path, judges=["c"])


def test_scores_become_verdicts_at_the_threshold() -> None:
    table = pl.DataFrame({"answer_id": ["1", "2"], "score": [0.5, 0.8]})
    assert load_judgments(table)["verdict"].to_list() == [True, True]
    assert load_judgments(table, threshold=0.6)["verdict"].to_list() == [False, True]


def test_not_judged_has_no_verdict_whatever_its_score() -> None:
    table = pl.DataFrame({"answer_id": ["1"], "score": [0.9], "status": ["refused"]})
    assert load_judgments(table).select("status", "score", "verdict").rows() == [
        ("refused", None, None)
    ]


def test_annotators_stand_in_for_a_label() -> None:
    table = pl.DataFrame(
        {"id": ["1", "2"], "annotator1": ["yes", "no"], "annotator2": ["yes", "yes"]}
    )
    labels = load_labels(table)
    assert labels["label"].to_list() == [1.0, None]
    assert labels["annotator_labels"].to_list() == [[1.0, 1.0], [0.0, 1.0]]


def test_an_empty_label_next_to_others_is_what_most_annotators_gave() -> None:
    votes = [[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 0, None], [1, 1, None, None], [1, None, None, None]]
    table = {f"annotator{n + 1}": [row[n] for row in votes] for n in range(4)}
    found = labels(answer_id=[*"abcde"], label=["1", "", "", "", ""], **table)
    assert found["label"].to_list() == [1.0, 1.0, 0.0, None, None]
    empty = labels(answer_id=[*"abcde"], label=[""] * 5, **table)
    assert empty["label"].to_list() == [None, 1.0, 0.0, 1.0, 1.0]
    one = load_labels(pl.DataFrame({"id": [*"abcde"], **table}), names={"label": "annotator4"})
    assert one["label"].to_list() == [0.0, 0.0, None, None, None]
    people = {"annotator1": [1, 4, 5], "annotator2": [5, 4, 4]}
    grades = labels(answer_id=[*"abc"], label=[3, None, None], **people)
    assert grades["label"].to_list() == [3.0, 4.0, None]


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_labels_are_read_as_they_were_written(ending: str, tmp_path: Path) -> None:
    """Whatever a command exports: a list of annotators' labels has no type of its own in CSV."""
    table = pl.DataFrame(
        {
            "answer_id": ["1", "02", "3", "4"],
            "question": ["q", "=1+1", "r", 's "t", u'],
            "references": [["a", "b"], [], ["-c"], ["d"]],
            "answer": ["a", None, "line\nbreak", ""],
            "system": ["x", "x", "y", "y"],
            "label": [1.0, 0.0, None, 1.0],
            "annotator_labels": [[1.0, 1.0], [0.0, None], [1.0, 0.0], None],
            "annotators": ["Ann and Ben"] * 4,
            "inclusion_probability": [0.5, 0.25, 1.0, 0.125],
        }
    )
    path = tmp_path / f"labels.{ending}"
    write_table(table, path)
    read = load_labels(str(path))
    assert read["annotator_labels"].to_list() == table["annotator_labels"].to_list()
    assert read["label"].to_list() == table["label"].to_list()
    assert read["inclusion_probability"].to_list() == table["inclusion_probability"].to_list()
    assert read["answer_id"].to_list() == table["answer_id"].to_list()


def test_a_column_of_lists_that_holds_something_else_is_named(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text('answer_id,annotator_labels\n1,"[1, 0]"\n2,Ann says yes\n3,1\n')
    with pytest.raises(DataError, match=r"2 of 3 rows.*row 2: .*'Ann says yes'; row 3"):
        load_labels(str(path))
    path.write_text("answer_id,label,inclusion_probability\n1,1,0.5\n2,0,half\n")
    with pytest.raises(DataError, match="of row 2 is 'half', which is not a number"):
        load_labels(str(path))


def test_an_object_in_a_list_of_labels_is_named(tmp_path: Path) -> None:
    """Polars makes several rows of a list with an empty object in it."""
    file = tmp_path / "labels.jsonl"
    rows = ['{"answer_id": "1", "annotator_labels": [{}, 1]}',
            '{"answer_id": "2", "annotator_labels": [1, 0]}']  # fmt: skip
    file.write_text("\n".join(rows))
    with pytest.raises(DataError, match=r"1 of 2 rows have no list of labels: row 1"):
        load_labels(file)


@pytest.mark.parametrize("empty", ["", "[]", "[null]"])
def test_a_column_of_lists_without_a_label_leaves_the_labels_as_they_are(
    tmp_path: Path, empty: str
) -> None:
    """CSV of a run whose answers nobody but the file's author labelled."""
    path = tmp_path / "labels.csv"
    path.write_text(f"answer_id,label,annotator_labels\n1,1,{empty}\n2,0,{empty}\n")
    assert load_labels(str(path)).to_dict(as_series=False) == {
        "answer_id": ["1", "2"],
        "label": [1.0, 0.0],
    }


def test_a_row_an_annotator_becomes_a_row_an_answer() -> None:
    long = pl.DataFrame(
        {
            "id": ["1", "1", "2", "1"],
            "annotator": ["bo", "al", "al", "cy"],
            "label": ["yes", "no", "no", "yes"],
        }
    )
    labels = load_labels(long).sort("answer_id")
    assert labels["annotator_labels"].to_list() == [[0.0, 1.0, 1.0], [0.0, None, None]]
    assert labels["label"].to_list() == [1.0, 0.0]
    with pytest.raises(AgreementError, match="annotator 'bo' labelled an answer twice"):
        load_labels(pl.concat([long, long.head(1)]))


def test_a_status_of_another_tool_is_passed_over() -> None:
    table = pl.DataFrame({"id": ["1", "2"], "verdict": [True, None], "status": ["ok", "ok"]})
    assert load_judgments(table)["status"].to_list() == ["judged", "failed"]
    mixed = table.with_columns(pl.Series("status", ["judged", "ok"]))
    with pytest.raises(DataError, match="column 'status' has 'ok'; the statuses are judged"):
        load_judgments(mixed)


def test_two_columns_that_could_be_the_label_are_an_error() -> None:
    table = pl.DataFrame({"id": ["1"], "human": [1], "correct": [0]})
    with pytest.raises(DataError, match="'human' and 'correct' could each be the label"):
        load_labels(table)
    assert load_labels(table, names={"label": "human"})["label"].to_list() == [1.0]


def test_shapes_that_cannot_be_read() -> None:
    with pytest.raises(DataError, match="no column 'label'; name it with --label-column"):
        load_labels(pl.DataFrame({"answer_id": ["1"], "x": [1]}))
    with pytest.raises(DataError, match=r"need .question. and .answer. .* or .answer_id."):
        load_labels(pl.DataFrame({"question": ["1"], "label": [1]}))
    with pytest.raises(DataError, match="no column 'there'; the columns are 'answer_id', 'label'"):
        load_labels(pl.DataFrame({"answer_id": ["1"], "label": [1]}), names={"label": "there"})
    with pytest.raises(DataError, match=r"no judge column found.*named with --judge\. .*--columns"):
        load_judgments(pl.DataFrame({"answer_id": ["1"], "comment": ["nice words"]}))
    with pytest.raises(DataError, match="--columns annotator1=NAME,annotator2=NAME"):
        load_labels(pl.DataFrame({"answer_id": ["1"], "ann1": [1], "ann2": [0]}))
    with pytest.raises(AgreementError, match="has no rows"):
        load_judgments(pl.DataFrame({"answer_id": [], "verdict": []}))
    with pytest.raises(DataError, match="are they scores"):
        load_judgments(pl.DataFrame({"answer_id": ["1"], "verdict": [0.4]}))


def test_ragged_rows_are_named(tmp_path: Path) -> None:
    path = tmp_path / "ragged.csv"
    path.write_text("id,label\n1,yes\n2,yes,no\n")
    with pytest.raises(BadRowsError, match="line 3"):
        load_labels(path)


def judgments(**columns: list[object]) -> pl.DataFrame:
    return load_judgments(pl.DataFrame(columns))


def labels(**columns: list[object]) -> pl.DataFrame:
    return load_labels(pl.DataFrame(columns))


def test_everything_left_aside_is_counted() -> None:
    joined = join_labels(
        judgments(question=["q", "q", "r", "q"], answer=["a", "b", "a", "a"], verdict=[1, 0, 1, 1]),
        labels(question=["q", "r", "s", "q"], answer=["a", "a", "a", "a"], label=[1, 0, 1, 1]),
    )
    assert joined.key == ("question", "answer")
    assert joined.rows.select("question", "answer", "verdict", "label").rows() == [
        ("q", "a", True, 1.0),
        ("r", "a", True, 0.0),
    ]
    assert (joined.unlabelled, joined.unused_labels) == (1, 1)
    assert (joined.repeated_labels, joined.repeated_judgments) == (1, 1)
    assert len(joined.notes()) == 5


def test_one_label_serves_every_system_that_gave_the_answer() -> None:
    joined = join_labels(
        judgments(question=["q", "q"], answer=["a", "a"], system=["x", "y"], verdict=[1, 1]),
        labels(question=["q"], answer=["a"], label=[0]),
    )
    assert joined.rows["label"].to_list() == [0.0, 0.0]
    assert joined.rows["cluster"].to_list() == [0, 0]


def test_ids_that_do_not_meet_give_way_to_texts() -> None:
    joined = join_labels(
        judgments(answer_id=["x1"], question=["q"], answer=["a"], verdict=[1]),
        labels(answer_id=["7"], question=["q"], answer=["a"], label=[1]),
    )
    assert joined.key == ("question", "answer")


def test_an_empty_column_is_no_key() -> None:
    joined = join_labels(
        judgments(question=["q"], answer=["a"], system=["x"], verdict=[1]),
        labels(question=["q"], answer=["a"], system=[None], label=[1]),
    )
    assert joined.key == ("question", "answer")


def test_without_questions_answers_stand_singly() -> None:
    joined = join_labels(
        judgments(answer_id=["1", "2"], verdict=[1, 0]), labels(answer_id=["1", "2"], label=[1, 1])
    )
    assert joined.rows["cluster"].n_unique() == 2
    assert "each answer counts as its own question" in joined.notes()[-1]


def test_only_answers_without_a_question_stand_singly() -> None:
    joined = join_labels(
        judgments(answer_id=list("123456"), verdict=[1] * 6),
        labels(answer_id=list("123456"), question=["q", "q", None, None, "q", "r"], label=[1] * 6),
    )
    assert joined.rows["cluster"].to_list() == [0, 0, 2, 3, 0, 1]
    assert joined.notes()[-1] == "each answer without a question counts as its own question"


def test_contradictions_and_empty_overlaps_are_errors() -> None:
    some = judgments(answer_id=["1"], verdict=[1])
    with pytest.raises(AgreementError, match=r"contradictory labels: '1'\."):
        join_labels(some, labels(answer_id=["1", "1"], label=[0, 1]))
    with pytest.raises(AgreementError, match="contradictory judgments"):
        join_labels(
            judgments(answer_id=["1", "1"], verdict=[1, 0]), labels(answer_id=["1"], label=[1])
        )
    with pytest.raises(AgreementError, match=r"judgments have \('1',\), labels have \('2',\)"):
        join_labels(some, labels(answer_id=["2"], label=[1]))
    with pytest.raises(AgreementError, match="no key in common"):
        join_labels(some, labels(question=["q"], answer=["a"], label=[1]))
    with pytest.raises(AgreementError, match="no row of the labels has a label"):
        join_labels(
            some,
            labels(answer_id=["1", "2"], label=[None, None], annotator1=[1, 1], annotator2=[0, 0]),
        )


def test_grades_need_a_bar() -> None:
    grades = pl.Series([0.0, 1.0, 3.0])
    with pytest.raises(AgreementError, match=r"grades \(0, 1, 3\)"):
        as_binary(grades)
    assert as_binary(grades, positive_from=1).to_list() == [False, True, True]


def test_judgments_are_found_in_a_run_and_what_is_no_run_is_said(tmp_path: Path) -> None:
    assert judgments_file("judged.csv") == ("judged.csv", False)
    with pytest.raises(DataError, match="the name of a file is empty"):
        judgments_file("")
    with pytest.raises(DataError, match=r"a folder without judgments\.parquet; 'markscheme judge"):
        judgments_file(tmp_path)
    (tmp_path / "run.json").write_text('{"state": "running"}')
    with pytest.raises(RunError, match="unfinished run"):
        judgments_file(tmp_path)
    (tmp_path / "run.json").unlink()
    (tmp_path / "judgments.parquet").touch()
    assert judgments_file(tmp_path) == (str(tmp_path / "judgments.parquet"), False)


@pytest.mark.parametrize("name", ["annotator", "rater", "Labeled by", "worker_id"])
def test_a_row_an_annotator_by_any_name_of_the_column(name: str) -> None:
    rows = {"id": ["1", "1", "2", "2"], name: ["ann", "ben"] * 2, "label": [1, 1, 0, 1]}
    found = load_labels(pl.DataFrame(rows))
    assert found["label"].to_list() == [1.0, None]
    assert found["annotators"].to_list() == [["ann", "ben"]] * 2


def test_partly_correct_is_a_grade_between() -> None:
    rows = {"id": ["1", "2", "3"], "label": ["correct", "Partially correct", "wrong"]}
    assert load_labels(pl.DataFrame(rows))["label"].to_list() == [1.0, 0.5, 0.0]


def test_every_copy_of_an_answer_gets_its_judgment() -> None:
    answers = pl.DataFrame(
        {"answer_id": ["1", "2", "3"], "question": ["q", "q", "r"], "answer": ["a", "a", None]}
    )
    judged = judgments(question=["q", "r"], answer=["a", None], verdict=[1, 0])
    found = with_answers(judged, answers)
    assert found.select("answer_id", "verdict").rows() == [("1", True), ("2", True), ("3", False)]
    several = judgments(
        question=["q", "q", "r", "q"],
        answer=["a", "a", None, "a"],
        verdict=[1, 0, 1, 1],
        judge=["one", "one", "one", "two"],
    )
    found = with_answers(several, answers).sort("judge", "answer_id")
    assert found.select("judge", "answer_id", "verdict").rows() == [
        ("one", "1", True),
        ("one", "2", False),
        ("one", "3", True),
        ("two", "1", True),
        ("two", "2", True),
    ]
    more = judgments(question=["r", "r", "q"], answer=[None, None, "a"], verdict=[1, 0, 1])
    assert with_answers(more, answers)["answer_id"].to_list() == ["3", "3", "1", "2"]


def test_the_one_judge_is_the_only_one_or_the_one_named() -> None:
    several = judgments(answer_id=["1", "1"], verdict=[1, 0], judge=["strict", "lenient"])
    assert one_judge(several, "strict")["verdict"].to_list() == [True]
    assert one_judge(several.head(1)).height == 1
    with pytest.raises(AgreementError, match="with --judge one of 'strict', 'lenient'"):
        one_judge(several)
    with pytest.raises(UnknownNameError, match="no judge here named 'stricd'; did you mean"):
        one_judge(several, "stricd")


def test_a_users_column_called_remarks_is_no_note() -> None:
    rows = [{"answer_id": str(n), "label": n % 2, "remarks": "see below"} for n in range(4)]
    judged = [{"answer_id": str(n), "judge": "a", "verdict": True} for n in range(4)]
    joined = join_labels(load_judgments(judged), load_labels(pl.DataFrame(rows)))
    assert joined.remarks == ()


def test_what_another_tool_has_under_names_of_ours_is_passed_over(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {
            "id": ["1", "2", "3"],
            "verdict": [True, True, False],
            "scope": ["inside", "outside: long", "in-domain"],
            "relation": ["equivalent", "", "same"],
            "marks": ["0.5", "", "A"],
            "explanation": ["", " ", "because"],
        }
    )
    read = {
        "scope": ["inside", "outside: long", None],
        "relation": ["equivalent", None, None],
        "marks": [0.5, None, None],
        "explanation": [None, None, "because"],
    }
    path = tmp_path / "judged.csv"
    table.write_csv(path)
    for source in (table, path):
        assert load_judgments(source).select(*read).to_dict(as_series=False) == read
    lists = table.with_columns(pl.concat_list(name).alias(name) for name in read)
    assert load_judgments(lists).select(*read).null_count().row(0) == (3, 3, 3, 3)
