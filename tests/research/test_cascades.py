"""`research cascade`: thresholds with a guarantee, and agreement against calls on NQ301."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import markscheme
from markscheme.agreement import open_run
from markscheme.cli import run
from markscheme.contract.grammar import parse_judge
from markscheme.engine.execute import apply
from markscheme.errors import AgreementError
from markscheme.tables.answers import read_answers, write_answers
from markscheme_research.studies import CascadeOptions, choose_cascade
from markscheme_research.studies.cascades import (
    choose_setting,
    curve,
    decide,
    fitted_path,
    question_losses,
    safe_on_average,
)


def made(seed: int, questions: int) -> pl.DataFrame:
    """A cheap judge with calibrated scores, a dear one right nineteen times in twenty."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(rng.beta(0.5, 0.4, questions), 3)
    scores = np.clip(truth + rng.normal(0, 0.08, len(truth)), 0, 1)
    labels = rng.random(len(truth)) < truth
    then = np.where(rng.random(len(truth)) < 0.95, labels, ~labels).astype(float)
    columns = {"scores": scores, "first": (scores >= 0.5) * 1.0, "then": then, "labels": labels}
    return pl.DataFrame(columns | {"clusters": np.repeat(np.arange(questions), 3)})


SETTINGS = [(np.inf, -np.inf), *((1 - doubt, doubt) for doubt in np.linspace(0, 0.5, 40))]
"""Fixed beforehand, as the guarantees ask for."""

TRUE_RISKS = question_losses(SETTINGS, made(10_000, 60_000)).mean(axis=1)


def test_the_true_risks_leave_something_to_choose() -> None:
    assert TRUE_RISKS[0] < 0.06
    assert TRUE_RISKS[-1] > 0.15


@pytest.mark.parametrize(("limit", "questions"), [(0.1, 60), (0.1, 300), (0.12, 120)])
def test_the_expected_risk_stays_below_the_limit(limit: float, questions: int) -> None:
    """Conformal risk control: the mean over 400 sets of labels, within Monte Carlo error."""
    risks, nothing = [], 0
    for seed in range(400):
        place = safe_on_average(question_losses(SETTINGS, made(seed, questions)), limit)
        nothing += place is None
        risks.append(0.0 if place is None else TRUE_RISKS[place])
    assert nothing <= 40
    assert np.mean(risks) <= limit + 3 * float(np.std(risks)) / 20
    assert np.mean(risks) > limit - 0.05


def test_the_promise_holds_with_settings_learned_from_other_questions() -> None:
    """All of `choose_setting`: settings ordered on a part of the labels, tested on another."""
    new = made(20_000, 20_000)
    risks = []
    for seed in range(100):
        chosen = choose_setting(
            made(seed, 150), CascadeOptions(agreement=0.9, share=0.8, seed=seed)
        )
        if chosen.accept is not None and chosen.reject is not None:
            verdicts, _ = decide(new, chosen.accept, chosen.reject)
            risks.append(float((verdicts != new["labels"].to_numpy()).mean()))
    assert len(risks) > 80
    assert np.mean(risks) <= 0.1 + 3 * np.std(risks) / 10


def test_too_few_labels_promise_nothing() -> None:
    losses = np.zeros((3, 5))
    assert safe_on_average(losses, 0.1) is None
    assert safe_on_average(losses, 0.2) == 2


def test_a_path_grows_bolder_and_what_is_decided_stays_decided() -> None:
    data = made(3, 200)
    path = fitted_path(data["scores"].to_numpy(), data["labels"].to_numpy())
    assert path[0] == (np.inf, -np.inf)
    assert all(a[0] >= b[0] and a[1] <= b[1] for a, b in pairwise(path))
    assert all(reject < accept for accept, reject in path)
    before, asked_before = decide(data, *path[0])
    assert asked_before.all()
    for setting in path:
        verdicts, asked = decide(data, *setting)
        assert not (asked & ~asked_before).any()
        assert (verdicts[~asked_before] == before[~asked_before]).all()
        before, asked_before = verdicts, asked


def test_what_was_not_judged_goes_to_the_other_judge_or_counts_as_an_error() -> None:
    data = pl.DataFrame(
        {"scores": [np.nan, 0.9, 0.5, 0.5], "then": [1.0, 0.0, np.nan, 1.0],
         "labels": [True, True, True, False], "clusters": [0, 0, 1, 1]}
    )  # fmt: skip
    verdicts, asked = decide(data, 0.8, 0.2)
    assert asked.tolist() == [True, False, True, True]
    assert verdicts[[0, 1, 3]].tolist() == [1, 1, 1]
    settings = [(0.8, 0.2)]
    assert question_losses(settings, data).tolist() == [[0.0, 1.0]]
    row = curve(settings, data).row(0, named=True)
    assert (row["agreement"], row["not_judged"], row["calls"]) == (0.5, 0.25, 0.75)
    with pytest.raises(AgreementError, match="no score"):
        fitted_path(np.array([np.nan]), np.array([True]))


