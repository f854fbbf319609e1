"""The statistics commands as a user calls them, and the calibrated judge."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from markscheme.agreement.calibration import fit_map
from markscheme.cli import run
from markscheme.contract.grammar import judge_name, parse_judge, signature
from markscheme.engine.execute import apply
from markscheme.errors import JudgeError
from markscheme.judges.combined.calibrated import Calibrated
from markscheme.judges.lexical.words import TokenF1
from markscheme.tables.answers import read_answers

Cli = Callable[..., str]


@pytest.fixture(scope="session")
def judged(example: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("judged") / "run"
    judges = ["-j", "exact_match", "-j", "token_f1", "-j", "contains"]
    assert run(["judge", str(example), *judges, "-o", str(folder), "--quiet"]) == 0
    return str(folder)


@pytest.fixture(scope="session")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """600 questions, two systems, a judge with scores and a better one, and labels of all."""
    rng = np.random.default_rng(8)
    label = rng.random(1200) < np.repeat(rng.beta(4, 2, 600), 2)
    path = tmp_path_factory.mktemp("big") / "big.csv"
    pl.DataFrame(
        {
            "question": [f"q{i // 2}" for i in range(1200)],
            "answer": [f"a{i}" for i in range(1200)],
            "system": ["x", "y"] * 600,
            "human": np.where(label, "yes", "no"),
            "scorer": np.clip(0.3 * label + 0.7 * rng.random(1200), 0, 1).round(4),
            "careful": np.where(rng.random(1200) < 0.95, label, ~label),
        }
    ).write_csv(path)
    return path


def test_agree_prints_and_writes(cli: Cli, judged: str, example: Path, tmp_path: Path) -> None:
    out = cli(
        *("agree", judged, "--labels", example, "--by", "system"),
        *("--annotators", "-o", tmp_path / "a.json"),
    )
    assert "744 judgments matched with labels by answer_id" in out
    assert "n/a (the judge accepted nothing)" in out
    assert "Fleiss' kappa" in out
    assert "nan" not in out.lower().replace("annotator", "")
    data = json.loads((tmp_path / "a.json").read_text())
    assert len(data["judges"]) == 15
    chatty = next(
        row for row in data["judges"] if (row["judge"], row["system"]) == ("exact_match", "chatty")
    )
    assert chatty["left_out"]["precision"] == {
        "value": None,
        "reason": "the judge accepted nothing",
    }


@pytest.mark.parametrize(
    ("format", "start"),
    [
        ("csv", "judge,system,answers"),
        ("markdown", "contains agrees with people on "),
        ("latex", "% contains agrees with people on "),
    ],
)
def test_other_formats(cli: Cli, judged: str, example: Path, format: str, start: str) -> None:
    out = cli("agree", judged, "--labels", example, "--format", format)
    assert out.startswith(start)


def test_json_to_standard_output_is_json_alone(cli: Cli, big: Path) -> None:
    out = cli("agree", big, "--judges", "scorer,careful", "--format", "json")
    data: dict[str, Any] = json.loads(out)
    assert [row["judge"] for row in data["judges"]] == ["scorer", "careful"]
    assert data["judges"][0]["left_out"]["auroc"]["low"] is not None


def test_a_wide_file_with_labels_needs_no_other(cli: Cli, big: Path) -> None:
    out = cli("agree", big)
    assert "scorer" in out
    assert "careful" in out
    assert "2,400 judgments matched with labels" in out


def test_the_label_is_never_taken_for_a_judge(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "correct.csv"
    path.write_text("question,answer,correct,gpt\nq,a,1,0\nq,b,0,1\nr,a,1,1\n")
    out = cli("agree", path, "--format", "json")
    (found,) = json.loads(out)["judges"]
    assert found["judge"] == "gpt"
    assert found["left_out"]["accuracy"]["value"] == pytest.approx(1 / 3)


def test_not_judged_is_told_apart(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "holes.csv"
    rows = "\n".join(
        f"q{i},a,{'yes' if i % 3 else ''},{'yes' if i % 2 else 'no'}" for i in range(30)
    )
    path.write_text(f"question,answer,verdict,label\n{rows}\n")
    out = cli("agree", path)
    assert "10 failed" in out
    assert "not judged counted as errors" in out


def test_the_test_of_relations_is_a_command_of_research(cli: Cli, big: Path) -> None:
    out = cli("agree", big, "--relations", code=2)
    assert "'markscheme agree --relations' is 'markscheme research hierarchy' now" in out


@pytest.mark.parametrize(
    ("words", "instead"),
    [(("annotate", "--order", "informative"), "'markscheme estimate --anytime' now"),
     (("annotate", "--order=informative"), "'markscheme plan-labels'"),
     (("cascade", "--guarantee", "probability"), "'markscheme research cascade --agreement'"),
     (("cascade", "--delta=0.2"), "'markscheme research cascade --agreement'"),
     (("judge", "--anchors", "anchors.jsonl"), "'markscheme llm drift FILE --every 1' now")],
)  # fmt: skip
def test_options_that_are_gone_name_what_answers_their_question(
    words: tuple[str, ...], instead: str, cli: Cli, big: Path
) -> None:
    out = cli(words[0], big, *words[1:], code=2)
    assert instead in out


def test_grades_are_correlated_within_questions(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "graded.csv"
    rows = "\n".join(f"q{i // 4},a{i},{i % 4},{(i % 4) / 4}" for i in range(40))
    path.write_text(f"question,answer,grade,score\n{rows}\nlone,a,2,0.5\n")
    out = cli("agree", path, "--per-question")
    assert "Kendall tau-b" in out
    assert out.count("1.000") == 3
    assert "constant, and those with a single answer" in out
    told = cli("agree", path, code=2)
    assert "the labels are grades (0, 1, 2, 3)" in told
    assert "--positive-from" in told
    assert "Judgments against labels" in cli("agree", path, "--positive-from", "2")


def test_compare_judges_and_systems(cli: Cli, big: Path, judged: str, example: Path) -> None:
    out = cli("compare", big, "--judges", "scorer,careful")
    assert "tango (score test by question)" in " ".join(out.split())
    kappa = cli("compare", big, "--statistic", "kappa")
    assert "Difference of kappa" in kappa
    assert "in percent" not in kappa
    systems = ("compare", judged, "--systems", "--judges", "contains", "--answers", example)
    assert "chatty" in cli(*systems)
    assert "no system named 'nobody'. There are" in cli(*systems, "--only", "terse,nobody", code=2)
    told = cli("compare", judged, "--systems", "--answers", example, code=2)
    assert "choose with --judge one of" in told
    assert "with --judge " in told


@pytest.mark.parametrize(
    ("options", "why"),
    [(("--only", "terse,chatty"), "--only requires --systems (Python: systems=True)"),
     (("--systems", "--statistic", "kappa"), "leave out --statistic, or --systems"),
     (("--systems", "--statistic", "nonsense"), "leave out --statistic, or --systems")],
)  # fmt: skip
def test_options_without_effect_are_refused(
    cli: Cli, big: Path, options: tuple[str, ...], why: str
) -> None:
    assert why in " ".join(cli("compare", big, *options, code=2).split())


def test_flags_that_do_nothing_any_more_are_ignored_with_a_note(
    big: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["compare", str(big), "--judges", "scorer,careful"]
    assert run(line) == 0
    wanted = capsys.readouterr().out
    assert run([*line, "--resamples", "9", "--seed=1"]) == 0
    out, err = capsys.readouterr()
    assert out == wanted
    assert "note: --resamples, --seed: no longer used" in " ".join(err.split())


def test_rank_prints_and_says_what_answers_the_protocol_of_before(
    cli: Cli, judged: str, example: Path
) -> None:
    line = ("rank", judged, "--labels", example)
    direct = cli(*line)
    assert "human - exact_match" in direct
    assert "Kendall tau-b" in direct
    assert cli(*line, "--protocol", "direct", "--resamples", "9") == direct
    told = " ".join(cli(*line, "--protocol", "amended", code=2).split())
    assert "is 'markscheme research amend' or 'markscheme research bench' now" in told


def test_nq301_by_the_command_line(cli: Cli, nq301_labels: pl.DataFrame, tmp_path: Path) -> None:
    """Figures of Kamalloo et al. from a file, as a user would have it."""
    nq301_labels.drop("bem_score", "annotator3").write_csv(tmp_path / "labels.csv")
    agree = cli(
        *("agree", tmp_path / "labels.csv", "--judges", "bem,davinci"),
        *("--annotators", "--blanks", "category", "--format", "json"),
    )
    data = json.loads(agree)
    rows = {row["judge"]: row["left_out"] for row in data["judges"]}
    assert round(rows["davinci"]["accuracy"]["value"], 3) == 0.838
    assert round(rows["bem"]["kappa"]["value"], 3) == 0.616
    assert data["annotators"]["disagreements"] == 202
    assert round(data["annotators"]["fleiss_kappa"]["value"], 4) == 0.7276
    told = cli("agree", tmp_path / "labels.csv", "--annotators", "--people", "me", code=2)
    assert "no annotator 'me'; there are annotator1, annotator2" in told
    told = cli("agree", tmp_path / "labels.csv", "--people", "me", code=2)
    assert "--people requires --annotators" in told
    told = cli("agree", tmp_path / "labels.csv", "--blanks", "category", code=2)
    assert "--blanks category requires --annotators" in told


def test_from_a_plan_to_an_estimate(cli: Cli, big: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.csv"
    told = cli(
        *("plan-labels", big, "--judge", "scorer", "--half-width", "0.05"),
        *("--seed", "1", "-o", plan),
    )
    assert "labels give an interval of +-5 points or narrower in 80% of samples" in told
    drawn = pl.read_csv(plan)
    assert drawn.columns == ["question", "answer", "system", "label", "inclusion_probability"]
    assert drawn["label"].null_count() == drawn.height
    people = pl.read_csv(big).select("question", "answer", "human")
    filled = drawn.drop("label").join(people, on=["question", "answer"])
    filled.rename({"human": "label"}).write_csv(plan)
    out = cli("estimate", big, "--judge", "scorer", "--labels", plan, "--format", "json")
    (found,) = json.loads(out)["estimates"]
    truth = (people["human"] == "yes").mean()
    figures = {one["method"]: one["figure"] for one in found["estimates"]}
    assert set(figures) == {"ppi_tuned", "labels_only"}
    for figure in figures.values():
        assert figure["low"] <= truth <= figure["high"]
    shown = cli("estimate", big, "--judge", "scorer", "--labels", plan, "--by", "system")
    assert "by labels alone" in shown
    assert "counted by question" in shown


def test_a_plan_that_is_not_kept_says_so(big: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan-labels", str(big), "--judge", "scorer", "--labels", "40"]) == 0
    assert "nothing is written; --out to_label.csv" in capsys.readouterr().err


def test_a_plan_never_writes_over_labels(cli: Cli, big: Path, tmp_path: Path) -> None:
    out = tmp_path / "to_label.csv"
    plan = ("plan-labels", big, "--judge", "scorer", "--count", "40", "-o", out)
    cli(*plan)
    cli(*plan)  # nothing is filled in yet
    drawn = pl.read_csv(out)
    drawn.with_columns(label=pl.when(pl.int_range(40) < 12).then(1)).write_csv(out)
    kept = out.read_bytes()
    said = " ".join(cli(*plan, code=2).split())
    assert "holds 12 labels, which would be lost" in said
    assert out.read_bytes() == kept
    cli(*plan, "--pilot", out)
    assert pl.read_csv(out)["label"].count() == 12
    table = pl.read_csv(out, schema_overrides={"label": pl.String})
    unsure = table.with_columns(label=pl.when(pl.int_range(table.height) < 1).then(pl.lit("unsure"))
                                .otherwise("label"))  # fmt: skip
    unsure.write_csv(out)
    kept = out.read_bytes()
    said = " ".join(cli(*plan, code=2).split())
    assert "holds 12 labels, which would be lost" in said, "one of them cannot be read"
    assert out.read_bytes() == kept
    for name, start in (("first", 0), ("second", 20)):
        labels = drawn.with_columns(label=pl.when(pl.int_range(40).is_between(start, start + 9))
                                    .then(1))  # fmt: skip
        labels.write_csv(tmp_path / f"{name}.csv")
    said = cli(*plan, "--pilot", tmp_path / "first.csv", "-o", tmp_path / "second.csv", code=2)
    assert "holds 10 labels, which would be lost" in " ".join(said.split()), "they are of others"


def test_plans_by_pilot_by_number_and_by_system(cli: Cli, big: Path, tmp_path: Path) -> None:
    pilot = tmp_path / "pilot.csv"
    pl.read_csv(big).sample(60, seed=1).select("question", "answer", "system", "human").write_csv(
        pilot
    )
    told = cli("plan-labels", big, "--judge", "careful", "--half-width", "0.05", "--pilot", pilot)
    assert ", from 60 labels. " in told
    assert "of them are still to be labelled" in told
    each = cli(
        "plan-labels", big, "--judge", "careful", "--labels", "40", "--by-system",
        "-o", tmp_path / "plan.jsonl",
    )  # fmt: skip
    assert "80 of 1,200 answers drawn" in each
    assert pl.read_ndjson(tmp_path / "plan.jsonl")["system"].value_counts()["count"].to_list() == [
        40,
        40,
    ]
    assert "requires --half-width" in cli("plan-labels", big, "--judge", "careful", code=2)
    assert "choose with --judge" in cli("plan-labels", big, "--labels", "40", code=2)
    far = cli("plan-labels", big, "--judge", "careful", "--half-width", "0.001")
    assert "even all 1,200 labels give no less than +-" in far


def test_estimates_are_refused_with_the_reason(cli: Cli, big: Path, tmp_path: Path) -> None:
    table = pl.read_csv(big)
    few, best = tmp_path / "few.csv", tmp_path / "best.csv"
    table.head(10).write_csv(few)
    table.sort("scorer").tail(200).write_csv(best)
    told = cli("estimate", big, "--judge", "scorer", "--labels", few)
    assert "few labels (10; 20 are needed): the estimate uses the labels only" in told
    told = cli("estimate", big, "--judge", "scorer", "--labels", best, code=2)
    assert "evidently not a random sample" in told
    assert "choose with --judge" in cli("estimate", big, "--labels", big, code=2)


def test_calibrate_writes_a_map_that_the_judge_reads(
    cli: Cli, judged: str, example: Path, tmp_path: Path
) -> None:
    path = tmp_path / "map.json"
    out = cli(
        *("calibrate", judged, "--labels", example, "--judge", "token_f1", "--by", "kappa"),
        *("--save-map", path, "-o", tmp_path / "c.json"),
    )
    assert "chosen by kappa on" in out
    assert "are for further questions like these 31, counted by question" in " ".join(out.split())
    assert "expected calibration error" in out
    data = json.loads((tmp_path / "c.json").read_text())
    assert data["map"]["kind"] == "platt"
    assert data["sensitivity"][0]["accepted"] == 1.0
    name = f'calibrated(base=token_f1, map="{path}")'
    judge = parse_judge(name)
    assert parse_judge(judge_name(judge)) == judge
    answers = read_answers(str(example)).filter(pl.col("answer").str.len_chars() > 0)
    plain, mapped = apply(parse_judge("token_f1"), answers), apply(judge, answers)
    kept = json.loads(path.read_text())
    logits = kept["slope"] * plain["score"].to_numpy() + kept["intercept"]
    assert mapped["score"].to_numpy() == pytest.approx(1 / (1 + np.exp(-logits)), abs=1e-12)
    assert (mapped["verdict"] == (mapped["score"] >= 0.5)).all()
    other = f'calibrated(base=contains, map="{path}")'
    assert "maps the scores of token_f1, not of contains" in " ".join(
        cli("judge", example, "-j", other, "-o", tmp_path / "run", code=2).split()
    )
    options = ("--judge", "token_f1", "--method", "isotonic")
    assert "isotonic map, held-out answers" in cli(
        "calibrate", judged, "--labels", example, *options
    )
    assert "choose with --judge" in cli("calibrate", judged, "--labels", example, code=2)


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_the_judge_and_the_library_map_alike(method: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    scores = rng.random(300)
    fitted = fit_map(scores, rng.random(300) < scores, method=method)  # type: ignore[arg-type]
    fitted.save(tmp_path / "map.json")
    answers = pl.DataFrame(
        {
            "answer": ["red fox", "fox", "dog", None],
            "references": [["red fox"], ["red fox"], ["red fox"], ["x"]],
        }
    ).filter(pl.col("answer").is_not_null())
    judge = Calibrated(base=TokenF1(), map=str(tmp_path / "map.json"), threshold=0.4)
    raw = TokenF1().judge(answers, None)["score"].to_numpy()
    assert judge.judge(answers, None)["score"].to_numpy() == pytest.approx(fitted(raw), abs=1e-12)


def test_a_changed_map_changes_the_signature(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    path.write_text('{"markscheme_calibration": 1, "kind": "platt", "slope": 1, "intercept": 0}')
    judge = Calibrated(base=TokenF1(), map=str(path))
    first = signature(judge)
    path.write_text('{"markscheme_calibration": 1, "kind": "platt", "slope": 2, "intercept": 0}')
    assert signature(judge) != first


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read"),
        ("{", "is not a calibration map"),
        ("[]", "is not a calibration map"),
        ('{"markscheme_calibration": 1, "kind": "isotonic"}', "missing or wrong part"),
    ],
)
def test_maps_that_are_none(tmp_path: Path, content: str | None, message: str) -> None:
    path = tmp_path / "map.json"
    if content is not None:
        path.write_text(content)
    answers = pl.DataFrame({"answer": ["a"], "references": [["a"]]})
    with pytest.raises(JudgeError, match=message):
        Calibrated(base=TokenF1(), map=str(path)).judge(answers, None)


def test_a_base_without_scores_cannot_be_calibrated(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    path.write_text('{"markscheme_calibration": 1, "kind": "platt", "slope": 1, "intercept": 0}')

    class Bare:
        def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
            return pl.DataFrame({"verdict": [True] * answers.height})

    answers = pl.DataFrame({"answer": ["a"], "references": [["a"]]})
    with pytest.raises(JudgeError, match="1 of 1 judgments of the base judge have no score"):
        Calibrated(base=Bare(), map=str(path)).judge(answers, None)
    with pytest.raises(JudgeError, match="threshold=2 must lie between 0 and 1"):
        Calibrated(base=TokenF1(), map=str(path), threshold=2).validate()


def test_bad_files_end_with_a_plain_error(cli: Cli, judged: str, tmp_path: Path) -> None:
    torn = tmp_path / "torn.csv"
    torn.write_text("answer_id,label\nq01-terse,1\nq01-terse,0\n")
    assert "contradictory labels: 'q01-terse'." in cli("agree", judged, "--labels", torn, code=2)
    stranger = tmp_path / "stranger.csv"
    stranger.write_text("answer_id,label\nnobody,1\n")
    assert "no judgment matches a label" in cli("agree", judged, "--labels", stranger, code=2)
    good = tmp_path / "good.csv"
    good.write_text("answer_id,label\nq01-terse,1\nq01-chatty,0\n")
    told = cli("agree", judged, "--labels", good, "-o", tmp_path / "x.doc", code=2)
    assert "the endings are .json, .csv, .md, .tex, .txt, not '.doc'" in told


def test_labels_drawn_with_unequal_chances_are_pointed_out(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "drawn.csv"
    rows = "\n".join(f"{i},{i % 2},{i % 3 % 2},{0.1 + i % 2 / 10}" for i in range(30))
    path.write_text(f"answer_id,verdict,label,inclusion_probability\n{rows}\n")
    assert "drawn with unequal chances" in cli("agree", path)
