"""Fine-tuning a cross-encoder: stopped and resumed it gives what an unbroken run gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from markscheme.models.local.pair_classifier import OnnxPairClassifier
from markscheme.models.local.weights import MINILM
from markscheme.training.cross_encoder import (
    CrossEncoderOptions,
    pair_of,
    train_cross_encoder,
)


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    """A BERT of two narrow layers with random weights and the shipped MiniLM's tokenizer."""
    pytest.importorskip("torch")
    transformers: Any = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        vocab_size=30522, hidden_size=64, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=128, max_position_embeddings=128,
    )  # fmt: skip
    folder = tmp_path / "encoder"
    transformers.BertModel(config).save_pretrained(folder)
    transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(MINILM / "tokenizer.json"), pad_token="[PAD]", sep_token="[SEP]",
        cls_token="[CLS]", unk_token="[UNK]", mask_token="[MASK]",
    ).save_pretrained(folder)  # fmt: skip
    return folder


def rows() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "question": [f"How many are {n}?" for n in range(40)],
            "references": [[str(n)] for n in range(40)],
            "answer": [str(n + n % 2) for n in range(40)],
            "label": [float(n % 2 == 0) for n in range(40)],
        }
    )


def test_a_resumed_run_equals_an_unbroken_one(tmp_path: Path, encoder: Path) -> None:
    options = CrossEncoderOptions(
        encoder=str(encoder), epochs=2, tokens=200, longest=64, save_every=2
    )
    said: list[str] = []
    assert train_cross_encoder(rows(), tmp_path / "one", options, say=said.append)
    assert not train_cross_encoder(rows(), tmp_path / "two", options, steps=3, say=said.append)
    assert not (tmp_path / "two" / "onnx").exists()
    assert train_cross_encoder(rows(), tmp_path / "two", options, say=said.append)
    pairs = [pair_of(*row[:3]) for row in rows().rows()]
    one, two = (
        OnnxPairClassifier(folder=tmp_path / name / "onnx", max_tokens=64).scores(pairs)
        for name in ("one", "two")
    )
    assert one.shape == (40, 1)
    assert np.array_equal(one, two)
    with pytest.raises(ValueError, match="was made with"):
        train_cross_encoder(rows()[:30], tmp_path / "two", options)
