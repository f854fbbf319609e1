"""What comes out: labels, training sets, agreement, suggestions, and the commands."""

from __future__ import annotations

import random
import re
import socket
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

import markscheme
from annotate_helpers import Place, Worker, answers, fields_of, place, write_rows
from markscheme import cli
from markscheme.agreement import annotators_of
from markscheme.annotate.exports import export
from markscheme.annotate.intake import read_file
from markscheme.annotate.options import AnnotateOptions, ExportOptions, Order
from markscheme.annotate.project import standard_guidelines
from markscheme.annotate.quality import Quality, quality
from markscheme.annotate.ratings import settle
from markscheme.annotate.render import guidelines_html
from markscheme.annotate.scales import SCALES
from markscheme.annotate.setup import prepare, read_plan
from markscheme.errors import AgreementError, BadRowsError, DataError, MarkschemeError, RunError
from markscheme.tables import ReadOptions, opaque_ids, write_table
from markscheme.tables.labels import load_labels

Make = Callable[..., Place]
Run = Callable[..., str]


def exported(made: Place, kind: str, **options: Any) -> pl.DataFrame:
    """The table of an export."""
    chosen = ExportOptions(**options)
    return made.store.read(lambda c: export(c, made.ready.project, kind, chosen)).table


def work(worker: Worker, said: dict[str, str], default: str = "1") -> None:
    """Label everything, by the answer's text."""
    while worker.item:
        worker.say(said.get(worker.answer, default))


def agreement_of(made: Place) -> Quality:
    """Agreement as it stands."""
    return made.store.read(lambda c: quality(c, made.ready.project))


def figures_of(made: Place) -> Mapping[str, Any]:
    """Its figures."""
    found = agreement_of(made).found
    assert found is not None
    return found


def test_labels_have_ids_keys_and_everybodys_word(project: Make) -> None:
    rows = [*answers(3), {**answers(1)[0], "id": "twin", "system": "other"}]
    made = project(rows, adjudicators=("Kim",))
    work(made.worker("Ann"), {})
    work(made.worker("Ben"), {"answer 1 of 0": "0"})
    table = exported(made, "labels")
    assert table["answer_id"].to_list() == ["q0-s0", "twin", "q1-s0", "q2-s0"]
    assert table["label"].to_list() == [1, 1, None, 1]  # two people differ, and nobody decided
    assert table["annotator_labels"].to_list()[2] == [1, 0]
    work(made.worker("Kim"), {}, "0")
    table = exported(made, "labels")
    assert table["answer_id"].to_list() == ["q0-s0", "twin", "q1-s0", "q2-s0"]
    assert table["label"].to_list() == [1, 1, 0, 1]
    assert table["annotator_labels"].to_list() == [[1, 1], [1, 1], [1, 0], [1, 1]]
    assert table["references"].to_list()[0] == ["right 0"]
    read = load_labels(table)
    assert read["label"].to_list() == [1, 1, 0, 1]


def test_the_sampling_design_travels_with_the_labels(project: Make) -> None:
    rows = [row | {"inclusion_probability": 0.25, "stratum": n} for n, row in enumerate(answers(2))]
    made = project(rows, per_item=1, people=("Ann",))
    work(made.worker("Ann"), {})
    table = exported(made, "labels")
    assert table["inclusion_probability"].to_list() == [0.25, 0.25]
    assert table["stratum"].to_list() == ["0", "1"]


def test_training_is_binary(project: Make) -> None:
    made = project(answers(2, systems=2), per_item=1, people=("Ann",))
    work(made.worker("Ann"), {"answer 0 of 1": "0"})
    training = exported(made, "training")
    assert training.columns == ["answer_id", "question", "references", "answer", "system", "label"]
    assert training["label"].to_list() == [1, 0, 1, 1]


def test_grades_need_a_line_before_they_are_verdicts(project: Make) -> None:
    made = project(answers(2), scale="grade", per_item=1, people=("Ann",))
    work(made.worker("Ann"), {"answer 0 of 0": "5"}, "2")
    assert exported(made, "labels")["label"].to_list() == [5, 2]
    with pytest.raises(AgreementError, match="--positive-from"):
        exported(made, "training")
    assert exported(made, "training", positive_from=4)["label"].to_list() == [1, 0]


def test_grades_stay_grades_where_other_commands_draw_the_line(
    project: Make, run: Run, tmp_path: Path
) -> None:
    """As docs/annotate.md has it: `--positive-from` is of `training`, and of who reads `labels`."""
    made = project(answers(4), people=("Ann",), per_item=1, scale="grade")
    work(made.worker("Ann"), {"answer 0 of 0": "5", "answer 1 of 0": "4"}, "2")
    labels = exported(made, "labels", positive_from=4.0)
    assert labels["label"].to_list() == [5, 4, 2, 2]
    out = str(tmp_path / "labels.csv")
    write_table(labels, Path(out))
    judged = str(tmp_path / "run")
    markscheme.judge(str(tmp_path / "answers.jsonl"), ["contains"], out=judged)
    for command in ("agree", "estimate", "compare"):
        assert "--positive-from" in run(command, "--help")
    run("agree", judged, "--labels", out, "--positive-from", "4")


def test_relations_are_named_and_accepted_as_asked(project: Make) -> None:
    made = project(answers(4), scale="relation", per_item=1, people=("Ann",))
    work(made.worker("Ann"), {f"answer {n} of 0": str(3 - n) for n in range(4)})
    table = exported(made, "labels")
    assert table["relation"].to_list() == ["superior", "equivalent", "inferior", "incorrect"]
    assert table["label"].to_list() == [1, 1, 0, 0]
    lenient = exported(made, "labels", accept=("superior", "equivalent", "inferior"))
    assert lenient["label"].to_list() == [1, 1, 1, 0]
    with pytest.raises(MarkschemeError, match="not a relation"):
        exported(made, "labels", accept=("better",))


def test_ranks_become_grades_of_each_answer(project: Make) -> None:
    made = project(answers(1, systems=3), scale="rank")
    orders = {"Ann": ["answer 0 of 1", "answer 0 of 0", "answer 0 of 2"],
              "Ben": ["answer 0 of 1", "answer 0 of 2", "answer 0 of 0"]}  # fmt: skip
    for name, order in orders.items():
        worker = made.worker(name)
        texts = orjson.loads(made.rows("SELECT texts FROM items")[0][0])
        assert [text in worker.html for text in texts] == [True] * 3
        ranks = {f"rank{n}": str(order.index(text) + 1) for n, text in enumerate(texts)}
        assert worker.say("ranks", **ranks).status_code == 200
    table = exported(made, "labels")
    assert dict(zip(table["answer"], table["label"], strict=True)) == {
        "answer 0 of 0": 1.5, "answer 0 of 1": 3.0, "answer 0 of 2": 1.5
    }  # fmt: skip
    found = figures_of(made)
    assert found["krippendorff_alpha_ordinal"].value == pytest.approx(0.5833, abs=0.2)
    (shown,) = agreement_of(made).tables
    assert ("Fleiss' kappa", "n/a (ranks are not categories)") in shown.rows
    with pytest.raises(AgreementError, match="ranks are not verdicts"):
        exported(made, "training")


def test_answers_that_share_a_place_share_its_grade(project: Make) -> None:
    made = project(answers(1, systems=4), scale="rank", per_item=1)
    worker = made.worker("Ann")
    texts = orjson.loads(made.rows("SELECT texts FROM items")[0][0])
    assert worker.say("ranks", rank0="1", rank1="2", rank2="2", rank3="3").status_code == 200
    assert made.rows("SELECT ranks FROM ratings") == [("[1,2,2,4]",)]
    table = exported(made, "labels")
    grades = dict(zip(table["answer"], table["label"], strict=True))
    assert [grades[text] for text in texts] == [4.0, 2.5, 2.5, 1.0]
    assert sorted(exported(made, "ratings")["label"]) == [1.0, 2.5, 2.5, 4.0]


def test_a_suggestion_shows_why_beside_every_reference(tmp_path: Path) -> None:
    row = answers(1)[0] | {"references": ["Jane Austen <b>", "1815"],
                           "answer": "Jane Austen, in 1816"}  # fmt: skip
    file = write_rows(tmp_path / "answers.jsonl", [row])
    run = tmp_path / "run"
    markscheme.judge(file, ["exact_match"], out=run)
    setup = AnnotateOptions(
        file=file, order="file", per_item=1, annotators=("Ann",), suggest=str(run)
    )
    with place(tmp_path / "p.sqlite", setup) as made:
        ann = made.worker("Ann")
        assert "<mark>" not in ann.html
        ann.say("1")
        assert "<mark>Jane Austen</mark>" in ann.html
        assert 'class="finding ' in ann.html
        assert "&lt;b&gt;" in ann.html


