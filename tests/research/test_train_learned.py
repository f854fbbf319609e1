"""Learned judges: no question in two parts, seeded batches; a tiny model that learns (slow)."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl
import pytest

import markscheme
from markscheme.cli import run
from markscheme.errors import DataError, ModelError
from markscheme.tables.answers import read_answers
from markscheme_research.datasets import load
from markscheme_research.judges.finetuned import open_causal
from markscheme_research.judges.finetuned.templates import VARIANTS
from markscheme_research.training.finetuned import (
    HeldOutFigures,
    LearnOptions,
    split,
    train_finetuned,
)
from markscheme_research.training.lora import LoraOptions, updates
from markscheme_research.training.splits import part_of

QUESTIONS = 90
QUICK = LoraOptions(steps=40, batch=8, accumulate=1, rate=1e-2, rank=16, dropout=0.0)


def colours() -> pl.DataFrame:
    """Answers that are right if and only if they say the reference."""
    return read_answers(
        [
            {
                "question": f"what colour has number {number}", "references": ["red"],
                "answer": answer, "label": float(answer == "red"), "system": system,
            }
            for number in range(QUESTIONS)
            for system, answer in (("one", "red"), ("two", "blue"))
        ]
    )  # fmt: skip


def test_no_question_is_in_two_parts_and_none_of_nq301_is_learned_from(data_dir: Path) -> None:
    answers = load("evouna-nq", data_dir=data_dir)
    for part, limit in (("development", 200), ("test", None)):
        options: Any = {"report_on": part, "limit": limit, "report_limit": limit}
        found = split(answers, LearnOptions(**options))
        assert not set(found.learn["question"]) & set(found.held["question"])
        assert {part_of(one) for one in found.learn["question"]} == {"train"}
        assert {part_of(one) for one in found.held["question"]} == {part}
        if limit:
            assert limit - 10 <= found.learn.height <= limit
            assert found.learn.group_by("question").len()["len"].max() == 5
    nq301 = load("nq301", data_dir=data_dir).filter(pl.col("label").is_not_null())
    with pytest.raises(DataError, match="train part has 0 labelled answers"):
        split(nq301, LearnOptions())


def test_limits_follow_the_seed() -> None:
    def drawn(seed: int) -> set[str]:
        options = LearnOptions(limit=20, lora=LoraOptions(seed=seed))
        return set(split(colours(), options).learn["question"])

    assert drawn(0) == drawn(0) != drawn(1)


def test_batches_are_seeded_see_every_row_and_hold_like_lengths() -> None:
    lengths = np.random.default_rng(0).integers(10, 500, size=512)

    def drawn(seed: int) -> list[list[list[int]]]:
        options = LoraOptions(batch=8, accumulate=2, seed=seed)
        groups = updates(lengths, options, 32)
        return [[batch.tolist() for batch in group] for group in groups]

    found = drawn(5)
    assert found == drawn(5) != drawn(6)
    assert sorted(row for group in found for batch in group for row in batch) == list(range(512))
    spread = [max(lengths[r] for r in b) - min(lengths[r] for r in b) for g in found for b in g]
    assert np.mean(spread) < 30
    assert len(list(updates(lengths[:10], LoraOptions(batch=8, accumulate=2), 7))) == 7


def tiny(folder: Path) -> Path:
    """A Llama of two small layers, with words for tokens, that has learned nothing."""
    torch = importlib.import_module("torch")
    tokenizers = importlib.import_module("tokenizers")
    transformers = importlib.import_module("transformers")
    torch.manual_seed(0)
    texts = [text for one in VARIANTS.values() for text in one.values()]
    split_words = tokenizers.pre_tokenizers.Whitespace().pre_tokenize_str
    words = {word for text in texts for word, _ in split_words(text)}
    words |= {"Yes", "No", "yes", "no", "red", "blue", "what", "colour", "has", "number", "unk"}
    vocabulary = ["<pad>", "<s>", "</s>", "<unk>", *sorted(words)]
    known = {word: place for place, word in enumerate(vocabulary)}
    core = tokenizers.Tokenizer(tokenizers.models.WordLevel(known, unk_token="<unk>"))
    core.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="<pad>", bos_token="<s>", eos_token="</s>",
        unk_token="<unk>",
    )  # fmt: skip
    config = transformers.LlamaConfig(
        vocab_size=len(known), hidden_size=64, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=256,
        bos_token_id=1, eos_token_id=2, pad_token_id=0, initializer_range=0.2,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny(tmp_path_factory.mktemp("base"))


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


@pytest.mark.proof(area="examiner")
def test_it_learns_saves_and_judges_alike(base: Path, tmp_path: Path) -> None:
    answers = colours()
    seen: list[HeldOutFigures] = []

    def report(figures: HeldOutFigures) -> None:
        assert not (tmp_path / "one").exists()
        seen.append(figures)

    options = LearnOptions(lora=QUICK)
    trained = train_finetuned(
        answers, tmp_path / "one", str(base), options, say=lambda _text: None, report=report
    )
    losses = trained.losses["verdict"]
    assert len(losses) == QUICK.steps
    assert np.mean(losses[-5:]) < 0.3 * losses[0]
    (figures,) = seen
    assert figures == trained.figures
    assert figures.trained.accuracy == 1.0
    assert figures.accept_all.accuracy == 0.5
    settings = orjson.loads((tmp_path / "one" / "learned.json").read_bytes())
    assert settings["split"]["tried_on"]["rows"] == figures.rows
    assert settings["figures"]["trained"]["auroc"] == figures.trained.auroc

    judged = markscheme.judge(trained.held, f"learned(weights='{tmp_path / 'one'}')").judgments
    assert judged["score"].to_list() == trained.held["score"].to_list()
    assert judged["verdict"].to_list() == (trained.held["label"] == 1).to_list()
    assert "</s>" not in judged["explanation"][0]

    train_finetuned(answers, tmp_path / "two", str(base), options, say=lambda _text: None)
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two")
    assert sorted(bytes_of(tmp_path / "one")) == [
        "learned.json", "lineage.npy", "verdict/adapter_config.json",
        "verdict/adapter_model.safetensors",
    ]  # fmt: skip

    # Moved elsewhere, the base model is said by name; another model is refused.
    moved = tmp_path / "moved"
    base.rename(moved)
    try:
        gone = f"learned(weights='{tmp_path / 'two'}')"
        with pytest.raises(ModelError, match="model=FOLDER"):
            markscheme.judge(trained.held, gone)
        found = f"learned(weights='{tmp_path / 'two'}', model='{moved}')"
        again = markscheme.judge(trained.held, found).judgments
        assert again["score"].to_list() == judged["score"].to_list()
    finally:
        moved.rename(base)
    other = tiny(tmp_path / "other")
    (other / "config.json").write_text((other / "config.json").read_text() + "\n")
    with pytest.raises(ModelError, match="are not those"):
        markscheme.judge(trained.held, f"learned(weights='{tmp_path / 'two'}', model='{other}')")


@pytest.mark.proof(area="examiner")
def test_log_likelihoods_by_length_are_means_over_the_tokens(base: Path) -> None:
    causal = open_causal(str(base))
    template, fields = VARIANTS["cvi"]["uninformed"], [{"question": "what colour"}] * 2
    whole = causal.log_likelihoods(template, fields, ["red blue", "red"])
    mean = causal.log_likelihoods(template, fields, ["red blue", "red"], by_length=True)
    assert mean == pytest.approx(whole / [3, 2], abs=1e-3)  # the end of the text is a token too


@pytest.mark.proof(area="examiner")
def test_conditional_information_learns_what_an_answer_tells(base: Path, tmp_path: Path) -> None:
    # Half the references are blue, half red: who has not seen the answer cannot tell which.
    rows = read_answers(
        [
            {
                "question": f"what colour has number {number}",
                "references": [("red", "blue")[number % 2]],
                "answer": answer,
                "label": float(answer == ("red", "blue")[number % 2]),
            }
            for number in range(QUESTIONS)
            for answer in ("red", "blue")
            if answer == ("red", "blue")[number % 2] or number % 5 == 0
        ]
    )
    options = LearnOptions(variant="cvi", lora=QUICK)
    trained = train_finetuned(rows, tmp_path / "cvi", str(base), options, say=lambda _text: None)
    right = trained.held.filter(pl.col("label") == 1)["score"].mean()
    wrong = trained.held.filter(pl.col("label") == 0)["score"].mean()
    assert isinstance(right, float)
    assert isinstance(wrong, float)
    assert right > 0.55 > wrong
    judged = markscheme.judge(trained.held, f"learned(weights='{tmp_path / 'cvi'}')").judgments
    assert judged["score"].to_list() == trained.held["score"].to_list()
    assert judged["explanation"].str.contains("bits about the reference").all()


@pytest.mark.proof(area="examiner")
def test_the_command_trains_with_entailment_as_a_feature(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "answers.parquet", tmp_path / "nli"
    colours().write_parquet(file)
    arguments = [
        "train", "learned", "--data", str(file), "--model", str(base), "--variant", "nli",
        "--out", str(out), "--steps", "2", "--limit", "20", "--report-limit", "10",
    ]  # fmt: skip
    assert run(arguments) == 0
    printed = capsys.readouterr()
    assert "this one" in printed.out
    assert "every answer accepted" in printed.out
    assert "nli: learning from 20 answers to 10 questions" in printed.err
    judged = markscheme.judge(colours()[:4], f"learned(weights='{out}')").judgments
    assert "trained with: answer entails a reference yes" in judged["explanation"][0]
    assert run(arguments) == 2
    assert "is not empty; choose a new --out" in capsys.readouterr().err
    assert run([*arguments, "--variant", "nlj"]) == 2
    refused = capsys.readouterr().err
    assert "Invalid value for '--variant'" in refused
    assert "'nlj' is not one of 'plain', 'nli', 'cvi'" in refused
