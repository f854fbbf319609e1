"""Juries: votes weighed on labels, honest about judges that err alike, and used by a judge."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import markscheme
from markscheme.cli import run
from markscheme.contract.grammar import judge_name, parse_judge
from markscheme.errors import AgreementError, JudgeError
from markscheme.models.sources import ModelOptions, Models
from markscheme.testing import ScriptedChat
from markscheme_research.studies import fit_weights, jury

QUESTIONS = 200


def recorded(seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two copies of a judge of 75%, an independent one of 85%, and a coin."""
    rng = np.random.default_rng(seed)
    truth = rng.random(QUESTIONS) < 0.5
    poor = np.where(rng.random(QUESTIONS) < 0.75, truth, ~truth)
    good = np.where(rng.random(QUESTIONS) < 0.85, truth, ~truth)
    coin = rng.random(QUESTIONS) < 0.5
    ids = [str(place) for place in range(QUESTIONS)]
    base = pl.DataFrame({"answer_id": ids, "question": [f"q{one}" for one in ids]})
    judged = pl.concat(
        base.with_columns(judge=pl.lit(name), status=pl.lit("judged"), verdict=pl.Series(values))
        for name, values in
        (("first", poor), ("second", poor), ("good", good), ("coin", coin))
    )  # fmt: skip
    return judged, base.with_columns(label=pl.Series(truth).cast(pl.Float64))


def test_judges_that_err_alike_share_a_weight_and_a_coin_has_none() -> None:
    judged, labels = recorded()
    found = jury(judged, labels, share=0.5)
    weights = found.weights.weights
    assert weights["first"] == pytest.approx(weights["second"], abs=1e-3)
    assert weights["good"] > weights["first"] + weights["second"] - 0.3
    assert weights["coin"] < 0.3
    rows = {row["judge"]: row for row in found.frame.iter_rows(named=True)}
    assert rows["(jury)"]["agreement"] >= rows["first"]["agreement"]
    assert rows["(jury)"]["auroc"] > rows["good"]["auroc"]
    assert rows["(jury)"]["judged"] == QUESTIONS / 2
    assert rows["good"]["low"] < rows["good"]["agreement"] < rows["good"]["high"]


def test_a_member_agrees_by_its_own_verdicts() -> None:
    judged, labels = recorded()
    score = pl.when("verdict").then(0.9).otherwise(0.6)
    scored = judged.with_columns(score=pl.when(pl.col("judge") == "good").then(score))
    by_verdicts, by_scores = (
        {row["judge"]: row for row in jury(one, labels, share=0.5).frame.iter_rows(named=True)}
        for one in (judged, scored)
    )
    assert by_scores["good"]["agreement"] == by_verdicts["good"]["agreement"] > 0.75
    assert by_scores["good"]["auroc"] == by_verdicts["good"]["auroc"]
    assert by_scores["good"]["ece"] != by_verdicts["good"]["ece"]


def test_weights_are_those_of_a_ridge_regression() -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(1)
    votes = rng.uniform(-1, 1, (300, 3))
    labels = rng.random(300) < 1 / (1 + np.exp(-votes @ [2.0, 1.0, 0.5] - 0.3))
    found = fit_weights(votes, labels, "abc")
    other = LogisticRegression(C=1.0, tol=1e-9).fit(votes, labels)
    assert list(found.weights.values()) == pytest.approx(other.coef_[0], abs=1e-3)
    assert found.intercept == pytest.approx(other.intercept_[0], abs=1e-3)
    votes[::3, 0] = np.nan
    assert all(weight >= 0 for weight in fit_weights(-votes, labels, "abc").weights.values())


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda judged, labels: (judged.filter(judge="good"), labels), "two judges or more"),
        (lambda judged, labels: (judged, labels.head(30)), "too few to weigh"),
        (lambda judged, labels: (judged, labels.with_columns(label=1.0)), "only one class"),
    ],
)
def test_what_cannot_be_weighed_is_said(change: object, why: str) -> None:
    with pytest.raises(AgreementError, match=why):
        jury(*change(*recorded()))  # type: ignore[operator]