def test_ratings_keep_notes_and_what_was_said_before_a_suggestion(
    project: Make, tmp_path: Path
) -> None:
    file = write_rows(tmp_path / "a.jsonl", answers(2))
    run = tmp_path / "judged.jsonl"
    write_rows(run, [
        {"answer_id": f"q{n}-s0", "judge": "j", "status": "judged", "verdict": n == 0,
         "score": 0.25, "explanation": "<b>because</b>"} for n in range(2)
    ])  # fmt: skip
    setup = AnnotateOptions(
        file=file, order="file", per_item=1, annotators=("Ann",), suggest=str(run)
    )
    with place(tmp_path / "s.sqlite", setup) as made:
        ann = made.worker("Ann")
        assert "because" not in ann.html
        ann.say("1")
        assert "because" not in ann.html, "the judge agrees, so the next item comes at once"
        ann.say("1", note="odd")
        assert "Your answer is saved" in ann.html
        assert "&lt;b&gt;because&lt;/b&gt;" in ann.html
        assert "Not correct, score 0.25" in ann.html
        ann.say("0")
        assert not ann.item
        table = exported(made, "ratings")
    assert table["label"].to_list() == [1, 0]
    assert table["label_before_suggestion"].to_list() == [1, 1]
    assert table["annotator"].to_list() == ["Ann", "Ann"]


def test_a_judge_speaks_of_the_answers_of_the_file_not_of_gold_items_with_their_ids(
    tmp_path: Path,
) -> None:
    """Rows are numbered in many files."""
    gold = [{**row, "question": "Gold?", "label": 1} for row in answers(1)]
    judged = tmp_path / "judged.csv"
    judged.write_text("answer_id,judge,verdict\nq0-s0,j,0\nq1-s0,j,0\n")
    setup = AnnotateOptions(
        file=write_rows(tmp_path / "a.jsonl", answers(2)), annotators=("Ann",),
        gold=write_rows(tmp_path / "gold.jsonl", gold), suggest=str(judged),
    )  # fmt: skip
    with place(tmp_path / "p.sqlite", setup) as made:
        assert made.rows(
            "SELECT question FROM suggestions JOIN items ON item_id = id ORDER BY question"
        ) == [("Question 0?",), ("Question 1?",)]


@pytest.mark.parametrize("way", ["look again", "my answers"])
def test_a_judge_speaks_after_the_first_answer_to_what_was_skipped(
    way: str, tmp_path: Path
) -> None:
    judged = tmp_path / "judged.csv"
    judged.write_text("answer_id,judge,verdict\nq0-s0,j,0\n")
    file = write_rows(tmp_path / "a.jsonl", answers(1))
    setup = AnnotateOptions(file=file, annotators=("Ann",), suggest=str(judged))
    with place(tmp_path / "p.sqlite", setup) as made:
        ann = made.worker("Ann")
        mine = f"/mine/{ann.item}"
        ann.say("skip")
        if way == "look again":
            ann.html = ann.post("/again", csrf=fields_of(ann.html)["csrf"]).text
        else:
            ann.html = ann.http.get(mine, headers={"hx-request": "true"}).text
        ann.say("1")
        assert "<code>j</code> says" in ann.html
        ann.say("0")
        ann.undo()
        ann.say("1")
        assert "<code>j</code> says" not in ann.html, "once is enough"
        (row,) = exported(made, "ratings").to_dicts()
        assert row["label_before_suggestion"] == 1


def test_judgments_with_empty_cells_are_suggestions_and_scores(tmp_path: Path) -> None:
    """As of a judge that failed on some answers, in CSV."""
    file = write_rows(tmp_path / "a.jsonl", answers(3))
    judged = tmp_path / "judged.csv"
    judged.write_text("answer_id,judge,verdict,score\nq0-s0,j,0,0.25\nq1-s0,j,,\nq2-s0,j,,0.75\n")
    setup = AnnotateOptions(file=file, annotators=("Ann",), order="file", suggest=str(judged),
                            scores=str(judged))  # fmt: skip
    with place(tmp_path / "p.sqlite", setup) as made:
        assert made.rows("SELECT score FROM items ORDER BY place") == [(0.25,), (None,), (0.75,)]
        assert made.rows("SELECT value, said FROM suggestions ORDER BY value") == [
            (0, "Not correct, score 0.25"), (1, "Correct, score 0.75")
        ]  # fmt: skip


def test_a_judge_without_relations_is_announced_and_shown_by_its_score(tmp_path: Path) -> None:
    """It differs from no label; and a judgment with nothing to show is not shown."""
    file = write_rows(tmp_path / "a.jsonl", answers(3))
    judged = write_rows(tmp_path / "judged.jsonl", [
        {"answer_id": f"q{n}-s0", "judge": "j", "status": "judged", "verdict": None,
         "score": score, "relation": relation}
        for n, (score, relation) in enumerate([(0.75, None), (None, None), (0.5, "equivalent")])
    ])  # fmt: skip
    setup = AnnotateOptions(file=file, annotators=("Ann",), order="file", suggest=judged,
                            scale="relation")  # fmt: skip
    with place(tmp_path / "p.sqlite", setup) as made:
        notes = made.ready.notes
        assert "j speaks after the annotator on 1 item, where it says something else" in notes
        assert any("j shows its score after every label of 1 item: it has no" in n for n in notes)
        ann = made.worker("Ann")
        ann.say("2")
        assert "A judge has a score." in ann.html
        assert "<b>score 0.75</b>" in ann.html
        ann.look()
        ann.say("2")
        assert "<code>j</code> says" not in ann.html
        ann.say("1")
        assert "A judge says something else." in ann.html
    judged = write_rows(tmp_path / "judged.jsonl", [
        {"answer_id": "q0-s0", "judge": "j", "status": "judged", "verdict": None,
         "score": None}
    ])  # fmt: skip
    with (
        pytest.raises(DataError, match="with a score or a value of the scale 'relation'"),
        place(tmp_path / "other.sqlite", setup),
    ):
        pass


def test_annotators_agree_by_what_they_said_before_a_suggestion(run: Run, tmp_path: Path) -> None:
    """By the page, by `--as ratings` and by `--as labels`."""
    file = str(write_rows(tmp_path / "a.jsonl", answers(4)))
    judged, kept = str(tmp_path / "judged.csv"), str(tmp_path / "p.sqlite")
    pl.DataFrame({"answer_id": [f"q{n}-s0" for n in range(4)], "verdict": [1, 1, 1, 1]}
                 ).with_columns(judge=pl.lit("j")).write_csv(judged)  # fmt: skip
    setup = AnnotateOptions(file=file, annotators=("Ann", "Ben"), order="file", suggest=judged)
    with place(kept, setup) as made:
        work(made.worker("Ann"), {})
        ben = made.worker("Ben")
        while ben.item:
            ben.say("0")
            assert "Your answer is saved" in ben.html, "the judge differs"
            ben.say("1")
        assert figures_of(made)["disagreements"] == 4
    for kind in ("labels", "ratings"):
        out = str(tmp_path / f"{kind}.csv")
        run("annotate-export", kept, "--as", kind, "-o", out)
        agreed = orjson.loads(markscheme.agree(judged, out, annotators=True).to_json())
        assert agreed["annotators"]["disagreements"] == 4, kind
    labels = load_labels(tmp_path / "labels.csv")
    assert labels["label"].to_list() == [1, 1, 1, 1], "Ben's last word counts"


@pytest.mark.parametrize("way", ["the suggestion's page", "undo", "my answers", "both"])
def test_what_was_said_before_a_suggestion_stays_that_in_whatever_way_it_is_changed(
    way: str, tmp_path: Path
) -> None:
    file = str(write_rows(tmp_path / "a.jsonl", answers(1)))
    judged, kept = tmp_path / "judged.csv", tmp_path / "p.sqlite"
    pl.DataFrame({"answer_id": ["q0-s0"], "verdict": [0], "judge": ["j"]}).write_csv(judged)
    setup = AnnotateOptions(file=file, annotators=("Ann",), suggest=str(judged))
    with place(kept, setup) as made:
        ann = made.worker("Ann")
        ann.say("1")
        assert "<code>j</code> says" in ann.html
        mine = f"/mine/{ann.item}"
        if way in ("undo", "both"):
            ann.undo()
            assert "says" not in ann.html
        if way == "my answers":
            ann.html = ann.http.get(mine, headers={"hx-request": "true"}).text
        assert ann.say("0").is_success
        if way == "both":
            ann.html = ann.http.get(mine, headers={"hx-request": "true"}).text
            assert ann.say("cannot_tell").is_success
        (row,) = exported(made, "ratings").to_dicts()
        assert row["label_before_suggestion"] == 1
        assert row["label"] == (None if way == "both" else 0)
        if way != "both":
            (row,) = exported(made, "labels").to_dicts()
            assert (row["label"], row["annotator_labels"]) == (0, [1])
        assert [lean.mean for lean in agreement_of(made).people] == [1]
        trail = made.worker("admin").http.get(f"/admin/items/{mine[6:]}").text
        assert "to Not correct after seeing the suggestion" in trail
    with place(kept, AnnotateOptions(file=None)):
        pass  # The trail is as its tables are.


