"""`markscheme research reliability` and `markscheme research hierarchy`, as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.cli import run
from markscheme.judges.prompted.sampling import SamplingOverrides
from markscheme.models.chat.scripted import ScriptedChat
from markscheme.models.sources import Models


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = run([str(argument) for argument in arguments])
    found = capsys.readouterr()
    return code, found.out, found.err


# --- reliability --------------------------------------------------------------------------------


def test_the_entailment_judge_over_seeds(capsys: pytest.CaptureFixture[str], example: Path) -> None:
    code, out, err = said(
        capsys, "reliability", example, "-j", "entailment", "--seeds", "0,1,2", "--runs", "r", "-q",
        "--out", "found.json",
    )  # fmt: skip
    assert code == 0, err
    for text in ("verdicts", "relations", "entailment", "Statements of runs", "Spread over runs"):
        assert text in out
    found = json.loads(Path("found.json").read_text())
    assert len(found["entailment"]) == 3
    assert {row["kappa"] for row in found["relations"]} == {1.0}
    assert [row["similarity"] for row in found["statements"]] == pytest.approx([100] * 3)
    names = {pl.read_parquet(f"r/seed-{seed}/judgments.parquet")["judge"][0] for seed in range(3)}
    assert names == {f"entailment(seed={seed})" for seed in range(3)}


def test_saved_runs_are_compared(capsys: pytest.CaptureFixture[str], example: Path) -> None:
    for place, judge in enumerate(("contains", "token_f1")):
        markscheme.judge(example, judge, out=f"run{place}")
    code, out, err = said(capsys, "reliability", "run0", "run1")
    assert code == 0
    assert "run1: run1" in err
    assert "verdicts" in out
    assert "relations" not in out


def test_any_judge_without_labels(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.jsonl").write_text('{"question":"q","gold":"a","answer":"a"}\n')
    code, out, err = said(
        capsys, "reliability", "a.jsonl", "-j", "exact_match", "--samples", 2, "-q"
    )
    assert code == 0
    assert "no labels with the runs" in err
    assert "exact_match has no seed" in err
    assert "Spread" not in out
    # The same file and judge, once: the folder is another.
    assert said(capsys, "judge", "a.jsonl", "-j", "exact_match", "-q")[0] == 0


def test_a_label_that_cannot_be_read_does_not_make_the_others_vanish(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("one.csv", "two.csv"):
        rows = (f"{n},q{n},a,j,{'yes' if n % 3 else 'no'},{n % 2}" for n in range(20))
        table = "\n".join(
            ("answer_id,question,answer,judge,verdict,label", *rows, "20,q,a,j,no,unsure")
        )
        Path(name).write_text(table)
    code, _, err = said(capsys, "reliability", "one.csv", "two.csv")
    assert code == 2
    assert "column 'label' has 1 values that are not verdicts, such as 'unsure'" in " ".join(
        err.split()
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "needs two runs or more"),
        (("--seeds", "0,1"), "require --judge"),
        (("-j", "contains"), "either --seeds 0,1,2,3 or --samples 4"),
        (("-j", "contains", "--seeds", "0", "--samples", 2), "and not both"),
        (("-j", "contains", "--seeds", "a,b"), "--seeds 'a' is not a whole number"),
        (("-j", "contains", "--seeds", "1"), "two runs or more"),
    ],
)
def test_what_is_missing_is_said(
    capsys: pytest.CaptureFixture[str], example: Path, arguments: tuple[Any, ...], message: str
) -> None:
    code, _, err = said(capsys, "reliability", example, *arguments)
    assert code == 2
    assert message in " ".join(err.split())


def test_seeds_and_samples_reach_every_request() -> None:
    chat = ScriptedChat(replies=lambda text: "Yes")
    rows = [{"question": "q", "references": ["r"], "answer": "a"}]
    for sample in range(2):
        models = SamplingOverrides(models=Models(chat=chat), seed=7, temperature=0.5, sample=sample)
        markscheme.judge(rows, "llm_kamalloo", models=models)
    settings = [(one.seed, one.temperature, one.sample) for one in chat.seen]
    assert settings == [(7, 0.5, 0), (7, 0.5, 1)]


# --- hierarchy ----------------------------------------------------------------------------------


def test_the_hierarchy_of_a_run(capsys: pytest.CaptureFixture[str], example: Path) -> None:
    markscheme.judge(example, "entailment", out="run")
    code, out, err = said(capsys, "hierarchy", "run", "--roc", "--out", "found.json")
    assert code == 0, err
    for text in (
        "Tables 9 and 10",
        "Table 12",
        "Table 11",
        "Tables 3 and 13",
        "ROC curve",
        "token",
    ):
        assert text in out
    (one,) = json.loads(Path("found.json").read_text())["judges"].values()
    assert sum(row["count"] for row in one["sets"]) == 248
    assert one["roc"][0] == {"rejected_share": 0.0, "accepted_share": 0.0, "threshold": None}
    assert len(one["order"]) == 3
    code, out, _ = said(capsys, "hierarchy", "run", "--without", "parrot,hedger")
    assert code == 0
    code, _, err = said(capsys, "hierarchy", "run", "--without", "nobody")
    assert code == 2
    assert "no system named 'nobody'. There are 'chatty'" in " ".join(err.split())


def test_sets_are_counted_without_labels(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": "Jane Austen"}]
    markscheme.judge(rows, "entailment", out="run")
    code, out, err = said(capsys, "hierarchy", "run")
    assert code == 0
    assert "no labels in this file" in err
    assert "(2) equivalent" in out
    assert "Fisher" not in out


def test_judges_without_relations_are_told(
    capsys: pytest.CaptureFixture[str], example: Path
) -> None:
    markscheme.judge(example, "contains", out="run")
    code, _, err = said(capsys, "hierarchy", "run")
    assert code == 2
    assert "no judge here gives relations" in " ".join(err.split())


def test_every_scheme_of_marks_follows_from_one_run(capsys: pytest.CaptureFixture[str]) -> None:
    rows = pl.DataFrame(
        {
            "answer_id": ["1", "2", "3", "4"],
            "judge": "mine",
            "status": "judged",
            "verdict": [True, True, True, False],
            "relation": ["equivalent", "inferior", "inferior", "incorrect"],
            "marks": [1.0, 0.6, 0.4, 0.0],
            "answer": "A",
            "label": [1, 1, 0, 0],
            "raw": [_raw(None, None), _raw(1, 0), _raw(3, 2), _raw(None, None)],
        }
    )
    rows.write_ndjson("judged.jsonl")
    code, out, err = said(capsys, "hierarchy", "judged.jsonl", "--out", "found.json")
    assert code == 0, err
    (one,) = json.loads(Path("found.json").read_text())["judges"].values()
    assert set(one["marks"]) == {"marks", "CIA", "IA", "C", "token_f1"}
    assert {one["marks"][scheme]["auroc"]["value"] for scheme in ("CIA", "C", "IA")} == {1.0}
    assert "inference, C (steps)" in out
    assert "inferences explained for marks: 2 judged" in out


def _raw(steps: int | None, info: int | None) -> str:
    way = {"entailed": True, "score": None, "status": "judged", "label": None}
    reference = {"reference": "B", "statement": "It is B.", "statement_status": "judged",
                 "answer_entails": way, "entails_answer": way}  # fmt: skip
    marks = {"scheme": "CIA", "steps": steps, "info": info, "assumptions": steps and 0,
             "difficulty": None, "status": steps and "judged", "reason": None}  # fmt: skip
    kept = {"statement": "It is A.", "statement_status": "judged", "references": [reference],
            "marks": marks}  # fmt: skip
    return json.dumps(kept, separators=(",", ":"))


def test_labels_of_a_column_with_another_name_are_those_of_the_answers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The runs had no such column, which was said once all of them were made."""
    rows = [
        {"question": f"q{n}", "gold": "a", "answer": "ab"[n % 2], "human": int(n % 3 > 0)}
        for n in range(12)
    ]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    once = ("reliability", "a.jsonl", "-j", "exact_match", "--samples", 2, "-q")
    assert said(capsys, *once)[0] == 0
    code, out, err = said(capsys, *once, "--label-column", "human")
    assert code == 0, err
    assert "Spread over runs, against labels" in out


def test_runs_of_several_judges_name_the_option_that_chooses_one(
    capsys: pytest.CaptureFixture[str], example: Path
) -> None:
    """`--judge`, which was named, judges anew."""
    for place in range(2):
        markscheme.judge(example, ["contains", "token_f1"], out=f"run{place}")
    code, _, err = said(capsys, "reliability", "run0", "run1")
    assert code == 2
    assert "choose it with --recorded NAME" in " ".join(err.split())
    assert said(capsys, "reliability", "run0", "run1", "--recorded", "contains")[0] == 0
