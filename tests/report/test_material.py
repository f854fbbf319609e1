from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import orjson
import polars as pl
import pytest

import markscheme
from markscheme.agreement import InMemory, open_run
from markscheme.errors import AgreementError, DataError, RunError, UnknownNameError
from markscheme.reports.material import read_material
from markscheme.reports.section import pivot_section
from markscheme.reports.sections.order import absent, sections
from markscheme.results import Column
from markscheme.tables import load_labels
from markscheme.tables.answers import read_answers
from markscheme.tables.seal import file_digest, manifest_bytes, read_json, seal_of


def test_figures_are_those_of_the_run_and_of_agree(run_folder: Path) -> None:
    material = read_material(run_folder)
    kept = orjson.loads((run_folder / "summary.json").read_bytes())["figures"]
    assert material.records == kept
    assert material.labelled == 248
    people = material.answers.group_by("system").agg(pl.col("accepted").mean())
    for system, share in people.iter_rows():
        assert material.people[system]["accuracy"] == pytest.approx(share)
    overall = {one.judge: one for one in material.agreement if one.system is None}
    verdict = material.judges[0].rows["verdict"]
    same = (verdict == material.answers["accepted"]).mean()
    assert overall["exact_match"].left_out["accuracy"].value == pytest.approx(same)


def test_a_run_without_labels_says_what_is_missing(tmp_path: Path) -> None:
    row = {"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": "Austen"}
    markscheme.judge([row], "exact_match", out=tmp_path / "run")
    material = read_material(tmp_path / "run")
    assert [one.key for one in sections(material)] == ["accuracy", "verdicts"]
    assert "--labels" in absent(material)[0]


def test_labels_come_from_a_file_and_need_not_cover_all(tmp_path: Path) -> None:
    rows = [
        {"question": f"Question {n}?", "references": ["yes"], "answer": "yes" if n % 2 else "no"}
        for n in range(6)
    ]
    markscheme.judge(rows, "exact_match", out=tmp_path / "run")
    labels = pl.DataFrame({"question": ["Question 1?", "Question 2?"], "answer": ["yes", "no"],
                           "human": [1, 1]})  # fmt: skip
    labels.write_csv(tmp_path / "labels.csv")
    material = read_material(
        tmp_path / "run", labels=load_labels(tmp_path / "labels.csv", names={"label": "human"})
    )
    assert material.answers["accepted"].to_list() == [None, True, True, None, None, None]
    assert "2 of 6 answers have a label" in absent(material)[0]


@pytest.mark.parametrize("labelled", [0, 3, 119])
def test_a_card_is_of_one_population_and_no_interval_leaves_its_range(
    labelled: int, tmp_path: Path
) -> None:
    """Table and chart count the same answers: people are in them only where all have a label."""
    rows = [
        {"question": f"Question {n // 2}?", "references": ["yes"], "system": f"s{n % 2}",
         "answer": "yes" if n % 3 else "no", "label": int(n % 4 > 0) if n < labelled else None}
        for n in range(119)
    ]  # fmt: skip
    markscheme.judge(rows, "exact_match", out=tmp_path / "run")
    found = {one.key: one for one in sections(read_material(tmp_path / "run"))}
    table, chart = found["accuracy"].table, found["accuracy"].chart
    assert chart is not None
    drawn = {
        (one["judge"], one["system"]): 100 * one["accuracy"]
        for rows_ in json.loads(chart().to_json())["datasets"].values()
        for one in rows_
        if "accuracy" in one
    }
    for system, *cells in table.rows:
        for voice, cell in zip(table.header[1:], cells, strict=True):
            if system != "(all)":
                share = float(cell.split()[0])
                assert drawn[voice, system] == pytest.approx(share, abs=0.05)
    assert ("people" in found["accuracy"].table.header) is (labelled == 119)
    voice = "people" if labelled == 119 else "exact_match"
    assert f"by {voice}" in found["pairs"].table.title
    for section in found.values():
        for row in section.table.rows:
            for low, high in re.findall(r"\((-?\d+\.\d) to (-?\d+\.\d)\)", " ".join(row)):
                assert -100 <= float(low) <= float(high) <= 100


def test_grades_need_to_know_which_are_acceptable(tmp_path: Path) -> None:
    rows = [{"question": f"{n}?", "references": ["a"], "answer": "a", "label": n} for n in range(4)]
    markscheme.judge(rows, "contains", out=tmp_path / "run")
    with pytest.raises(AgreementError, match="positive-from"):
        read_material(tmp_path / "run")
    material = read_material(tmp_path / "run", positive_from=2)
    assert material.answers["accepted"].to_list() == [False, False, True, True]


