"""Sequence-to-sequence models of the transformers library: text in, text out."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from markscheme.errors import MissingExtraError, ModelError
from markscheme.models.batches import CHARACTERS_A_TOKEN, equal_length_batches
from markscheme.models.hf_encoders import weights_hash

LONGEST = 512
"""Tokens of an input; what is longer is cut."""

_loading = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class SequenceModel:
    """A sequence-to-sequence model, such as a T5 or BART, run greedily.

    Inputs of one length run together, so that no padding can change an output, and equal inputs
    run once; on one machine the same input always gives the same output. Weights are loaded once a
    process, and run on a GPU where torch finds one.

    Attributes:
        name: a folder, or a name on the hub.

    Raises (when first used):
        MissingExtraError: transformers or torch is not installed.
        ModelError: the weights cannot be loaded, or belong to another kind of model.
    """

    name: str

    @property
    def revision(self) -> str:
        """Hash of the weights of a folder; "" for a name on the hub."""
        return weights_hash(self.name)

    def generate(self, texts: Sequence[str], *, max_tokens: int) -> list[tuple[str, bool]]:
        """For each text the output, and whether it ended before `max_tokens`."""
        tokenizer, model = self._load()
        torch = _library("torch")
        distinct = list(dict.fromkeys(texts))
        ids = [
            np.array(
                tokenizer.encode(
                    text[: LONGEST * CHARACTERS_A_TOKEN], truncation=True, max_length=LONGEST
                ),
                np.int64,
            )
            for text in distinct
        ]
        found: dict[str, tuple[str, bool]] = {}
        for batch in equal_length_batches(np.array([len(one) for one in ids], np.int64)):
            stacked = torch.from_numpy(np.stack([ids[row] for row in batch])).to(model.device)
            with torch.inference_mode():
                made = model.generate(
                    input_ids=stacked,
                    attention_mask=torch.ones_like(stacked),
                    max_new_tokens=max_tokens,
                    do_sample=False,
                    num_beams=1,
                )
            for row, tokens in zip(batch, made.tolist(), strict=True):
                found[distinct[row]] = _output(tokens[1:], tokenizer, model)
        return [found[text] for text in texts]

    def _load(self) -> tuple[Any, Any]:
        with _loading:
            return _loaded(self.name)


def _output(tokens: Sequence[int], tokenizer: Any, model: Any) -> tuple[str, bool]:
    """The text up to the end token, and whether there is one."""
    end = model.generation_config.eos_token_id
    ends = set(end) if isinstance(end, list) else {end}
    stop = next((place for place, token in enumerate(tokens) if token in ends), None)
    text: str = tokenizer.decode(tokens[:stop], skip_special_tokens=True)
    return text.strip(), stop is not None


@lru_cache(maxsize=2)
def _loaded(name: str) -> tuple[Any, Any]:
    transformers, torch = _library("transformers"), _library("torch")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(name)
    except (OSError, ValueError, ImportError) as error:
        raise ModelError(
            f"cannot load {name!r} as a sequence-to-sequence model "
            f"({' '.join(str(error).split())}); give a folder with config.json, weights and "
            "tokenizer, or a name that can be downloaded from the hub"
        ) from None
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return tokenizer, model.to(device).eval()


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtraError("a sequence-to-sequence model", "hf") from None
