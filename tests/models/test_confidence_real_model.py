"""A real small model's probabilities become scores that can be ranked and calibrated.

SmolLM2-135M judges poorly. What counts is that the score is the probability of the token that the
model really had, at whatever place of a real tokenizer's output, and that figures follow from it.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import markscheme
from markscheme.agreement import calibration_figures
from markscheme.models.sources import ModelOptions, Models
from real_model import check_installed, save

pytestmark = pytest.mark.proof(area="models")

EXAMPLES = Path(__file__).parents[2] / "examples" / "answers.jsonl"
ANSWERS = 16


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Models:
    check_installed()
    folder = tmp_path_factory.mktemp("smollm2")
    save(folder)
    return Models(options=ModelOptions(model=f"hf:{folder}", ledger=str(folder / "ledger.sqlite")))


def test_scores_of_a_real_model_are_ranked_and_calibrated(models: Models, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in EXAMPLES.read_text().splitlines()][:ANSWERS]
    prompt = tmp_path / "short.toml"
    prompt.write_text(
        'summary = "A short one."\nparser = "yes_no"\nuser = "Question: {{ question }}\\nRight '
        "answer: {{ references[0] }}\\nGiven answer: {{ answer }}\\nIs the given answer right? "
        'Reply Yes or No."\n[sampling]\nmax_tokens = 4\nlogprobs = true\n'
    )
    result = markscheme.judge(rows, f"llm_prompt(prompt='{prompt}', repair=false)", models=models)
    judged = result.judgments.filter(status="judged")
    assert judged.height > ANSWERS / 2
    finer = judged.filter(judged["score"].is_between(0, 1, closed="none"))
    without = judged.filter(~judged["score"].is_between(0, 1, closed="none"))
    assert finer.height > judged.height / 2
    assert without["explanation"].str.contains("log-probabilities not used").all()
    assert ((finer["score"] >= 0.5) == finer["verdict"]).all()
    labels = np.array([row["label"] == 1 for row in rows])[result.judgments["status"] == "judged"]
    calibration = calibration_figures(judged["score"].to_numpy(), labels)
    assert 0 <= (calibration["ece_uniform"].value or 0) <= 1
    auroc = roc_auc_score(labels, judged["score"].to_numpy())
    assert 0 <= auroc <= 1
    print(f"AUROC {auroc:.3f} on {judged.height} answers")
    print(f"calibration error {calibration['ece_uniform'].value:.3f}")


def test_the_probability_is_that_of_the_token_inside_json(models: Models) -> None:
    """The same place, found in the reply and computed again from the model's own logits."""
    import torch

    from markscheme.contract import ChatReply
    from markscheme.judges.prompted.confidence import confidence_of
    from markscheme.text.replies import read_yes_no
    from markscheme_research.transformers_models import _token_logprobs

    chat = models._source(None)
    tokenizer, model = chat._weights  # type: ignore[attr-defined]
    prompt = "Is Paris the capital of France? Reply with JSON.\n"
    text = '{"reason": "Paris is the seat", "verdict": "yes"}'
    before = tokenizer(prompt, return_tensors="pt")["input_ids"]
    tokens = tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        logits = model(torch.cat([before, tokens], dim=1)).logits[0, before.shape[1] - 1 : -1]

    class Made:
        scores = tuple(row[None] for row in logits)

    reply = ChatReply(
        status="ok", text=text, token_logprobs=_token_logprobs(Made, tokens[0], tokenizer)
    )
    words = [tokenizer.decode([int(token)]) for token in tokens[0]]
    at = next(place for place, word in enumerate(words) if word.strip(' "') == "yes")
    chances = torch.softmax(logits[at].float(), dim=-1)
    ids = {word: tokenizer.encode(word, add_special_tokens=False) for word in ("yes", "no")}
    assert all(len(one) == 1 for one in ids.values())
    found = confidence_of(reply, read_yes_no(text), "yes_no")
    yes, no = (float(chances[ids[word][0]]) for word in ("yes", "no"))
    if found.score is None:  # The small model would rather go on otherwise.
        assert yes + no < 0.6 or yes < no
        assert found.why
    else:
        assert found.score == pytest.approx(yes / (yes + no), abs=0.1)
