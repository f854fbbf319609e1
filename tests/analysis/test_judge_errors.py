"""Errors of judges: kinds, categories, and rates by failure mode."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from markscheme.analysis.error_categories import CATEGORIES, error_rates, judge_errors, kind_of
from markscheme.analysis.mode_detection import failure_modes


@pytest.mark.parametrize(
    ("judge", "kind"),
    [("exact_match", "lexical"), ("token_f1(threshold=0.4)", "lexical"), ("examiner", "neural"),
     ("bertscore", "neural"), ("llm_kamalloo", "llm"), ("Acceptable by GPT-4", "llm"),
     ("my EM column", "lexical"), ("BEM-v2 !", "neural")],
)  # fmt: skip
def test_kinds(judge: str, kind: str) -> None:
    assert kind_of(judge).kind == kind


def row(judge: str, reference: str, answer: str, verdict: bool, **more: Any) -> dict[str, Any]:
    base = {"answer_id": "1", "question": "who did it", "references": [reference]}
    return {**base, "answer": answer, "judge": judge, "verdict": verdict, "score": None,
            "accepted": not verdict, **more}  # fmt: skip


@pytest.mark.parametrize(
    ("judged", "category"),
    [
        (row("exact_match", "8 September 2010", "September 8, 2010", False), "structure_variation"),
        (row("contains", "Georges Bizet", "Bizet", False), "partial_match"),
        (row("contains", "Sydney", "It is not Sydney but Perth.", True), "overall_misleading"),
        (row("bertscore", "Bizet", "Bizet", False, score=0.45), "threshold_sensitivity"),
        (row("bertscore", "Bizet", "Bizet wrote it in 1875 in Paris, France.", False, score=0.1),
         "extended_answer"),
        (row("bertscore", "Bizet", "Rossini", True, score=0.9), "contextual_misunderstanding"),
        (row("llm_kamalloo", "Ghosh", "Roy", True), "overgeneralisation"),
        (row("llm_kamalloo", "Ghosh", "Roy, after Ghosh.", True), "misleading_emphasis"),
        (row("llm_kamalloo", "29.2 million", "29 million", False), "literal_interpretation"),
        (row("llm_kamalloo", "quicksilver", "a heavy liquid", False), "unknown"),
    ],
)  # fmt: skip
def test_categories(judged: dict[str, Any], category: str) -> None:
    schema = {"score": pl.Float64, "verdict": pl.Boolean, "accepted": pl.Boolean}
    found = judge_errors(pl.DataFrame([judged], schema_overrides=schema))
    assert found["category"].to_list() == [category]
    assert found["evidence"][0]
    kind, _ = CATEGORIES[category]
    assert kind in ("all", found["kind"][0])


def test_what_agrees_or_is_not_judged_is_no_error() -> None:
    rows = [
        row("exact_match", "a", "a", True, accepted=True),
        {**row("exact_match", "a", "b", True), "verdict": None, "accepted": True},
    ]
    schema = {"score": pl.Float64, "verdict": pl.Boolean, "accepted": pl.Boolean}
    assert judge_errors(pl.DataFrame(rows, schema_overrides=schema)).is_empty()


def test_rates_count_what_each_judge_rejects_of_a_mode() -> None:
    answers = pl.DataFrame(
        {
            "answer_id": ["1", "2"],
            "question": ["who", "who"],
            "references": [["Georges Bizet"]] * 2,
            "answer": ["Bizet", "G. Bizet"],
            "accepted": [True, True],
        }
    )
    judged = pl.DataFrame(
        {
            "answer_id": ["1", "2", "1", "2"],
            "judge": ["strict", "strict", "kind", "kind"],
            "verdict": [False, False, True, None],
        }
    )
    rates = error_rates(judged, failure_modes(answers))
    assert rates.select("judge", "mode", "answers", "rejected", "not_judged", "rate").rows() == [
        ("strict", "multinominal_entity", 2, 2, 0, 1.0),
        ("kind", "multinominal_entity", 1, 0, 1, 0.0),
    ]
