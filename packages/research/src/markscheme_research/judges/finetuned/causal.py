"""Causal language models that score how likely a text is, and write none."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from markscheme.errors import ModelError
from markscheme.models.local import CHARACTERS_A_TOKEN, equal_length_batches
from markscheme_research.transformers_models import library, load_causal, lora_library

Floats = npt.NDArray[np.float64]
Fields = Mapping[str, str]

END = "[/INST]"
"""The last characters of every template; what the model is to say comes after a space."""

LONGEST = 1024
"""Tokens of a prompt; of what is longer, the longest field loses its end."""

_DECIMALS = 4
"""Results are rounded: the last digits depend on how many rows run together."""


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """Tokens of a prompt and of the target that follows it, and the target's number of tokens."""

    ids: list[int]
    target_tokens: int


@dataclass(frozen=True, kw_only=True)
class Causal:
    """A causal model with its tokenizer, on a GPU where torch finds one.

    Attributes:
        tokenizer, model: as the transformers library opens them.
        longest: tokens of a prompt with what follows.
    """

    tokenizer: Any
    model: Any
    longest: int = LONGEST

    def encode(
        self, template: str, fields: Sequence[Fields], targets: Sequence[str]
    ) -> list[Encoded]:
        """Prompts, each with what is to follow, and the token that ends a text behind it.

        Nothing in a field can become a special token.

        Raises:
            ModelError: the template alone is too long, or the tokenizer cannot tell the prompt
                from what follows.
        """
        tails = self._tails(targets)
        end = self.tokenizer.eos_token_id
        tails = [tail if end is None else [*tail, int(end)] for tail in tails]
        prompts = self.prompts(template, fields, [self.longest - len(tail) for tail in tails])
        return [
            Encoded(ids=[*prompt, *tail], target_tokens=len(tail))
            for prompt, tail in zip(prompts, tails, strict=True)
        ]

    def chances(
        self, template: str, fields: Sequence[Fields], choices: tuple[str, str]
    ) -> npt.NDArray[np.float64]:
        """Probability of the first choice against the second at the place where they part.

        A softmax over the two tokens by which they differ first; n values from 0 to 1.

        Raises:
            ModelError: as `encode`, or the two begin with the same tokens throughout.
        """
        common, pair = self.parting(choices)
        room = self.longest - len(common) - 1
        ids = [[*one, *common] for one in self.prompts(template, fields, [room] * len(fields))]
        import torch

        found = np.empty(len(ids))
        for batch in equal_length_batches(_lengths(ids)):
            with torch.inference_mode():
                logits = self._logits([ids[row] for row in batch], last=1)[:, 0, list(pair)]
                found[batch] = logits.float().softmax(dim=-1)[:, 0].cpu().numpy()
        return np.round(found, _DECIMALS)

    def log_likelihoods(
        self,
        template: str,
        fields: Sequence[Fields],
        targets: Sequence[str],
        *,
        by_length: bool = False,
    ) -> Floats:
        """Natural logarithm of the probability of each text after its prompt, with its end.

        With `by_length` its mean over the text's tokens, the end among them.

        Raises:
            ModelError: as `encode`.
        """
        import torch

        encoded = self.encode(template, fields, targets)
        found = np.empty(len(encoded))
        for batch in equal_length_batches(_lengths([one.ids for one in encoded])):
            rows = [encoded[row] for row in batch]
            last = max(one.target_tokens for one in rows)
            with torch.inference_mode():
                logits = self._logits([one.ids for one in rows], last=last + 1)[:, :-1]
                wanted = torch.tensor([one.ids[-last:] for one in rows], device=logits.device)
                each = logits.float().log_softmax(dim=-1).gather(2, wanted[..., None])[..., 0]
            for row, one, values in zip(batch, rows, each.cpu().double().numpy(), strict=True):
                told = values[-one.target_tokens :]
                found[row] = told.mean() if by_length else told.sum()
        return np.round(found, _DECIMALS)

    def parting(self, choices: tuple[str, str]) -> tuple[list[int], tuple[int, int]]:
        """The tokens with which both choices begin, and the two by which they differ first.

        Raises:
            ModelError: there are no such two.
        """
        one, other = self._tails(choices)
        for place, pair in enumerate(zip(one, other, strict=False)):
            if pair[0] != pair[1]:
                return one[:place], pair
        raise ModelError(
            f"the tokenizer writes {choices[0]!r} and {choices[1]!r} alike, so that this model "
            "cannot choose between them; use another model"
        )

    def prompts(
        self, template: str, fields: Sequence[Fields], rooms: Sequence[int]
    ) -> list[list[int]]:
        """Tokens of each filled template, cut to its room.

        Raises:
            ModelError: the template alone is too long.
        """
        cut = [
            {name: text[: self.longest * CHARACTERS_A_TOKEN] for name, text in one.items()}
            for one in fields
        ]
        found = self._ids([template.format(**one) for one in cut])
        for row, room in enumerate(rooms):
            while (over := len(found[row]) - room) > 0:
                longest = max(cut[row], key=lambda name: len(cut[row][name]))
                if not cut[row][longest]:
                    raise ModelError(
                        f"the prompt takes {len(found[row])} tokens with nothing in it, and this "
                        f"model has room for {max(room, 0)}; use a model with a longer context"
                    )
                cut[row][longest] = cut[row][longest][:-over]
                found[row] = self._ids([template.format(**cut[row])])[0]
        return found

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        start = self.tokenizer.bos_token_id
        first = [] if start is None else [int(start)]
        return [[*first, *ids] for ids in self._plain(texts)]

    def _plain(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        found: list[list[int]] = self.tokenizer(
            list(texts), add_special_tokens=False, split_special_tokens=True
        )["input_ids"]
        return found

    def _tails(self, targets: Iterable[str]) -> list[list[int]]:
        """Tokens of texts as they come after a prompt, with the space before them."""
        stem, *whole = self._plain([END, *(f"{END} {text}" for text in targets)])
        if any(one[: len(stem)] != stem for one in whole):
            raise ModelError(
                f"the tokenizer joins {END!r} with the text after it, so that nobody can tell "
                "the prompt from the answer; use another model"
            )
        return [one[len(stem) : len(stem) + self.longest // 2] for one in whole]

    def _logits(self, ids: Sequence[Sequence[int]], *, last: int) -> Any:
        import torch

        given = torch.tensor(ids, device=self.model.device)
        return self.model(
            input_ids=given, attention_mask=torch.ones_like(given), logits_to_keep=last
        ).logits


def open_causal(name: str, *, commit: str | None = None, four_bits: bool = False) -> Causal:
    """A causal model by a folder, a `.gguf` file or a name on the hub; see `load_causal`.

    Args:
        name: which.
        commit: of a name on the hub, the version wanted; the newest if none.
        four_bits: whether its weights are held in 4 bits (normal floats, computed with in float16,
            Dettmers et al. 2023), which takes a GPU and the package bitsandbytes.

    Raises:
        MissingExtraError: torch, transformers or bitsandbytes is not installed.
        ModelError: it cannot be loaded; or 4 bits without a GPU.
    """
    quantized = _four_bits(name) if four_bits else None
    tokenizer, model = load_causal(name, commit=commit, quantized=quantized)
    positions = int(getattr(model.config, "max_position_embeddings", LONGEST) or LONGEST)
    return Causal(tokenizer=tokenizer, model=model, longest=min(LONGEST, positions))


def _four_bits(name: str) -> dict[str, Any]:
    """What loads weights in 4 bits, as the authors of Yao & Barbosa (2024) load theirs."""
    torch = lora_library("torch")
    if not torch.cuda.is_available():
        raise ModelError(
            f"{name!r} in 4 bits takes a GPU with CUDA, which torch does not find here; 'train "
            "learned --bits full' holds the weights as they are"
        )
    library("bitsandbytes", "weights in 4 bits", "four-bits")
    kind = lora_library("transformers").BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_compute_dtype=torch.float16,
        bnb_4bit_use_double_quant=False,
    )
    return {"quantization_config": kind, "device_map": {"": 0}, "dtype": torch.float16}


@contextmanager
def adapting() -> Iterator[None]:
    """While peft puts adapters on a model: without its talk about what transformers will drop."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def _lengths(rows: Sequence[Sequence[int]]) -> npt.NDArray[np.int64]:
    return np.array([len(row) for row in rows], np.int64)
