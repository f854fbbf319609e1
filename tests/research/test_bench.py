"""`bench` on invented files: published judges, imported verdicts, raw replies, ranking, cost."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import orjson
import polars as pl
import pytest

import made_data
from markscheme.cli import run
from markscheme.errors import DataError, ModelError, UnknownNameError
from markscheme.models import Models
from markscheme.testing import ScriptedChat
from markscheme_research.datasets import load
from markscheme_research.papers import bench, labelled_sets


@pytest.fixture
def made(tmp_path: Path) -> Path:
    made_data.write(tmp_path)
    return tmp_path


def row(found: pl.DataFrame, judge: str) -> dict[str, object]:
    return found.row(by_predicate=pl.col("judge") == judge, named=True)


def test_nq301_has_the_published_judges_beside_and_counts_equal_answers_once(made: Path) -> None:
    found = bench("nq301", judges=("contains",), data_dir=made)
    pairs = load("nq301", data_dir=made, rows="pairs")
    distinct = pairs.unique(["question", "references", "answer"])
    assert distinct.height < pairs.height
    assert set(found.frame["answers"]) == {distinct.height}
    assert found.frame["judge"].to_list()[:3] == ["exact match", "BEM", "InstructGPT"]
    said = pairs.unique(["question", "references", "answer"], keep="first", maintain_order=True)
    people = said["label"] == 1
    contains = found.verdicts["contains"]
    assert row(found.frame, "contains")["accuracy"] == pytest.approx((contains == people).mean())
    assert row(found.frame, "contains")["cost_usd"] in (None, 0.0)


def test_nq301_lacks_the_questions_that_a_named_judge_learned_from(made: Path) -> None:
    shot = {"question": made_data.LEGS, "references": ["two"], "answer": "2", "label": 1}
    (made / "shots.jsonl").write_text(json.dumps(shot))
    judge = f"llm_evouna_icl(examples='{made / 'shots.jsonl'}')"
    chat = ScriptedChat(replies=lambda _: "Yes")
    found = bench("nq301", judges=(judge,), data_dir=made, models=Models(chat=chat))
    assert made_data.LEGS not in found.verdicts["question"].to_list()
    assert set(found.frame["answers"]) == {found.verdicts.height}
    assert "1 question that judges learned from" in str(found)
    found = bench("nq301", judges=("contains",), data_dir=made)
    assert made_data.LEGS in found.verdicts["question"].to_list()


def test_a_judge_that_says_what_people_say_ranks_systems_as_they_do(made: Path) -> None:
    pairs = load("nq301", data_dir=made, rows="pairs")
    own = pairs.select("answer_id", judge=pl.lit("oracle"), verdict=pl.col("label") == 1)
    found = bench("nq301", judgments=own, data_dir=made)
    oracle = row(found.frame, "oracle")
    assert (oracle["accuracy"], oracle["kappa"]) == (1.0, 1.0)
    assert oracle["tau"] is None or oracle["tau"] == pytest.approx(1.0)
    # Only what was asked for is judged: the user's judgments, and the published ones.
    assert found.frame["judge"].to_list() == ["exact match", "BEM", "InstructGPT", "oracle"]


def test_raw_replies_are_read_and_unreadable_ones_are_not_judged(made: Path) -> None:
    pairs = load("nq301", data_dir=made, rows="pairs").unique("answer", maintain_order=True)
    replies = [
        {"question": one["question"], "answer": one["answer"],
         "reply": "Yes, it is." if place else "I had rather not say."}
        for place, one in enumerate(pairs.iter_rows(named=True))
    ]  # fmt: skip
    found = bench("nq301", replies=replies, data_dir=made)
    said = row(found.frame, "replies")
    assert said["not_judged"] == 1
    assert said["recall"] == 1.0


def test_judgments_of_other_answers_are_an_error(made: Path) -> None:
    other = pl.DataFrame(
        {"question": ["who?"], "answer": ["me"], "judge": ["x"], "verdict": [True]}
    )
    with pytest.raises(DataError, match="none of the judgments"):
        bench("nq301", judgments=other, data_dir=made)
    with pytest.raises(DataError, match="question, answer and reply"):
        bench("nq301", replies=[{"question": "q", "text": "yes"}], data_dir=made)
    with pytest.raises(UnknownNameError, match="nq301"):
        bench("nq31", data_dir=made)
    assert {"nq301", "evouna-nq", "efficientqa", "beetle"} <= set(labelled_sets())


def test_evouna_ranks_systems_by_the_share_of_accepted_answers(made: Path) -> None:
    found = bench(
        "evouna-nq", judges=("contains",), data_dir=made, every_question=True, thresholds=True
    )
    systems = {one["system"]: one for one in found.data["sets"][0]["systems"]}
    assert systems["GPT-4"]["people"] == pytest.approx(2 / 3)
    assert {"exact match", "contains", "people"} <= set(systems["GPT-4"])


def test_graded_answers_are_loaded_and_half_right_ones_left_out(tmp_path: Path) -> None:
    rows = [
        {"question": "why does ice float", "references": ["It is less dense than water."],
         "answer": answer, "label": label}
        for answer, label in (
            ("It is less dense than water.", 1.0), ("It is lighter than water", 0.8),
            ("It is cold.", 0.0), ("Perhaps it has air in it.", 0.5),
        )
    ]  # fmt: skip
    path = tmp_path / "beetle.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert load("beetle", data_dir=path)["label"].to_list() == [1.0, 0.8, 0.0, 0.5]
    found = bench("beetle", judges=("exact_match",), data_dir=path)
    assert found.frame["answers"].to_list() == [3, 3]
    assert row(found.frame, "exact_match")["accuracy"] == pytest.approx(2 / 3)
    assert row(found.frame, "exact_match")["tau"] is None


def test_pedants_runs_in_an_interpreter_of_its_own(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a stand-in for its package, whose classifiers no test machine has."""
    with pytest.raises(ModelError, match="pip install qa-metrics"):
        bench("nq301", pedants=sys.executable, data_dir=made)
    with pytest.raises(ModelError, match="No such file"):
        bench("nq301", pedants=str(made / "python"), data_dir=made)
    package = made / "lib" / "qa_metrics"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "pedant.py").write_text(
        "class PEDANT:\n"
        "    def __init__(self): print('Loading Classifier...')\n"
        "    def evaluate(self, references, answer, question):\n"
        "        return any(one.lower() in answer.lower() for one in references)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(made / "lib"))
    found = bench("nq301", pedants=sys.executable, data_dir=made)
    assert found.frame["judge"].to_list() == ["exact match", "BEM", "InstructGPT", "PEDANTS"]
    said = found.verdicts.select("references", "answer", "PEDANTS").rows()
    assert [any(one.lower() in answer.lower() for one in references) == verdict
            for references, answer, verdict in said] == [True] * len(said)  # fmt: skip


SEMEVAL = """<?xml version='1.0' encoding='utf-8'?>
<question qtype="Q" id="{id}" module="FF"><questionText>Why does {id} glow?</questionText>
<referenceAnswers><referenceAnswer category="BEST" id="a1">It is in a
  closed path.</referenceAnswer></referenceAnswers>
<studentAnswers><studentAnswer count="1" id="s1" accuracy="correct">A closed path</studentAnswer>
<studentAnswer count="1" id="s2" accuracy="contradictory">It is in no path</studentAnswer>
<studentAnswer count="1" id="s3" accuracy="incorrect">in no clue</studentAnswer>
<studentAnswer count="1" id="s4" accuracy="correct">In no clue</studentAnswer></studentAnswers>
</question>"""
SAF = """<question id="2.2" module="DLL"><questionText>Which two?</questionText><referenceAnswers>
<referenceAnswer id="a">One and two</referenceAnswer></referenceAnswers><studentAnswers>
<studentAnswer id="1"><response> One </response><response_feedback>Half.</response_feedback>
<score>0.5</score><verification_feedback>Partially correct</verification_feedback></studentAnswer>
<studentAnswer id="2"><response></response><score>0</score></studentAnswer></studentAnswers>
</question>"""


def zipped(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def test_students_answers_are_read_as_they_are_published(tmp_path: Path) -> None:
    semeval = zipped(
        tmp_path / "semeval-3way.zip",
        {f"semeval/{part}/3way/{name}/{name}.xml": SEMEVAL.format(id=f"{name} {part}")
         for part in ("training", "test") for name in ("beetle", "sciEntsBank")},
    )  # fmt: skip
    for name, spelt in (("beetle", "beetle"), ("scientsbank", "sciEntsBank")):
        found = load(name, data_dir=tmp_path)
        assert found["question"].unique().to_list() == [f"Why does {spelt} training glow?"]
        assert found["references"][0].to_list() == ["It is in a closed path."]
        assert dict(found.select("answer", "label").iter_rows()) == {
            "A closed path": 1.0, "It is in no path": 0.0,
        }  # fmt: skip
        assert bench(name, judges=("exact_match",), data_dir=semeval).frame["answers"][0] == 2
    zipped(tmp_path / "SAF2_0.zip", {"training/english/2.xml": SAF, "training/german/1.xml": "no"})
    found = load("saf-english", data_dir=tmp_path)
    assert found.select("answer", "label").rows() == [("One", 0.5)]


@pytest.mark.parametrize(
    ("text", "said"),
    [("<question>", "is not XML"), ("<!DOCTYPE x [<!ENTITY a 'b'>]><question/>", "entities"),
     (SEMEVAL.replace('accuracy="correct"', ""), "without accuracy"),
     (SAF.replace("0.5", "7"), "a score of 7")],
)  # fmt: skip
def test_damaged_students_answers_are_named(tmp_path: Path, text: str, said: str) -> None:
    path = zipped(tmp_path / "SAF2_0.zip", {"training/english/2.xml": text})
    with pytest.raises(DataError, match=said):
        load("saf-english", data_dir=path)


def test_efficientqa_is_read_as_it_is_published(tmp_path: Path) -> None:
    rows = [
        {"question": "how many five star generals", "answer": ["Nine"],
         "def_correct_predictions": ["9", "nine of them"], "poss_correct_predictions": ["a few"],
         "def_incorrect_predictions": ["none", "nine of them"]}
    ]  # fmt: skip
    path = tmp_path / "NQ-open.efficientqa.test.1.1.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    found = load("efficientqa", data_dir=path)
    assert dict(found.select("answer", "label").iter_rows()) == {
        "9": 1.0, "a few": 0.5, "none": 0.0,
    }  # fmt: skip


def test_the_command_prints_what_python_gives_and_writes_details(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    details = tmp_path / "details.csv"
    asked = ["bench", "nq301", "-j", "contains", "--data-dir", str(made), "--format", "json"]
    assert run([*asked, "--details", str(details)]) == 0
    said = orjson.loads(capsys.readouterr().out)
    python = orjson.loads(bench("nq301", judges=("contains",), data_dir=made).to_json())
    for one in (said, python):
        for judge in one["sets"][0]["judges"]:
            judge.pop("seconds")
    assert said == python
    assert "contains" in details.read_text().splitlines()[0]


def test_results_are_shown_whatever_cannot_be_written(
    made: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["bench", "nq301", "evouna-nq", "-j", "contains", "--data-dir", str(made)]
    asked += ["--every-question", "--format", "json"]
    for wrong, said in (
        (["--details", str(made / "d.txt")], "the endings are"),
        (["--picture", str(made / "p.gif"), "--thresholds"], "the endings are"),
        (["--picture", str(made / "p.svg")], "requires --thresholds"),
    ):
        assert run([*asked, *wrong]) == 2
        found = capsys.readouterr()
        assert (found.out, said in found.err) == ("", True), found.err
    monkeypatch.setitem(sys.modules, "altair", None)
    assert run([*asked, "--thresholds", "--picture", str(made / "p.svg")]) == 2
    sets = orjson.loads(capsys.readouterr().out)["sets"]
    # Of evouna-nq no judge has scores between 0 and 1.
    assert [bool(one["thresholds"]) for one in sets] == [True, False]


def test_thresholds_are_drawn(made: Path, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    found = bench("nq301", judges=("token_f1",), data_dir=made, thresholds=True)
    assert found.data["sets"][0]["thresholds"]
    assert found.write_picture(tmp_path / "pictures" / "f1.svg").read_text().startswith("<svg")
    with pytest.raises(DataError, match="--thresholds"):
        bench("nq301", judges=("token_f1",), data_dir=made).write_picture(tmp_path / "x.svg")


def test_f1_at_the_common_threshold_is_of_what_that_threshold_accepts(tmp_path: Path) -> None:
    """.15 is between all scores of system two: its own cuts are at .1 and .5."""
    rows = [
        {"question": "why does ice float", "references": ["It is less dense."], "answer": answer,
         "label": label, "system": system, "judge": "mine", "score": score, "verdict": score > 0.3}
        for system, answer, label, score in (
            ("one", "It is light.", 1, 0.2), ("one", "It is cold.", 0, 0.1),
            ("two", "It is less dense than water.", 1, 0.9), ("two", "Air.", 0, 0.1),
        )
    ]  # fmt: skip
    path = tmp_path / "beetle.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    found = bench("beetle", data_dir=path, judgments=pl.DataFrame(rows), thresholds=True)
    swept = found.data["sets"][0]["thresholds"]
    assert [(row["system"], row["f1"], row["f1_at_common"]) for row in swept] == [
        ("all", 1.0, 1.0), ("one", 1.0, 1.0), ("two", 1.0, 1.0),
    ]  # fmt: skip