def test_goals() -> None:
    data = made(5, 400)
    plain = choose_setting(data, CascadeOptions())
    assert (plain.accept, plain.calls, plain.gap) == (None, None, None)
    assert plain.curve["calls"][0] == 1
    budget = choose_setting(data, CascadeOptions(calls=0.4))
    assert budget.calls is not None
    assert budget.calls <= 0.45
    assert budget.test_questions == 0
    sure = choose_setting(data, CascadeOptions(agreement=0.78))
    assert (sure.path_questions, sure.test_questions, sure.held_out_questions) == (67, 133, 200)
    assert sure.calls is not None
    assert choose_setting(data, CascadeOptions(agreement=0.78)).accept == sure.accept
    assert choose_setting(data, CascadeOptions(agreement=0.95)).accept is None
    for wrong in (
        CascadeOptions(agreement=0.8, calls=0.4),
        CascadeOptions(agreement=1.5),
        CascadeOptions(calls=0.0),
    ):
        with pytest.raises(AgreementError):
            choose_setting(data, wrong)


# --- NQ301 ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def nq301(data_dir: Path) -> pl.DataFrame:
    """BEM as the cheap judge, text-davinci-003 as the dear one; nobody is asked anything."""
    from markscheme_research.datasets import load, recorded

    pairs = load("nq301", rows="pairs", data_dir=data_dir)
    bem = recorded("nq301", "bem", data_dir=data_dir)
    davinci = recorded("nq301", "text-davinci-003", data_dir=data_dir)
    return pl.DataFrame(
        {"scores": bem["score"], "first": bem["verdict"].cast(pl.Float64).fill_null(np.nan),
         "then": davinci["verdict"].cast(pl.Float64).fill_null(np.nan),
         "labels": pairs["label"] == 1,
         "clusters": pairs["question"].rank("dense").cast(pl.Int64) - 1}
    )  # fmt: skip


def test_two_fifths_of_the_calls_keep_the_agreement_within_a_point(nq301: pl.DataFrame) -> None:
    """Thresholds from one half of the questions, figures from the other, for thirty splits."""
    found = [choose_setting(nq301, CascadeOptions(calls=0.4, seed=seed)) for seed in range(30)]
    calls = [one.calls for one in found if one.calls is not None]
    gaps = [one.gap.value for one in found if one.gap is not None]
    assert len(calls) == len(gaps) == 30
    assert np.mean(calls) <= 0.40
    assert np.mean(gaps) >= -0.01
    first = found[0]
    assert first.calls is not None
    assert first.gap is not None
    assert first.calls <= 0.40
    assert (first.gap.value or 0) >= -0.01


