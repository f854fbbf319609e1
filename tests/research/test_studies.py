"""Studies of graded lists: fair draws, exact counts, probes that find what was planted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from markscheme.cli import run
from markscheme.contract.grammar import parse_judge
from markscheme.errors import AgreementError, DataError, JudgeError
from markscheme.judges.prompted.examples import read_examples
from markscheme.models.chat.scripted import ScriptedChat
from markscheme.models.local.encoder import TextVectors, token_encoder
from markscheme.models.sources import Models
from markscheme_research.lists.list_figures import averaged_over_draws
from markscheme_research.lists.list_material import Material, open_material, read_loosely
from markscheme_research.lists.list_studies import (
    Plan,
    by_order,
    by_shots,
    correlations,
    mark,
    marked_over_draws,
)
from markscheme_research.lists.reference_lists import Draw, draw_references
from trained_questions import trained_questions

ROWS = [
    {"question": f"Why is thing {number} so?", "answer": f"answer {number} {grade} {copy}",
     "label": grade}
    for number in range(6) for grade in (3, 2, 1, 0) for copy in "abc"
]  # fmt: skip


@pytest.fixture
def material(tmp_path: Path) -> Material:
    path = tmp_path / "graded.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return open_material(str(path))


def knowing(text: str) -> str:
    """A model that reads the planted grade of the answer and ranks it below better references."""
    answer = text.rsplit("<answer", 1)[1].split("\n")[1]
    references = [line for line in text.split("\n") if line.startswith("answer ")][:-1]
    grade = answer.split()[2]
    listed = references[-4:] if len(references) > 4 else references
    return f"[[{1 + sum(one.split()[2] > grade for one in listed)}]]"


def models(reply: object = knowing) -> Models:
    return Models(chat=ScriptedChat(replies=reply))  # type: ignore[arg-type]


# --- draws ------------------------------------------------------------------------------------


def test_compositions_of_a_study_have_the_same_candidates_and_nested_references(
    material: Material,
) -> None:
    made = ("3210", "33221100", "top")
    tables = {one: Plan(seeds=2).tables(material, one, apart=made) for one in made}
    for short, long, top in zip(*tables.values(), strict=True):
        assert short["answer"].equals(long["answer"])
        assert short["answer"].equals(top["answer"])
        for few, many in zip(short["references"], long["references"], strict=True):
            assert set(few) < set(many)
        assert long["references"].list.len().unique().to_list() == [8]
        for answer, listed in zip(long["answer"], long["references"], strict=True):
            assert answer not in listed.to_list()
    assert not tables["3210"][0]["answer"].equals(tables["3210"][1]["answer"])


def test_butref_lets_only_the_reference_in_use_leave(material: Material) -> None:
    table = material.table(Draw(composition="33221100", protocol="butref"))
    assert table.height == len(ROWS) - 6
    first = table["references"].list.first()
    assert not (table["answer"] == first).any()
    assert any(
        answer in listed.to_list()
        for answer, listed in zip(table["answer"], table["references"], strict=True)
    )


def test_ready_lists_are_thinned_by_grade_and_stay_beside_their_candidates(tmp_path: Path) -> None:
    rows = [
        {"question": q, "answer": f"said {place}", "label": place,
         "references": [f"{q}{grade}{copy}" for grade in "3210" for copy in "xy"],
         "reference_grades": [3, 3, 2, 2, 1, 1, 0, 0]}
        for q in ("p", "q") for place in (1, 2, 3)
    ]  # fmt: skip
    path = tmp_path / "ready.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ready = open_material(str(path))
    assert ready.ready
    table = ready.table(Draw(composition="320", seed=1))
    assert table.height == 6
    for row in table.iter_rows(named=True):
        assert row["reference_grades"] == [3, 2, 0]
        assert [text[:2] for text in row["references"]] == [f"{row['question']}{g}" for g in "320"]


@pytest.mark.parametrize(
    ("grades", "usual", "drawn"),
    [((1, 2, 3, 4, 5), "4321", [5, 4, 3, 2]), ((1, 3, 5), "420", [5, 3, 1]),
     ((0, 50, 100), "top", [100])],
)  # fmt: skip
def test_the_usual_list_has_the_best_grade(
    tmp_path: Path, grades: tuple[int, ...], usual: str, drawn: list[int]
) -> None:
    rows = [
        {"question": "Why?", "answer": f"answer {grade} {copy}", "label": grade}
        for grade in grades for copy in "ab"
    ]  # fmt: skip
    path = tmp_path / "graded.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    material = open_material(str(path))
    table = material.table(Draw(composition=material.usual))
    assert (material.usual, table["reference_grades"][0].to_list()) == (usual, drawn)
    # The same of lists that are there already, whatever the grades of the answers.
    ready = [
        row | {"label": place % 2, "reference_grades": grades,
               "references": [str(grade) for grade in grades]}
        for place, row in enumerate(rows)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in ready))
    material = open_material(str(path))
    table = material.table(Draw(composition=material.usual))
    assert (material.usual, table["reference_grades"][0].to_list()) == (usual, drawn)


def test_files_without_references_or_grades_are_read_or_explained(tmp_path: Path) -> None:
    path = tmp_path / "bare.jsonl"
    path.write_text('{"question": "Why?"}\n{"question": "How?", "references": ["So."]}\n')
    table = read_loosely(str(path))
    assert table["references"].to_list() == [[], ["So."]]
    with pytest.raises(DataError, match="has no grades"):
        open_material(str(path))
    path.write_text('{"q": "Why?", "passage": "a", "grade": 1}\n{"q": "Why?", "passage": "b"}\n')
    with pytest.raises(DataError, match="has no grades"):
        open_material(str(path), columns={"answer": "passage", "label": "grade"})


# --- leaks ------------------------------------------------------------------------------------


def test_neither_a_constant_judge_nor_the_order_of_rows_correlates(data_dir: Path) -> None:
    trec = open_material("trec-dl-nf", data_dir=str(data_dir))
    tables = Plan(seeds=3).tables(trec, "3210")
    same = marked_over_draws(parse_judge("listwise"), tables[:1], models(lambda _: "[[2]]"))
    assert correlations(same) is None
    places = [
        table.select("question", "answer", grade="label", draw=pl.lit(seed)).with_columns(
            score=-pl.int_range(pl.len()).over("question").cast(pl.Float64)
        )
        for seed, table in enumerate(tables)
    ]
    assert abs(averaged_over_draws(pl.concat(places)).means["spearman"].value or 0) < 0.05


def test_the_files_own_order_would_leak(data_dir: Path) -> None:
    from markscheme.agreement.question_averages import per_question
    from markscheme_research.datasets import passages

    rows = passages("trec-dl-nf", data_dir=data_dir).with_columns(
        score=-pl.int_range(pl.len()).over("question").cast(pl.Float64)
    )
    assert (per_question(rows).means["spearman"].value or 0) > 0.75


def test_spearman_is_a_mean_over_questions_without_the_constant_ones() -> None:
    from scipy.stats import spearmanr

    from markscheme.agreement.question_averages import per_question

    scores = {"a": [1, 2, 3, 4], "b": [4, 1, 2, 3], "flat": [2, 2, 2], "same grades": [1, 2, 3]}
    grades = {"a": [0, 1, 3, 2], "b": [0, 1, 2, 3], "flat": [0, 1, 2], "same grades": [1, 1, 1]}
    rows = pl.DataFrame(
        [
            {"question": name, "score": float(score), "grade": float(grade)}
            for name, each in scores.items()
            for score, grade in zip(each, grades[name], strict=True)
        ]
    )
    found = per_question(rows)
    by_hand = [spearmanr(scores[name], grades[name]).statistic for name in ("a", "b")]
    assert found.means["spearman"].value == pytest.approx(sum(by_hand) / 2)
    assert (found.questions, found.constant) == (2, 2)
    pooled = spearmanr(rows["score"], rows["grade"]).statistic
    assert found.means["spearman"].value != pytest.approx(pooled)


def test_draws_give_mean_and_spread() -> None:
    table = pl.DataFrame(
        {
            "question": ["a"] * 6,
            "draw": [1, 1, 1, 2, 2, 2],
            "score": [1, 2, 3, 2, 1, 3],
            "grade": [1, 2, 3, 1, 2, 3],
        }
    )
    found = averaged_over_draws(table)
    assert found.draws == 2
    assert found.means["kendall"].value == pytest.approx((1 + 1 / 3) / 2)
    assert found.spreads["kendall"].value == pytest.approx(np.std([1, 1 / 3], ddof=1))


# --- what studies find ------------------------------------------------------------------------


def test_listwise_needs_one_call_where_pairwise_needs_one_a_reference(material: Material) -> None:
    table = material.table(Draw(composition="33221100"))
    rows = table.height
    calls = {
        name: mark(parse_judge(name), table, models(lambda _: "[[1]] [[A]]")).calls
        for name in ("listwise(repair=false)", "pairwise(repair=false)",
                     "pairwise(repair=false, positions=both)", "pointwise(repair=false)",
                     "reference_overlap")
    }  # fmt: skip
    assert list(calls.values()) == [rows, 8 * rows, 16 * rows, rows, 0]


def test_repairs_are_counted_apart(material: Material) -> None:
    table = material.table(Draw(composition="3210"))
    found = mark(parse_judge("listwise"), table, models(lambda _: "hm"))
    assert (found.calls, found.repairs) == (2 * table.height, table.height)
    assert found.not_judged == table.height


def test_a_judge_that_knows_the_grades_is_found_to(material: Material) -> None:
    tables = Plan(seeds=2).tables(material, "3210")
    found = correlations(marked_over_draws(parse_judge("listwise"), tables, models()))
    assert found is not None
    assert found.means["spearman"].value == pytest.approx(1.0)
    assert found.draws == 2


def test_draws_share_their_texts_and_have_the_scores_that_they_have_apart(
    material: Material, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge, encoder = parse_judge("listwise_examiner"), token_encoder()
    tables = Plan(seeds=3).tables(material, "3210")
    apart = [mark(judge, one, Models(), draw=n).table for n, one in enumerate(tables)]
    encoder.forget()
    encoded: list[str] = []
    by_itself = encoder._encode

    def counted(texts: list[str]) -> list[TextVectors]:
        encoded.extend(texts)
        return by_itself(texts)

    monkeypatch.setattr(encoder, "_encode", counted)
    together = marked_over_draws(judge, tables, Models())
    assert together.table.equals(pl.concat(apart))
    texts = [pl.concat([t["answer"], t["references"].explode(), t["question"]]) for t in tables]
    assert sorted(encoded) == sorted(set(pl.concat(texts)))  # each once


def test_the_probe_finds_a_model_that_goes_by_position(material: Material) -> None:
    tables = Plan(seeds=1).tables(material, "3210")
    fair = by_order(parse_judge("listwise"), tables, models())
    assert list(fair) == ["best_first", "worst_first", "shuffled", "undisclosed"]
    assert {shift.changed for shift in fair.values()} == {0.0}
    asked = by_order(parse_judge("pairwise"), tables, models(lambda _: "[[A]]"))
    last = asked["answer_last"]
    assert (last.changed, last.raised) == (1.0, -1.0)
    turned = by_order(parse_judge("listwise_examiner(encoder=never)"), tables, models())
    assert {shift.changed for shift in turned.values()} == {0.0}


def test_shots_come_from_questions_that_nobody_is_judged_on(
    material: Material, tmp_path: Path
) -> None:
    tables = Plan(seeds=1).tables(material, "3210")
    found = by_shots(parse_judge("listwise"), tables, models(), shots=(0, 1, 3), folder=tmp_path)
    judged = [set(run.table["question"]) for run in found.values()]
    assert judged[0] == judged[1] == judged[2]
    taken = read_examples(str(tmp_path / "shots-0.jsonl"), "rank")
    assert len(taken) == 3
    assert len(judged[0]) == 3
    assert not {shot["question"] for shot in taken} & judged[0]
    with pytest.raises(JudgeError, match="takes no solved examples"):
        by_shots(parse_judge("pairwise"), tables, models(), shots=(1,), folder=tmp_path)
    with pytest.raises(JudgeError, match="take fewer shots"):
        by_shots(parse_judge("listwise"), tables, models(), shots=(6,), folder=tmp_path)


def test_shots_are_shown_in_the_order_of_the_list(material: Material, tmp_path: Path) -> None:
    path = tmp_path / "shots.jsonl"
    shot = {"question": "Why cats?", "references": ["good", "bad"], "answer": "z", "rank": 2}
    path.write_text(json.dumps(shot) + "\n")
    chat = ScriptedChat(replies=lambda _: "[[1]]")
    judge = parse_judge(f"listwise(examples='{path}', order=worst_first)")
    mark(judge, material.table(Draw(composition="3210"))[:1], Models(chat=chat))
    assert chat.seen[0].last_user.index("bad") < chat.seen[0].last_user.index("good")


# --- pairs ------------------------------------------------------------------------------------


def test_an_answer_equal_to_a_reference_is_read_from_both_sides() -> None:
    rows = pl.DataFrame(
        {"question": ["Why?"], "references": [["same"]], "answer": ["same"],
         "reference_grades": [[3]]}
    )  # fmt: skip
    chat = ScriptedChat(replies=lambda _: "[[A]]")
    said = parse_judge("pairwise(positions=both)").judge(rows, Models(chat=chat))
    assert said["score"].to_list() == [0.5]
    assert len(chat.seen) == 1


# --- commands ---------------------------------------------------------------------------------


def test_studies_run_from_the_command_line(
    material: Material, capsys: pytest.CaptureFixture[str]
) -> None:
    judges = ("-j", "reference_overlap", "-j", "listwise_examiner(encoder=never)")
    small = ("--questions", "4", "--per-question", "6", "--format", "csv")
    for command, expected in (
        (("lists", "-c", "3210", "-c", "top"), 4), (("seeds",), 2), (("order",), 6), (("cost",), 2)
    ):  # fmt: skip
        name, *options = command
        assert run(["study", name, material.name, *options, *judges, *small]) == 0
        lines = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
        assert len([line for line in lines if not line.strip('"').startswith("# ")]) == expected + 1
        assert lines[0].startswith("judge,")


def test_questions_that_trained_a_judge_are_counted_and_left_out_of_the_second_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "graded.jsonl"
    questions = dict(
        zip((f"Why is thing {n} so?" for n in range(3)), trained_questions(3), strict=True)
    )
    rows = [{**row, "question": questions.get(row["question"], row["question"])} for row in ROWS]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    judges = ("-j", "examiner(depth=fast)", "-j", "reference_overlap")
    assert run(["study", "cost", str(path), *judges, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (lineage,) = found["lineage"]
    assert (lineage["judge"], lineage["questions"], lineage["trained"]) == (
        "examiner(depth=fast)", 6, 3,
    )  # fmt: skip
    assert lineage["spearman"] != lineage["spearman_rest"]
    assert found["notes"][-1].startswith("3 of 6 questions trained examiner(depth=fast)")


def test_a_study_that_needs_a_model_or_data_says_so(
    material: Material, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["study", "cost", material.name]) == 2
    assert "--model" in capsys.readouterr().err
    assert run(["study", "shots", material.name, "-j", "reference_overlap"]) == 2
    assert "takes no solved examples" in capsys.readouterr().err
    assert run(["study", "lists", material.name, "-j", "reference_overlap", "-c", "best"]) == 2
    assert "composition 'best' is not one" in capsys.readouterr().err


def test_a_list_that_takes_every_answer_is_refused(material: Material) -> None:
    with pytest.raises(AgreementError, match="leaves no candidate"):
        draw_references(material.rows, Draw(composition="333222111000"))