def weights(path: Path, **judges: float) -> str:
    content = {"markscheme_jury": 1, "judges": judges, "intercept": -0.5, "answers": 100}
    path.write_text(json.dumps(content))
    return str(path)


def test_a_jury_votes_by_weights(tmp_path: Path) -> None:
    file = weights(tmp_path / "jury.json", exact_match=0.25, contains=2.0)
    name = f"jury(judges=[exact_match, contains], weights='{file}')"
    rows = [{"question": "q", "references": ["Paris"], "answer": text}
            for text in ("It is Paris", "Rome")]  # fmt: skip
    found = markscheme.judge(rows, name).judgments
    chance = 1 / (1 + math.exp(-(-0.5 - 0.25 + 2.0)))
    assert found["score"][0] == pytest.approx(chance)
    assert found["verdict"].to_list() == [True, False]
    decides = "1 of 2 accept, and the probability by the weights of 0.78 decides: "
    assert found["explanation"][0].startswith(decides)
    judge = parse_judge(name)
    assert parse_judge(judge_name(judge)) == judge
    before = judge.identity(None)  # type: ignore[attr-defined]
    weights(tmp_path / "jury.json", exact_match=0.5, contains=2.0)
    assert judge.identity(None) != before  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "cannot be read"),
        ("[]", "not a file of weights"),
        ('{"markscheme_jury": 1, "judges": {"contains": 1}, "intercept": 0}', "'exact_match'"),
        (
            '{"markscheme_jury": 1, "judges": {"contains": 1, "exact_match": 1, "bleu": 1}, '
            '"intercept": 0}',
            "'bleu'",
        ),
        (
            '{"markscheme_jury": 1, "judges": {"contains": 1, "exact_match": "inf"}, '
            '"intercept": 0}',
            "not a number",
        ),
    ],
)
def test_weights_of_other_judges_are_refused(content: str | None, why: str, tmp_path: Path) -> None:
    file = tmp_path / "jury.json"
    if content is not None:
        file.write_text(content)
    rows = [{"question": "q", "references": ["Paris"], "answer": "Paris"}]
    with pytest.raises(JudgeError, match=why):
        markscheme.judge(rows, f"jury(judges=[exact_match, contains], weights='{file}')")


def test_the_command_writes_what_a_jury_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged, labels = recorded()
    judged.write_parquet(tmp_path / "judged.parquet")
    labels.write_parquet(tmp_path / "labels.parquet")
    arguments = ["jury", str(tmp_path / "judged.parquet"), "--labels",
                 str(tmp_path / "labels.parquet")]  # fmt: skip
    assert run([*arguments, "--save-weights", str(tmp_path / "jury.json")]) == 0
    assert "(jury)" in capsys.readouterr().out
    content = json.loads((tmp_path / "jury.json").read_text())
    assert list(content["judges"]) == ["first", "second", "good", "coin"]
    assert run([*arguments, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(jury(
        str(tmp_path / "judged.parquet"), str(tmp_path / "labels.parquet")
    ).to_json())  # fmt: skip


def test_a_jury_of_two_providers_in_one_run(tmp_path: Path) -> None:
    """Each member asks its own model; costs and calls are of both."""
    one = ScriptedChat(name="one", replies=lambda _: "Yes")
    two = ScriptedChat(name="two", replies=lambda _: "No")
    names = ["llm_evouna(model='one')", "llm_evouna(model='two')"]
    names = [judge_name(parse_judge(name)) for name in names]
    file = weights(tmp_path / "jury.json", **{names[0]: 0.5, names[1]: 3.0})
    models = Models(chat=one, named={"two": two}, options=ModelOptions())
    rows = [{"question": "q", "references": ["Paris"], "answer": "Paris!"}]
    name = f"jury(judges=[{', '.join(names)}], weights='{file}')"
    found = markscheme.judge(rows, name, models=models).judgments
    assert (len(one.seen), len(two.seen)) == (1, 1)
    assert found["verdict"].to_list() == [False]
    assert found["score"][0] == pytest.approx(1 / (1 + math.exp(0.5 - 0.5 + 3.0)))
