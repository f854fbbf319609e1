"""Sequence-to-sequence models of the transformers library: text in, text out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from markscheme.models.local.batches import CHARACTERS_A_TOKEN, equal_length_batches
from markscheme.models.local.transformers_weights import (
    LONGEST,
    library,
    open_weights,
    weights_hash,
)

_WANTED = "a sequence-to-sequence model"


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
        torch = library("torch", _WANTED)
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
        return open_weights(self.name, "AutoModelForSeq2SeqLM", _WANTED)


def _output(tokens: Sequence[int], tokenizer: Any, model: Any) -> tuple[str, bool]:
    """The text up to the end token, and whether there is one."""
    end = model.generation_config.eos_token_id
    ends = set(end) if isinstance(end, list) else {end}
    stop = next((place for place, token in enumerate(tokens) if token in ends), None)
    text: str = tokenizer.decode(tokens[:stop], skip_special_tokens=True)
    return text.strip(), stop is not None
