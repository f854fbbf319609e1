"""Agreement of runs with one another, and what the entailment judge kept, as tables."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sacrebleu import corpus_bleu
from sklearn.metrics import cohen_kappa_score, f1_score

from markscheme.errors import AgreementError
from markscheme_research.studies import entailment_details, reliability
from markscheme_research.studies.repeats import kappa_matrix, spread, text_repeats

KEPT = (
    '{"statement":"It is A.","statement_status":"judged","statement_reply":null,"in_superior":true,'
    '"references":[{"reference":"B","statement":null,"statement_status":"unparsed",'
    '"answer_entails":{"entailed":null,"score":null,"status":"unparsed","label":null,"reply":""},'
    '"entails_answer":{"entailed":true,"score":0.9,"status":"judged","label":"entailment"}}],'
    '"marks":{"scheme":"CIA","gap":13.0,"steps":1,"info":1,"assumptions":0,"difficulty":null,'
    '"status":"judged","reason":null}}'
)


def test_what_the_entailment_judge_kept_becomes_tables() -> None:
    judgments = pl.DataFrame(
        {"answer_id": ["1", "2", "3"], "raw": [KEPT, None, "Yes."], "marks": [1.0, 0.0, 1.0]}
    )
    kept = entailment_details.details(judgments)
    assert kept["answer_id"].to_list() == ["1"]
    assert entailment_details.statements(kept).rows() == [
        ("1", None, "It is A.", "judged"),
        ("1", "B", None, "unparsed"),
    ]
    assert entailment_details.tests(kept).select("way", "entailed", "status").rows() == [
        ("answer_entails", None, "unparsed"),
        ("entails_answer", True, "judged"),
    ]
    (gap,) = (
        entailment_details.gaps(kept).select("steps", "info", "assumptions", "gap_status").rows()
    )
    assert gap == (1, 1, 0, "judged")
    assert entailment_details.details(judgments.drop("raw")).height == 0


runs = pl.DataFrame(
    {
        "seed0": [True, True, False, False, True, None],
        "seed1": [True, False, False, False, True, True],
        "seed2": [True, True, False, True, True, True],
    }
)


def test_runs_agree_by_cohens_kappa() -> None:
    pairs = kappa_matrix(runs).rows(named=True)
    assert [(pair["first"], pair["second"], pair["items"]) for pair in pairs] == [
        ("seed0", "seed1", 5),
        ("seed0", "seed2", 5),
        ("seed1", "seed2", 6),
    ]
    for pair in pairs:
        both = runs.select(pair["first"], pair["second"]).drop_nulls()
        expected = cohen_kappa_score(*(both[name].to_list() for name in both.columns))
        assert pair["kappa"] == pytest.approx(expected)
    relations = pl.DataFrame({"a": ["superior", "inferior"], "b": ["superior", "incorrect"]})
    assert kappa_matrix(relations)["kappa"][0] == pytest.approx(
        cohen_kappa_score(relations["a"].to_list(), relations["b"].to_list())
    )


def test_spread_over_runs() -> None:
    labels = pl.Series([True, True, False, True, True, False])
    found = {row["statistic"]: row for row in spread(runs, labels).rows(named=True)}
    scores = []
    for name in runs.columns:
        keep = runs[name].is_not_null()
        scores.append(f1_score(labels.filter(keep).to_list(), runs[name].filter(keep).to_list()))
    assert found["f1_positive"]["mean"] == pytest.approx(np.mean(scores))
    assert found["f1_positive"]["sd"] == pytest.approx(np.std(scores, ddof=1))
    assert found["f1_positive"]["runs"] == 3


def test_undefined_in_all_runs_is_null() -> None:
    ones = pl.DataFrame({"a": [True, True], "b": [True, True]})
    found = spread(ones, pl.Series([True, True]), statistics=["kappa"]).row(0, named=True)
    assert (found["mean"], found["sd"], found["runs"]) == (None, None, 0)


def test_repeated_texts() -> None:
    texts = pl.DataFrame(
        {
            "run0": ["The sun is a star in the sky.", "Paris is in the north of France.", None],
            "run1": ["The sun is a star in the sky.", "Paris lies in the north of France.", "x"],
        }
    )
    (row,) = text_repeats(texts).rows(named=True)
    assert row["texts"] == 2
    assert row["identical"] == 0.5
    both = texts.drop_nulls()
    expected = corpus_bleu(both["run0"].to_list(), [both["run1"].to_list()]).score
    assert row["similarity"] == pytest.approx(expected)
    with pytest.raises(AgreementError, match="two runs or more"):
        text_repeats(texts.select("run0"))


def test_two_runs_are_compared_on_what_the_first_run_lacks_too() -> None:
    def run(seed: int, answers: int) -> pl.DataFrame:
        verdicts = np.random.default_rng(seed).random(20) < 0.5
        return pl.DataFrame(
            [{"answer_id": f"a{n}", "judge": "j", "verdict": bool(verdicts[n])}
             for n in range(answers)]
        )  # fmt: skip

    three = reliability([run(0, 5), run(1, 20), run(2, 20)]).frame
    assert three["items"].to_list() == [5, 5, 20]
    (pair,) = reliability([run(1, 20), run(2, 20)]).frame["kappa"]
    assert three["kappa"][2] == pair