def test_kappas_are_those_of_the_agreement_package(project: Make) -> None:
    made = project(answers(40))
    ones = {f"answer {n} of 0": "1" if n % 3 else "0" for n in range(40)}
    others = ones | {f"answer {n} of 0": "1" if n % 2 else "0" for n in range(12)}
    work(made.worker("Ann"), ones)
    work(made.worker("Ben"), others)
    found, people = figures_of(made), agreement_of(made).people
    first = pl.Series([float(ones[f"answer {n} of 0"]) for n in range(40)])
    second = pl.Series([float(others[f"answer {n} of 0"]) for n in range(40)])
    from markscheme.agreement import annotator_agreement

    between = annotator_agreement(pl.DataFrame({"a": first, "b": second}))
    assert found["items"] == 40
    assert found["disagreements"] == int((first != second).sum())
    for name in ("fleiss_kappa", "krippendorff_alpha"):
        assert found[name] == between[name]
    assert found["pairs"]["kappa"][0] == between["pairs"]["kappa"][0]
    ann, ben = people
    assert ann.bias.value == pytest.approx(-(ben.bias.value or 0))
    assert ann.mean == pytest.approx(first.mean())
    page = made.worker("admin").http.get("/admin/agreement").text
    assert f"{found['fleiss_kappa'].value:.4f}" in page


def test_gold_is_counted_for_each_annotator(project: Make) -> None:
    gold = [{"question": "G?", "references": ["g"], "answer": "g", "label": 1}]
    made = project(answers(4), gold=gold, gold_every=1)
    work(made.worker("Ann"), {})
    work(made.worker("Ben"), {"g": "0"})
    ann, ben = agreement_of(made).people
    assert (ann.gold_right, ann.gold, ben.gold_right, ben.gold) == (1, 1, 0, 1)
    assert "G?" not in exported(made, "labels")["question"].to_list()


def test_labels_of_gold_items_reach_the_estimate_by_commands_alone(
    project: Make, run: Run, tmp_path: Path
) -> None:
    """annotate, annotate-export --as gold, estimate and compare --label-errors: nothing retyped."""
    gold = [
        {"question": f"G{n}?", "references": ["g"], "answer": f"gold {n}", "label": n % 2}
        for n in range(24)
    ]
    rows = answers(24, systems=2)
    made = project(rows, gold=gold, gold_every=1, per_item=1, people=("Ann",),
                   location=tmp_path / "p.sqlite")  # fmt: skip
    with pytest.raises(AgreementError, match="nobody has labelled a gold item yet"):
        exported(made, "gold")
    wrong = {f"gold {n}": str(1 - n % 2) for n in (1, 3, 4)}
    right = {f"gold {n}": str(n % 2) for n in range(24)}
    work(made.worker("Ann"), {**right, **wrong, "gold 5": "cannot_tell", "answer 1 of 3": "0"})
    table = exported(made, "gold")
    assert table.columns == ["answer_id", "question", "answer", "annotator", "label", "gold"]
    assert table.height == 24
    assert table.filter(pl.col("label") != pl.col("gold"))["answer"].sort().to_list() == [*wrong]
    assert table.filter(pl.col("label").is_null())["answer"].to_list() == ["gold 5"]
    page = made.worker("admin").http
    assert "/admin/export/gold" in page.get("/admin").text
    assert page.get("/admin/export/gold").status_code == 200
    judged = str(tmp_path / "run")
    run("judge", write_rows(tmp_path / "again.jsonl", rows), "-j", "contains", "-o", judged)
    labels, known = str(tmp_path / "labels.csv"), str(tmp_path / "known.csv")
    run("annotate-export", str(tmp_path / "p.sqlite"), "-o", labels)
    said = run("annotate-export", str(tmp_path / "p.sqlite"), "--as", "gold", "-o", known)
    assert "24 labels of 24 gold items; 1 of them 'cannot tell'" in said
    for command in ("estimate", "agree"):
        said = run(command, judged, "--labels", labels, "--label-errors", known)
        assert "by 23 labels of gold items, about 18.2% (" in said
        assert "8.3% (" in said
    said = run("compare", judged, "--labels", labels, "--systems", "--label-errors", known)
    assert "by 23 labels of gold items" in said
    assert "corrected for these errors: " in said
    # A changed file is refused, as any export is.
    Path(known).write_text(Path(known).read_text().replace("gold 7", "gold 77"))
    assert "changed" in run("estimate", judged, "--labels", labels, "--label-errors", known, code=2)


def test_a_project_without_gold_items_exports_none(project: Make) -> None:
    made = project(answers(1))
    work(made.worker("Ann"), {})
    with pytest.raises(AgreementError, match=r"the project has no gold items; .* --gold FILE"):
        exported(made, "gold")
    assert "/admin/export/gold" not in made.worker("admin").http.get("/admin").text


def test_relations_of_gold_items_are_accepted_as_requested(project: Make) -> None:
    gold = [{"question": "G?", "references": ["g"], "answer": "g", "label": 1}]
    made = project(answers(2), gold=gold, gold_every=1, scale="relation")
    work(made.worker("Ann"), {"g": "2"}, "2")
    (row,) = exported(made, "gold").to_dicts()
    assert (row["label"], row["gold"]) == (1, 0)  # inferior is not accepted
    (row,) = exported(made, "gold", accept=("inferior",)).to_dicts()
    assert (row["label"], row["gold"]) == (0, 1)


def test_agreement_before_any_label_has_reasons_and_no_figures(project: Make) -> None:
    made = project()
    assert agreement_of(made).tables == []
    assert "No labels yet" in made.worker("admin").http.get("/admin/agreement").text
    with pytest.raises(AgreementError, match="no answer has its label"):
        exported(made, "labels")
    assert made.worker("admin").http.get("/admin/export/labels").status_code == 409


def test_the_admin_downloads_what_the_command_writes(project: Make) -> None:
    made = project(answers(2), per_item=1, people=("Ann",))
    work(made.worker("Ann"), {})
    response = made.worker("admin").http.get("/admin/export/labels")
    assert [orjson.loads(line)["label"] for line in response.text.splitlines()] == [1, 1]
    assert "attachment" in response.headers["content-disposition"]


@pytest.mark.parametrize(("firsts", "third", "stage", "final"), [
    ([1.0], [], "open", None),
    ([1.0, 1.0], [], "settled", 1.0),
    ([1.0, 0.0], [], "disagreed", None),
    ([1.0, 0.0], [0.0], "settled", 0.0),
    ([1.0, None], [], "disagreed", None),
    ([None, None], [], "settled", None),
    ([1.0, 0.0], [None], "settled", None),
    ([1.0, 0.0, 1.0], [], "settled", 1.0),
    ([1.0, 1.0], [0.0], "settled", 1.0),
])  # fmt: skip
def test_settling(
    firsts: list[float | None], third: list[float | None], stage: str, final: float | None
) -> None:
    found = settle(firsts, third, SCALES["verdict"], wanted=2, adjudicate=True)
    assert (found.stage, found.final) == (stage, final)
    alone = settle(firsts, [], SCALES["verdict"], wanted=2, adjudicate=False)
    assert alone.stage in ("open", "settled")


def test_files_without_references_and_with_a_design_are_read(tmp_path: Path) -> None:
    file = tmp_path / "plan.csv"
    file.write_text("answer_id,question,answer,system,label,inclusion_probability\na,Q?,A,s,,0.5\n")
    table = read_file(str(file))
    assert table["references"].to_list() == [[]]
    assert table["inclusion_probability"].to_list() == [0.5]
    bare = tmp_path / "bare.csv"
    bare.write_text("answer_id,label\na,\n")
    with pytest.raises(DataError, match="--answers FILE"):
        read_file(str(bare))


