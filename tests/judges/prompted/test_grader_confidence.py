"""`llm_grader` against models whose confidence is known: AUROC and calibration error are theirs."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import markscheme
from markscheme.agreement import calibration_figures
from markscheme.contract import ChatReply
from markscheme.models import Models
from markscheme.testing import ScriptedChat

ANSWERS = 800
ITEM = re.compile(r"answer number (\d+)")


def reply(yes: float) -> ChatReply:
    """The grader's JSON, a token a piece, with the verdict's probability as a server gives it."""
    verdict = "yes" if yes >= 0.5 else "no"
    relation = "equivalent" if verdict == "yes" else "incorrect"
    before = (
        '{"reason": "yes and no were weighed", "supported_claims": [], '
        f'"unattributable_claims": [], "relation": "{relation}", "verdict": "'
    )
    after = f'", "marks": {1.0 if verdict == "yes" else 0.0}}}'
    chosen, other = (yes, 1 - yes) if verdict == "yes" else (1 - yes, yes)
    rest = "no" if verdict == "yes" else "yes"
    tokens: list[dict[str, float]] = [{piece: -0.001} for piece in re.findall(r"\s?\w+|\W", before)]
    tokens.append({verdict: math.log(chosen), rest: math.log(other)})
    tokens += [{piece: -0.001} for piece in re.findall(r"\s?\w+|\W", after)]
    text = before + verdict + after
    assert json.loads(text)["verdict"] == verdict
    return ChatReply(
        status="ok", text=text, finish_reason="stop", model="made-up", token_logprobs=tuple(tokens)
    )


def graded(
    sharpness: float,
) -> tuple[markscheme.Result, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Answers right with a known probability, and a model that says it, or overstates it."""
    draw = np.random.default_rng(7)
    truth = draw.uniform(0.03, 0.97, ANSWERS)
    labels = draw.random(ANSWERS) < truth
    odds = sharpness * np.log(truth / (1 - truth))
    said = np.clip(1 / (1 + np.exp(-odds)), 1e-4, 1 - 1e-4)
    rows = [
        {"id": str(n), "question": f"What is thing {n}?", "references": ["it"],
         "answer": f"answer number {n}", "label": bool(labels[n])}
        for n in range(ANSWERS)
    ]  # fmt: skip
    chat = ScriptedChat(replies=lambda text: reply(said[int(ITEM.findall(text)[0])]))
    return markscheme.judge(rows, "llm_grader", models=Models(chat=chat)), said, labels


def test_a_model_that_knows_its_chances_is_ranked_and_calibrated_as_it_is() -> None:
    result, said, labels = graded(1.0)
    scores = result.judgments["score"].to_numpy()
    assert scores == pytest.approx(said, abs=1e-5)
    assert (result.judgments["verdict"].to_numpy() == (said >= 0.5)).all()
    auroc = result.agree().data["judges"][0].left_out["auroc"]
    assert auroc.value == pytest.approx(roc_auc_score(labels, said), abs=1e-4)
    assert auroc.low < auroc.value < auroc.high
    error = calibration_figures(scores, labels)["ece_uniform"].value
    assert error is not None
    assert error < 0.06
    print(f"AUROC {auroc.value:.3f}, calibration error {error:.3f}")


def test_a_model_that_overstates_its_chances_ranks_alike_and_is_found_out() -> None:
    knows, overstates = graded(1.0), graded(4.0)
    ranked = [
        one[0].agree().data["judges"][0].left_out["auroc"].value for one in (knows, overstates)
    ]
    assert ranked[0] == pytest.approx(ranked[1], abs=5e-3)
    scores = overstates[0].judgments["score"].to_numpy()
    error = calibration_figures(scores, overstates[2])["ece_uniform"].value
    assert error is not None
    assert error > 0.12
    print(f"AUROC {ranked[1]:.3f}, calibration error {error:.3f}")
