"""Rewards inside the real TRL: a small model of random weights trains a step on marks."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.proof(area="models")

ROWS = [
    {"question": "Who wrote Emma?", "references": ["Jane Austen"]},
    {"question": "Where is the Louvre?", "references": ["Paris", "in Paris"]},
]


def test_trl_trains_a_step_on_marks(tmp_path: Path) -> None:
    import datasets
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    from trl import GRPOConfig, GRPOTrainer

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
