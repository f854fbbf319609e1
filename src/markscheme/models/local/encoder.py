"""Sentence embeddings from the MiniLM that ships in the package: no network, no torch, no GPU."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from markscheme.errors import ModelError
from markscheme.models.local.batches import CHARACTERS_A_TOKEN, equal_length_batches, run_batches
from markscheme.models.local.weights import (
    MINILM,
    open_session,
    open_tokenizer,
    read_json,
    revision,
)

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

Vectors = npt.NDArray[np.float32]

_TEXTS_AT_ONCE = 4096
_loading = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class MiniLM:
    """all-MiniLM-L6-v2 (Wang et al. 2020; Reimers & Gurevych 2019) with 8-bit weights.

    A text's vector depends on that text alone: the same text gives the same vector to within 1e-6
    whatever the other texts, in whatever order and on however many threads.

    Parameters
    ----------
    folder
        Folder with `model.onnx`, `tokenizer.json` and `config.json`. The shipped weights by
        default.
    max_tokens
        Tokens read of each text at most, counting the two that frame it. The rest is not seen.
        Only the first `max_tokens` times 32 characters are looked at in any case, so that a text
        of megabytes costs no more than a page. At most what the model's positions allow (256).
    threads
        Batches run side by side. None takes every core this process may use.
    """

    folder: Path = MINILM
    max_tokens: int = 128
    threads: int | None = None

    @property
    def revision(self) -> str:
        """Short hash of the weights, for signatures."""
        return revision(self.folder)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; distinct ones once each.

        Returns an array of shape (len(texts), 384) whose rows have length one, so that a dot
        product is a cosine in [-1, 1]. The empty string has a vector too. Raises ModelError where
        the weights cannot be loaded or `max_tokens` does not fit them.
        """
        position: dict[str, int] = {}
        rows = [position.setdefault(text, len(position)) for text in texts]
        return self._encode_distinct(list(position))[rows]

    def _encode_distinct(self, texts: list[str]) -> Vectors:
        session, tokenizer, width = _load(self.folder, self.max_tokens)
        tokens: list[npt.NDArray[np.int64]] = []
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            some = [text[: self._characters] for text in texts[start : start + _TEXTS_AT_ONCE]]
            tokens += [np.array(one.ids, np.int64) for one in tokenizer.encode_batch(some)]
        vectors = np.empty((len(texts), width), np.float32)

        def run(batch: npt.NDArray[np.int64]) -> None:
            ids = np.stack([tokens[row] for row in batch])
            vectors[batch] = session.run(["embedding"], {"input_ids": ids})[0]

        lengths = np.array([len(one) for one in tokens], np.int64)
        run_batches(list(equal_length_batches(lengths)), run, threads=self.threads)
        return vectors

    @property
    def _characters(self) -> int:
        return self.max_tokens * CHARACTERS_A_TOKEN


def _load(folder: Path, max_tokens: int) -> tuple[InferenceSession, Tokenizer, int]:
    with _loading:  # lru_cache alone would let two threads load the same weights twice
        session = _session(folder)
        tokenizer, width = _tokenizer(folder, max_tokens)
    return session, tokenizer, width


@lru_cache(maxsize=4)
def _session(folder: Path) -> InferenceSession:
    return open_session(folder)


@lru_cache(maxsize=4)
def _tokenizer(folder: Path, max_tokens: int) -> tuple[Tokenizer, int]:
    config = read_json(folder, "config.json")
    longest = int(config["max_position_embeddings"])
    if not 2 < max_tokens <= longest:
        raise ModelError(
            f"max_tokens={max_tokens} does not fit the weights in {folder}: "
            f"choose from 3 to {longest}."
        )
    tokenizer = open_tokenizer(folder)
    tokenizer.enable_truncation(max_length=max_tokens)
    return tokenizer, int(config["hidden_size"])
