"""Integrations run inside the real libraries: TRL, inspect_ai, lm-evaluation-harness."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.proof(area="harnesses")

ROWS = [
    {"question": "Who wrote Emma?", "references": ["Jane Austen"]},
    {"question": "Where is the Louvre?", "references": ["Paris", "in Paris"]},
]


def test_inspect_ai_scores_samples_by_a_judge(tmp_path: Path) -> None:
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import generate

    from markscheme.integrations.inspect_ai import markscheme_scorer

    samples = [Sample(input=row["question"], target=row["references"]) for row in ROWS]
    said = ["It was written by Jane Austen.", "London"]
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in said]
    for output in outputs:  # else it counts tokens with a vocabulary that it fetches
        output.usage = ModelUsage(input_tokens=9, output_tokens=5, total_tokens=14)
    model = get_model("mockllm/model", custom_outputs=outputs)
    task = Task(dataset=samples, solver=generate(), scorer=markscheme_scorer("examiner"))
    (log,) = eval(task, model=model, log_dir=str(tmp_path), display="none", max_samples=1)
    assert log.status == "success"
    assert log.results is not None
    assert log.results.scores[0].metrics["accuracy"].value == 0.5
    assert log.samples is not None
    scores = [next(iter((sample.scores or {}).values())) for sample in log.samples]
    assert [score.value for score in scores] == ["C", "I"]
    assert all(score.metadata and score.metadata["signature"] for score in scores)


def test_the_evaluation_harness_reports_a_judge_s_accuracy() -> None:
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.api.task import ConfigurableTask

    import datasets
    from markscheme.integrations.lm_eval import accuracy, answers_of, mean_marks

    class Answering(LM):
        """Gives a right and a wrong answer."""

        def generate_until(self, requests: list[Any], **_: Any) -> list[str]:
            return ["Jane Austen" if "Emma" in one.args[0] else "London" for one in requests]

        def loglikelihood(self, requests: list[Any], **_: Any) -> list[tuple[float, bool]]:
            raise NotImplementedError

        def loglikelihood_rolling(self, requests: list[Any], **_: Any) -> list[float]:
            raise NotImplementedError

    def process(doc: dict[str, Any], results: list[str]) -> dict[str, Any]:
        found = answers_of(references="references")(doc, results)["markscheme"]
        return {"markscheme": found, "marks": found}

    task = ConfigurableTask(
        config={
            "task": "tiny_qa",
            "custom_dataset": lambda **_: {"test": datasets.Dataset.from_list(ROWS)},
            "test_split": "test",
            "output_type": "generate_until",
            "doc_to_text": "{{question}}",
            "doc_to_target": "{{references[0]}}",
            "process_results": process,
            "metric_list": [
                {"metric": "markscheme", "aggregation": accuracy, "higher_is_better": True},
                {"metric": "marks", "aggregation": mean_marks, "higher_is_better": True},
            ],
        }
    )
    found = simple_evaluate(model=Answering(), tasks=[task], bootstrap_iters=0)
    results = found["results"]["tiny_qa"]
    assert results["markscheme,none"] == 0.5
    assert 0.3 < results["marks,none"] < 0.7


def test_trl_trains_a_step_on_marks(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    from trl import GRPOConfig, GRPOTrainer

    import datasets
    from markscheme.integrations.rewards import MarksReward

    words = Tokenizer(models.WordLevel(unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["<unk>", "<pad>", "<end>"]
    texts = [row["question"] + " " + " ".join(row["references"]) for row in ROWS]
    words.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=special))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="<unk>", pad_token="<pad>", eos_token="<end>"
    )
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer), hidden_size=16, intermediate_size=32, num_hidden_layers=1,
            num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64,
            bos_token_id=0, pad_token_id=1, eos_token_id=2,
        )
    )  # fmt: skip
    rows = [{"prompt": row["question"], **row} for row in ROWS]
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=MarksReward(),
        processing_class=tokenizer,
        train_dataset=datasets.Dataset.from_list(rows),
        args=GRPOConfig(
            output_dir=str(tmp_path), max_steps=1, per_device_train_batch_size=4,
            num_generations=4, max_completion_length=8, report_to=[], use_cpu=True,
            logging_steps=1, save_strategy="no", bf16=False,
        ),
    )  # fmt: skip
    trainer.train()
    logged = [entry for entry in trainer.state.log_history if "reward" in entry]
    assert logged
    assert 0.0 <= logged[0]["reward"] <= 1.0
    assert "rewards/markscheme_marks/mean" in logged[0]