def test_runs_on_the_same_answers_stand_side_by_side(
    run_folder: Path, example: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    markscheme.judge(example, ["contains", "rougeL"], out=other)
    material = read_material(run_folder, compare=[other])
    names = [one.name for one in material.judges]
    assert names == ["exact_match", "contains (example)", "token_f1", "examiner",
                     "contains (other)", "rougeL"]  # fmt: skip
    assert list(material.origin) == ["example", "other"]


def test_results_in_memory_are_each_a_run_of_their_own() -> None:
    rows = [{"question": f"q{n}", "references": ["a"], "answer": "a"} for n in range(6)]
    one, *others = (markscheme.judge(rows, "exact_match") for _ in range(3))
    found = read_material(one, compare=others)
    assert found.names == [f"exact_match (answers{part})" for part in ("", " 2", " 3")]
    assert [record["rows"] for record in found.records] == [6, 6, 6]


def test_a_judge_with_two_signatures_is_two_judges() -> None:
    rows = [{"question": f"q{n}", "references": ["a"], "answer": "a"} for n in range(6)]
    one = markscheme.judge(rows, "exact_match")
    other = one.judgments.with_columns(signature=pl.lit("other"), verdict=False)
    both = InMemory(pl.concat([one.judgments, other]), one.answers)
    found = read_material(both)
    assert found.names == ["exact_match (answers)", "exact_match (answers) 2"]
    assert [(record["rows"], record["accuracy"]) for record in found.records] == [(6, 1), (6, 0)]


def test_runs_on_other_answers_are_refused(run_folder: Path, tmp_path: Path) -> None:
    row = {"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": "Austen"}
    markscheme.judge([row], "exact_match", out=tmp_path / "run")
    with pytest.raises(RunError, match="0 of the 248 answers"):
        read_material(run_folder, compare=[tmp_path / "run"])
    with pytest.raises(RunError, match="with itself"):
        read_material(run_folder, compare=[run_folder])


def test_folders_that_hold_no_finished_run_are_named(run_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a folder without"):
        read_material(tmp_path)
    unfinished = tmp_path / "unfinished"
    shutil.copytree(run_folder, unfinished)
    (unfinished / "judgments.parquet").unlink()
    with pytest.raises(RunError, match="unfinished"):
        read_material(unfinished)


def test_a_run_of_a_cluster_is_read_from_its_parts(run_folder: Path, tmp_path: Path) -> None:
    cluster = tmp_path / "cluster"
    shutil.copytree(run_folder, cluster)
    for name in ("judgments.parquet", "answers.parquet"):
        (cluster / name).unlink()
        (cluster / name).mkdir()
        shutil.copy(run_folder / name, cluster / name / "part-000000.parquet")
    plan = read_json(cluster / "run.json")
    parts = (f"{name}.parquet/part-000000.parquet" for name in ("judgments", "answers"))
    manifest = manifest_bytes(plan, {name: file_digest(cluster / name) for name in parts})
    (cluster / "manifest.json").write_bytes(manifest)
    (cluster / "run.json").write_text(json.dumps(plan | seal_of(manifest)))
    found, known = read_material(cluster), read_material(run_folder)
    assert found.answers.equals(known.answers)
    assert [one.name for one in found.judges] == [one.name for one in known.judges]


def test_material_needs_no_folder(example: Path) -> None:
    answers = read_answers(example)
    result = markscheme.judge(example, "contains")
    material = read_material(InMemory(result.judgments, answers), title="here")
    assert material.records[-1]["accuracy"] == result.summary["accuracy"][-1]


def test_agreement_stands_beside_what_it_costs(example: Path) -> None:
    answers = read_answers(example)
    judgments = markscheme.judge(example, ["contains", "token_f1"]).judgments
    price = pl.when(pl.col("judge") == "token_f1").then(pl.lit(0.002))
    paid = read_material(InMemory(judgments.with_columns(cost_usd=price), answers))
    found = {one.key: one for one in sections(paid)}["cost"]
    assert [row[2] for row in found.table.rows] == ["–", "2.0000"]
    assert found.chart is not None
    assert "dollars for 1,000 answers" in found.chart().to_json()
    free = read_material(InMemory(judgments, answers))
    assert "cost" not in [one.key for one in sections(free)]


def test_a_judge_without_a_known_price_is_not_drawn_as_free(example: Path) -> None:
    answers = read_answers(example)
    judgments = markscheme.judge(example, ["contains", "token_f1", "exact_match"]).judgments
    asked = judgments.with_columns(
        cost_usd=pl.when(pl.col("judge") == "token_f1").then(pl.lit(0.002)),
        tokens_in=pl.when(pl.col("judge") != "exact_match").then(pl.lit(100)),
    )
    cost = {one.key: one for one in sections(read_material(InMemory(asked, answers)))}["cost"]
    assert "Not drawn, as its cost is not known: contains." in cost.caption
    assert [row[2] for row in cost.table.rows] == ["–", "2.0000", "–"]
    assert cost.chart is not None
    drawn = cost.chart().to_dict()["datasets"].values()
    assert [[row["judge"] for row in rows] for rows in drawn] == [["token_f1", "exact_match"]]


def test_what_was_not_judged_is_counted_with_its_reason(tmp_path: Path) -> None:
    rows = [{"question": f"{n}?", "references": ["a"], "answer": answer}
            for n, answer in enumerate(["a", "b"])]  # fmt: skip
    rows[1]["references"], rows[1]["reference_kind"] = ["("], "regex"
    markscheme.judge(rows, "contains", out=tmp_path / "run")
    found = {one.key: one for one in sections(read_material(tmp_path / "run"))}
    ((*counted, reason),) = found["unjudged"].table.rows
    assert counted == ["contains", "skipped", "1"]
    assert found["unjudged"].table.notes == ("contains: 1 (1 skipped)",)
    assert reason.startswith("the references are regular expressions")
    assert "of 1; 1 not judged" in found["accuracy"].table.rows[0][1]
    assert found["verdicts"].table.rows == (("contains", "system", "1", "1"),)


def test_the_command_is_kept_without_secrets(tmp_path: Path) -> None:
    from markscheme.engine import command_line

    for password in ("p@ss", "pass phrase"):
        typed = ["judge", "a b.csv", "--ledger", f"postgresql://me:{password}@host/replies?key=1"]
        command = command_line(typed)
        assert command == "markscheme judge 'a b.csv' --ledger postgresql://host/replies"


def test_a_pivot_has_a_cell_and_a_link_for_what_is_known() -> None:
    counts = {("j", "s", "yes"): 1200, ("j", "s", "no"): 3, ("k", "s", "no"): 4}
    section = pivot_section(
        key="k",
        title="t",
        caption="c",
        table="Counts",
        names=("judge", "system"),
        rows=[("j", "s"), ("k", "s")],
        across=("yes", "no"),
        cells=counts,
        missing="none",
        after=(Column("both", "-".join),),
        link=lambda *parts: {"said": parts[-1]} if parts in counts else None,
    )
    assert section.table.header == ("judge", "system", "yes", "no", "both")
    assert section.table.rows == (("j", "s", "1,200", "3", "j-s"), ("k", "s", "none", "4", "k-s"))
    assert section.table.numeric == {"yes", "no"}
    assert section.links == {
        (0, 2): {"said": "yes"},
        (0, 3): {"said": "no"},
        (1, 3): {"said": "no"},
    }


@pytest.mark.parametrize("together", [True, False])
def test_an_answer_that_occurs_twice_is_judged_twice(together: bool) -> None:
    row = {"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": "Austen"}
    answers = [{**row, "system": "a"}, {**row, "answer": "Burney", "system": "a"}] * 2
    verdicts = [{**one, "verdict": int(one["answer"] == "Austen")} for one in answers]
    if not together:
        verdicts = [
            {name: one[name] for name in ("question", "answer", "verdict")} for one in verdicts[:2]
        ]
    material = read_material(open_run(verdicts, answers=None if together else answers))
    assert material.judges[0].rows["verdict"].to_list() == [True, False] * 2


def test_a_page_leads_with_the_judge_that_agrees_best(tmp_path: Path) -> None:
    rows = [
        {
            "question": f"Question {n}?",
            "references": ["Ada"],
            "system": f"s{n % 2}",
            "answer": ("Ada", "It was Ada", "Bo", "It was Bo")[n % 4],
        }
        for n in range(160)
    ]
    labels = pl.DataFrame(rows[:60]).select(
        "question", "answer", label=pl.col("answer").str.contains("Ada").cast(pl.Int8)
    )
    judges = ["exact_match", "contains", "token_f1"]
    markscheme.judge(rows, judges, out=tmp_path / "run")
    known = read_material(tmp_path / "run", labels=load_labels(labels))
    kappas = {one.judge: one.left_out["kappa"].value for one in known.agreement if not one.system}
    assert kappas["contains"] == 1.0
    assert (kappas["exact_match"] or 0) < 1
    assert known.leading == ("contains", "of the judges the closest to the labels: kappa 1.00")
    people = sections(known)[0]
    assert people.key == "people"
    assert "contains says of all (of the judges the closest to the labels" in people.caption
    bare = read_material(tmp_path / "run")
    assert bare.leading == ("exact_match", "the first judge named")
    out, file = tmp_path / "r.html", tmp_path / "labels.csv"
    labels.write_csv(file)
    markscheme.report(tmp_path / "run", out, labels=file, judge="token_f1")
    assert "token_f1 says of all (chosen with --judge)" in out.read_text()
    with pytest.raises(UnknownNameError, match="no judge here named 'tokens'"):
        markscheme.report(tmp_path / "run", out, judge="tokens")
