"""Fine-tuning a cross-encoder: stopped and resumed it gives what an unbroken run gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import markscheme
from markscheme.cli import run
from markscheme.errors import ModelError
from markscheme.judges.examiner import cross_encode
from markscheme.models.local.pair_classifier import OnnxPairClassifier
from markscheme.models.local.weights import MINILM
from markscheme_research.training import cross_encoder as training
from markscheme_research.training.cross_encoder import (
    CrossEncoderOptions,
    pair_of,
    train_cross_encoder,
)
from markscheme_research.training.exported_weights import read_exported


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    """A BERT of two narrow layers with random weights and the shipped MiniLM's tokenizer."""
    pytest.importorskip("torch")
    transformers: Any = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        vocab_size=30522, hidden_size=64, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=128, max_position_embeddings=192,
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


@pytest.mark.proof(area="examiner")
def test_train_examiner_trains_its_own_cross_encoder_and_uses_it(
    tmp_path: Path, example: Path, encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted, the same command goes on; the weights judge with both parts."""
    out = tmp_path / "mine"
    arguments = ["train", "examiner", "--data", str(example), "--out", str(out), "--rounds", "10",
                 "--folds", "2", "--encoder", str(encoder), "--epochs", "1"]  # fmt: skip

    def interrupted(*_: object, **__: object) -> None:
        raise ModelError("the export stopped")

    with monkeypatch.context() as patched:
        patched.setattr(training, "export", interrupted)
        assert run(arguments) == 2
    assert [one.name for one in out.iterdir()] == ["encoder-training"]
    steps: list[float] = []
    loss = training._loss
    monkeypatch.setattr(training, "_loss", lambda *given: steps.append(1) or loss(*given))
    assert run([*arguments[:-1], "2"]) == 2  # other epochs than the checkpoint's
    assert run(arguments) == 0
    assert not steps  # the checkpoint was at the last step: only the export was left
    assert not (out / "encoder-training").exists()
    answers = markscheme.read_answers(example)
    triples = list(answers.select("question", "references", "answer").head(20).iter_rows())
    own, shipped = (
        cross_encode(folder, triples)
        for folder in (
            out / "cross-encoder",
            Path(markscheme.__file__).parent / "judges/examiner/weights/cross-encoder",
        )
    )
    assert not np.allclose(own, shipped)
    judged = {
        asked: markscheme.judge(answers, f"examiner(weights='{out}', encoder={asked})").judgments
        for asked in ("always", "never")
    }
    assert all((one["status"] == "judged").all() for one in judged.values())
    assert (judged["always"]["score"] != judged["never"]["score"]).any()
    assert set(judged["always"]["scope"]) >= {"learned from"}


def test_an_encoder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    (tmp_path / "config.json").write_text('{"model_type": "roberta"}', encoding="utf-8")
    with pytest.raises(ModelError, match="of type roberta; choose an encoder of type bert"):
        train_cross_encoder(rows(), tmp_path / "out", CrossEncoderOptions(encoder=str(tmp_path)))
    with pytest.raises(ModelError, match="no encoder can be opened from"):
        train_cross_encoder(
            rows(), tmp_path / "out", CrossEncoderOptions(encoder=str(tmp_path / "nowhere"))
        )


@pytest.mark.proof(area="examiner")
def test_the_shipped_cross_encoder_is_trained_further_from_what_it_says_now(tmp_path: Path) -> None:
    """Before the first step its own 8-bit weights are read back, and exported they say the same."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    options = CrossEncoderOptions(encoder="shipped", epochs=1, tokens=400, longest=64, rate=1e-9)
    assert train_cross_encoder(rows(), tmp_path, options, say=str)
    triples = [(row[0], row[1], row[2]) for row in rows().rows()]
    own, shipped = (
        cross_encode(folder, triples)
        for folder in (
            tmp_path / "onnx",
            Path(markscheme.__file__).parent / "judges/examiner/weights/cross-encoder",
        )
    )
    assert np.abs(own - shipped).max() < 0.05
    opposite = rows().with_columns(label=1 - pl.col("label"))
    taught = CrossEncoderOptions(encoder="shipped", epochs=6, tokens=400, longest=64)
    assert train_cross_encoder(opposite, tmp_path / "opposite", taught, say=str)
    moved = cross_encode(tmp_path / "opposite" / "onnx", triples) - shipped
    accepted = opposite["label"].to_numpy() > 0.5
    assert moved[accepted].mean() > moved[~accepted].mean() + 0.5


def test_a_file_that_no_export_wrote_is_named(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    (tmp_path / "model.onnx").write_bytes(b"")
    with pytest.raises(ModelError, match="is not a graph that export_onnx wrote"):
        read_exported(tmp_path)