def test_a_table_with_a_column_of_answers_for_each_system_is_read(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    file.write_text("Ticket,question,references,gpt-4o,claude\n1,Who?,Ann,Ann,Bob\n")
    found = read_file(str(file), ReadOptions(columns={"answer_id": "Ticket"}))
    assert found["answer"].to_list() == ["Ann", "Bob"]
    file.write_text("answer_id,question,references,old bot,new bot\n1,Who?,Ann,Ann,Bob\n")
    found = read_file(str(file), ReadOptions(answer_columns=("new bot", "old bot")))
    assert found["system"].to_list() == ["new bot", "old bot"]
    file.write_text("answer_id,question,references,old bot,new bot\n1,,Ann,Ann,Bob\n")
    with pytest.raises(BadRowsError, match="no question"):
        read_file(str(file), ReadOptions(answer_columns=("new bot", "old bot")))


def test_ids_are_those_that_judge_gives(tmp_path: Path) -> None:
    from markscheme.tables.answers import read_answers

    rows = [{k: v for k, v in row.items() if k not in ("id", "system")} for row in answers(2)]
    path = write_rows(tmp_path / "mine.jsonl", rows)
    assert read_file(path)["answer_id"].to_list() == read_answers(path)["answer_id"].to_list()


def test_projects_are_opened_again_and_keep_what_is_decided(project: Make, tmp_path: Path) -> None:
    made = project()
    made.worker("Ann").say("1")
    made.store.close()
    again = AnnotateOptions(
        file=str(tmp_path / "answers.jsonl"),
        references="shown",
        annotators=("Ann", "Cid"),
    )
    with place(tmp_path / "project.sqlite", again) as opened:
        assert [name for name, _, _ in opened.ready.tokens] == ["Cid"]
        assert opened.ready.project.references == "shown"
        assert any("1 of 8 labels" in note for note in opened.ready.notes)
    with (
        pytest.raises(RunError, match="scale cannot change"),
        place(tmp_path / "project.sqlite", AnnotateOptions(file=None, scale="grade")),
    ):
        pass
    with place(tmp_path / "project.sqlite", AnnotateOptions(file=None, new_links=True)) as opened:
        assert len(opened.ready.tokens) == 4
        made.store = opened.store
        made.store = type(opened.store)(tmp_path / "project.sqlite")


def test_the_command_that_made_a_project_continues_it(run: Run, tmp_path: Path) -> None:
    """What is the project's own may be named again; another gold file, run or seed is refused."""
    file = write_rows(tmp_path / "a.jsonl", answers(3, systems=2))
    kept, judged, others = (str(tmp_path / n) for n in ("p.sqlite", "run.csv", "others.csv"))
    known = [{"question": f"G{n}?", "references": ["g"], "answer": "g", "label": n}
             for n in range(2)]  # fmt: skip
    gold = write_rows(tmp_path / "gold.jsonl", known)
    wrong = write_rows(tmp_path / "wrong.jsonl", [known[0], known[1] | {"label": 0}])
    scores = pl.DataFrame({"answer_id": [f"q{n}-s{s}" for n in range(3) for s in range(2)],
                           "score": [0.1, 0.9, 1 / 3, 1.0, 0.5, 0.2], "judge": "j"})  # fmt: skip
    scores.write_csv(judged)
    scores.with_columns(score=pl.lit(0.5)).write_csv(others)
    made = ("annotate", file, "--project", kept, "--no-serve", "-a", "Ann")
    same = ("--gold", gold, "--scores", judged, "--seed", "3", "--relabel", "--order", "shuffled")
    run(*made, *same)
    for again in (same, same[:2], same[2:4], ()):
        assert "0 of 6 labels" in run(*made, *again)
    for option, value in (
        ("gold", wrong), ("scores", others), ("seed", "4"), ("order", "file"), ("scale", "grade")
    ):  # fmt: skip
        said = " ".join(run(*made, *same, f"--{option}", value, code=2).split())
        assert f"its {option} cannot change; leave out --{option} " in said
        assert Path(value).name in said
    bare = str(tmp_path / "bare.sqlite")
    half = [row | ({"label": 1} if n < 3 else {}) for n, row in enumerate(answers(6))]
    other = ("annotate", write_rows(tmp_path / "b.jsonl", half), "--project", bare, "--no-serve")
    run(*other)
    for words in (["--gold", gold], ["--scores", judged], ["--relabel"]):
        said = " ".join(run(*other, *words, code=2).split())
        assert f"its {words[0][2:]} cannot change; leave out {words[0]}" in said


def test_too_few_people_for_an_item_are_said_at_once(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "a.jsonl", answers(2))
    alone = AnnotateOptions(file=file, annotators=("Ann",), per_item=2)
    with place(tmp_path / "project.sqlite", alone) as opened:
        assert any("2 people have labelled it, and there is 1" in n for n in opened.ready.notes)
    with place(
        tmp_path / "project.sqlite", AnnotateOptions(file=None, annotators=("Ben",))
    ) as opened:
        assert not any(note.startswith("warning") for note in opened.ready.notes)
    with place(
        tmp_path / "other.sqlite", AnnotateOptions(file=file, annotators=("Ann",))
    ) as opened:
        assert not any(note.startswith("warning") for note in opened.ready.notes)


@pytest.mark.parametrize(
    ("named", "people", "per_item"),
    [((), ("annotator1",), 1), (("Ann",), ("Ann",), 1), (("Ann", "Ben"), ("Ann", "Ben"), 2)],
)
def test_one_person_is_enough_unless_several_are_named(
    named: tuple[str, ...], people: tuple[str, ...], per_item: int, tmp_path: Path
) -> None:
    file = write_rows(tmp_path / "a.jsonl", answers(2))
    with place(tmp_path / "project.sqlite", AnnotateOptions(file=file, annotators=named)) as made:
        assert tuple(n for n, role, _ in made.ready.tokens if role == "annotator") == people
        assert made.ready.project.per_item == per_item
        for person in people:
            work(made.worker(person), {})
        assert exported(made, "labels")["label"].to_list() == [1, 1]


def test_who_worked_alone_in_a_project_for_two_gets_their_labels(tmp_path: Path) -> None:
    file, where = write_rows(tmp_path / "a.jsonl", answers(3)), tmp_path / "project.sqlite"
    with place(where, AnnotateOptions(file=file, annotators=("Ann", "Ben"))) as made:
        work(made.worker("Ann"), {"answer 1 of 0": "0", "answer 2 of 0": "cannot_tell"})
        found = made.store.read(lambda c: export(c, made.ready.project, "labels"))
        assert sorted(found.table["label"], key=str) == [0, 1, None]
        assert sorted(found.table["annotator_labels"].to_list(), key=str) == [None, [0], [1]]
        assert any("Ann alone has labelled so far" in note for note in found.notes)
        ben = made.worker("Ben")
        ben.say({"answer 0 of 0": "0", "answer 1 of 0": "1"}.get(ben.answer, "1"))
        with pytest.raises(AgreementError, match="--per-item N"):
            exported(made, "labels")


def test_the_people_an_item_has_can_change_later(tmp_path: Path) -> None:
    """Nothing that was said is lost, and labels stand or wait as though it had been so before."""
    file, where = write_rows(tmp_path / "a.jsonl", answers(3)), tmp_path / "project.sqlite"
    with place(where, AnnotateOptions(file=file, annotators=("Ann", "Ben"))) as made:
        work(made.worker("Ann"), {"answer 1 of 0": "0"})
        ben = made.worker("Ben")
        said = ben.answer
        ben.say("0" if said != "answer 1 of 0" else "1")
        assert made.rows("SELECT stage, count(*) FROM items GROUP BY stage ORDER BY stage") == [
            ("disagreed", 1), ("open", 2)
        ]  # fmt: skip
    for wanted, stages in (
        (1, [("disagreed", 1), ("settled", 2)]),
        (2, [("disagreed", 1), ("open", 2)]),
        (1, [("disagreed", 1), ("settled", 2)]),
    ):
        with place(where, AnnotateOptions(file=file, per_item=wanted)) as opened:
            assert "per item changed" in opened.ready.notes
            assert opened.ready.project.per_item == wanted
            found = opened.rows("SELECT stage, count(*) FROM items GROUP BY stage ORDER BY stage")
            assert found == stages
    with place(where, AnnotateOptions(file=None, adjudicate=False)) as opened:
        assert opened.rows("SELECT DISTINCT stage FROM items") == [("settled",)]
        assert exported(opened, "labels")["label"].count() == 2


def test_order_tells_nothing_and_is_repeatable(tmp_path: Path) -> None:
    order: Order
    file = write_rows(tmp_path / "a.jsonl", answers(6, systems=3))
    places = {}
    for name, order, seed in (
        ("a", "shuffled", 1), ("b", "shuffled", 1), ("c", "shuffled", 2), ("d", "by-question", 1)
    ):  # fmt: skip
        setup = AnnotateOptions(file=file, order=order, seed=seed)
        with place(tmp_path / f"{name}.sqlite", setup) as made:
            places[name] = made.rows("SELECT question, texts FROM items ORDER BY place")
    assert places["a"] == places["b"] != places["c"]
    questions = [question for question, _ in places["d"]]
    assert len({tuple(questions[n : n + 3]) for n in range(0, 18, 3)}) == 6
    assert all(len(set(questions[n : n + 3])) == 1 for n in range(0, 18, 3))


@pytest.mark.parametrize("settings", [
    {"references": "maybe"}, {"order": "upwards"}, {"per_item": 0}, {"scale": "stars"}
])  # fmt: skip
def test_settings_that_make_no_sense_are_named(settings: dict[str, Any]) -> None:
    [name] = settings
    with pytest.raises(MarkschemeError, match=name):
        read_plan(AnnotateOptions(file="none.csv", **settings), "none")


def test_guidelines_become_headings_lists_and_paragraphs() -> None:
    found = guidelines_html("# One\n- a\n- *b*\n\nSome <i>text\ngoes on.\n\n## More\n[x](y)")
    assert found == (
        "<h3>One</h3>\n<ul>\n<li>a</li>\n<li>*b*</li>\n</ul>\n<p>Some &lt;i&gt;text\ngoes on.</p>\n"
        "<h3>More</h3>\n<p>[x](y)</p>\n"
    )
    for name in SCALES:
        assert guidelines_html(standard_guidelines(name)).count("<h3>") > 1


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command line as a user types it; what it printed."""

    def command(*arguments: str, code: int = 0) -> str:
        capfd.readouterr()
        returned = cli.run(list(arguments))
        said = "".join(capfd.readouterr())
        assert returned == code, said
        return said

    return command


def test_the_commands_say_what_is_wrong(run: Run, tmp_path: Path) -> None:
    assert "give the FILE" in run("annotate", code=2)
    missing = run("annotate-export", str(tmp_path / "none.sqlite"), "-o", "x.jsonl", code=2)
    assert "there is no project" in missing
    nowhere = tmp_path / "nowhere.jsonl"
    assert "there is no file" in run("annotate", str(nowhere), "--no-serve", code=2)
    assert list(tmp_path.iterdir()) == []
    project = tmp_path / "a.annotate.sqlite"
    project.touch()
    said = " ".join(run("annotate", str(project), "--no-serve", code=2).split())
    assert f"a project is continued with --project {project}" in said
    project.unlink()
    other = tmp_path / "other.csv"
    other.write_text("x,y\n1,2\n")
    said = run("annotate", str(other), "--no-serve", code=2)
    assert f"{other} has no column for question and answer; its columns are: x, y." in said
    assert list(tmp_path.iterdir()) == [other]


def test_a_database_of_something_else_is_left_as_it_is(run: Run, tmp_path: Path) -> None:
    file, other = write_rows(tmp_path / "a.jsonl", answers(2)), str(tmp_path / "other.db")
    with closing(sqlite3.connect(other)) as own:
        own.execute("CREATE TABLE mine (x)")
    for words in (
        ("annotate-export", other, "-o", str(tmp_path / "x.jsonl")),
        ("annotate", file, "--project", other, "--no-serve"),
    ):
        assert "is a database of something else" in " ".join(run(*words, code=2).split())
        with closing(sqlite3.connect(other)) as own:
            assert own.execute("SELECT name FROM sqlite_master").fetchall() == [("mine",)]


def test_people_of_a_project_are_named_again_as_they_are(run: Run, tmp_path: Path) -> None:
    file, kept = write_rows(tmp_path / "a.jsonl", answers(2)), str(tmp_path / "p.sqlite")
    made = ("annotate", file, "--project", kept, "--no-serve")
    run(*made, "-a", "Ann Lee", "-a", "Ben", "--adjudicator", "Kim")
    assert "everyone has a link" in run(*made, "-a", "Ann  Lee ", "--adjudicator", "Kim")
    said = run(*made, "-a", "Ann Lee", "--adjudicator", "Ben", code=2)
    assert "there is already a person called 'Ben': annotator" in said


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("-a", "Ann"), "one person labels each item; --per-item 2"),
        (("-a", "Ann", "-a", "Ben", "--no-adjudicate"), "; --adjudicate changes that"),
        (("-a", "Ann", "-a", "Ben", "--scale", "rank"), "ranks are averaged"),
        (("-a", "Ann", "-a", "Ben"), ""),
    ],
)
def test_an_adjudicator_who_will_have_nothing_to_do_is_announced(
    run: Run, tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    file = write_rows(tmp_path / "a.jsonl", answers(2, systems=2))
    said = " ".join(run("annotate", file, "--no-serve", "--adjudicator", "Kim", *words).split())
    assert ("warning: nothing will come to the adjudicators: " in said) == bool(why)
    assert why in said


def test_the_same_guidelines_again_change_nothing_and_empty_ones_are_the_usual(
    run: Run, tmp_path: Path
) -> None:
    file, kept = write_rows(tmp_path / "a.jsonl", answers(2)), str(tmp_path / "p.sqlite")
    own, empty = tmp_path / "own.txt", tmp_path / "empty.txt"
    own.write_text("# Mine\n")
    empty.write_text("\n")
    made = ("annotate", file, "--project", kept, "--no-serve", "-a", "Ann")
    stored = "SELECT value FROM settings WHERE name = 'guidelines'"
    changes = "SELECT count(*) FROM events WHERE action = 'settings changed'"
    for words, changed, text in (
        (own, 0, "# Mine"), (own, 0, "# Mine"), (empty, 1, standard_guidelines("verdict"))
    ):  # fmt: skip
        said = run(*made, "--guidelines", str(words))
        assert ("guidelines changed" in said) == bool(changed)
        with closing(sqlite3.connect(kept)) as project:
            assert orjson.loads(project.execute(stored).fetchone()[0]) == text
            assert project.execute(changes).fetchone() == (changed,)


def test_who_is_shut_out_and_named_again_is_announced(run: Run, project: Make) -> None:
    made = project()
    admin = made.worker("admin")
    csrf = fields_of(admin.http.get("/admin").text)["csrf"]
    ids = dict(made.rows("SELECT name, id FROM people"))
    assert admin.post(f"/admin/people/{ids['Ann']}/active", csrf=csrf, active="0").is_redirect
    again = ("annotate", "--project", str(made.store.shown), "--no-serve", "-a")
    assert "Ann is shut out, and their link does not work" in run(*again, "Ann")
    assert "shut out" not in run(*again, "Ben")


def test_links_without_a_server_are_those_of_the_server(run: Run, tmp_path: Path) -> None:
    file = write_rows(tmp_path / "a.jsonl", answers(2))
    links, kept = tmp_path / "links.csv", str(tmp_path / "p.sqlite")
    made = ("annotate", file, "--project", kept, "--no-serve", "--new-links", "--links", str(links))
    for words, address in (
        (("--host", "0.0.0.0"), f"http://{socket.gethostname()}:8765"),
        (("--host", "::1", "--port", "80"), "http://[::1]:80"),
        (("--public-url", "https://label.example.org/"), "https://label.example.org"),
    ):
        run(*made, *words)
        found = pl.read_csv(links)["link"].to_list()
        assert found
        assert all(one.startswith(f"{address}/enter#") for one in found)
    other = str(tmp_path / "other.sqlite")
    words = (
        "annotate",
        file,
        "--project",
        other,
        "--no-serve",
        "--public-url",
        "label.example.org",
    )
    assert "is not an address such as https://" in run(*words, code=2)
    assert not Path(other).exists()


def test_links_are_made_only_where_they_can_be_written(run: Run, tmp_path: Path) -> None:
    kept, folder = tmp_path / "p.sqlite", tmp_path / "new"
    made = ("annotate", write_rows(tmp_path / "a.jsonl", answers(2)), "--project", str(kept))
    run(*made, "--no-serve", "--links", str(tmp_path), code=2)
    assert not kept.exists()
    run(*made, "--no-serve", "--links", str(folder / "links.csv"))
    assert pl.read_csv(folder / "links.csv")["role"].to_list() == ["admin", "annotator"]


def test_label_round_trip_by_commands_alone(run: Run, example: Path, tmp_path: Path) -> None:
    """judge, plan-labels, annotate, annotate-export, agree, estimate: nothing retyped."""
    judged, plan = str(tmp_path / "run"), str(tmp_path / "plan.csv")
    run("judge", str(example), "-j", "contains", "-o", judged)
    run("plan-labels", judged, "--labels", "80", "--answers", str(example), "-o", plan)
    rows = pl.read_ndjson(example)
    assert not any(name in Path(plan).read_text() for name in rows["system"].unique())
    truth = dict(zip(opaque_ids(rows["id"]), rows["label"], strict=True))
    kept = tmp_path / "labels.sqlite"
    links = tmp_path / "links.csv"
    links.touch(mode=0o644)
    said = run("annotate", plan, "--project", str(kept), "-a", "Ann", "-a", "Ben", "--adjudicator",
               "Kim", "--links", str(links), "--scores", judged, "--suggest", judged,
               "--no-serve")  # fmt: skip
    assert "contains speaks after the annotator on 80 items" in said
    assert "80 items from 80 answers" in said
    assert links.stat().st_mode & 0o077 == 0
    tokens = {row["name"]: row["link"].partition("#")[2] for row in pl.read_csv(links).to_dicts()}
    with place(kept, AnnotateOptions(file=None)) as made:
        assert made.rows("SELECT COUNT(score) FROM items") == [(80,)]
        ids = {f"{item}": answer for item, answer in
               made.rows("SELECT item_id, answer_id FROM sources")}  # fmt: skip
        for name in ("Ann", "Ben", "Kim"):
            worker = Worker(made.client(), tokens[name])
            worker.look()
            while worker.item:
                right = truth[ids[worker.item]]
                wrong = name == "Ben" and int(worker.item) % 9 == 0
                worker.say(str(int(1 - right if wrong else right)))
    endings = {"labels": "csv", "training": "jsonl", "ratings": "csv"}
    out = {kind: str(tmp_path / f"{kind}.{ending}") for kind, ending in endings.items()}
    for kind, path in out.items():
        said = run("annotate-export", str(kept), "--as", kind, "-o", path)
        assert kind == "ratings" or "80 of 80 answers" in said
    agreed = run("agree", judged, "--labels", out["labels"], "--annotators")
    assert "80 judgments matched with labels by answer_id" in agreed
    estimated = run("estimate", judged, "--labels", out["labels"])
    assert "PPI" in estimated
    assert "refused" not in estimated
    for labels in (out["labels"], out["ratings"]):
        run("estimate", judged, "--labels", labels)
        run("compare", judged, "--labels", labels, "--systems")
        run("agree", judged, "--labels", labels)


def test_labels_of_a_plan_are_not_given_again_and_all_count(
    run: Run, example: Path, tmp_path: Path
) -> None:
    """plan-labels with some labels, annotate, annotate-export, estimate."""
    rows = pl.read_ndjson(example).drop("annotator_labels").with_row_index("n")
    some = rows.with_columns(label=pl.when(pl.col("n").shuffle(seed=3) < 40).then("label")).drop(
        "n"
    )
    file, judged, plan = tmp_path / "a.jsonl", str(tmp_path / "run"), str(tmp_path / "plan.csv")
    some.write_ndjson(file)
    run("judge", str(file), "-j", "contains", "-o", judged)
    told = run("plan-labels", judged, "--count", "25", "-o", plan)
    assert "25 new of 248 answers drawn" in told
    drawn = pl.read_csv(plan)
    known = dict(drawn.drop_nulls("label").select("answer_id", "label").iter_rows())
    assert (drawn.height, len(known)) == (65, 40)
    kept = tmp_path / "labels.sqlite"
    with place(kept, AnnotateOptions(file=plan, annotators=("Ann",))) as made:
        assert any("40 items have a label in the file already" in one for one in made.ready.notes)
        ann, seen = made.worker("Ann"), 0
        while ann.item:
            ann.say(str(seen % 2))
            seen += 1
        assert seen == 25
        assert "25 of 25" in " ".join(re.sub(r"<[^>]+>", " ", ann.look()).split())
        admin = made.worker("admin")
        assert "The 95% interval" in " ".join(admin.http.get("/admin/estimate").text.split())
    for kind in ("labels", "ratings"):
        out = str(tmp_path / f"{kind}.csv")
        run("annotate-export", str(kept), "--as", kind, "-o", out)
        labels = load_labels(out)
        assert labels["label"].count() == 65
        found = dict(labels.select("answer_id", "label").iter_rows())
        assert {name: found[name] for name in known} == known
        assert markscheme.estimate(judged, out).estimates[0].labelled == 65
    known_alone = pl.read_csv(tmp_path / "labels.csv").filter(pl.col("answer_id").is_in([*known]))
    assert known_alone["annotators"].null_count() == 40  # nobody is said to have given these


def earlier(**labels: list[Any]) -> list[dict[str, Any]]:
    """Answers of which the first have a label and the labels of those who gave it."""
    rows = answers(6)
    for name, values in labels.items():
        for row, value in zip(rows, values, strict=False):
            row[name] = value
    return rows


def test_annotators_of_earlier_labels_stay_who_they_are(project: Make) -> None:
    rows = earlier(label=[1, 0], annotator_labels=[[1, 1], [0, None]],
                   annotators=[["Karl", "Ann"], ["Karl", "Ann"]])  # fmt: skip
    made = project(rows, people=("Ann",), per_item=1)
    work(made.worker("Ann"), {}, "1")
    table = exported(made, "labels")
    assert table["label"].to_list() == [1, 0, 1, 1, 1, 1]
    whose = [
        {name: label for name, label in zip(names, labels, strict=True) if label is not None}
        for names, labels in table.select("annotators", "annotator_labels").iter_rows()
    ]
    assert whose == [{"Karl": 1, "Ann": 1}, {"Karl": 0}, *[{"Ann": 1}] * 4]
    assert load_labels(exported(made, "ratings"))["annotator_labels"].list.drop_nulls().list.len(
    ).to_list() == [2, 1, 1, 1, 1, 1]  # fmt: skip


def test_the_page_counts_earlier_labels_as_agree_does(project: Make) -> None:
    said = {"label": [1, 0, 1], "annotators": [["Karl", "Ann"]] * 3}
    rows = earlier(**said, annotator_labels=[[1, 1], [0, 0], [1, 0]])
    made = project([*rows, {**answers(7)[6], "label": 1}], people=("Ann",), per_item=1)
    work(made.worker("Ann"), {})
    page = figures_of(made)
    between = annotators_of(load_labels(exported(made, "ratings")), "missing")
    for name in ("items", "disagreements", "pair_agreement", "fleiss_kappa", "gwet_ac1"):
        assert between[name] == page[name], name
    assert [(one.name, one.labels, one.shared) for one in agreement_of(made).people] == [
        ("Ann", 6, 3), ("Karl", 3, 3)
    ]  # fmt: skip
    assert "Karl" in made.worker("admin").http.get("/admin/agreement").text


def test_a_project_with_earlier_labels_is_opened_again(tmp_path: Path) -> None:
    file, kept = write_rows(tmp_path / "a.jsonl", earlier(label=[1, 0])), tmp_path / "p.sqlite"
    setup = AnnotateOptions(file=file, annotators=("Ann",))
    with place(kept, setup) as made:
        made.worker("Ann").say("1")
    with place(kept, AnnotateOptions(file=None)) as made:
        assert "6 items, 1 of 4 labels" in made.ready.notes
        assert exported(made, "labels")["label"].to_list() == [1, 0, 1]
        assert made.rows("SELECT stage, place FROM items ORDER BY place LIMIT 2") == [
            ("settled", 0), ("settled", 1)
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("labels", "settings", "why"),
    [
        ([1, 0], {"relabel": True}, "as --relabel says"),
        ([1, 0, 1, 0, 1, 1], {}, "as there are no others"),
        ([1, 0], {"scale": "grade"}, "as they are not on the scale 'grade'"),
        ([1, 0], {"scale": "relation"}, "as they are not on the scale 'relation'"),
        ([1, 5, 3], {"scale": "verdict"}, "as they are not on the scale 'verdict'"),
        ([1, 0, 0.5], {"scale": "grade"}, "as they are not on the scale 'grade'"),
        ([1, 9, 10], {"scale": "grade"}, "as they are not on the scale 'grade'"),
    ],
)
def test_answers_with_a_label_are_shown_for_a_second_opinion(
    project: Make, labels: list[float], settings: dict[str, Any], why: str
) -> None:
    made = project(earlier(label=labels), people=("Ann",), per_item=1, **settings)
    (note,) = (one for one in made.ready.notes if "in the file already" in one)
    assert why in note
    ann, seen = made.worker("Ann"), 0
    while ann.item:
        ann.say("1")
        seen += 1
    assert seen == 6
    assert exported(made, "labels")["annotator_labels"].list.len().to_list() == [1] * 6


def test_labels_that_settle_nothing_are_left_out_and_counted(project: Make) -> None:
    twin = {**answers(1)[0], "id": "twin", "system": "other", "label": 0}
    made = project([*earlier(label=[1, 0, 0.5]), twin], people=("Ann",), per_item=1)
    (note,) = (one for one in made.ready.notes if "in the file already" in one)
    assert note.startswith("1 item has a label in the file already")
    assert "3 labels are left out" in note
    assert made.rows("SELECT count(*) FROM items WHERE stage = 'open'") == [(5,)]


def test_labels_of_annotators_who_differ_stay_though_the_answer_is_shown(
    project: Make, tmp_path: Path
) -> None:
    """An undecided answer of one project is labelled in the next, which exports all its labels."""
    first = project(answers(3))
    work(first.worker("Ann"), {})
    work(first.worker("Ben"), {"answer 1 of 0": "0"})
    file = str(tmp_path / "first.jsonl")
    write_table(exported(first, "labels"), Path(file))
    setup = AnnotateOptions(file=file, annotators=("Ann", "Kim"), per_item=1)
    with place(tmp_path / "next.sqlite", setup) as made:
        (note,) = (one for one in made.ready.notes if "in the file already" in one)
        assert note.startswith("2 items have a label in the file already")
        assert "; 1 item has labels of annotators in the file already" in note
        kim = made.worker("Kim")
        assert kim.answer == "answer 1 of 0"

        def whose() -> list[dict[str, float]]:
            rows = exported(made, "labels").select("annotators", "annotator_labels").iter_rows()
            return [
                {name: one for name, one in zip(*row, strict=True) if one is not None}
                for row in rows
            ]

        both = [{"Ann": 1, "Ben": 1}] * 2
        assert whose() == [*both, {"Ann": 1, "Ben": 0}]
        kim.say("0")
        assert whose() == [*both, {"Ann": 1, "Ben": 0, "Kim": 0}]
        assert exported(made, "labels")["label"].to_list() == [1, 1, 0]
        assert exported(made, "ratings").height == 7
        assert figures_of(made)["items"] == 3
    setup = AnnotateOptions(file=file, annotators=("Ann",))
    with place(tmp_path / "again.sqlite", setup) as made:
        work(made.worker("Ann"), {}, "0")
        assert whose() == [*both, {"Ann": 0, "Ben": 0}]


def test_an_annotator_without_a_name_is_nobody_of_the_file(tmp_path: Path) -> None:
    rows = [row | {"annotator1": 1, "annotator2": n % 2} for n, row in enumerate(answers(4))]
    rows = [row | {"label": 1 if row["annotator2"] else None} for row in rows]
    file = write_rows(tmp_path / "a.jsonl", rows)
    with place(tmp_path / "project.sqlite", AnnotateOptions(file=file)) as made:
        work(made.worker("annotator3"), {}, "0")
        last = exported(made, "labels").row(-1, named=True)
        whose = dict(zip(last["annotators"], last["annotator_labels"], strict=True))
        assert whose == {"annotator1": 1, "annotator2": 0, "annotator3": 0}
        assert [one.labels for one in agreement_of(made).people] == [4, 4, 2]


def test_rows_that_leave_nothing_to_rank_are_counted(project: Make) -> None:
    alike = [{**row, "answer": "the same"} for row in answers(2, systems=2)[2:]]
    made = project([*answers(1, systems=2), *alike], scale="rank", people=("Ann",), per_item=1)
    assert made.ready.notes[1:] == (
        "rows left out, as their question has no different answer to rank: 2",
    )


def test_gold_items_that_nobody_will_meet_are_announced(project: Make) -> None:
    gold = [{**row, "question": f"gold {n}", "label": n % 2} for n, row in enumerate(answers(8))]
    made = project(answers(20), people=("Ann",), per_item=1, gold=gold)
    (note,) = (one for one in made.ready.notes if "warning" in one)
    assert note == (
        "warning: 20 items to label a person, and one gold item after every 10: each person meets "
        "2 gold items of 8; --gold-every 2 brings all"
    )
    assert note in prepare(made.store, AnnotateOptions()).notes  # Opened once more.
    work(made.worker("Ann"), {})
    assert len(exported(made, "gold")) == 2


@pytest.mark.proof(area="examiner")
def test_labels_train_an_examiner(run: Run, example: Path, tmp_path: Path) -> None:
    """The last leg of the round trip: the exported training set makes weights that judge."""
    kept = tmp_path / "labels.sqlite"
    truth = {(row["question"], row["answer"]): row["label"]
             for row in map(orjson.loads, example.open("rb"))}  # fmt: skip
    setup = AnnotateOptions(file=str(example), per_item=1, annotators=("Ann",))
    with place(kept, setup) as made:
        texts = {str(i): (q, orjson.loads(t)[0])
                 for i, q, t in made.rows("SELECT id, question, texts FROM items")}  # fmt: skip
        ann = made.worker("Ann")
        form = fields_of(ann.html)
        while form.get("item"):
            ann.say(str(int(truth[texts[form["item"]]])))
            form = fields_of(ann.html) if ann.item else {}
    training, weights = str(tmp_path / "training.jsonl"), str(tmp_path / "weights")
    run("annotate-export", str(kept), "--as", "training", "-o", training)
    run("train", "examiner", "--data", training, "-o", weights, "--rounds", "20", "--seeds", "1",
        "--folds", "2")  # fmt: skip
    judged = run("judge", str(example), "-j", f"examiner(weights='{weights}')", "-o",
                 str(tmp_path / "judged"))  # fmt: skip
    assert "examiner" in judged


def test_agree_reads_the_ratings_with_the_figures_of_the_admin_page(
    project: Make, tmp_path: Path
) -> None:
    """The third person's word settles an item; it is no rating beside the others'."""
    rows = [*answers(24), {**answers(1)[0], "id": "twin", "system": "other"}]
    made = project(rows, adjudicators=("Kim",))
    ones = {f"answer {n} of 0": "1" if n % 3 else "0" for n in range(24)}
    others = ones | {f"answer {n} of 0": "1" if n % 2 else "0" for n in range(9)}
    work(made.worker("Ann"), ones)
    work(made.worker("Ben"), others)
    work(made.worker("Kim"), {}, "0")
    admin, table = figures_of(made), exported(made, "ratings")
    assert "Kim" in table["annotator"].to_list()
    labels = load_labels(table)
    between = annotators_of(labels, "missing")
    [pair] = between["pairs"].to_dicts()
    assert {pair["first"], pair["second"]} == {"Ann", "Ben"}
    assert between["items"] == admin["items"] == 24
    assert pair["kappa"] == pytest.approx(admin["pairs"]["kappa"][0])
    for name in ("fleiss_kappa", "krippendorff_alpha"):
        assert between[name].value == pytest.approx(admin[name].value)
    # The labels are those of the other export too.
    settled = exported(made, "labels").select("answer_id", "label").sort("answer_id")
    assert labels.select("answer_id", "label").sort("answer_id").rows() == settled.rows()


@pytest.mark.parametrize(
    ("scale", "said", "disagreements"),
    [("verdict", ("1", "0"), 2), ("relation", ("3", "2"), 1), ("grade", ("5", "1"), 2)],
)
def test_the_page_and_both_exports_count_an_answer_of_several_systems_once(
    project: Make, scale: str, said: tuple[str, str], disagreements: int
) -> None:
    """And a relation as accepted or not: superior and equivalent are one."""
    twins = [{**answers(1)[0], "id": f"twin{n}", "system": f"other{n}"} for n in range(3)]
    made = project([*answers(8), *twins], scale=scale)
    usual, other = said
    work(made.worker("Ann"), {}, usual)
    least = "1" if scale == "grade" else "0"
    work(made.worker("Ben"), {"answer 0 of 0": other, "answer 1 of 0": least}, usual)
    page = figures_of(made)
    assert (page["items"], page["disagreements"]) == (8, disagreements)
    for kind in ("labels", "ratings"):
        between = annotators_of(load_labels(exported(made, kind)), "missing")
        for name in ("items", "disagreements", "pair_agreement", "fleiss_kappa", "gwet_ac1"):
            assert between[name] == page[name], (kind, name)
        more = pl.col("answer_id") + "-b", pl.col("question") + " (b)"
        two = pl.concat([exported(made, kind), exported(made, kind).with_columns(*more)])
        assert annotators_of(load_labels(two), "missing")["items"] == 16  # of two projects


def test_the_page_and_both_exports_count_ranks_as_grades(project: Make) -> None:
    made = project(answers(2, systems=3), scale="rank")
    for name, ranks in (("Ann", "111"), ("Ben", "123")):
        worker = made.worker(name)
        while worker.item:
            worker.say("ranks", **{f"rank{n}": rank for n, rank in enumerate(ranks)})
    page = figures_of(made)
    for kind in ("labels", "ratings"):
        between = annotators_of(load_labels(exported(made, kind)), "missing")
        for name in ("items", "disagreements", "pair_agreement", "krippendorff_alpha_ordinal"):
            assert between[name] == page[name], (kind, name)
    assert [one.bias.value for one in agreement_of(made).people] == [0, 0]  # ties share their mean


GRADES = {"Ann": ["4", "2", "1", "5"], "Ben": ["5", "4", "1", "1"]}
RELATIONS_SAID = {"Ann": ["3", "1", "0", "2"], "Ben": ["2", "1", "3", "cannot_tell"]}


@pytest.mark.parametrize(
    ("scale", "said", "labels"),
    [
        ("verdict", {"Ann": ["1", "0", "cannot_tell", "1"], "Ben": ["1", "1", "cannot_tell", "1"]},
         [1, None, None, 1]),
        ("grade", GRADES, [4.5, None, 1, None]),
        ("relation", RELATIONS_SAID, [None, 0, None, None]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("adjudicate", [True, False])
def test_ratings_are_read_with_the_labels_of_the_other_export(
    project: Make, scale: str, said: dict[str, list[str]], labels: list[float | None],
    adjudicate: bool, tmp_path: Path,
) -> None:  # fmt: skip
    """Equal, near, disagreed, resolved, undecidable and unfinished items, through a CSV file."""
    rows = [*answers(5), {**answers(1)[0], "id": "twin", "system": "other"}]
    made = project(rows, scale=scale, adjudicators=("Kim",), adjudicate=adjudicate)
    for name, choices in said.items():
        worker = made.worker(name)
        for choice in choices:
            worker.say(choice)
    made.worker("Ann").say("1")  # of the fifth answer, which Ben has not seen

    def check() -> list[float | None]:
        table = exported(made, "ratings")
        table.write_csv(tmp_path / "ratings.csv")
        for source in (table, tmp_path / "ratings.csv"):
            read = dict(load_labels(source).select("answer_id", "label").iter_rows())
            other = dict(exported(made, "labels").select("answer_id", "label").iter_rows())
            assert read == dict.fromkeys(read) | other
            assert read["twin"] == read["q0-s0"]
        return [read[f"q{n}-s0"] for n in range(5)]

    assert check() == [*labels, None]
    made.worker("Kim").say("2" if scale != "verdict" else "0")
    resolved = check()
    assert resolved.count(None) == 1 + labels.count(None) - adjudicate * (None in labels)


def test_ratings_of_which_none_is_final_give_no_label(project: Make) -> None:
    made = project(answers(2))
    made.worker("Ann").say("1")
    made.worker("Ben").say("0")
    assert load_labels(exported(made, "ratings"))["label"].to_list() == [None]
    with pytest.raises(AgreementError, match="earlier version"):
        load_labels(exported(made, "ratings").drop("final_label"))


def test_both_surfaces_have_the_figures_of_uneven_ratings(project: Make) -> None:
    """Any two of three people label an item."""
    made = project(answers(30), people=("Ann", "Ben", "Cid"), scale="grade", per_item=2)
    rng = random.Random(5)
    workers = {name: made.worker(name) for name in ("Ann", "Ben", "Cid")}
    while busy := [one for one in workers.values() if one.item]:
        rng.choice(busy).say(str(rng.choice((1, 1, 2, 5))))
    admin, labels = figures_of(made), load_labels(exported(made, "ratings"))
    agreed = annotators_of(labels, "missing")
    assert labels["annotator_labels"].list.drop_nulls().list.len().to_list() == [2] * 30
    for name in ("items", "disagreements", "fleiss_kappa", "krippendorff_alpha_ordinal"):
        assert agreed[name] == admin[name]
    assert admin["items"] == 30
    pairs = {frozenset((one["first"], one["second"])): one for one in agreed["pairs"].to_dicts()}
    assert admin["pairs"].height == len(pairs) == 3
    for one in admin["pairs"].to_dicts():
        other = pairs[frozenset((one["first"], one["second"]))]
        names = ("items", "agree", "accuracy", "kappa", "reason")
        assert [one[name] for name in names] == [other[name] for name in names]


def test_empty_answers_are_labelled_like_those_that_were_judged_and_drawn(project: Make) -> None:
    """Left out, 10% of them moved an estimate by seven points."""
    rows = [*answers(4), *({**one, "id": f"none{n}", "answer": " "}
                           for n, one in enumerate(answers(2)))]  # fmt: skip
    made = project(rows, per_item=1, people=("Ann",))
    ann = made.worker("Ann")
    seen = 0
    while ann.item:
        empty = "(no answer)" in ann.html
        seen += empty
        ann.say("0" if empty else "1")
    assert seen == 2
    table = exported(made, "labels")
    assert dict(table.select("answer_id", "label").iter_rows())["none1"] == 0
    assert table.height == 6
    assert exported(made, "training").height == 4


def test_people_keep_their_names_in_a_file_of_labels(project: Make, tmp_path: Path) -> None:
    """And no system is made up where the answers name none."""
    rows = [{k: v for k, v in row.items() if k != "system"} for row in answers(12)]
    made = project(rows, people=("Ann", "Ben", "Cy"), per_item=3, adjudicate=False)
    for name in ("Ann", "Ben", "Cy"):
        work(made.worker(name), {"answer 1 of 0": "0" if name == "Cy" else "1"})
    out = tmp_path / "labels.csv"
    write_table(exported(made, "labels"), out)
    read = load_labels(out)
    assert read["annotators"].to_list() == [["Ann", "Ben", "Cy"]] * 12
    pairs = annotators_of(read, "missing")["pairs"]
    assert {*pairs["first"], *pairs["second"]} == {"Ann", "Ben", "Cy"}
    for kind in ("labels", "ratings", "training"):
        assert "system" not in exported(made, kind).columns


def test_names_are_read_from_csv_where_a_label_is_of_nobody_known(
    project: Make, tmp_path: Path
) -> None:
    """An empty cell of `annotators` leaves the names of the other rows."""
    first = project([*answers(2), {**answers(3)[2], "label": 1}])
    for name in ("Ann", "Ben"):
        work(first.worker(name), {})
    file = str(tmp_path / "first.csv")
    write_table(exported(first, "labels"), Path(file))
    table = load_labels(file)
    assert table["annotators"].drop_nulls().to_list() == [["Ann", "Ben"]] * 2
    new = {"answer_id": "new", "question": "New?", "answer": "A"}
    pl.concat([pl.read_csv(file), pl.DataFrame([new])], how="diagonal").write_csv(file)
    with place(tmp_path / "next.sqlite", AnnotateOptions(file=file, annotators=("Kim",))) as made:
        work(made.worker("Kim"), {})
        assert {*exported(made, "ratings")["annotator"].drop_nulls()} == {"Ann", "Ben", "Kim"}


def test_the_counts_of_an_export_add_up(project: Make) -> None:
    made = project(answers(5))
    work(made.worker("Ann"), {})
    ben = made.worker("Ben")
    for _ in range(3):
        ben.say("0" if ben.answer == "answer 1 of 0" else "1")
    found = {
        kind: made.store.read(partial(export, project=made.ready.project, kind=kind))
        for kind in ("labels", "training")
    }
    known = exported(made, "labels")["label"].count()
    waiting = found["labels"].table.height - known
    assert (known, waiting) == (2, 1)
    assert found["labels"].notes == (
        "2 of 5 answers have their label; 1 undecided, written with each person's word alone; "
        "2 not resolved yet, left out",
    )
    assert found["training"].table.height == 2
    assert (
        found["training"].notes[0].endswith("; 1 undecided, left out; 2 not resolved yet, left out")
    )


def test_what_nobody_can_tell_is_counted_everywhere(
    project: Make, tmp_path: Path, run: Run
) -> None:
    """The admin's page, the export and `estimate`, which a file filled in by hand gives too."""
    rows = [{**row, "inclusion_probability": 0.5} for row in answers(30)]
    file = write_rows(tmp_path / "all.jsonl", answers(60))
    run("judge", file, "-j", "contains", "-o", str(tmp_path / "run"), "-q")
    made = project(rows, order="shuffled")
    for name in ("Ann", "Ben"):
        differs = {"answer 3 of 0": "0"} if name == "Ben" else {}
        one_alone = {"answer 4 of 0": "1" if name == "Ben" else "cannot_tell"}
        work(made.worker(name), {"answer 2 of 0": "cannot_tell"} | differs | one_alone)
    page = made.worker("admin").http.get("/admin/live").text
    assert "28<small> of 30, 1 without a label</small>" in page
    assert "waiting</dt><dd>2</dd>" in page
    found = made.store.read(partial(export, project=made.ready.project, kind="labels"))
    assert found.notes == (
        "27 of 30 answers have their label; 1 resolved without one, written with an empty label; "
        "2 undecided, written with each person's word alone",
    )
    assert found.table["label"].null_count() == 3
    training = made.store.read(partial(export, project=made.ready.project, kind="training"))
    assert training.notes[0].endswith("; 1 resolved without one, left out; 2 undecided, left out")
    said = str(markscheme.estimate(tmp_path / "run", found.table))
    assert "2 of the 30 drawn answers have no label" in said
    by_hand = found.table.select("answer_id", "label", "inclusion_probability")
    assert "3 of the 30 drawn answers have no label" in str(
        markscheme.estimate(tmp_path / "run", by_hand)
    )


PASSAGES = [
    {"id": "orig", "question": "Where is the tower?", "references": ["Paris"], "answer": "Paris",
     "context": "The tower is in Paris."},
    {"id": "changed", "question": "Where is the tower?", "references": ["Rome"], "answer": "Paris",
     "context": "In this story the tower is in Rome."},
]  # fmt: skip


def test_one_answer_by_two_passages_is_two_items(project: Make) -> None:
    """As it is for judges."""
    made = project(PASSAGES, people=("Ann",), per_item=1)
    ann = made.worker("Ann")
    assert "in Paris." in ann.html
    assert "Rome" not in ann.html
    ann.say("1")
    assert "story the tower is in Rome." in ann.html
    ann.say("0")
    labels = dict(exported(made, "labels").select("answer_id", "label").iter_rows())
    assert labels == {"orig": 1, "changed": 0}


def test_systems_that_found_other_passages_are_ranked_together_without_them(
    project: Make,
) -> None:
    rows = [row | {"context": f"found by {row['system']}"} for row in answers(1, systems=3)]
    ann = project(rows, scale="rank", people=("Ann",), per_item=1).worker("Ann")
    assert [f"answer 0 of {n}" in ann.html for n in range(3)] == [True] * 3
    assert "found by" not in ann.html


def test_people_see_the_passages_of_a_plan(tmp_path: Path) -> None:
    markscheme.judge(PASSAGES, "contains", out=tmp_path / "run")
    plan = markscheme.plan_labels(tmp_path / "run", count=2).frame
    write_table(plan, tmp_path / "plan.csv")
    setup = AnnotateOptions(file=str(tmp_path / "plan.csv"), annotators=("Ann",))
    with place(tmp_path / "p.sqlite", setup) as made:
        assert "tower is in" in made.worker("Ann").html


def test_a_run_is_labelled_by_its_folder(tmp_path: Path) -> None:
    markscheme.judge(answers(3), "exact_match", out=tmp_path / "run")
    folder = f"{tmp_path / 'run'}/"
    assert cli.run(["annotate", folder, "--no-serve"]) == 0
    assert (tmp_path / "run.annotate.sqlite").is_file()
    assert read_file(folder)["answer"].to_list() == [row["answer"] for row in answers(3)]
    assert cli.run(["annotate", str(tmp_path), "--no-serve"]) == 2