@pytest.fixture(scope="module")
def files(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    from markscheme_research.datasets import load, recorded

    folder = tmp_path_factory.mktemp("nq301")
    tables = [recorded("nq301", name, data_dir=data_dir) for name in ("bem", "text-davinci-003")]
    pl.concat(tables).write_parquet(folder / "judgments.parquet")
    write_answers(load("nq301", rows="pairs", data_dir=data_dir), folder / "labels.jsonl")
    return str(folder / "judgments.parquet"), str(folder / "labels.jsonl")


def command(files: tuple[str, str], *more: str) -> int:
    return run(
        ["research", "cascade", files[0], "--first", "bem", "--then", "text-davinci-003",
         "--labels", files[1], *more]
    )  # fmt: skip


def test_the_command_prints_the_curve_and_the_choice(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(files, "--calls", "0.4") == 0
    said = capsys.readouterr().out
    for text in (
        "accept from", "100.0", "chosen", "seed 0", "151 held out",
        "judge: cascade(first=bem, then=text-davinci-003, accept=", "names as recorded",
    ):  # fmt: skip
        assert text in said
    assert command(files, "--agreement", "0.8") == 0
    assert "conformal risk control" in capsys.readouterr().out
    assert command(files, "--agreement", "0.95") == 0
    assert "cannot be guaranteed" in capsys.readouterr().out
    assert command(files) == 0
    assert "no thresholds are chosen" in capsys.readouterr().out


def test_the_command_gives_data_and_names_errors(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "cascade.json"
    assert command(files, "--calls", "0.4", "--out", str(out)) == 0
    data = json.loads(out.read_text())
    assert data["chosen"]["calls"] <= 0.4
    assert data["judge"].startswith("cascade(first=bem")
    assert data["chosen"]["curve"][0]["calls"] == 1.0
    capsys.readouterr()
    wrong = ["--first", "bme", "--then", "bem", "--labels", files[1]]
    assert run(["research", "cascade", files[0], *wrong]) == 2
    assert "did you mean 'bem'" in capsys.readouterr().err.replace("\n", " ")
    assert command(files, "--calls", "7") == 2
    assert "between 0 and 1" in capsys.readouterr().err


def test_the_judge_that_the_command_names_does_what_it_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    rows = []
    for place in range(120):
        right = bool(rng.random() < 0.5)
        rows.append(
            {"id": str(place), "question": f"Who? {place}", "references": ["Jane Austen"],
             "answer": "Jane Austen" if right else rng.choice(["Austen", "nobody", "George Eliot"]),
             "label": int(right)}
        )  # fmt: skip
    source, judged = tmp_path / "answers.jsonl", tmp_path / "run"
    source.write_text("\n".join(json.dumps(row) for row in rows))
    judges = ["--judge", "token_f1", "--judge", "exact_match"]
    assert run(["judge", str(source), *judges, "--out", str(judged), "--quiet"]) == 0
    out = tmp_path / "cascade.json"
    arguments = ["research", "cascade", str(judged), "--first", "token_f1",
                 "--then", "exact_match", "--labels", str(source), "--calls", "0.4",
                 "--out", str(out)]  # fmt: skip
    assert run(arguments) == 0
    assert "names as recorded" not in capsys.readouterr().out
    name = json.loads(out.read_text())["judge"]
    verdicts = apply(parse_judge(name), read_answers(str(source)))["verdict"].to_list()
    assert verdicts == [row["label"] == 1 for row in rows]


# --- from any source --------------------------------------------------------------------------


def chosen(judgments: Any, labels: Any = None, **how: Any) -> Any:
    """What `choose_cascade` gives of two judges of the example."""
    return choose_cascade(judgments, labels, first="token_f1", then="contains", calls=0.6, **how)


def test_the_command_prints_what_the_function_returns_whatever_judged_answers_come_as(
    example: Path, tmp_path: Path, cli: Callable[..., str]
) -> None:
    folder = tmp_path / "run"
    result = markscheme.judge(example, ["contains", "token_f1"], out=folder)
    judgments, answers = result.judgments, result.answers
    words = ("--first", "token_f1", "--then", "contains", "--calls", "0.6", "--format", "json")
    out = cli("research", "cascade", folder, *words)
    for found in (
        chosen(folder),
        chosen(result),
        chosen(open_run(folder)),
        chosen(folder / "judgments.parquet"),
        chosen(judgments, answers, answers=answers),
        chosen(judgments.to_dicts(), answers.to_dicts(), answers=answers.to_dicts()),
    ):
        assert found.to_json() == out
    assert isinstance(found.frame, pl.DataFrame)
    assert found.frame.height == len(found.to_pandas())
    assert "tabular" in found.to_latex()
    assert "<table" in found._repr_html_()


def test_labels_are_matched_as_other_commands_do_it(example: Path) -> None:
    result = markscheme.judge(example, ["contains", "token_f1"])
    labels = result.answers.select("answer_id", "question", "answer", "system", "label")
    right = chosen(result, labels)
    turned = pl.concat([labels["answer_id"][7:], labels["answer_id"][:7]])
    found = chosen(result, labels.with_columns(answer_id=turned))
    assert found.frame.equals(right.frame)
    assert "ids are of other rows" in str(found)
    assert "ids are of other rows" not in str(right)


def test_a_judge_alone_counts_by_its_own_verdicts() -> None:
    rows = [
        {"question": f"q{n}", "answer": "x", "label": n % 2, "judge": judge, "verdict": n % 2,
         "score": score if n % 2 else 0.6}
        for n in range(60) for judge, score in (("cosine", 0.9), ("other", 1.0))
    ]  # fmt: skip
    found = choose_cascade(rows, first="cosine", then="other")
    assert found.chosen.cheap_agreement == 1.0, "it accepts from 0.77 on, say, and not from 0.5"


def test_answers_that_one_judge_alone_judged_are_counted_on_both_sides() -> None:
    rows = [
        {"question": f"q{n}", "answer": "x", "label": n % 2, "judge": judge, "verdict": n % 3 > 0}
        for judge, numbers in (("one", range(100)), ("two", range(20, 120))) for n in numbers
    ]  # fmt: skip
    found = choose_cascade(rows, first="one", then="two")
    assert "40 answers that only one of the two judged are left out" in found.data["matched"]


def test_the_former_names_are_understood(cli: Callable[..., str]) -> None:
    for name in ("choose_cascade", "CascadeOptions"):
        with pytest.warns(DeprecationWarning, match=f"markscheme_research.{name} now"):
            assert getattr(markscheme, name) in (choose_cascade, CascadeOptions)
    assert "--agreement" in cli("cascade", "--help")
